//! Modules use lower layers of `layers.txt`, except for the arrows of `allowed.txt`, which can only
//! shrink.

use std::collections::{BTreeMap, BTreeSet};

use crate::arrow::Arrow;
use crate::module::{Crate, child, crates, made_up};
use crate::{entries, none};

/// The layers of one folder: its children, each with the number of its layer.
#[derive(Default)]
pub(crate) struct FolderLayers<'a>(BTreeMap<&'a str, usize>);

impl FolderLayers<'_> {
    /// Whether one child lies above another.
    pub(crate) fn leads_up(&self, from: &str, to: &str) -> bool {
        let layers = (self.0.get(from), self.0.get(to));
        matches!(layers, (Some(from), Some(to)) if to > from)
    }
}

/// The layers of every folder that a list has: the folder's name, then its layers, indented, the lowest first.
fn read(list: &str) -> BTreeMap<&str, FolderLayers<'_>> {
    let (mut found, mut folder, mut layer) = (BTreeMap::new(), "", 0);
    for line in entries(list) {
        if line.starts_with(' ') {
            layer += 1;
            let layers: &mut FolderLayers<'_> = found.entry(folder).or_default();
            for name in line.split_whitespace() {
                let before = layers.0.insert(name, layer);
                assert!(before.is_none(), "{folder}/{name} has two layers");
            }
        } else {
            folder = line;
        }
    }
    found
}

/// The layers of `layers.txt`.
pub(crate) fn layers() -> BTreeMap<&'static str, FolderLayers<'static>> {
    read(include_str!("layers.txt"))
}

/// The children of a folder that the list lacks, and the names in the list that are not children.
fn unlisted(house: &Crate, folder: &[String], layers: &FolderLayers<'_>) -> Vec<String> {
    let children = house.children(folder);
    let listed: BTreeSet<&str> = layers.0.keys().copied().collect();
    let name = house.folder(folder);
    let lost = children.difference(&listed);
    let lost = lost.map(|child| format!("{name}: give `{child}` a layer"));
    let gone = listed.difference(&children);
    let gone = gone.map(|child| format!("{name}: remove `{child}`, which is no module"));
    lost.chain(gone).collect()
}

/// The arrows that lead up the layers of a folder.
fn upward<'a>(
    folder: &'a [String],
    arrows: &'a BTreeSet<Arrow>,
    layers: &'a FolderLayers<'_>,
) -> impl Iterator<Item = &'a Arrow> {
    arrows.iter().filter(|arrow| {
        let ends = (child(folder, &arrow.from), child(folder, &arrow.to));
        matches!(ends, (Some(from), Some(to)) if layers.leads_up(from, to))
    })
}

/// The differences between the arrows that lead up and those that are allowed.
fn faults(found: &BTreeSet<String>, allowed: &BTreeSet<&str>) -> Vec<String> {
    let new = found
        .iter()
        .filter(|arrow| !allowed.contains(arrow.as_str()));
    let new =
        new.map(|arrow| format!("{arrow}  (new: move the item down, or pass what is needed)"));
    let gone = allowed.iter().filter(|arrow| !found.contains(**arrow));
    let gone =
        gone.map(|arrow| format!("{arrow}  (remove this line of allowed.txt: the arrow is gone)"));
    new.chain(gone).collect()
}

#[test]
fn every_module_has_a_layer() {
    let mut layers = layers();
    let mut found = Vec::new();
    for house in crates() {
        for folder in house.folders() {
            let listed = layers.remove(house.folder(folder).as_str());
            if listed.is_some() || folder.is_empty() {
                found.extend(unlisted(&house, folder, &listed.unwrap_or_default()));
            }
        }
    }
    found.extend(
        layers
            .keys()
            .map(|name| format!("{name}: remove it, it is no folder")),
    );
    none("tests/shape/layers.txt differs from the modules", &found);
}

#[test]
fn no_new_arrow_leads_up_the_layers() {
    let layers = layers();
    let mut found = BTreeSet::new();
    for house in crates() {
        let arrows = house.arrows();
        for folder in house.folders() {
            if let Some(layers) = layers.get(house.folder(folder).as_str()) {
                found.extend(upward(folder, &arrows, layers).map(|arrow| house.show(arrow)));
            }
        }
    }
    let allowed = entries(include_str!("allowed.txt")).collect();
    none(
        "arrows up the layers of tests/shape/layers.txt",
        &faults(&found, &allowed),
    );
}

#[test]
fn arrows_lead_up_layers_by_the_children_they_join() {
    let house = made_up(&[
        ("lib.rs", "mod low; mod high; mod beside;"),
        ("low.rs", "mod deep; pub struct A;"),
        ("low/deep.rs", "use crate::{high::B, beside::C};"),
        ("high.rs", "use crate::low::A; pub struct B;"),
        ("beside.rs", "use crate::low::A; pub struct C;"),
    ]);
    let list = "made_up # a crate\n  low beside\n  high # the last\n\nmade_up/low\n  deep\n";
    let (layers, arrows) = (read(list), house.arrows());
    let found: Vec<String> = upward(&[], &arrows, &layers["made_up"])
        .map(|arrow| house.show(arrow))
        .collect();
    assert_eq!(found, ["made_up: low/deep.rs → high.rs: B"]);
    assert_eq!(unlisted(&house, &[], &layers["made_up"]), [""; 0]);
    assert_eq!(unlisted(&house, &[], &layers["made_up/low"]).len(), 4);
}

#[test]
fn the_list_of_arrows_can_only_shrink() {
    let found = ["a", "b"].map(str::to_string).into();
    assert_eq!(faults(&found, &["a", "b"].into()), [""; 0]);
    assert!(faults(&found, &["a"].into())[0].starts_with("b  (new"));
    assert!(faults(&found, &["a", "b", "c"].into())[0].starts_with("c  (remove"));
}
