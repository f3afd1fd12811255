//! `lehr-lab multilevel`: multilevel regressions by collapsing, beside lme4 on the same rows.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lehr_infer::fit::Fit;
use lehr_infer::method::Collapse;
use lehr_numeric::stream::Stream;
use lehr_regression::Groups;
use lehr_table::Table;
use lehr_workflow::{SavedFit, regress};

/// Times multilevel regressions by `collapse` on one thread, and by lme4 where Rscript has it
#[derive(Debug, Args)]
pub(crate) struct Multilevel {
    /// The directory of insteval.parquet and radon_all.parquet
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Groups of the generated table with slopes, five rows each, and of the large crossed one, ten rows each
    #[arg(long, default_value_t = 100_000)]
    groups: usize,
    /// Only problems whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Without lme4 and glmmTMB
    #[arg(long)]
    alone: bool,
    /// Beside glmmTMB, too
    #[arg(long)]
    both: bool,
}

/// A formula and its family, the origin of the table, and the arguments of lme4.
struct Problem {
    name: &'static str,
    formula: &'static str,
    family: &'static str,
    factors: &'static [&'static str],
    /// The call of lme4, without formula and table.
    peer: &'static str,
    /// The same for glmmTMB.
    second: &'static str,
    /// Whether the table is one of `--data`.
    reads_file: bool,
    table: fn(&Multilevel) -> Result<Table>,
}

const PROBLEMS: &[Problem] = &[
    Problem {
        name: "insteval",
        formula: "y ~ service + (1 | s) + (1 | d) + (1 | dept) + (1 | dept:service)",
        family: "gaussian",
        factors: &["s", "d", "dept", "service"],
        peer: "lmer(F, t, REML = TRUE)",
        second: "glmmTMB(F, t, REML = TRUE)",
        reads_file: true,
        table: |of| of.file("insteval.parquet"),
    },
    Problem {
        name: "radon",
        formula: "y ~ floor_measure + (1 + floor_measure | county_idx)",
        family: "gaussian",
        factors: &["county_idx"],
        peer: "lmer(F, t, REML = TRUE)",
        second: "glmmTMB(F, t, REML = TRUE)",
        reads_file: true,
        table: |of| of.file("radon_all.parquet"),
    },
    Problem {
        name: "small groups",
        formula: "y ~ x + w + (1 | g)",
        family: "bernoulli",
        factors: &["g"],
        peer: "glmer(F, t, family = binomial, nAGQ = 9)",
        second: "glmmTMB(F, t, family = binomial)",
        reads_file: false,
        table: |_| binary(5000, 1, 20_000),
    },
    Problem {
        name: "crossed",
        formula: "y ~ x + (1 | g) + (1 | h)",
        family: "bernoulli",
        factors: &["g", "h"],
        peer: "glmer(F, t, family = binomial)",
        second: "glmmTMB(F, t, family = binomial)",
        reads_file: false,
        table: |_| binary(2000, 1000, 8000),
    },
    Problem {
        name: "insteval, binary",
        formula: "z ~ service + (1 | s) + (1 | d)",
        family: "bernoulli",
        factors: &["s", "d", "service"],
        peer: "glmer(F, t, family = binomial)",
        second: "glmmTMB(F, t, family = binomial)",
        reads_file: true,
        table: |of| {
            let table = of.file("insteval.parquet")?;
            let good = table
                .number("y")?
                .iter()
                .map(|y| f64::from(u8::from(*y >= 4.0)));
            let good = good.collect();
            Ok(table.with_number("z", good)?)
        },
    },
    Problem {
        name: "many groups",
        formula: "y ~ x + (1 + x | g)",
        family: "gaussian",
        factors: &["g"],
        peer: "lmer(F, t, REML = TRUE)",
        second: "glmmTMB(F, t, REML = TRUE)",
        reads_file: false,
        table: |of| slopes(of.groups),
    },
    Problem {
        name: "large crossed",
        formula: "y ~ x + (1 | g) + (1 | h)",
        family: "gaussian",
        factors: &["g", "h"],
        peer: "lmer(F, t, REML = TRUE)",
        second: "glmmTMB(F, t, REML = TRUE)",
        reads_file: false,
        table: |of| crossed(of.groups, of.groups / 10, 10 * of.groups),
    },
];

impl Multilevel {
    /// Prints processor seconds of both, and the standard deviations.
    pub(crate) fn run(&self) -> Result<()> {
        let wanted = |problem: &&Problem| {
            let named = self
                .only
                .as_ref()
                .is_none_or(|only| problem.name.contains(only));
            named && (self.data.is_some() || !problem.reads_file)
        };
        for problem in PROBLEMS.iter().filter(wanted) {
            let table = (problem.table)(self)?;
            println!("{}: {}, {}", problem.name, problem.formula, problem.family);
            let (clock, before) = (Instant::now(), processor_seconds());
            let fit = regress(problem.formula, &table)?
                .family(problem.family)?
                .with(Fit::new(Collapse::default()).threads(1))
                .fit()?;
            let (wall, processor) = (clock.elapsed(), processor_seconds() - before);
            let wall = wall.as_secs_f64();
            println!(
                "  lehr  {processor:8.2} s ({wall:.2} s passed)  {}",
                spreads(&fit)
            );
            println!("        {}", fit.posterior.verdict());
            println!("        at most {:.2} GB in memory", most_memory());
            for (what, how) in &fit.posterior.choices {
                println!("        {what}: {how}");
            }
            if !self.alone {
                println!("  lme4  {}", problem.by_peer(Peer::Lme4, &table)?);
            }
            if self.both {
                println!("  glmmTMB {}", problem.by_peer(Peer::GlmmTmb, &table)?);
            }
        }
        Ok(())
    }

    fn file(&self, name: &str) -> Result<Table> {
        let folder = self
            .data
            .as_ref()
            .context("--data says where the tables are")?;
        Ok(Table::read(folder.join(name))?)
    }
}

/// Processor seconds of this process so far; 0 if the system does not report them.
fn processor_seconds() -> f64 {
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(')').next().unwrap_or_default();
    let fields = after.split_whitespace().skip(11).take(2);
    fields
        .filter_map(|field| field.parse::<f64>().ok())
        .sum::<f64>()
        / TICKS
}

/// Peak memory of this process so far, in gigabytes; 0 if the system does not report it.
fn most_memory() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1e6
}

/// The posterior means and deviations of coefficients, standard deviations and correlations.
fn spreads(fit: &SavedFit) -> String {
    let found = fit.coefficients(Groups::Leave).into_iter();
    let words = found.map(|one| {
        let best = one.best_summary();
        format!("{} {:.4} ± {:.4}", one.name, best.mean, best.sd)
    });
    words.collect::<Vec<String>>().join(", ")
}

fn level_names(count: usize) -> Vec<String> {
    (0..count).map(|level| level.to_string()).collect()
}

/// Groups of five rows with correlated intercepts and slopes of spreads 0.7 and 0.4.
fn slopes(groups: usize) -> Result<Table> {
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
    let codes = (0..rows).map(|n| (n / 5) as u32).collect();
    let table = Table::new().with_number("y", y)?.with_number("x", x)?;
    Ok(table.with_category("g", codes, level_names(groups))?)
}

/// Rows of groups with spread 0.7, crossed at random with others of spread 0.5; noise 1.
fn crossed(groups: usize, others: usize, rows: usize) -> Result<Table> {
    let mut stream = Stream::new(23, "crossed", 0);
    let codes = |stream: &mut Stream, count: usize| -> Vec<u32> {
        let code = |_| stream.below(count as u64) as u32;
        (0..rows).map(code).collect()
    };
    let (first, second) = (codes(&mut stream, groups), codes(&mut stream, others));
    let mut normals = |count: usize| {
        let mut values = vec![0.0; count];
        stream.fill_normal(&mut values);
        values
    };
    let (x, noise, own, other) = (
        normals(rows),
        normals(rows),
        normals(groups),
        normals(others),
    );
    let y = (0..rows).map(|n| {
        let effects = 0.7 * own[first[n] as usize] + 0.5 * other[second[n] as usize];
        1.0 + 0.5 * x[n] + effects + noise[n]
    });
    let y = y.collect();
    let table = Table::new().with_number("y", y)?.with_number("x", x)?;
    let table = table.with_category("g", first, level_names(groups))?;
    Ok(table.with_category("h", second, level_names(others))?)
}

/// Binary rows of groups with spread 1, crossed with others of spread 0.75 if there are several.
fn binary(groups: usize, others: usize, rows: usize) -> Result<Table> {
    let mut stream = Stream::new(19, "binary", 0);
    let mut normals = |count: usize| {
        let mut values = vec![0.0; count];
        stream.fill_normal(&mut values);
        values
    };
    let (x, w) = (normals(rows), normals(rows));
    let (own, other) = (normals(groups), normals(others));
    // At random, because a regular pattern would cause almost no fill-in of a sparse factor.
    let mut meeting = Stream::new(21, "binary", 0);
    let second: Vec<u32> = (0..rows)
        .map(|_| meeting.below(others as u64) as u32)
        .collect();
    let spread = if others > 1 { 0.75 } else { 0.0 };
    let mut chance = Stream::new(20, "binary", 0);
    let y = (0..rows).map(|n| {
        let eta =
            -0.5 + 0.7 * x[n] - 0.3 * w[n] + own[n % groups] + spread * other[second[n] as usize];
        f64::from(u8::from(chance.uniform() < 1.0 / (1.0 + (-eta).exp())))
    });
    let y = y.collect();
    let first = (0..rows).map(|n| (n % groups) as u32).collect();
    let table = Table::new().with_number("y", y)?.with_number("x", x)?;
    let table = table.with_number("w", w)?;
    let table = table.with_category("g", first, level_names(groups))?;
    Ok(table.with_category("h", second, level_names(others))?)
}

/// A package of R.
#[derive(Clone, Copy)]
enum Peer {
    Lme4,
    GlmmTmb,
}

impl Peer {
    fn name(self) -> &'static str {
        match self {
            Peer::Lme4 => "lme4",
            Peer::GlmmTmb => "glmmTMB",
        }
    }

    /// The R code that prints the standard deviations and the coefficients of a fit `m`.
    fn shows(self) -> &'static str {
        match self {
            Peer::Lme4 => {
                "v <- as.data.whitening(VarCorr(m)); b <- fixef(m); e <- sqrt(diag(as.matrix(vcov(m))))\n\
                 v <- paste(v$grp, v$var1, v$var2, round(v$sdcor, 4), collapse = ', ')\n"
            }
            Peer::GlmmTmb => {
                "b <- fixef(m)$cond; e <- sqrt(diag(vcov(m)$cond)); v <- VarCorr(m)$cond\n\
                 v <- paste(names(v), lapply(v, function(g) toString(round(attr(g, 'stddev'), 4))), collapse = ', ')\n"
            }
        }
    }
}

impl Problem {
    /// The time of a package of R for its point estimate, and its results.
    fn by_peer(&self, peer: Peer, table: &Table) -> Result<String> {
        let folder = std::env::temp_dir().join(format!("lehr-multilevel-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let found = self.in_folder(peer, table, &folder);
        std::fs::remove_dir_all(&folder)?;
        found
    }

    fn in_folder(&self, peer: Peer, table: &Table, folder: &Path) -> Result<String> {
        let path = folder.join("table.csv");
        table.write(&path)?;
        let factors = self
            .factors
            .iter()
            .map(|name| format!("t${name} <- factor(t${name})\n"));
        let script = format!(
            "suppressMessages(library({})); t <- read.csv('{}')\n{}F <- {}\n\
             s <- system.time(m <- {})\n{}\
             cat(sprintf('%8.2f s (%.2f s passed)  %s; %s\\n', s[['user.self']] + s[['sys.self']], s[['elapsed']], \
             v, paste(names(b), round(b, 4), '±', round(e, 4), collapse = ', ')))\n",
            peer.name(),
            path.display(),
            factors.collect::<String>(),
            self.formula,
            match peer {
                Peer::Lme4 => self.peer,
                Peer::GlmmTmb => self.second,
            },
            peer.shows(),
        );
        let output = Command::new("Rscript").args(["-e", &script]).output();
        let output = output.context("Rscript cannot be run: use --alone")?;
        let said = String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned();
        let problem = String::from_utf8_lossy(&output.stderr);
        ensure!(!said.is_empty(), "{} failed: {problem}", peer.name());
        Ok(said)
    }
}
