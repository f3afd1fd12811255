//! Gradients of random programs against central differences and forward derivatives.

use lehr_graph::reference::evaluate;
use lehr_graph::{Expr, Graph};

use super::{Kinks, Program, Settings};
use crate::difference::{assert_near, dot, moved, slope};
use crate::random::Random;

/// A program with directions for its inputs, which are inputs too.
struct Moving<'g> {
    program: Program<'g>,
    along: Vec<(Expr<'g>, Vec<f64>)>,
}

impl<'g> Moving<'g> {
    fn new(program: Program<'g>, random: &mut Random) -> Moving<'g> {
        let direction = |(e, values): &(Expr<'g>, Vec<f64>)| {
            let input = if e.is_laned() {
                program.graph.laned_input("v", e.shape())
            } else {
                program.graph.input("v", e.shape())
            };
            (input, random.numbers(values.len(), -1.0, 1.0))
        };
        let along = program.inputs.iter().map(direction).collect();
        Moving { program, along }
    }

    /// The outputs where every input has moved by `t` along its direction.
    fn at(&self, t: f64, outputs: &[Expr<'g>]) -> Vec<Vec<f64>> {
        let mut values = self.program.values();
        for ((x, start), (v, along)) in self.program.inputs.iter().zip(&self.along) {
            values = values.with(*x, &moved(start, along, t)).with(*v, along);
        }
        evaluate(outputs, &values, self.program.settings.lanes)
    }

    /// `Σ ⟨parts, directions⟩`, every part with the lanes of its input.
    fn contracted(&self, t: f64, parts: &[Expr<'g>]) -> f64 {
        let found = self.at(t, parts);
        let each = found.iter().zip(parts).zip(&self.along);
        each.map(|((found, part), (v, along))| {
            let spread = v.is_laned() && !part.is_laned();
            let copies = if spread {
                self.program.settings.lanes
            } else {
                1
            };
            dot(&found.repeat(copies), along)
        })
        .sum()
    }
}

fn check(seed: u64, lanes: usize) {
    let graph = Graph::new();
    let mut random = Random::new(seed);
    let settings = Settings {
        rows: 6,
        width: 4,
        lanes,
        steps: random.between(5, 40),
        kinks: Kinks::Avoided,
    };
    let program = Program::random(&graph, settings, &mut random);
    let (target, wrt) = (program.target().sum_lanes(), program.wrt());
    let moving = Moving::new(program, &mut random);
    let v: Vec<Expr<'_>> = moving.along.iter().map(|(e, _)| *e).collect();

    let gradient = graph.grad(target, &wrt);
    let reverse = moving.contracted(0.0, &gradient);
    let forward = moving.at(0.0, &graph.jvp(&[target], &wrt, &v))[0][0];
    let expected = slope(|t| moving.at(t, &[target])[0][0]);
    let label = |what: &str| format!("program {seed}, {lanes} lanes: {what}");
    assert_near(&label("grad"), reverse, expected, 1e-7);
    assert_near(&label("jvp = grad"), forward, reverse, 1e-10);

    let bent = graph.jvp(&gradient, &wrt, &v);
    let expected = slope(|t| moving.contracted(t, &gradient));
    assert_near(
        &label("jvp of grad"),
        moving.contracted(0.0, &bent),
        expected,
        1e-6,
    );
}

#[test]
fn random_programs_have_the_derivatives_of_their_values() {
    for seed in 0..150 {
        check(seed, 1 + 2 * (seed as usize % 2));
    }
}

#[test]
fn random_programs_are_finite_everywhere() {
    for seed in 0..50 {
        let graph = Graph::new();
        let mut random = Random::new(seed);
        let settings = Settings {
            rows: 7,
            width: 4,
            lanes: 3,
            steps: 40,
            kinks: Kinks::Allowed,
        };
        let program = Program::random(&graph, settings, &mut random);
        let outputs: Vec<Expr<'_>> = program.pool.iter().map(|e| e.expr).collect();
        let found = evaluate(&outputs, &program.values(), 3);
        for (value, entry) in found.iter().zip(&program.pool) {
            let peak = value.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
            assert!(
                peak <= 3.0 + 1e-9,
                "{:?} of program {seed}: {peak}",
                entry.expr
            );
        }
    }
}
