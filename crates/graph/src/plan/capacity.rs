//! Whether a plan is small enough: its numbers are counted before anything is laid out.

use super::rewrite::PlanNodes;
use super::{Plan, PlanOptions};
use crate::shape::MAX_SIZE;

/// While all arrays of all lanes together hold fewer numbers, no sum or product of the planner
/// overflows: parts per strip and per block of lanes, copies and padding make less than 64 times as
/// many.
const COUNTABLE: f64 = (1_u64 << 58) as f64;

/// # Panics
/// If the arrays of a program hold so many numbers that offsets to them could overflow.
pub(super) fn assert_countable(program: &PlanNodes, outputs: &[usize], options: &PlanOptions) {
    let size = |&place: &usize| program.nodes[place].shape.size() as f64;
    let arrays: f64 = program.order.iter().map(size).sum();
    let shown: f64 = outputs.iter().map(size).sum();
    let asked = (arrays + shown) * options.lanes as f64;
    if asked >= COUNTABLE {
        refuse(asked);
    }
}

/// # Panics
/// If a plan holds more than [`MAX_SIZE`] numbers.
pub(super) fn assert_fits(plan: &Plan) {
    let asked = plan.size();
    if asked > MAX_SIZE {
        refuse(asked as f64);
    }
}

fn refuse(asked: f64) -> ! {
    let most = MAX_SIZE as f64;
    panic!("a plan asks for {asked:.1e} numbers, and all its arrays have at most {most:.1e}");
}
