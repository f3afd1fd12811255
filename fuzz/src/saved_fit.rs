//! Bytes as a saved fit.

use std::fs;
use std::sync::OnceLock;

use lehr::prelude::{Fit, MeanField, SavedFit, regress};

use crate::{example_table, sealed};

fn example_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let table = example_table();
        let fit = Fit::new(MeanField::default()).seed(1).draws(50);
        let saved = regress("y ~ x + (1 | g)", &table).and_then(|one| one.family("gaussian"));
        let saved = saved.expect("a formula of the table").with(fit).fit();
        let folder = tempfile::tempdir().expect("a folder for scratch files");
        let path = folder.path().join("fit.lehr");
        saved.and_then(|saved| saved.save(&path)).expect("a fit");
        fs::read(&path).expect("the file that was written")
    })
}

/// The content of a saved fit.
pub fn example_fit() -> &'static [u8] {
    sealed::content(example_file())
}

/// Loads bytes as a saved fit: as the whole file, and as the content of a file with a correct checksum.
///
/// # Panics
/// If the loader does.
pub fn check_saved_fit(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder for scratch files");
    let path = folder.path().join("fit.lehr");
    for file in [bytes.to_vec(), sealed::with_content(example_file(), bytes)] {
        fs::write(&path, file).expect("a file in it");
        if let Ok(saved) = SavedFit::load(&path) {
            saved.save(&path).expect("what was loaded can be saved");
        }
    }
}
