//! The command `lehr` as a program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(lehr_cli::run(std::env::args_os()))
}
