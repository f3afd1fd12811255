//! The paths of a row in ARCHITECTURE.md lead through functions that exist.

use std::fs;

use crate::none;
use crate::source::root;

/// The largest number of steps of a path.
const MOST_STEPS: usize = 10;

/// The number, the function and the file of a step: "3. `fold` (`crates/rows/src/fold.rs`) …".
fn step(line: &str) -> Option<(usize, &str, &str)> {
    let (number, rest) = line.split_once(". `")?;
    let (function, rest) = rest.split_once("` (`")?;
    let (file, _) = rest.split_once("`)")?;
    Some((number.parse().ok()?, function, file))
}

/// What is wrong with a step.
fn fault((number, function, file): (usize, &str, &str)) -> Option<String> {
    let Ok(text) = fs::read_to_string(root().join(file)) else {
        return Some(format!("step {number}: no file {file}"));
    };
    let is_there = [format!("fn {function}("), format!("fn {function}<")]
        .iter()
        .any(|head| text.contains(head));
    (!is_there).then(|| format!("step {number}: no function {function} in {file}"))
}

#[test]
fn paths_of_rows_lead_through_functions_that_exist() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let steps: Vec<_> = page.lines().filter_map(step).collect();
    let paths = steps.iter().filter(|(number, ..)| *number == 1).count();
    assert!(paths >= 3, "{paths} paths");
    none(
        "steps that lead nowhere",
        &steps
            .iter()
            .filter_map(|step| fault(*step))
            .collect::<Vec<_>>(),
    );
    let longest = steps.iter().map(|(number, ..)| *number).max();
    assert!(longest <= Some(MOST_STEPS), "a path of {longest:?} steps");
}
