//! Finished cells on disk: one line of JSON each, so that a second run resumes where the first stopped.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, create_dir_all};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::paper::error::PaperError;

/// Finished values by key, each appended and synced as soon as it is known.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    file: File,
    values: HashMap<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    value: Value,
}

impl Store {
    /// Opens a file, making it and its folder where they are missing. A last line that was cut
    /// off, as by a crash while writing, is dropped; any other line that cannot be read is an error.
    pub(crate) fn open(path: &Path) -> Result<Store, PaperError> {
        let failed = |error: std::io::Error| problem(path, error.to_string());
        if let Some(folder) = path.parent() {
            create_dir_all(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let file = (options.read(true).append(true).create(true).open(path)).map_err(failed)?;
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        let mut values = HashMap::new();
        for (number, line) in text[..whole].lines().enumerate() {
            let line: Line = serde_json::from_str(line).map_err(|error| {
                let number = number + 1;
                problem(
                    path,
                    format!("line {number}: expected a finished cell, found {error}"),
                )
            })?;
            values.insert(line.key, line.value);
        }
        Ok(Store {
            path: path.into(),
            file,
            values,
        })
    }

    /// The value of a key; `None` also for a value in the format of an older version.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.values.get(key)?.clone()).ok()
    }

    /// Stores a value.
    pub(crate) fn put<T: Serialize>(&mut self, key: &str, value: &T) -> Result<(), PaperError> {
        let failed = |text: String| problem(&self.path, text);
        let value = serde_json::to_value(value).map_err(|error| failed(error.to_string()))?;
        let line = Line {
            key: key.into(),
            value: value.clone(),
        };
        let mut text = serde_json::to_string(&line).map_err(|error| failed(error.to_string()))?;
        text.push('\n');
        let written = self.file.write_all(text.as_bytes());
        let synced = written.and_then(|()| self.file.sync_data());
        synced.map_err(|error| failed(error.to_string()))?;
        self.values.insert(key.into(), value);
        Ok(())
    }
}

fn problem(path: &Path, problem: String) -> PaperError {
    PaperError::Store {
        path: path.into(),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("cells.jsonl");
        let mut store = Store::open(&path).unwrap();
        store.put("a", &0.1_f64).unwrap();
        store.put("b", &vec![1, 2]).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        assert_eq!(store.get("a"), Some(0.1_f64));
        assert_eq!(store.get("b"), Some(vec![1, 2]));
        assert_eq!(store.get::<f64>("c"), None);
        assert_eq!(store.get::<String>("a"), None);
    }

    #[test]
    fn a_line_cut_off_by_a_crash_is_dropped_and_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        Store::open(&path).unwrap().put("a", &1).unwrap();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text += "{\"key\":\"b\",\"val";
        std::fs::write(&path, text).unwrap();
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.get("a"), Some(1));
        store.put("b", &2).unwrap();
        assert_eq!(Store::open(&path).unwrap().get("b"), Some(2));
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        std::fs::write(&path, "a,b\n1,2\n").unwrap();
        let error = Store::open(&path).unwrap_err().to_string();
        assert!(
            error.contains("line 1: expected a finished cell"),
            "{error}"
        );
    }
}
