//! `lehr-lab verdict`: how often a verdict is true, over many posteriors and seeds.

use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lehr_lab::verdict::{Fact, Fitted, Problem, Row, facts, fit, generated, mark, problems};
use rayon::prelude::*;
use serde::Serialize;

use crate::session::Session;

/// Count how often a verdict is true, over many posteriors and seeds
///
/// The truth is that of long chains, of a grid or in closed form. A fit is wrong if a mean is off by
/// more than 0.2 standard deviations or a standard deviation by more than 10 %, and right if all are
/// within 0.1 and 5 %.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr-lab verdict --seeds 20
  lehr-lab verdict --method full-rank --only funnel --seeds 5
  lehr-lab verdict --generated 50 --generator 3 --seeds 5 --misjudged")]
pub(crate) struct Verdict {
    /// The methods (see lehr methods)
    #[arg(long, value_delimiter = ',', default_value = "sl-dais")]
    method: Vec<String>,
    /// Fits of every posterior, from different seeds
    #[arg(long, value_name = "N", default_value_t = 20)]
    seeds: u64,
    /// Only posteriors whose name or kind contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// So many posteriors that are drawn from a seed, in place of the chosen ones
    #[arg(long, value_name = "N", default_value_t = 0)]
    generated: usize,
    /// The seed that they are drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    generator: u64,
    /// The folder in which what is true of each posterior, and every fit, is kept from run to run
    #[arg(long, value_name = "DIR", default_value = "lehr-verdict")]
    out: PathBuf,
    /// Fit again what was fitted by an older build
    #[arg(long)]
    again: bool,
    /// Print every fit that the verdict misjudges
    #[arg(long)]
    misjudged: bool,
}

#[derive(Serialize)]
struct Study {
    rows: Vec<Row>,
}

impl Verdict {
    pub(crate) fn run(&self, session: &Session) -> Result<()> {
        let only = self.only.as_deref().unwrap_or("");
        let mut chosen = match self.generated {
            0 => problems(),
            count => generated(self.generator, count),
        };
        chosen.retain(|one| one.name.contains(only) || one.kind.contains(only));
        ensure!(
            !chosen.is_empty(),
            "--only: no posterior is called {only:?}"
        );
        std::fs::create_dir_all(&self.out)?;
        let rows = chosen
            .par_iter()
            .flat_map_iter(|problem| self.rows(problem));
        let rows: Vec<Row> = rows.collect();
        let study = Study { rows };
        session.answer(&study, |_| self.text(&study))
    }

    /// The rows of one posterior, one per method.
    fn rows(&self, problem: &Problem) -> Vec<Row> {
        let clock = Instant::now();
        let facts = match self.facts(problem) {
            Ok(facts) => facts,
            // One failed posterior must not stop the others.
            Err(error) => {
                eprintln!("left out: {error}");
                return Vec::new();
            }
        };
        let truth = clock.elapsed().as_secs_f64();
        let each = self.method.iter().filter_map(|method| {
            let clock = Instant::now();
            let row = self.row(problem, &facts, method);
            let row = row.inspect_err(|error| eprintln!("{}: {error}", problem.name));
            let (row, each) = (row.ok()?, clock.elapsed().as_secs_f64() / self.seeds as f64);
            eprintln!(
                "{truth:.1} s for the truth, {each:.2} s a fit {}",
                line(&row).trim()
            );
            Some(row)
        });
        each.collect()
    }

    /// The fits of one posterior by one method: the stored ones, and the others made now.
    fn row(&self, problem: &Problem, facts: &[Fact], method: &str) -> Result<Row> {
        let path = self.place(problem, &format!("{method}.jsonl"));
        if self.again {
            // A missing file need not be removed.
            let _ = std::fs::remove_file(&path);
        }
        let mut fits = kept(&path)?;
        for seed in 1..=self.seeds {
            if fits.iter().all(|one| one.seed != seed) {
                let fitted = fit(problem, facts, method, seed);
                let mut file = std::fs::File::options()
                    .create(true)
                    .append(true)
                    .open(&path)?;
                writeln!(file, "{}", serde_json::to_string(&fitted)?)?;
                fits.push(fitted);
            }
        }
        fits.retain(|one| one.seed <= self.seeds);
        Ok(Row {
            problem: problem.name.clone(),
            kind: problem.kind.into(),
            method: method.into(),
            fits,
        })
    }

    /// The path of a stored result of a posterior.
    fn place(&self, problem: &Problem, what: &str) -> PathBuf {
        // Another model or other rows under the same name have another density.
        let mark = mark(problem).to_bits();
        self.out
            .join(format!("{}-{mark:016x}-{what}", problem.name))
    }

    /// The true values of a posterior, as stored earlier or computed now.
    fn facts(&self, problem: &Problem) -> Result<Vec<Fact>> {
        let path = self.place(problem, "truth.json");
        if let Ok(kept) = std::fs::read(&path) {
            return serde_json::from_slice(&kept).with_context(|| path.display().to_string());
        }
        let facts = facts(problem)?;
        std::fs::write(&path, serde_json::to_vec(&facts)?)?;
        Ok(facts)
    }

    fn text(&self, study: &Study) -> String {
        let mut out = String::from(
            "| posterior | kind | method | reliable | corrected | look again | do not trust | \
             error | falsely trusted | falsely alarmed |\n\
             |---|---|---|---|---|---|---|---|---|---|\n",
        );
        for row in &study.rows {
            out += &line(row);
        }
        let all = || study.rows.iter().flat_map(|row| &row.fits);
        let trusted = all().filter(|fit| fit.is_trusted()).count();
        let falsely = all()
            .filter(|fit| fit.is_trusted() && fit.is_wrong())
            .count();
        let right = all().filter(|fit| fit.is_right()).count();
        let alarmed = all()
            .filter(|fit| fit.is_right() && !fit.is_trusted())
            .count();
        let fits = all().count();
        let _ = writeln!(
            out,
            "\n\
             {fits} fits: {falsely} of {trusted} trusted ones are wrong, {alarmed} of {right} \
             right ones are not trusted"
        );
        if self.misjudged {
            for row in &study.rows {
                out += &misjudged(row);
            }
        }
        out
    }
}

/// The fits in a file, one per line.
fn kept(path: &Path) -> Result<Vec<Fitted>> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Ok(Vec::new());
    };
    let fits = text.lines().map(serde_json::from_str);
    let fits: Result<Vec<Fitted>, _> = fits.collect();
    fits.with_context(|| path.display().to_string())
}

fn line(row: &Row) -> String {
    use lehr_infer::judge::Level::{Corrected, Doubtful, Reliable, Untrusted};
    let counts = [
        Some(Reliable),
        Some(Corrected),
        Some(Doubtful),
        Some(Untrusted),
        None,
    ];
    let counts = counts.map(|level| row.count(|fit| fit.level == level).to_string());
    let (problem, kind, method) = (&row.problem, &row.kind, &row.method);
    let falsely = row.count(|fit| fit.is_trusted() && fit.is_wrong());
    let alarmed = row.count(|fit| fit.is_right() && !fit.is_trusted());
    let counts = counts.join(" | ");
    format!("| {problem} | {kind} | {method} | {counts} | {falsely} | {alarmed} |\n")
}

fn misjudged(row: &Row) -> String {
    let bad = row.fits.iter().filter(|fit| {
        (fit.is_trusted() && fit.is_wrong()) || (fit.is_right() && !fit.is_trusted())
    });
    let each = bad.map(|fit| {
        format!(
            "{} {} seed {}: {:.2} sd, ln ratio {:.2} ({}): {}\n",
            row.problem, row.method, fit.seed, fit.shift, fit.log_ratio, fit.worst, fit.verdict
        )
    });
    each.collect()
}
