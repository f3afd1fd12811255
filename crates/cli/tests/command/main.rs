//! Runs the command: every subcommand once, its exit codes and its JSON, and every bad input.

mod access;
mod answer;
mod arviz;
mod disk;
mod family;
mod fixture;
mod help;
mod hostile;
mod number;
mod loss;
mod program;
mod refusal;
mod resume;
