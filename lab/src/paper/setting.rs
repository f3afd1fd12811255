//! The extent of a run of the paper's protocol.

use std::path::PathBuf;

use crate::paper::dataset::{Dataset, Origin, PUBLISHED_ROWS};

/// Adam steps of every fit in the paper.
pub const PUBLISHED_ITERATIONS: u64 = 300_000;

/// The extent of a run of the paper's protocol, and the place for its results.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The origin of rows.
    pub origin: Origin,
    /// The folder of finished cells and pages.
    pub out: PathBuf,
    /// Adam steps of the paper's recipe; the paper's own number is [`PUBLISHED_ITERATIONS`].
    pub iterations: u64,
    /// The same for DAIS, whose steps read all rows K times.
    pub dais_iterations: u64,
    /// The most steps with our defaults.
    pub cap: u64,
    /// Fits of every cell, from different seeds.
    pub replications: u64,
    /// Fresh draws that a bound is estimated from.
    pub draws: usize,
    /// Draws that the log evidence is estimated from.
    pub evidence_draws: usize,
    /// The tables of rows to use, among those a table of the paper is about.
    pub datasets: Vec<Dataset>,
    /// The methods of the table logistic other than mean field; all if empty.
    pub methods: Vec<String>,
    /// N_surr in the table of surrogates.
    pub surrogate_rows: Vec<usize>,
    /// The most training rows.
    pub train_rows: usize,
    /// Seconds that each entry of the timing table is measured for.
    pub timing_seconds: f64,
    /// Largest number of leapfrog steps in the closed-form study.
    pub most_steps: usize,
    /// ν of the robust regression with a latent of each row.
    pub degrees: f64,
    /// Inducing points of Gaussian processes; the paper's if empty.
    pub points: Vec<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            origin: Origin::Folder("data".into()),
            out: "lehr-paper".into(),
            iterations: PUBLISHED_ITERATIONS,
            dais_iterations: PUBLISHED_ITERATIONS / 10,
            cap: 200_000,
            replications: 1,
            draws: 4096,
            evidence_draws: 16_384,
            datasets: Dataset::ALL.to_vec(),
            methods: Vec::new(),
            surrogate_rows: vec![64, 256, 1024],
            train_rows: PUBLISHED_ROWS,
            timing_seconds: 1.0,
            most_steps: 1 << 14,
            degrees: 4.0,
            points: Vec::new(),
        }
    }
}

impl Settings {
    /// A run of minutes on generated rows that shows the same shapes.
    pub fn quick() -> Settings {
        Settings {
            origin: Origin::StandIn { rows: 6000 },
            iterations: 6000,
            dais_iterations: 400,
            cap: 6000,
            draws: 512,
            evidence_draws: 2048,
            surrogate_rows: vec![64, 256],
            timing_seconds: 0.1,
            most_steps: 1 << 12,
            ..Settings::default()
        }
    }

    /// Adam steps of the paper's recipe for a method.
    pub fn iterations_of(&self, method: &str) -> u64 {
        match method {
            "dais" => self.dais_iterations,
            _ => self.iterations,
        }
    }

    /// Fits that so many entries take.
    pub(crate) fn fits(&self, entries: usize) -> usize {
        entries * usize::try_from(self.replications).unwrap_or(usize::MAX)
    }

    /// The selected tables of rows among these.
    pub fn wanted(&self, among: &[Dataset]) -> Vec<Dataset> {
        let mut wanted = among.to_vec();
        wanted.retain(|dataset| self.datasets.contains(dataset));
        wanted
    }
}
