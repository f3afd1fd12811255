//! The command `lehr`.

fn main() -> std::process::ExitCode {
    lehr_cli::main()
}
