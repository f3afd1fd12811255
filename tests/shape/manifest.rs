//! The arrows between crates, as the table of ARCHITECTURE.md has them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::none;
use crate::source::root;

/// The crates a manifest's section names, without the prefix `lehr-`; the facade is `lehr`.
fn dependencies(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap();
    let lines = text.lines();
    let section = lines.skip_while(|line| *line != "[dependencies]").skip(1);
    section
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| *name == "lehr" || name.starts_with("lehr-"))
        .map(|name| name.trim_start_matches("lehr-").to_string())
        .collect()
}

/// The permissions of ARCHITECTURE.md: the rows `| folder | what it does | uses |`.
fn permissions() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("| crate |"));
    let (mut permissions, mut above) = (BTreeMap::new(), BTreeSet::new());
    for row in rows.skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let folder = cells[0].split('`').nth(1).unwrap().to_string();
        let uses: BTreeSet<String> = match cells[2] {
            "–" => BTreeSet::new(),
            "all of the above" | "all" => above.clone(),
            "the facade alone" => BTreeSet::from(["lehr".to_string()]),
            names => names.split(", ").map(str::to_string).collect(),
        };
        assert!(uses.is_subset(&above), "{folder} uses a crate further down");
        above.insert(folder.trim_start_matches("crates/").to_string());
        permissions.insert(folder, uses);
    }
    permissions
}

/// The folders with a manifest, the root's as `lehr`.
fn members() -> Vec<(String, PathBuf)> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let mut folders: Vec<String> = crates
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| format!("crates/{name}"))
        .collect();
    folders.push("lab".into());
    let mut members: Vec<(String, PathBuf)> = (folders.into_iter())
        .map(|folder| (folder.clone(), root().join(folder).join("Cargo.toml")))
        .filter(|(_, manifest)| manifest.exists())
        .collect();
    members.push(("lehr".into(), root().join("Cargo.toml")));
    members
}

#[test]
fn crates_use_what_the_table_of_the_architecture_allows() {
    let permissions = permissions();
    let mut found = Vec::new();
    for (folder, manifest) in members() {
        let Some(allowed) = permissions.get(&folder) else {
            found.push(format!("{folder} has no row in ARCHITECTURE.md"));
            continue;
        };
        for used in dependencies(&manifest) {
            if !allowed.contains(&used) {
                found.push(format!("{folder} uses {used}"));
            }
        }
    }
    none("arrows that ARCHITECTURE.md does not have", &found);
}

#[test]
fn models_and_inference_never_import_each_other() {
    let uses = |from: &str, to: &str| {
        dependencies(&root().join("crates").join(from).join("Cargo.toml")).contains(to)
    };
    assert!(!uses("model", "infer"));
    assert!(!uses("infer", "model"));
}
