//! The command `lehr` as this package's own tests run it.

fn main() -> std::process::ExitCode {
    lehr_cli::main()
}
