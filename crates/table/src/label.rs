//! The labels of a column, gathered block by block.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::MISSING;
use crate::level::Levels;

/// The labels that occur in a column. If every block lists the same levels, as files with ordered
/// categories do, their order is kept; otherwise they are sorted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Labels {
    found: Levels,
    order: Order,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Order {
    #[default]
    Unknown,
    Common(Arc<[String]>),
    Differs,
}

impl Labels {
    /// Codes that are valid for all blocks, from those of one block. Levels that no row uses are
    /// ignored; missing stays missing.
    pub fn merged_codes(&mut self, codes: &[u32], names: &Arc<[String]>) -> Vec<u32> {
        self.order = match std::mem::take(&mut self.order) {
            Order::Unknown => Order::Common(Arc::clone(names)),
            Order::Common(first) if first == *names => Order::Common(first),
            _ => Order::Differs,
        };
        let mut place: Vec<Option<u32>> = vec![None; names.len()];
        let one = |&code: &u32| {
            if code == MISSING {
                return MISSING;
            }
            let code = code as usize;
            *place[code].get_or_insert_with(|| self.found.code_of(&names[code]))
        };
        codes.iter().map(one).collect()
    }

    /// Adds the labels of more rows; returns the present code for each of theirs.
    pub fn merge_labels(&mut self, other: &Labels) -> Vec<u32> {
        self.order = match (std::mem::take(&mut self.order), &other.order) {
            (order, Order::Unknown) => order,
            (Order::Unknown, order) => order.clone(),
            (Order::Common(own), Order::Common(theirs)) if own == *theirs => Order::Common(own),
            _ => Order::Differs,
        };
        let names = other.found.in_order();
        names.iter().map(|name| self.found.code_of(name)).collect()
    }

    /// The labels in order, and for every code its place among them.
    pub fn sorted_labels(&self) -> (Arc<[String]>, Vec<u32>) {
        let (sorted, places) = self.found.sorted_names();
        let Order::Common(order) = &self.order else {
            return (sorted, places);
        };
        let mut found = self.found.clone();
        let count = sorted.len() as u32;
        let mut places = vec![0; sorted.len()];
        let mut kept = Vec::with_capacity(sorted.len());
        for name in order.iter() {
            // A name without rows would get the next code.
            let code = found.code_of(name);
            if code < count {
                places[code as usize] = kept.len() as u32;
                kept.push(name.clone());
            }
        }
        (kept.into(), places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Arc<[String]> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn labels_keep_an_order_that_all_blocks_share() {
        let mut labels = Labels::default();
        let all = names("low unused high mid");
        assert_eq!(labels.merged_codes(&[2, 2, 0], &all), [0, 0, 1]);
        assert_eq!(labels.merged_codes(&[3, MISSING], &all), [2, MISSING]);
        let (order, places) = labels.sorted_labels();
        assert_eq!(order, names("low high mid"));
        assert_eq!(places, [1, 0, 2]);
    }

    #[test]
    fn labels_of_parts_are_those_of_the_whole() {
        let (all, own) = (names("low unused high mid"), names("high other"));
        for second in [&all, &own] {
            let mut whole = Labels::default();
            whole.merged_codes(&[2, 0], &all);
            let codes = whole.merged_codes(&[0, 1], second);
            let (mut first, mut more) = (Labels::default(), Labels::default());
            first.merged_codes(&[2, 0], &all);
            let theirs = more.merged_codes(&[0, 1], second);
            let places = first.merge_labels(&more);
            let merged: Vec<u32> = theirs.iter().map(|code| places[*code as usize]).collect();
            assert_eq!(merged, codes);
            assert_eq!(first.sorted_labels(), whole.sorted_labels());
        }
    }

    #[test]
    fn labels_of_different_blocks_are_sorted() {
        let mut labels = Labels::default();
        labels.merged_codes(&[1, 0], &names("9 10"));
        labels.merged_codes(&[0], &names("2"));
        let (order, places) = labels.sorted_labels();
        assert_eq!(order, names("2 9 10"));
        assert_eq!(places, [2, 1, 0]);
    }
}
