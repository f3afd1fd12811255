//! `lehr-lab paper`: the tables of the SL-DAIS paper, run again beside the published figures.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::builder::PossibleValuesParser;
use clap::{Args, builder::TypedValueParser};
use lehr_lab::paper::{Dataset, Origin, Settings, Table};

use crate::live::Live;
use crate::session::Session;

/// Run a table of the SL-DAIS paper again, the published figures beside ours
///
/// Finished fits are kept in the folder of --out: a second run resumes where the first stopped.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr-lab paper convergence --quick
  lehr-lab paper surrogates --data data --iterations 300000
  lehr-lab paper logistic --data data --datasets higgs,susy --json")]
pub(crate) struct Paper {
    /// surrogates (Tables 1, 6), imbalance (Figure 1), logistic (Figures 2, 5, Tables 2, 7),
    /// timing (Figures 3, 4), convergence (the closed-form study), local (Table 5), robust-gp (Table 3)
    /// or gp (Table 4)
    #[arg(value_parser = table_parser())]
    table: Table,
    /// The folder of higgs.parquet, susy.parquet, miniboone.parquet and covtype.parquet; for local of
    /// pol.parquet and elevators.parquet, for robust-gp of precip2010.parquet
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
    /// Generated stand-ins and few iterations: minutes, to see the shapes
    #[arg(long, conflicts_with = "data")]
    quick: bool,
    /// The folder of finished fits and pages
    #[arg(long, value_name = "DIR", default_value = "lehr-paper")]
    out: PathBuf,
    /// Adam steps of the paper's recipe [default: the paper's 300000; 6000 with --quick]
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// The same for DAIS, whose steps read all rows [default: a tenth]
    #[arg(long, value_name = "N")]
    dais_iterations: Option<u64>,
    /// Steps at the most with our defaults [default: 200000; 6000 with --quick]
    #[arg(long, value_name = "N")]
    cap: Option<u64>,
    /// Rows of the surrogates in the table of that name [default: 64,256,1024]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    surrogate_rows: Vec<usize>,
    /// Fits of every entry, from different seeds (the paper: 7 to 20)
    #[arg(long, value_name = "N", default_value_t = 1)]
    replications: u64,
    /// Fresh draws that a bound is estimated from [default: 4096; 512 with --quick]
    #[arg(long, value_name = "N")]
    draws: Option<usize>,
    /// Rows to train on at the most [default: the paper's 50000]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// The degrees of freedom of the robust regressions of the table local
    #[arg(long, value_name = "NU", default_value_t = 4.0)]
    nu: f64,
    /// Inducing points in the tables robust-gp and gp [default: the paper's 64,128,256 and 128]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    points: Vec<usize>,
    /// The tables of rows: higgs, susy, miniboone, covtype-fir, covtype-pine [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = dataset_parser())]
    datasets: Vec<Dataset>,
    /// The methods of the table logistic, beside mean field [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    methods: Vec<String>,
}

fn table_parser() -> impl TypedValueParser<Value = Table> {
    let names =
        Table::ALL.map(|(_, name, help)| clap::builder::PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).map(|name| name.parse().expect("one of the known names"))
}

fn dataset_parser() -> impl TypedValueParser<Value = Dataset> {
    let names = Dataset::ALL.map(Dataset::key);
    let find = |name: String| {
        let known = |dataset: &Dataset| dataset.key() == name;
        Dataset::ALL
            .into_iter()
            .find(known)
            .expect("one of the known names")
    };
    PossibleValuesParser::new(names).map(find)
}

impl Paper {
    pub(crate) fn run(&self, session: &Session) -> Result<()> {
        let settings = self.settings()?;
        let mut live = Live::new(session);
        let answer = self.table.run(&settings, &mut live)?;
        drop(live);
        session.answer(&answer, |style| answer.text(style))
    }

    fn settings(&self) -> Result<Settings> {
        let usual = if self.quick {
            Settings::quick()
        } else {
            Settings {
                origin: Origin::Folder(self.data.clone()),
                ..Settings::default()
            }
        };
        let iterations = self.iterations.unwrap_or(usual.iterations);
        let tenth = self.iterations.map(|iterations| iterations / 10);
        ensure!(
            iterations >= 100,
            "--iterations: expected at least 100, found {iterations}"
        );
        ensure!(
            self.replications > 0,
            "--replications: expected at least 1, found 0"
        );
        ensure!(
            !self.surrogate_rows.contains(&0),
            "--surrogate-rows: expected at least 1, found 0"
        );
        ensure!(
            self.points.iter().all(|&count| count >= 2),
            "--points: expected at least 2, found {:?}",
            self.points
        );
        let nu = self.nu;
        ensure!(
            nu > 0.0 && nu.is_finite(),
            "--nu: expected a positive number, found {nu}"
        );
        let rows = self.rows.unwrap_or(usual.train_rows);
        ensure!(rows >= 500, "--rows: expected at least 500, found {rows}");
        Ok(Settings {
            out: self.out.clone(),
            iterations,
            dais_iterations: self
                .dais_iterations
                .or(tenth)
                .unwrap_or(usual.dais_iterations),
            replications: self.replications,
            draws: self.draws.unwrap_or(usual.draws),
            train_rows: rows,
            degrees: nu,
            points: self.points.clone(),
            cap: self.cap.unwrap_or(usual.cap),
            surrogate_rows: if self.surrogate_rows.is_empty() {
                usual.surrogate_rows
            } else {
                self.surrogate_rows.clone()
            },
            datasets: if self.datasets.is_empty() {
                usual.datasets
            } else {
                self.datasets.clone()
            },
            methods: self.methods.clone(),
            ..usual
        })
    }
}
