//! The files of the repository.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::token;

/// A file by its path from the root.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Whether it is shipped: neither a test, nor a bench, nor an example, nor the lab.
    pub(crate) fn is_shipped(&self) -> bool {
        let mut parts = self.path.split('/');
        let aside = |part| matches!(part, "tests" | "benches" | "examples" | "tests.rs" | "lab");
        !parts.any(aside)
    }

    /// The text without items under `#[cfg(test)]`.
    pub(crate) fn without_tests(&self) -> String {
        token::without_tests(&self.text)
    }

    fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|own| own == extension)
    }
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files of an extension, `rs` or `md`, sorted by path.
pub(crate) fn sources(extension: &str) -> impl Iterator<Item = &'static Source> {
    static ALL: LazyLock<Vec<Source>> = LazyLock::new(all);
    ALL.iter()
        .filter(move |source| source.has_extension(extension))
}

/// The Rust and Markdown files, without build output, hidden folders and environments.
fn all() -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|own| own == "rs" || own == "md")
            {
                found.push(source(&path));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 100, "the files of the repository");
    found
}

fn source(path: &Path) -> Source {
    let local = path.strip_prefix(root()).unwrap();
    Source {
        path: local.to_str().unwrap().replace('\\', "/"),
        text: fs::read_to_string(path).unwrap(),
    }
}
