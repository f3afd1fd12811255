//! `lehr-lab golden`: the bits of small fits of every kind, and what differs from those of another run.

use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lehr_lab::golden::{self, Case, Lehr, Mismatch, Transcript};

use crate::session::{Session, Voice};

/// Make small fits of every kind on one thread and on two, and write the bits of every number
///
/// A refactoring that changes no number leaves all lines as they are: write them to a file before it, and compare
/// after each step. Files of machines whose caches or vector instructions differ have other last bits.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr-lab golden -o target/golden.txt
  lehr-lab golden --against target/golden.txt
  lehr-lab golden --against target/golden.txt --only method/
  lehr-lab golden --list

Exit codes: 0 done, 1 a line differs, 2 could not run.")]
pub(crate) struct Golden {
    /// Where the lines go [default: stdout, or nowhere with --against]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the lines that differ from those of this file
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Only cases whose name contains this (may be repeated)
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// List the cases
    #[arg(long)]
    list: bool,
}

impl Golden {
    pub(crate) fn run(&self, session: &Session) -> Result<ExitCode> {
        let cases: Vec<Case> = golden::cases()
            .into_iter()
            .filter(|case| self.takes(&case.name))
            .collect();
        ensure!(
            !cases.is_empty(),
            "--only: no case is called so\n  hint: lehr-lab golden --list"
        );
        if self.list {
            for case in &cases {
                println!("{}", case.name);
            }
            return Ok(ExitCode::SUCCESS);
        }
        let older = self
            .against
            .as_deref()
            .map(|path| self.older(path))
            .transpose()?;
        let (newer, parted) = run_all(&cases, session.voice)?;
        self.write(&newer)?;
        let mut differing = parted;
        for one in &differing {
            eprintln!("on two threads, {one}");
        }
        for one in older
            .iter()
            .flat_map(|older| golden::mismatches(older, &newer))
        {
            println!("{one}");
            differing.push(one);
        }
        Ok(conclusion(&newer, &differing))
    }

    fn takes(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|text| name.contains(text))
    }

    /// The lines of a file, of the cases that are run.
    fn older(&self, path: &Path) -> Result<Transcript> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut older = Transcript::parse(&text).with_context(|| path.display().to_string())?;
        let (own, found) = (golden::instructions(), &older.instructions);
        ensure!(
            own == found,
            "{}: expected numbers made with {own}, found {found}\n  hint: LEHR_SIMD={found} asks for those",
            path.display(),
        );
        older
            .lines
            .retain(|line| self.takes(golden::case_of(&line.name)));
        Ok(older)
    }

    fn write(&self, newer: &Transcript) -> Result<()> {
        match (&self.output, &self.against) {
            (Some(path), _) => {
                fs::write(path, newer.to_string()).with_context(|| path.display().to_string())
            }
            (None, None) => {
                print!("{newer}");
                Ok(())
            }
            (None, Some(_)) => Ok(()),
        }
    }
}

/// Runs all cases. Returns the lines of one thread, and the differences on two.
fn run_all(cases: &[Case], voice: Voice) -> Result<(Transcript, Vec<Mismatch>)> {
    let lehr = Lehr {
        program: std::env::current_exe()?,
        before: vec![super::LEHR.into()],
    };
    let mut all = Transcript::new(golden::instructions());
    let mut parted = Vec::new();
    for (k, case) in cases.iter().enumerate() {
        let clock = Instant::now();
        let [one, two] = both(case, &lehr);
        let (one, two) = (one?, two?);
        if voice == Voice::Usual {
            let (seconds, lines) = (clock.elapsed().as_secs_f64(), one.lines.len());
            let (done, count, name) = (k + 1, cases.len(), &case.name);
            eprintln!("{done:3}/{count} {name}: {lines} lines, {seconds:.1} s");
        }
        parted.extend(golden::mismatches(&one, &two));
        all.extend(one)?;
    }
    Ok((all, parted))
}

/// Runs a case on one thread and, at the same time, on two.
fn both(case: &Case, lehr: &Lehr) -> [Result<Transcript>; 2] {
    thread::scope(|scope| {
        let runs = [1, 2].map(|threads| scope.spawn(move || case.run(lehr, threads)));
        runs.map(|run| run.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Prints on stderr how many lines differ.
fn conclusion(newer: &Transcript, differing: &[Mismatch]) -> ExitCode {
    let lines = newer.lines.len();
    if differing.is_empty() {
        eprintln!("{lines} lines, none differs");
        return ExitCode::SUCCESS;
    }
    let most = differing
        .iter()
        .filter_map(Mismatch::relative)
        .fold(0.0, f64::max);
    let count = differing.len();
    eprintln!("{lines} lines, {count} differ, shown numbers by at most {most:.1e} of their size");
    ExitCode::from(1)
}
