//! The formula language as its users meet it.

mod basis;
mod expansion;
mod mistake;
mod prior;
mod property;
mod several;
mod spline;
