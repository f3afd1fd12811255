//! The shape of the house: lengths of files, arrows between crates, tuple parameters, `unsafe`,
//! and how many lines there are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// No file is longer.
const MOST_LINES: usize = 500;

/// Files that are longer, each with its reason.
const LONG: &[&str] = &[
    "crates/infer/src/train/mod.rs",
    "crates/infer/tests/truth/identity.rs",
];

/// No function takes more values, even in tuples.
const MOST_PARAMETERS: usize = 5;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A Rust file of the repository, by its path from the root.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Whether it is shipped: neither a test, nor a bench, nor an example, nor the lab.
    fn is_shipped(&self) -> bool {
        let mut parts = self.path.split('/');
        let aside = |part| matches!(part, "tests" | "benches" | "examples" | "tests.rs" | "lab");
        !parts.any(aside)
    }

    /// The text without items under `#[cfg(test)]`.
    fn without_tests(&self) -> String {
        let mut kept = String::new();
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            let start = line.trim_start();
            if start.starts_with("#[cfg(test)]") || start.starts_with("#[cfg(all(test") {
                skip_item(&mut lines);
            } else {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        kept
    }
}

/// Passes over one item: to its semicolon or to the brace that closes it.
fn skip_item<'a>(lines: &mut impl Iterator<Item = &'a str>) {
    let (mut depth, mut opened) = (0, false);
    for line in lines {
        depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
        opened |= line.contains('{');
        let ended = if opened {
            depth <= 0
        } else {
            line.trim_end().ends_with(';')
        };
        if ended {
            return;
        }
    }
}

/// All Rust files, sorted by path.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
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

/// Fails with all that was found, one to a line.
fn none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn every_file_opens_with_a_sentence() {
    let sources = sources();
    let silent = sources.iter().filter(|file| !file.text.starts_with("//! "));
    let silent: Vec<String> = silent.map(|file| file.path.clone()).collect();
    none("files that do not open with //!", &silent);
}

#[test]
fn no_file_is_long() {
    let long = |file: Source| {
        let lines = file.text.lines().count();
        let is_long = lines > MOST_LINES && !LONG.contains(&file.path.as_str());
        is_long.then(|| format!("{}: {lines} lines", file.path))
    };
    let long: Vec<String> = sources().into_iter().filter_map(long).collect();
    none("files that are too long", &long);
}

#[test]
fn unsafe_code_lives_in_the_kernels_alone() {
    let inside = |file: &Source| file.path.starts_with("crates/graph/src/kernel");
    let mut found = Vec::new();
    for file in sources()
        .iter()
        .filter(|file| file.is_shipped() && !inside(file))
    {
        // The workspace denies unsafe code, so that it needs this word to be let in.
        if file.text.contains("unsafe_code") {
            found.push(file.path.clone());
        }
    }
    none("unsafe outside of the kernels", &found);
}

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

/// What ARCHITECTURE.md lets each folder use: the rows `| folder | what it does | uses |`.
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

/// The parameters of every function of a text, with the function's name.
fn signatures(text: &str) -> Vec<(String, Vec<String>)> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            continue;
        }
        let rest = &code[at + 3..];
        let letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        let name: String = rest.chars().take_while(|c| letter(*c)).collect();
        if let Some(parameters) = parameters(&rest[name.len()..]) {
            found.push((name, parameters));
        }
    }
    found
}

/// The comma-separated parts of the first parentheses after generics.
fn parameters(rest: &str) -> Option<Vec<String>> {
    let (mut angle, mut depth) = (0_i32, 0_i32);
    let (mut parts, mut part, mut last) = (Vec::new(), String::new(), ' ');
    for letter in rest.chars() {
        match letter {
            '<' => angle += 1,
            '>' if last != '-' && last != '=' => angle -= 1,
            '(' | '[' | '{' if depth > 0 || (letter == '(' && angle == 0) => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            '{' | ';' if depth == 0 => return None,
            _ => {}
        }
        last = letter;
        match (letter, depth) {
            ('(', 1) if part.is_empty() && parts.is_empty() && angle == 0 => part.push(' '),
            (')', 0) if !part.is_empty() => {
                parts.push(part.trim().to_string());
                parts.retain(|part| !part.is_empty());
                return Some(parts);
            }
            (',', 1) if angle == 0 => parts.push(std::mem::take(&mut part).trim().to_string()),
            (_, 1..) => part.push(letter),
            _ => {}
        }
    }
    None
}

/// How many values a parameter brings: those of a tuple count one by one, unless they are a
/// point or a size, numbers of one type.
fn values(parameter: &str) -> usize {
    let kind = match parameter.rsplit_once("): ") {
        Some((pattern, kind)) if pattern.starts_with('(') => kind,
        _ => parameter.split_once(": ").map_or("", |(_, kind)| kind),
    };
    let kind = kind.trim_start_matches('&').trim_start_matches("mut ");
    let parts = kind.starts_with('(').then(|| parameters(kind)).flatten();
    match parts {
        Some(parts) if parts.iter().all(|part| part == "usize" || part == "f64") => 1,
        Some(parts) => parts.len(),
        None => 1,
    }
}

#[test]
fn no_tuple_evades_the_limit_of_parameters() {
    let mut found = Vec::new();
    for file in sources().iter().filter(|file| file.is_shipped()) {
        for (name, parameters) in signatures(&file.without_tests()) {
            let count: usize = parameters.iter().map(|part| values(part)).sum();
            if count > MOST_PARAMETERS && parameters.len() < count {
                found.push(format!("{}: fn {name} takes {count} values", file.path));
            }
        }
    }
    none("functions that hide parameters in tuples", &found);
}

#[test]
fn values_in_tuples_are_counted() {
    let text = "fn a<T: Fn(u8) -> (u8, u8)>(x: T, (b, c): (u8, Vec<(u8, u8)>)) {}
        pub fn plain(&self, pairs: &[(u8, u8)], (x, y): (f64, f64)) -> (u8, u8) {}
        fn typed(
            pair: &mut (u8, [u8; 3], u8),
        ) {}";
    let counts: Vec<usize> = signatures(text)
        .iter()
        .map(|(_, parameters)| parameters.iter().map(|part| values(part)).sum())
        .collect();
    assert_eq!(counts, [3, 3, 3]);
}

/// Prints the source lines of every crate: lines that are neither blank nor only a comment, in
/// files that are shipped, without items under `#[cfg(test)]`. To see them:
/// `cargo test --test shape -- --nocapture lines`.
#[test]
fn lines() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in sources().iter().filter(|file| file.is_shipped()) {
        let parts: Vec<&str> = file.path.split('/').collect();
        let room = if parts[0] == "crates" {
            parts[1]
        } else {
            "lehr"
        };
        let text = file.without_tests();
        let code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        *counts.entry(room.into()).or_default() += text.lines().filter(code).count();
    }
    for (room, count) in &counts {
        println!("{count:>7} {room}");
    }
    println!("{:>7} in all", counts.values().sum::<usize>());
}
