//! Builds one case at random shapes, and compares its derivatives with central differences.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph, Indices, Shape};

use crate::case::{Case, Domain};
use crate::difference::{assert_near, dot, moved, slope};
use crate::random::Random;

/// The largest difference between a derivative and its central difference, relative to its size.
const TOLERANCE: f64 = 2e-9;

/// The arguments from which a case builds its expression.
pub(crate) struct Operands<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) x: Vec<Expr<'g>>,
    pub(crate) rows: Indices<'g>,
    /// A random number for choosing axes and places.
    pub(crate) pick: usize,
}

/// An input with its value at the point of interest.
struct Input<'g> {
    expr: Expr<'g>,
    values: Vec<f64>,
}

impl<'g> Input<'g> {
    fn new(graph: &'g Graph, name: &str, shape: Shape, laned: bool) -> Input<'g> {
        let expr = if laned {
            graph.laned_input(name, shape)
        } else {
            graph.input(name, shape)
        };
        Input {
            expr,
            values: Vec::new(),
        }
    }

    /// An input with random numbers between −1 and 1.
    fn direction(graph: &'g Graph, name: &str, of: Expr<'g>, place: &mut Place<'_>) -> Input<'g> {
        let mut input = Input::new(graph, name, of.shape(), of.is_laned());
        input.values = place.random.numbers(place.size(of), -1.0, 1.0);
        input
    }
}

struct Place<'r> {
    random: &'r mut Random,
    lanes: usize,
}

impl Place<'_> {
    fn size(&self, e: Expr<'_>) -> usize {
        e.shape().size() * if e.is_laned() { self.lanes } else { 1 }
    }
}

/// A case built at one point, with directions `v` and `u` and weights `w`.
struct Trial<'g> {
    graph: &'g Graph,
    x: Vec<Input<'g>>,
    v: Vec<Input<'g>>,
    u: Vec<Input<'g>>,
    w: Input<'g>,
    rows: (Indices<'g>, Vec<u32>),
    result: Expr<'g>,
    lanes: usize,
}

/// Checks first and second derivatives of a case at a random point; `laned` says which operands
/// carry lanes, one bit each.
pub(crate) fn check(case: &Case, seed: u64, lanes: usize, laned: usize) {
    let graph = Graph::new();
    let mut random = Random::new(seed);
    let mut place = Place {
        random: &mut random,
        lanes,
    };
    let trial = Trial::new(&graph, case, &mut place, laned);
    trial.check(case.name);
}

impl<'g> Trial<'g> {
    fn new(graph: &'g Graph, case: &Case, place: &mut Place<'_>, laned: usize) -> Trial<'g> {
        let shapes = (case.shapes)(place.random);
        let numbers = (case.indices)(&shapes, place.random);
        let rows = graph.index_input("rows", numbers.len());
        let mut x = Vec::new();
        for (k, (shape, domain)) in shapes.iter().zip(case.domains).enumerate() {
            let mut input = Input::new(graph, &format!("x{k}"), *shape, laned >> k & 1 == 1);
            input.values = draw(*domain, *shape, input.expr.is_laned(), place);
            x.push(input);
        }
        let operands = Operands {
            graph,
            x: x.iter().map(|i| i.expr).collect(),
            rows,
            pick: place.random.below(64),
        };
        // A curved outer function makes the second derivative of linear operations visible.
        let value = (case.build)(&operands);
        let result = value + value.square() * 0.3;
        let along = |name: &str, place: &mut Place<'_>| {
            let each = operands.x.iter().enumerate();
            each.map(|(k, e)| Input::direction(graph, &format!("{name}{k}"), *e, place))
                .collect()
        };
        let (v, u) = (along("v", place), along("u", place));
        Trial {
            graph,
            w: Input::direction(graph, "w", result, place),
            rows: (rows, numbers),
            lanes: place.lanes,
            x,
            v,
            u,
            result,
        }
    }

    /// The values of `outputs` at `x + t v`, one copy per lane where `like` has lanes.
    fn at(&self, t: f64, outputs: &[Expr<'g>], like: &[Expr<'g>]) -> Vec<Vec<f64>> {
        let (rows, numbers) = &self.rows;
        let mut values = InputValues::new().with_indices(rows.expr(), numbers);
        for (x, v) in self.x.iter().zip(&self.v) {
            values = values.with(x.expr, &moved(&x.values, &v.values, t));
        }
        for input in self.v.iter().chain(&self.u).chain([&self.w]) {
            values = values.with(input.expr, &input.values);
        }
        let found = evaluate(outputs, &values, self.lanes);
        let spread = |((value, out), like): ((Vec<f64>, &Expr<'g>), &Expr<'g>)| {
            let copies = if like.is_laned() && !out.is_laned() {
                self.lanes
            } else {
                1
            };
            value.repeat(copies)
        };
        found
            .into_iter()
            .zip(outputs)
            .zip(like)
            .map(spread)
            .collect()
    }

    /// `Σ ⟨outputs, directions⟩` at `x + t v`.
    fn contracted(&self, t: f64, outputs: &[Expr<'g>], with: &[Input<'g>]) -> f64 {
        let like: Vec<Expr<'g>> = with.iter().map(|d| d.expr).collect();
        let found = self.at(t, outputs, &like);
        found.iter().zip(with).map(|(f, d)| dot(f, &d.values)).sum()
    }

    fn check(&self, name: &str) {
        let x: Vec<Expr<'g>> = self.x.iter().map(|i| i.expr).collect();
        let v: Vec<Expr<'g>> = self.v.iter().map(|i| i.expr).collect();
        let weighted = self.result * self.w.expr;
        let gradient = self.graph.grad(weighted, &x);
        let along = self.graph.jvp(&[self.result], &x, &v);
        let label = |what: &str| format!("{name} {:?} × {} lanes: {what}", x, self.lanes);

        let value = |t| self.contracted(t, &[self.result], std::slice::from_ref(&self.w));
        let expected = slope(value);
        let reverse = self.contracted(0.0, &gradient, &self.v);
        let forward = self.contracted(0.0, &along, std::slice::from_ref(&self.w));
        assert_near(&label("grad"), reverse, expected, TOLERANCE);
        assert_near(&label("jvp"), forward, expected, TOLERANCE);
        assert_near(&label("jvp = grad"), forward, reverse, 1e-11);

        let expected = slope(|t| self.contracted(t, &gradient, &self.u));
        let twice = self.graph.grad(self.total(&gradient), &x);
        let reverse = self.contracted(0.0, &twice, &self.v);
        let bent = self.graph.jvp(&gradient, &x, &v);
        let forward = self.contracted(0.0, &bent, &self.u);
        assert_near(&label("grad of grad"), reverse, expected, TOLERANCE);
        assert_near(&label("jvp of grad"), forward, expected, TOLERANCE);
        assert_near(
            &label("jvp of grad = grad of grad"),
            forward,
            reverse,
            1e-11,
        );
    }

    /// `Σ ⟨gradient, u⟩` over operands and lanes, as one number of the program.
    fn total(&self, gradient: &[Expr<'g>]) -> Expr<'g> {
        let parts = gradient.iter().zip(&self.u).map(|(g, u)| {
            let part = (*g * u.expr).sum();
            // Parts without lanes count once, so those with lanes are summed first.
            if u.expr.is_laned() {
                part.sum_lanes()
            } else {
                part
            }
        });
        parts.reduce(|a, b| a + b).expect("a case has an operand")
    }
}

fn draw(domain: Domain, shape: Shape, laned: bool, place: &mut Place<'_>) -> Vec<f64> {
    let events = if laned { place.lanes } else { 1 };
    let mut event = || domain.draw(shape, place.random);
    (0..events).flat_map(|_| event()).collect()
}
