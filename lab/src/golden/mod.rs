//! Small fits of every kind and the bits of every number in their results, so that a refactoring
//! can be shown to change none of them.

mod answer;
mod checkpoint;
mod difference;
mod family;
mod formula;
mod function;
mod json;
mod method;
mod restored;
mod shell;
mod storage;
mod table;
mod transcript;
mod workers;

pub use difference::{Mismatch, MismatchKind, mismatches};
pub use shell::{Lehr, Shell};
pub use transcript::{Recorded, Transcript};

use anyhow::{Context, Result};

/// Stack of each thread, since deep models are walked recursively.
const STACK_BYTES: usize = 16 << 20;

/// A test case whose numbers are recorded.
pub struct Case {
    /// The area and the feature: `formula/nested groups`.
    pub name: String,
    work: Work,
}

/// The work of a case.
enum Work {
    /// Runs lines of the command.
    Lines(Vec<String>),
    /// Uses the Rust interface for work that no command does, and runs commands on its files.
    Program(fn(&mut Shell) -> Result<()>),
}

impl Case {
    fn lines(name: String, lines: Vec<String>) -> Case {
        let work = Work::Lines(lines);
        Case { name, work }
    }

    fn program(name: &str, work: fn(&mut Shell) -> Result<()>) -> Case {
        Case {
            name: name.to_owned(),
            work: Work::Program(work),
        }
    }

    /// Runs the case on this many threads and returns its transcript.
    ///
    /// # Errors
    /// If the case cannot be run. A fit that the command refuses is recorded as such.
    pub fn run(&self, lehr: &Lehr, threads: usize) -> Result<Transcript> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(STACK_BYTES)
            .build()?;
        let mut shell = Shell::new(lehr, &self.name, threads)?;
        let done = match &self.work {
            Work::Lines(lines) => shell.run_all(lines),
            Work::Program(work) => pool.install(|| work(&mut shell)),
        };
        done.with_context(|| self.name.clone())?;
        Ok(shell.transcript)
    }
}

/// All cases, area by area.
pub fn cases() -> Vec<Case> {
    let areas = [
        method::cases(),
        family::cases(),
        formula::cases(),
        storage::cases(),
        workers::cases(),
        function::cases(),
        answer::cases(),
        checkpoint::cases(),
        restored::cases(),
    ];
    areas.into_iter().flatten().collect()
}

/// The case that a line belongs to: the first two parts of its name.
pub fn case_of(line: &str) -> &str {
    let mut ends = line.match_indices('/').map(|(at, _)| at);
    &line[..ends.nth(1).unwrap_or(line.len())]
}

/// The vector instructions of this process and of those that it starts.
pub fn instructions() -> &'static str {
    lehr::graph::SimdLevel::of_process().name()
}

/// The line of a fit, and the lines that record its draws.
fn fitted(fit: &str) -> Vec<String> {
    vec![
        format!("fit {fit} -o fit.lehr"),
        "draws fit.lehr -o draws.csv --raw".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn cases_have_names_of_their_own_none_of_which_begins_another() {
        let cases = cases();
        let names: HashSet<&str> = cases.iter().map(|case| &*case.name).collect();
        assert_eq!(names.len(), cases.len());
        for name in &names {
            let within = format!("{name}/");
            assert!(
                !names.iter().any(|other| other.starts_with(&within)),
                "{name}"
            );
            assert!(!name.contains("  "), "{name}");
        }
    }

    #[test]
    fn every_method_is_among_the_cases() {
        let cases = cases();
        for method in lehr::METHODS {
            let name = format!("method/{}", method.name);
            assert!(cases.iter().any(|case| case.name == name), "{name}");
        }
    }
}
