//! Runs the command: every subcommand once, its exit codes and its JSON, and every bad input.

mod access;
mod after;
mod answer;
mod arviz;
mod automatic;
mod crowd;
mod disk;
mod family;
mod fixture;
mod help;
mod hostile;
mod killed;
mod latent;
mod loss;
mod number;
mod parameter;
mod prior_only;
mod program;
mod refusal;
mod resume;
mod rough;
mod several;
mod spline;
mod worst;
