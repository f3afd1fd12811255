//! The children of a folder form no cycle, except for those of `cycles.txt`, which can only shrink.

use std::collections::{BTreeMap, BTreeSet};

use crate::arrow::Arrow;
use crate::layer::{FolderLayers, layers};
use crate::module::{Crate, child, crates, made_up};
use crate::{entries, none};

/// The most arrows that a failure shows.
const MOST_SHOWN: usize = 12;

type Edges<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The cycles among nodes, the largest first: nodes that lead to each other, and all between.
fn cycles<'a>(edges: &Edges<'a>) -> Vec<BTreeSet<&'a str>> {
    let reached: Edges<'a> = edges
        .keys()
        .map(|node| (*node, reach(node, edges)))
        .collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let mut found = BTreeSet::new();
    for (node, all) in &reached {
        let cycle = all.iter().copied().filter(|other| leads(other, node));
        let cycle: BTreeSet<&str> = cycle.collect();
        if cycle.len() > 1 {
            found.insert(cycle);
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
    found
}

/// The nodes to which arrows lead from one.
fn reach<'a>(from: &str, edges: &Edges<'a>) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(node) = open.pop() {
        for next in edges.get(node).into_iter().flatten() {
            if found.insert(*next) {
                open.push(next);
            }
        }
    }
    found
}

/// The cycles among the children of a folder, by the arrows that do not lead up its layers.
fn cycles_of<'a>(
    folder: &'a [String],
    arrows: &'a BTreeSet<Arrow>,
    layers: &FolderLayers<'_>,
) -> Vec<BTreeSet<&'a str>> {
    let mut edges = Edges::new();
    for arrow in arrows {
        let ends = (child(folder, &arrow.from), child(folder, &arrow.to));
        if let (Some(from), Some(to)) = ends
            && from != to
            && !layers.leads_up(from, to)
        {
            edges.entry(from).or_default().insert(to);
        }
    }
    cycles(&edges)
}

/// The lines `folder: sizes` of a list.
fn read(list: &str) -> BTreeMap<&str, Vec<usize>> {
    let lines = entries(list).map(|line| line.split_once(": ").unwrap());
    let size = |word: &str| word.parse().unwrap();
    lines
        .map(|(folder, sizes)| (folder, sizes.split(' ').map(size).collect()))
        .collect()
}

/// Whether cycles are more or larger than those that are allowed.
fn has_grown(found: &[usize], allowed: &[usize]) -> bool {
    let all = |sizes: &[usize]| sizes.iter().sum::<usize>();
    found.first() > allowed.first() || all(found) > all(allowed)
}

/// The change that is needed for the sizes of the cycles of a folder, of which some are allowed, if
/// any.
fn fault(folder: &str, found: &[usize], allowed: &[usize]) -> Option<String> {
    let sizes: Vec<String> = found.iter().map(usize::to_string).collect();
    let sizes = sizes.join(" ");
    let fault = if found == allowed {
        return None;
    } else if has_grown(found, allowed) {
        format!("cycles of {sizes} modules (allowed: {allowed:?})")
    } else if found.is_empty() {
        "remove this line of cycles.txt: the cycle is gone".to_string()
    } else {
        format!("{sizes}  (write so in cycles.txt: the cycle has shrunk)")
    };
    Some(format!("{folder}: {fault}"))
}

/// The first arrows among the modules of a cycle.
fn inside(house: &Crate, folder: &[String], cycle: &BTreeSet<&str>) -> Vec<String> {
    let is_in = |name: &&str| cycle.contains(name);
    let arrows = house.arrows();
    let joins = |arrow: &&Arrow| {
        let from = child(folder, &arrow.from).filter(is_in);
        let to = child(folder, &arrow.to).filter(is_in);
        matches!((from, to), (Some(from), Some(to)) if from != to)
    };
    let shown = arrows
        .iter()
        .filter(joins)
        .map(|arrow| format!("    {}", house.show(arrow)));
    shown.take(MOST_SHOWN).collect()
}

#[test]
fn no_folder_has_a_new_cycle() {
    let (layers, mut allowed) = (layers(), read(include_str!("cycles.txt")));
    let mut faults = Vec::new();
    for house in crates() {
        let arrows = house.arrows();
        for folder in house.folders() {
            let name = house.folder(folder);
            let free = FolderLayers::default();
            let found = cycles_of(folder, &arrows, layers.get(name.as_str()).unwrap_or(&free));
            let sizes: Vec<usize> = found.iter().map(BTreeSet::len).collect();
            let allowed = allowed.remove(name.as_str()).unwrap_or_default();
            if let Some(fault) = fault(&name, &sizes, &allowed) {
                faults.push(fault);
            }
            if has_grown(&sizes, &allowed) {
                faults.extend(found.iter().flat_map(|cycle| inside(&house, folder, cycle)));
            }
        }
    }
    faults.extend(
        allowed
            .keys()
            .map(|name| format!("{name}: remove it from cycles.txt, it is no folder")),
    );
    none(
        "cycles of modules; move the item that closes one down, or pass what is needed",
        &faults,
    );
}

#[test]
fn a_cycle_is_all_that_leads_to_itself() {
    let edges = Edges::from([
        ("a", ["b"].into()),
        ("b", ["c", "d"].into()),
        ("c", ["a"].into()),
        ("d", ["e"].into()),
        ("e", ["d", "f"].into()),
    ]);
    assert_eq!(
        cycles(&edges),
        [["a", "b", "c"].into(), BTreeSet::from(["d", "e"])]
    );
}

#[test]
fn a_folder_does_not_lie_in_a_cycle_with_its_children() {
    let house = made_up(&[
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod c; mod d; use c::C; pub struct A;"),
        ("a/c.rs", "use super::A; use super::d::D; pub struct C;"),
        ("a/d.rs", "use super::A; use crate::b::B; pub struct D;"),
        ("b.rs", "use crate::a::c::C; pub struct B;"),
    ]);
    let (arrows, unlisted) = (house.arrows(), FolderLayers::default());
    assert!(cycles_of(&["a".to_string()], &arrows, &unlisted).is_empty());
    assert_eq!(
        cycles_of(&[], &arrows, &unlisted),
        [BTreeSet::from(["a", "b"])]
    );
}

#[test]
fn cycles_can_only_shrink() {
    assert_eq!(fault("a", &[3, 2], &[3, 2]), None);
    let says = |found: &[usize], allowed: &[usize], word| {
        fault("a", found, allowed).unwrap().contains(word)
    };
    assert!(says(&[4], &[3, 2], "allowed"));
    assert!(says(&[3, 2], &[3], "allowed"));
    assert!(says(&[2], &[], "allowed"));
    assert!(says(&[2, 2], &[5], "a: 2 2  (write"));
    assert!(says(&[], &[2], "remove"));
}
