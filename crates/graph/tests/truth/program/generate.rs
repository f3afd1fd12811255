//! Generates a random program: a pool of arrays whose values are known to stay small.

use lehr_graph::reference::InputValues;
use lehr_graph::{Expr, Graph, Indices, Shape};

use super::step;
use crate::random::Random;

/// Whether operations with kinks or jumps may occur.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kinks {
    Allowed,
    Avoided,
}

/// The options of a generated program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The length of the long axis.
    pub(crate) rows: usize,
    /// The length of the short axis, and the side of square matrices.
    pub(crate) width: usize,
    pub(crate) lanes: usize,
    /// The number of steps of the program.
    pub(crate) steps: usize,
    pub(crate) kinks: Kinks,
}

/// The number of groups of the rows.
pub(crate) const GROUPS: usize = 5;

/// An array and an upper bound of its absolute values.
#[derive(Clone, Copy)]
pub(crate) struct Bounded<'g> {
    pub(crate) expr: Expr<'g>,
    pub(crate) bound: f64,
}

/// The largest absolute value that an array of the pool may have.
const LARGEST: f64 = 3.0;

/// A program with the values of its inputs.
pub(crate) struct Program<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) settings: Settings,
    pub(crate) inputs: Vec<(Expr<'g>, Vec<f64>)>,
    pub(crate) groups: (Indices<'g>, Vec<u32>),
    pub(crate) pool: Vec<Bounded<'g>>,
}

impl<'g> Program<'g> {
    pub(crate) fn random(graph: &'g Graph, settings: Settings, random: &mut Random) -> Program<'g> {
        let numbers = (0..settings.rows).map(|_| random.below(GROUPS) as u32);
        let numbers: Vec<u32> = numbers.collect();
        let mut program = Program {
            graph,
            settings,
            inputs: Vec::new(),
            groups: (graph.index_input("groups", settings.rows), numbers),
            pool: Vec::new(),
        };
        program.add_inputs(random);
        for _ in 0..settings.steps {
            if let Some(next) = step::random(&program, random) {
                program.push(next);
            }
        }
        program
    }

    fn add_inputs(&mut self, random: &mut Random) {
        let Settings { rows, width, .. } = self.settings;
        let shapes: [&[usize]; 7] = [
            &[],
            &[width],
            &[width, width],
            &[rows, width],
            &[rows],
            &[GROUPS],
            &[GROUPS, width],
        ];
        for (k, dims) in shapes.iter().enumerate() {
            // The table is shared in most programs, parameters are per lane in most.
            let laned = random.chance(if dims.first() == Some(&rows) {
                0.2
            } else {
                0.6
            });
            self.add_input(&format!("x{k}"), Shape::new(dims), laned, random);
        }
    }

    fn add_input(&mut self, name: &str, shape: Shape, laned: bool, random: &mut Random) {
        let (expr, events) = if laned {
            (self.graph.laned_input(name, shape), self.settings.lanes)
        } else {
            (self.graph.input(name, shape), 1)
        };
        let values = random.numbers(shape.size() * events, -1.0, 1.0);
        self.inputs.push((expr, values));
        self.pool.push(Bounded { expr, bound: 1.0 });
    }

    /// Adds an array to the pool, scaled down if it could be large.
    fn push(&mut self, next: Bounded<'g>) {
        let kept = if next.bound > LARGEST {
            Bounded {
                expr: next.expr * (LARGEST / next.bound),
                bound: LARGEST,
            }
        } else {
            next
        };
        self.pool.push(kept);
    }

    /// A random array of the pool, later ones more often.
    pub(crate) fn any(&self, random: &mut Random) -> Bounded<'g> {
        let (a, b) = (random.below(self.pool.len()), random.below(self.pool.len()));
        self.pool[a.max(b)]
    }

    /// A random array of the pool with a suitable shape.
    pub(crate) fn find(
        &self,
        random: &mut Random,
        fits: impl Fn(Shape) -> bool,
    ) -> Option<Bounded<'g>> {
        let all = self.pool.iter().filter(|e| fits(e.expr.shape()));
        let all: Vec<Bounded<'g>> = all.copied().collect();
        (!all.is_empty()).then(|| *random.pick(&all))
    }

    /// One number that depends on the last arrays of the pool.
    pub(crate) fn target(&self) -> Expr<'g> {
        let last = self.pool.iter().rev().take(4);
        let means = last.map(|e| (e.expr + e.expr.square() * 0.2).mean());
        means.reduce(|a, b| a + b).expect("a program has arrays")
    }

    pub(crate) fn wrt(&self) -> Vec<Expr<'g>> {
        self.inputs.iter().map(|(e, _)| *e).collect()
    }

    pub(crate) fn values(&self) -> InputValues {
        let (groups, numbers) = &self.groups;
        let values = InputValues::new().with_indices(groups.expr(), numbers);
        let add = |values: InputValues, (e, v): &(Expr<'g>, Vec<f64>)| values.with(*e, v);
        self.inputs.iter().fold(values, add)
    }
}
