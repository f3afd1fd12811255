//! `lehr-lab multilevel`: multilevel regressions by collapsing, beside lme4 on the same rows.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lehr_infer::fit::Fit;
use lehr_infer::method::Collapse;
use lehr_numeric::stream::Stream;
use lehr_regression::{Groups, SavedFit, regress};
use lehr_table::{Table, write_csv};

/// Times multilevel regressions by `collapse`, and by lme4 where Rscript has it
#[derive(Debug, Args)]
pub(crate) struct Multilevel {
    /// The directory of insteval.parquet and radon_all.parquet
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Groups of the generated table, five rows each
    #[arg(long, default_value_t = 100_000)]
    groups: usize,
    /// Without lme4
    #[arg(long)]
    alone: bool,
}

/// A formula, its table, and the columns that are levels.
struct Problem {
    name: &'static str,
    formula: &'static str,
    table: Table,
    factors: &'static [&'static str],
}

const INSTEVAL: &str = "y ~ service + (1 | s) + (1 | d) + (1 | dept) + (1 | dept:service)";
const RADON: &str = "y ~ floor_measure + (1 + floor_measure | county_idx)";
const GENERATED: &str = "y ~ x + (1 + x | g)";

impl Multilevel {
    /// Prints seconds of both, and the spreads.
    pub(crate) fn run(&self) -> Result<()> {
        for problem in self.problems()? {
            let clock = Instant::now();
            let fit = regress(problem.formula, &problem.table)?
                .family("gaussian")?
                .with(Fit::new(Collapse::default()))
                .fit()?;
            let seconds = clock.elapsed().as_secs_f64();
            println!("{}: {}", problem.name, problem.formula);
            println!("  lehr  {seconds:9.3} s  {}", spreads(&fit));
            println!("        {}", fit.posterior.verdict());
            if !self.alone {
                println!("  lme4  {}", problem.by_lme4()?);
            }
        }
        Ok(())
    }

    fn problems(&self) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        if let Some(data) = &self.data {
            problems.push(Problem {
                name: "insteval",
                formula: INSTEVAL,
                table: Table::read(data.join("insteval.parquet"))?,
                factors: &["s", "d", "dept", "service"],
            });
            problems.push(Problem {
                name: "radon",
                formula: RADON,
                table: Table::read(data.join("radon_all.parquet"))?,
                factors: &["county_idx"],
            });
        }
        problems.push(Problem {
            name: "generated",
            formula: GENERATED,
            table: generated(self.groups)?,
            factors: &["g"],
        });
        Ok(problems)
    }
}

/// The posterior means and deviations of spreads, correlations and noise.
fn spreads(fit: &SavedFit) -> String {
    let is_spread =
        |name: &str| name.starts_with("sd(") || name.starts_with("cor(") || name == "sigma";
    let found = fit.coefficients(Groups::Leave).into_iter();
    let words = found.filter(|one| is_spread(&one.name)).map(|one| {
        let best = one.best();
        format!("{} {:.4} ± {:.4}", one.name, best.mean, best.sd)
    });
    words.collect::<Vec<String>>().join(", ")
}

/// Groups of five rows with correlated intercepts and slopes of spreads 0.7 and 0.4.
fn generated(groups: usize) -> Result<Table> {
    let mut stream = Stream::new(17, "multilevel", 0);
    let rows = 5 * groups;
    let (mut x, mut noise) = (vec![0.0; rows], vec![0.0; rows]);
    let mut effects = vec![0.0; 2 * groups];
    stream.fill_normal(&mut x);
    stream.fill_normal(&mut noise);
    stream.fill_normal(&mut effects);
    let y = (0..rows).map(|n| {
        let own = &effects[2 * (n / 5)..][..2];
        let slope = 0.5 + 0.4 * (0.3 * own[0] + 0.91_f64.sqrt() * own[1]);
        1.0 + 0.7 * own[0] + slope * x[n] + noise[n]
    });
    let y = y.collect();
    let levels = (0..groups).map(|group| group.to_string()).collect();
    let codes = (0..rows).map(|n| (n / 5) as u32).collect();
    let table = Table::new().with_number("y", y)?.with_number("x", x)?;
    Ok(table.with_category("g", codes, levels)?)
}

impl Problem {
    /// What lme4 takes for its point estimate, and what it finds.
    fn by_lme4(&self) -> Result<String> {
        let folder = std::env::temp_dir().join(format!("lehr-multilevel-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let found = self.in_folder(&folder);
        std::fs::remove_dir_all(&folder)?;
        found
    }

    fn in_folder(&self, folder: &Path) -> Result<String> {
        let path = folder.join("table.csv");
        write_csv(&path, &self.table)?;
        let factors = self
            .factors
            .iter()
            .map(|name| format!("t${name} <- factor(t${name})\n"));
        let script = format!(
            "suppressMessages(library(lme4)); t <- read.csv('{}')\n{}\
             s <- system.time(m <- lmer({}, t, REML = TRUE))\n\
             v <- as.data.frame(VarCorr(m))\n\
             cat(sprintf('%9.3f s  %s\\n', s[['elapsed']], paste(v$grp, v$var1, v$var2, round(v$sdcor, 4), collapse = ', ')))\n",
            path.display(),
            factors.collect::<String>(),
            self.formula,
        );
        let output = Command::new("Rscript").args(["-e", &script]).output();
        let output = output.context("Rscript cannot be run: use --alone")?;
        let said = String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned();
        let problem = String::from_utf8_lossy(&output.stderr);
        ensure!(!said.is_empty(), "lme4 failed: {problem}");
        Ok(said)
    }
}
