//! The formula language from a user's point of view.

mod basis;
mod expansion;
mod mistake;
mod prior;
mod property;
mod several;
mod spline;
