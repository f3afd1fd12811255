//! The modules of a crate, and the folders they form.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use crate::arrow::Arrow;
use crate::import::{Declarations, Segments};
use crate::source::sources;

pub(crate) struct Module {
    /// Its path inside of `src`.
    file: String,
    pub(crate) declarations: Declarations,
}

/// A crate as its modules by their paths; the root's is empty.
pub(crate) struct Crate {
    name: String,
    pub(crate) modules: BTreeMap<Segments, Module>,
}

impl Crate {
    /// Reads the files, given by their paths inside of `src`, that the root declares.
    fn new(name: &str, files: &BTreeMap<&str, &str>) -> Crate {
        let mut modules = BTreeMap::new();
        let mut found = vec![Segments::new()];
        while let Some(path) = found.pop() {
            let file = file_of(&path, files);
            let declarations = Declarations::read(files[file]);
            let child = |name: &String| path.iter().chain([name]).cloned().collect();
            found.extend(declarations.children.iter().map(child));
            let file = file.to_string();
            modules.insert(path, Module { file, declarations });
        }
        let name = name.to_string();
        Crate { name, modules }
    }

    /// The folders that have children, the root first.
    pub(crate) fn folders(&self) -> BTreeSet<&[String]> {
        let paths = self.modules.keys();
        let parents = paths.filter_map(|path| path.split_last().map(|(_, parent)| parent));
        parents.collect()
    }

    /// The name of a folder, with the crate's before it.
    pub(crate) fn folder(&self, folder: &[String]) -> String {
        [slice::from_ref(&self.name), folder].concat().join("/")
    }

    /// The children of a folder.
    pub(crate) fn children(&self, folder: &[String]) -> BTreeSet<&str> {
        let paths = self.modules.keys();
        paths.filter_map(|path| child(folder, path)).collect()
    }

    fn file(&self, path: &[String]) -> &str {
        &self.modules[path].file
    }

    /// The arrow as the lists of `tests/shape` write it.
    pub(crate) fn show(&self, arrow: &Arrow) -> String {
        let (from, to) = (self.file(&arrow.from), self.file(&arrow.to));
        format!("{}: {from} → {to}: {}", self.name, arrow.item)
    }
}

/// The child of a folder that a module is or belongs to. The folder is not a child of itself.
pub(crate) fn child<'a>(folder: &[String], module: &'a [String]) -> Option<&'a str> {
    let inside = module.strip_prefix(folder)?;
    inside.first().map(String::as_str)
}

/// The file of a module.
fn file_of<'a>(path: &[String], files: &BTreeMap<&'a str, &str>) -> &'a str {
    let joined = path.join("/");
    let names = match path {
        [] => ["lib.rs".to_string(), "main.rs".to_string()],
        _ => [format!("{joined}.rs"), format!("{joined}/mod.rs")],
    };
    let found = names
        .iter()
        .find_map(|name| files.get_key_value(name.as_str()));
    found
        .unwrap_or_else(|| panic!("no file of the module {joined}"))
        .0
}

/// The crates that are shipped, with the facade as `lehr`.
pub(crate) fn crates() -> Vec<Crate> {
    let mut files: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for source in sources("rs") {
        let parts = source.path.split_once("/src/");
        let place = match (source.path.strip_prefix("src/"), parts) {
            (Some(file), _) => Some(("lehr", file)),
            (None, Some((folder, file))) => folder.strip_prefix("crates/").map(|name| (name, file)),
            (None, None) => None,
        };
        if let Some((name, file)) = place {
            files.entry(name).or_default().insert(file, &source.text);
        }
    }
    files
        .iter()
        .map(|(name, files)| Crate::new(name, files))
        .collect()
}

pub(crate) fn made_up(files: &[(&str, &str)]) -> Crate {
    Crate::new("made_up", &files.iter().copied().collect())
}
