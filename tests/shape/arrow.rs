//! The arrows between the modules of a crate: which module uses which item, wherever it is imported
//! from.

use std::collections::BTreeSet;

use crate::import::Segments;
use crate::module::{Crate, made_up};

/// The longest chain of re-exports that is followed.
const MOST_HOPS: usize = 8;

/// An arrow: one file uses an item that is defined in another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    pub(crate) from: Segments,
    pub(crate) to: Segments,
    /// The name of the item; `self` for the module as a whole.
    pub(crate) item: String,
}

impl Crate {
    pub(crate) fn arrows(&self) -> BTreeSet<Arrow> {
        let mut found = BTreeSet::new();
        for (from, module) in &self.modules {
            let paths = module.declarations.paths.iter();
            for path in paths.filter_map(|path| self.absolute(path, from)) {
                let (to, item) = self.find(&path, 0);
                if to != *from {
                    let from = from.clone();
                    found.insert(Arrow { from, to, item });
                }
            }
        }
        found
    }

    /// A path from the crate's root, `None` if it leads out of the crate.
    fn absolute(&self, path: &[String], here: &[String]) -> Option<Segments> {
        let first = path.first()?.as_str();
        let join = |base: &[String], rest: &[String]| Some([base, rest].concat());
        match first {
            "crate" => join(&[], &path[1..]),
            "self" => join(here, &path[1..]),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                join(&here[..here.len().saturating_sub(ups)], &path[ups..])
            }
            _ => join(here, path).filter(|whole| self.modules.contains_key(&whole[..=here.len()])),
        }
    }

    /// The module in which an item is written, and its name there.
    fn find(&self, path: &[String], hops: usize) -> (Segments, String) {
        let mut depth = 0;
        while depth < path.len() && self.modules.contains_key(&path[..=depth]) {
            depth += 1;
        }
        let (module, rest) = path.split_at(depth);
        let Some(item) = rest.first() else {
            return (module.to_vec(), "self".to_string());
        };
        match self.further(module, item) {
            Some(further) if hops < MOST_HOPS => {
                self.find(&[&further, &rest[1..]].concat(), hops + 1)
            }
            _ => (module.to_vec(), item.clone()),
        }
    }

    /// Where an item that the module does not define comes from.
    fn further(&self, module: &[String], item: &String) -> Option<Segments> {
        let declarations = &self.modules[module].declarations;
        if declarations.items.contains(item) {
            return None;
        }
        let mut globs = self.imports(module, "*");
        let named = self.imports(module, item).next();
        named.or_else(|| {
            Some([globs.find(|path| self.has(path, item))?, vec![item.clone()]].concat())
        })
    }

    /// The paths in this crate that a module imports by a name.
    fn imports(&self, module: &[String], name: &str) -> impl Iterator<Item = Segments> {
        let imports = self.modules[module].declarations.imports.iter();
        let named = imports.filter(move |import| import.name == name);
        named.filter_map(|import| self.absolute(&import.path, module))
    }

    /// Whether a module has an item, either defined or imported there.
    fn has(&self, module: &[String], item: &String) -> bool {
        self.modules.get(module).is_some_and(|module| {
            let mut imports = module.declarations.imports.iter();
            module.declarations.items.contains(item) || imports.any(|import| import.name == *item)
        })
    }
}

fn shown(files: &[(&str, &str)]) -> Vec<String> {
    let made_up = made_up(files);
    let arrows = made_up.arrows();
    let arrows = arrows.iter().map(|arrow| made_up.show(arrow));
    arrows
        .map(|arrow| arrow["made_up: ".len()..].to_string())
        .collect()
}

#[test]
fn an_item_counts_where_it_is_written() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use a::{C, D as E};"),
        (
            "a/mod.rs",
            "mod deep; pub use deep::C; pub use deep::deeper::D;",
        ),
        ("a/deep.rs", "mod deeper; pub struct C;"),
        ("a/deep/deeper.rs", "pub struct D;"),
        ("b.rs", "use crate::{C, E};"),
    ];
    let from_b = shown(&files);
    let from_b: Vec<&String> = from_b
        .iter()
        .filter(|arrow| arrow.starts_with('b'))
        .collect();
    assert_eq!(
        from_b,
        ["b.rs → a/deep.rs: C", "b.rs → a/deep/deeper.rs: D"]
    );
}

#[test]
fn supers_lead_to_the_modules_above() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod c; fn f() {}"),
        ("a/c/mod.rs", "use super::f; mod d; struct G;"),
        (
            "a/c/d.rs",
            "use super::super::super::b::{self, H}; use super::G;",
        ),
        ("b.rs", "struct H;"),
    ];
    let arrows = [
        "a/c/mod.rs → a.rs: f",
        "a/c/d.rs → a/c/mod.rs: G",
        "a/c/d.rs → b.rs: H",
        "a/c/d.rs → b.rs: self",
    ];
    assert_eq!(shown(&files), arrows);
}

#[test]
fn paths_in_bodies_are_arrows() {
    let files = [
        ("main.rs", "mod a; mod b; fn main() { a::run() }"),
        (
            "a.rs",
            "fn run() { crate::b::C::new(b::other()); std::b::D }",
        ),
        ("b.rs", "struct C;"),
    ];
    assert_eq!(shown(&files), ["main.rs → a.rs: run", "a.rs → b.rs: C"]);
}

#[test]
fn names_of_a_glob_import_are_found_behind_it() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use a::*;"),
        ("a.rs", "pub use crate::c::D; pub struct E;"),
        ("b.rs", "use crate::{D, E}; use crate::c::*;"),
        ("c.rs", "pub struct D;"),
    ];
    let arrows = [
        "lib.rs → a.rs: self",
        "a.rs → c.rs: D",
        "b.rs → a.rs: E",
        "b.rs → c.rs: D",
        "b.rs → c.rs: self",
    ];
    assert_eq!(shown(&files), arrows);
}

#[test]
fn code_under_test_makes_no_arrow() {
    let files = [
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod helper;"),
        (
            "a.rs",
            "#[cfg(test)] mod tests { use crate::b::C; } #[cfg(test)] use crate::helper::D;",
        ),
        ("b.rs", "pub struct C; // use crate::a::E;"),
        ("helper.rs", "use crate::b::C;"),
    ];
    assert_eq!(shown(&files), [""; 0]);
}

#[test]
fn modules_that_import_each_other_whole_are_no_endless_chain() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub use crate::b::*; pub use crate::b::C;"),
        ("b.rs", "pub use crate::a::*; pub use crate::a::C;"),
    ];
    assert!(shown(&files).len() == 4);
}
