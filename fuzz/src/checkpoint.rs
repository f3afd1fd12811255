//! Bytes as a checkpoint.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use lehr::infer::run::{Checkpoint, ExistingCheckpoint};
use lehr::prelude::{Fit, FitError, MeanField, Model, Normal, Posterior};

use crate::{example_table, sealed};

/// Fits a small model and resumes a checkpoint, if there is one.
fn fit(checkpoint: &Path) -> Result<Posterior, FitError> {
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let mean = row.number("x") * slope;
            row.observe("y", Normal::new(mean, 1.0));
        });
    });
    let density = model.bind(&example_table()).expect("a model of the table");
    let checkpoint = Checkpoint {
        path: checkpoint.to_owned(),
        every: Duration::from_secs(3600),
        older: ExistingCheckpoint::Resume,
    };
    let fit = Fit::new(MeanField::default())
        .seed(1)
        .draws(50)
        .unexamined();
    fit.checkpoint(checkpoint).run(&density)
}

fn example_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder for scratch files");
        let path = folder.path().join("fit.checkpoint");
        fit(&path).expect("a fit");
        fs::read(&path).expect("the file that was written")
    })
}

/// The content of a checkpoint.
pub fn example_checkpoint() -> &'static [u8] {
    sealed::content(example_file())
}

/// Resumes a fit from bytes: as the whole file, and as the content of a file with a correct checksum.
///
/// # Panics
/// If the fit does.
pub fn check_checkpoint(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder for scratch files");
    let path = folder.path().join("fit.checkpoint");
    for file in [bytes.to_vec(), sealed::with_content(example_file(), bytes)] {
        fs::write(&path, file).expect("a file in it");
        if let Ok(posterior) = fit(&path) {
            assert_eq!(posterior.n_draws(), 50);
        }
    }
}
