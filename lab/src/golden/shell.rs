//! Runs lines of the command `lehr` in a scratch folder and records their output.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::json::{record, record_csv};
use super::table;
use super::transcript::Transcript;

/// The way to start the command `lehr`.
#[derive(Clone, Debug)]
pub struct Lehr {
    /// The program.
    pub program: PathBuf,
    /// The arguments before the command's own.
    pub before: Vec<OsString>,
}

/// A scratch folder in which lines are run, and the transcript of their output.
pub struct Shell {
    /// The results recorded so far.
    pub transcript: Transcript,
    lehr: Lehr,
    case: String,
    threads: usize,
    folder: TempDir,
    /// How often each command was run.
    runs: BTreeMap<String, usize>,
}

impl Shell {
    /// An empty folder for a case.
    ///
    /// # Errors
    /// If the system refuses a folder.
    pub fn new(lehr: &Lehr, case: &str, threads: usize) -> Result<Shell> {
        Ok(Shell {
            transcript: Transcript::default(),
            lehr: lehr.clone(),
            case: case.to_owned(),
            threads,
            folder: tempfile::tempdir().context("a folder for temporary files")?,
            runs: BTreeMap::new(),
        })
    }

    /// A file of the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The name of a quantity of this case.
    pub fn name(&self, quantity: &str) -> String {
        format!("{}/{quantity}", self.case)
    }

    /// Runs a line as it is typed after `lehr`, such as `fit 'y ~ x' plain.csv -o fit.lehr`, and
    /// records its output: its JSON, and the columns of a CSV file that it writes. Tables are
    /// created when they are first named.
    ///
    /// # Errors
    /// If the line cannot be run. A mistake that the command refuses is recorded.
    pub fn run(&mut self, line: &str) -> Result<()> {
        let words = split(line)?;
        let name = self.step(&words[0]);
        for word in &words {
            table::write(self.folder.path(), word)?;
        }
        let output = self.output(&words).with_context(|| line.to_owned())?;
        let code = output
            .status
            .code()
            .with_context(|| format!("{line}: killed"))?;
        self.transcript
            .number(&format!("{name}.exit"), f64::from(code));
        if code == 2 {
            let words = String::from_utf8_lossy(&output.stderr);
            self.transcript
                .text(&format!("{name}.error"), words.trim_end());
            return Ok(());
        }
        ensure!(
            code < 2,
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let value: Value =
            serde_json::from_slice(&output.stdout).with_context(|| format!("{line}: no JSON"))?;
        record(&mut self.transcript, &name, &value);
        self.record_written(&name, &words)
    }

    /// Runs a line after another.
    ///
    /// # Errors
    /// If one of them cannot be run.
    pub fn run_all(&mut self, lines: &[String]) -> Result<()> {
        lines.iter().try_for_each(|line| self.run(line))
    }

    /// The name of the quantities of the next run of this command.
    fn step(&mut self, command: &str) -> String {
        let runs = self.runs.entry(command.to_owned()).or_default();
        *runs += 1;
        match *runs {
            1 => self.name(command),
            nth => self.name(&format!("{command}{nth}")),
        }
    }

    fn output(&self, words: &[String]) -> Result<Output> {
        let output = Command::new(&self.lehr.program)
            .args(&self.lehr.before)
            .args(words)
            .args(["--json", "--quiet", "--threads", &self.threads.to_string()])
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .env_remove("COLUMNS")
            .output();
        Ok(output?)
    }

    /// Records the columns of a CSV file among the words behind `-o`.
    fn record_written(&mut self, name: &str, words: &[String]) -> Result<()> {
        let outputs = words.windows(2).filter(|pair| pair[0] == "-o");
        let files: BTreeSet<&str> = outputs.map(|pair| &*pair[1]).collect();
        for file in files.into_iter().filter(|file| is_csv(file)) {
            let text = std::fs::read_to_string(self.path(file))?;
            record_csv(&mut self.transcript, &format!("{name}.{file}"), &text);
        }
        Ok(())
    }
}

fn is_csv(file: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|ending| ending == "csv")
}

/// The words of a line; those in single quotes may contain spaces.
fn split(line: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    for (k, part) in line.split('\'').enumerate() {
        if k % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    if line.matches('\'').count() % 2 == 1 || words.is_empty() {
        bail!("{line:?}: expected a command, and quotes in pairs");
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        let words = split("fit 'y ~ x + (1 | g)' plain.csv --prior 'x ~ normal(0, 1)'").unwrap();
        let expected = [
            "fit",
            "y ~ x + (1 | g)",
            "plain.csv",
            "--prior",
            "x ~ normal(0, 1)",
        ];
        assert_eq!(words, expected);
        assert!(split("fit 'y ~ x").is_err() && split(" ").is_err());
    }
}
