//! Saved state that was truncated, changed, combined or invented: always an error message, never a
//! panic.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lehr_file::{FileError, load_value};
use lehr_infer::file::CHECKPOINT;
use lehr_infer::fit::{Fit, FitError};
use lehr_infer::posterior::Posterior;
use lehr_infer::run::{Checkpoint, ExistingCheckpoint};
use lehr_model::Bound;
use lehr_numeric::stream::Stream;

use crate::fixed;
use crate::linear::Linear;

/// Magic, version, kind, length and checksum.
const HEADER: usize = 32;

/// A folder with a posterior and its checkpoint.
struct Saved {
    folder: tempfile::TempDir,
    density: Bound,
    posterior: Vec<u8>,
    checkpoint: Vec<u8>,
}

impl Saved {
    fn new() -> Saved {
        let folder = tempfile::tempdir().unwrap();
        let density = Linear::new(20, 2, 1).bind();
        let path = folder.path().join("checkpoint");
        resume(&density, &path).unwrap();
        let target = folder.path().join("posterior");
        crate::run(fit(), &density).save(&target).unwrap();
        assert!(Posterior::load(&target).is_ok());
        Saved {
            posterior: std::fs::read(target).unwrap(),
            checkpoint: std::fs::read(path).unwrap(),
            folder,
            density,
        }
    }

    /// Writes bytes to a file.
    fn put(&self, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join("damaged");
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Bytes that are not a posterior are refused with a message.
    fn refused(&self, bytes: &[u8]) {
        in_words(&Posterior::load(&self.put(bytes)).unwrap_err());
    }
}

fn fit() -> Fit<'static> {
    fixed("sl-dais", 20).draws(25).set("start", "zero").unwrap()
}

/// A fit that resumes from a file, if there is one, and leaves its last state there.
fn resume(density: &Bound, path: &Path) -> Result<Posterior, FitError> {
    let checkpoint = Checkpoint {
        path: path.into(),
        every: Duration::ZERO,
        older: ExistingCheckpoint::Resume,
    };
    fit().checkpoint(checkpoint).run(density)
}

/// One line names the file, and one says what to do.
fn in_words(error: &FileError) {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].contains("damaged: expected "), "{text}");
    assert!(lines[1].starts_with("  hint: "), "{text}");
}

/// Whole numbers below a bound, the same on every machine.
struct Dice(Stream);

impl Dice {
    fn new() -> Dice {
        Dice(Stream::new(41, "damage", 0))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}

/// The bytes with the right length and checksum for the content after the header.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = (bytes.len() - HEADER) as u64;
    let sum = crc32fast::hash(&bytes[HEADER..]);
    bytes[20..28].copy_from_slice(&length.to_le_bytes());
    bytes[28..32].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn a_saved_posterior_cut_anywhere_is_refused() {
    let saved = Saved::new();
    let whole = &saved.posterior;
    for length in (0..whole.len()).step_by(1 + whole.len() / 3000) {
        saved.refused(&whole[..length]);
    }
    saved.refused(&[whole, &[0][..]].concat());
}

#[test]
fn any_flipped_bit_of_a_saved_posterior_is_noticed() {
    let saved = Saved::new();
    let mut dice = Dice::new();
    let flip = |at: usize, bit: usize| {
        let mut bytes = saved.posterior.clone();
        bytes[at] ^= 1 << bit;
        saved.refused(&bytes);
    };
    for at in 0..HEADER {
        (0..8).for_each(|bit| flip(at, bit));
    }
    for _ in 0..2000 {
        flip(dice.below(saved.posterior.len()), dice.below(8));
    }
}

#[test]
fn spliced_swapped_and_made_up_files_are_refused() {
    let saved = Saved::new();
    let mut dice = Dice::new();
    let whole = &saved.posterior;
    for _ in 0..1500 {
        let count = 1 + dice.below(40);
        let (at, foreign) = (dice.below(whole.len()), dice.bytes(count));
        let end = (at + dice.below(40)).min(whole.len());
        let spliced = [&whole[..at], &foreign[..], &whole[end..]].concat();
        if &spliced != whole {
            saved.refused(&spliced);
        }
        let count = dice.below(400);
        let noise = dice.bytes(count);
        saved.refused(&noise);
        saved.refused(&[&whole[..HEADER], &noise].concat());
        let magic = 8 + dice.below(HEADER - 8);
        saved.refused(&[&whole[..magic], &noise].concat());
    }
    let (head, body) = saved.checkpoint.split_at(HEADER);
    saved.refused(&saved.checkpoint);
    saved.refused(&[head, &whole[HEADER..]].concat());
    saved.refused(&[&whole[..HEADER], body].concat());
}

#[test]
fn a_length_beyond_the_file_takes_no_memory() {
    let saved = Saved::new();
    for length in [u64::MAX, u64::MAX - 1, 1 << 62, 1 << 45, 0, 1] {
        let mut bytes = saved.posterior.clone();
        bytes[20..28].copy_from_slice(&length.to_le_bytes());
        saved.refused(&bytes);
    }
    // Lengths within the content, with a valid checksum.
    for at in HEADER..saved.posterior.len().min(HEADER + 1500) {
        let huge = [&saved.posterior[..at], &[0xff; 9], &[1]].concat();
        let path = saved.put(&resealed(huge));
        in_words(&Posterior::load(&path).unwrap_err());
    }
}

#[test]
fn sealed_nonsense_is_read_or_refused_without_a_panic() {
    let saved = Saved::new();
    let mut dice = Dice::new();
    let mut refusals = 0;
    for _ in 0..2000 {
        let mut bytes = saved.posterior.clone();
        for _ in 0..=dice.below(4) {
            let at = HEADER + dice.below(bytes.len() - HEADER);
            bytes[at] = dice.below(256) as u8;
        }
        if dice.below(3) == 0 {
            bytes.truncate(HEADER + dice.below(bytes.len() - HEADER));
        }
        match Posterior::load(&saved.put(&resealed(bytes))) {
            Err(error) => {
                in_words(&error);
                refusals += 1;
            }
            // The stored method is parsed only when it is needed.
            Ok(posterior) => refusals += usize::from(posterior.sampler().is_err()),
        }
    }
    assert!(refusals > 300, "{refusals}");
}

#[test]
fn no_fit_goes_on_from_a_damaged_checkpoint() {
    let saved = Saved::new();
    let mut dice = Dice::new();
    let whole = &saved.checkpoint;
    for case in 0..1500 {
        let mut bytes = whole.clone();
        match case % 3 {
            0 => bytes.truncate(dice.below(whole.len())),
            1 => bytes[dice.below(whole.len())] ^= 1 << dice.below(8),
            _ => bytes = [&whole[..HEADER], &dice.bytes(90)].concat(),
        }
        let error = load_value::<()>(&saved.put(&bytes), CHECKPOINT).unwrap_err();
        in_words(&error);
        assert!(!error.to_string().contains("too many"), "{error}");
        if case % 30 < 3 {
            let error = resume(&saved.density, &saved.put(&bytes)).unwrap_err();
            let expected = "damaged: expected ";
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
    resume(&saved.density, &saved.put(whole)).unwrap();
    let error = resume(&saved.density, &saved.put(&saved.posterior));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("expected a checkpoint"), "{error}");
}
