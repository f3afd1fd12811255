//! Bytes as a message to a worker.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use lehr::prelude::Fit;
use lehr::regression::Specification;
use lehr::regression::cluster::{ClusterDraft, Partition, RowStorage, Tasks, Workers};
use lehr::table::{Part, ReadOptions, TableFiles};
use tempfile::TempDir;

use crate::example_table;

/// A worker with one part of a table, which records the messages that it gets.
struct Recorder {
    part: Part,
    model: Mutex<Option<Vec<u8>>>,
    messages: Mutex<Vec<Vec<u8>>>,
}

impl Workers for Recorder {
    fn partitions(&self) -> usize {
        1
    }

    fn bind(&self, model: &[u8]) -> Result<(), String> {
        *self.model.lock().expect("no panic") = Some(model.to_vec());
        Ok(())
    }

    fn answer(&self, tasks: Tasks<'_>) -> Result<Vec<Vec<u8>>, String> {
        let message = tasks.of(0).to_vec();
        let model = self.model.lock().expect("no panic");
        let answer = partition(&self.part).answer(model.as_deref(), &message);
        self.messages.lock().expect("no panic").push(message);
        Ok(vec![answer.map_err(|error| error.to_string())?])
    }
}

fn partition(part: &Part) -> Partition {
    Partition::new(part.clone(), ReadOptions::default())
}

/// A fit on a worker: its part of the table, the model, and the messages of one fit.
struct RecordedProgram {
    part: Part,
    model: Vec<u8>,
    messages: Vec<Vec<u8>>,
    /// Holds the table.
    _folder: TempDir,
}

fn recording() -> &'static RecordedProgram {
    static RECORDING: OnceLock<RecordedProgram> = OnceLock::new();
    RECORDING.get_or_init(record_fit)
}

fn record_fit() -> RecordedProgram {
    let folder = tempfile::tempdir().expect("a folder for scratch files");
    let (table, path) = (example_table(), folder.path().join("t.parquet"));
    table.write(&path).expect("a file in it");
    let files = TableFiles::open_inputs(&[&path]).expect("a table");
    let mut parts = files.split_parts(1 << 20).expect("its parts");
    let recorder = Arc::new(Recorder {
        part: parts.remove(0),
        model: Mutex::default(),
        messages: Mutex::default(),
    });
    let specification = Specification::parse("y ~ x", table.names()).expect("a formula");
    let specification = specification.with_family("gaussian".parse().expect("a family"));
    let draft = ClusterDraft {
        specification: &specification,
        fields: files.read_schema(&ReadOptions::default()).expect("columns"),
        sample: 20,
        seed: 1,
        clock: Instant::now(),
    };
    let regression = draft.learn(recorder.clone()).expect("a regression");
    regression
        .fit(Fit::default().seed(1).draws(50))
        .expect("a fit");
    RecordedProgram {
        part: recorder.part.clone(),
        model: recorder
            .model
            .lock()
            .expect("no panic")
            .clone()
            .expect("a model"),
        messages: std::mem::take(&mut *recorder.messages.lock().expect("no panic")),
        _folder: folder,
    }
}

/// The messages of one fit.
pub fn example_messages() -> &'static [Vec<u8>] {
    &recording().messages
}

/// Sends bytes to a worker as a task, and as the model of a task. Their checksum is not mended: it is what keeps
/// changed messages from being read.
///
/// # Panics
/// If the worker does.
pub fn check_worker_message(bytes: &[u8]) {
    let recording = recording();
    for storage in [RowStorage::Memory, RowStorage::Files] {
        let mut worker = partition(&recording.part).keeping(storage);
        let _ = worker.answer(Some(&recording.model), bytes);
        let _ = worker.answer(None, bytes);
        let last = recording.messages.last().expect("a fit sends messages");
        let _ = worker.answer(Some(bytes), last);
    }
}
