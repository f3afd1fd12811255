//! A plain evaluator, one node at a time by simple loops: the reference that plans are tested
//! against.

use std::collections::HashMap;

use crate::expr::{Expr, Graph, Node, NodeId};
use crate::primitive::matmul::LaneTreatment;
use crate::primitive::{Event, Op};
use crate::shape::Shape;

/// Values of the inputs for [`evaluate`]: all lanes one after another for laned inputs.
#[derive(Default)]
pub struct InputValues {
    by_node: HashMap<NodeId, Vec<f64>>,
}

impl InputValues {
    /// No values yet.
    pub fn new() -> InputValues {
        InputValues::default()
    }

    /// Sets an input.
    #[must_use]
    pub fn with(mut self, input: Expr<'_>, values: &[f64]) -> InputValues {
        self.by_node.insert(input.id, values.to_vec());
        self
    }

    /// Sets a column of row numbers.
    #[must_use]
    pub fn with_indices(self, input: Expr<'_>, values: &[u32]) -> InputValues {
        let numbers: Vec<f64> = values.iter().map(|&i| f64::from(i)).collect();
        self.with(input, &numbers)
    }
}

impl Expr<'_> {
    /// The numbers of an array of constants in row-major order; `None` if it depends on an input or
    /// on the number of rows.
    pub fn constant_values(self) -> Option<Vec<f64>> {
        let reachable = self.graph.mark_reachable(&[self]);
        let is_open = |node: &Node| {
            let given = matches!(node.op, Op::Input(_) | Op::IndexInput(_) | Op::SumLanes);
            given || node.shape.is_symbolic()
        };
        let nodes = self.graph.nodes();
        let mut needed = (0..reachable.len()).filter(|&place| reachable[place]);
        if needed.any(|place| is_open(&nodes[place])) {
            return None;
        }
        drop(nodes);
        evaluate(&[self], &InputValues::new(), 1).pop()
    }
}

/// The values of `outputs` by plain loops, all lanes one after another for laned outputs.
///
/// # Panics
/// If an input that is needed has no value.
pub fn evaluate(outputs: &[Expr<'_>], values: &InputValues, lanes: usize) -> Vec<Vec<f64>> {
    let Some(first) = outputs.first() else {
        return Vec::new();
    };
    let graph = first.graph();
    let mut done: HashMap<NodeId, Vec<f64>> = HashMap::new();
    let reachable = graph.mark_reachable(outputs);
    for place in (0..reachable.len()).filter(|&p| reachable[p]) {
        let id = NodeId(place as u32);
        let value = evaluate_node(graph, id, values, &done, lanes);
        done.insert(id, value);
    }
    outputs.iter().map(|e| done[&e.id].clone()).collect()
}

fn evaluate_node(
    graph: &Graph,
    id: NodeId,
    values: &InputValues,
    done: &HashMap<NodeId, Vec<f64>>,
    lanes: usize,
) -> Vec<f64> {
    let nodes = graph.nodes();
    let node = &nodes[id.index()];
    let input = |k: usize| {
        let id = node.inputs[k];
        (&nodes[id.index()], &done[&id][..])
    };
    match &node.op {
        Op::Input(place) | Op::IndexInput(place) => {
            let info = graph.input_info(*place);
            let found = values.by_node.get(&info.node);
            found
                .unwrap_or_else(|| panic!("input {:?} has no value", info.name))
                .clone()
        }
        Op::Constant(place) => graph.constant_values(*place).to_vec(),
        Op::SumLanes => add_lanes(lanes, |lane| lane_event(input(0), lane).values.to_vec()),
        op => {
            let per_lane = |lane| {
                let events = (0..node.inputs.len()).map(|k| lane_event(input(k), lane));
                op.reference_values(&events.collect::<Vec<Event<'_>>>(), node.shape)
            };
            match op {
                Op::MatMul(op) if op.lanes == LaneTreatment::Summed => add_lanes(lanes, per_lane),
                _ => (0..if node.laned { lanes } else { 1 })
                    .flat_map(per_lane)
                    .collect(),
            }
        }
    }
}

/// The sum of the values of all lanes.
fn add_lanes(lanes: usize, values: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
    let sum = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(b).map(|(x, y)| x + y).collect();
    (0..lanes)
        .map(values)
        .reduce(sum)
        .expect("a run has a lane")
}

/// The event of one lane.
fn lane_event<'a>((node, values): (&Node, &'a [f64]), lane: usize) -> Event<'a> {
    let shape: Shape = node.shape;
    let start = if node.laned { lane * shape.size() } else { 0 };
    Event {
        shape,
        values: &values[start..start + shape.size()],
    }
}
