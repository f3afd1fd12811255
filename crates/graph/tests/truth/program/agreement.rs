//! Plans against the reference evaluator: the same numbers up to rounding, however they are run.

use lehr_graph::SimdLevel;
use lehr_graph::reference::evaluate;
use lehr_graph::{Expr, Fusion, Graph, Plan, PlanOptions, Workspace};

use super::{Kinks, Program, Settings};
use crate::random::Random;

/// The largest error of a plan's value relative to the largest value of its array.
const TOLERANCE: f64 = 1e-10;

/// One program to compare, with the options of its plans.
#[derive(Clone, Copy, Debug)]
struct Trial {
    seed: u64,
    rows: usize,
    width: usize,
    lanes: usize,
    /// Rows per block; a small number makes short programs stream too.
    row_block: usize,
    /// Lanes per block.
    lane_block: usize,
}

type Arrays = Vec<Vec<f64>>;

impl Trial {
    fn grow<'g>(&self, graph: &'g Graph) -> (Program<'g>, Vec<Expr<'g>>) {
        let mut random = Random::new(self.seed);
        let settings = Settings {
            rows: self.rows,
            width: self.width,
            lanes: self.lanes,
            steps: random.between(5, 40),
            kinks: Kinks::Allowed,
        };
        let program = Program::random(graph, settings, &mut random);
        let outputs = outputs(&program);
        (program, outputs)
    }

    /// All outputs with and without fusion, on an instruction set and a pool of this many threads.
    fn planned(&self, level: SimdLevel, threads: usize) -> [Arrays; 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("a pool starts");
        pool.install(|| {
            let graph = Graph::new();
            let (program, outputs) = self.grow(&graph);
            [Fusion::On, Fusion::Off].map(|fusion| {
                let options = PlanOptions {
                    fusion,
                    row_block: self.row_block,
                    lane_block: self.lane_block,
                    level,
                    ..PlanOptions::lanes(self.lanes)
                };
                run(&program, &outputs, &options)
            })
        })
    }

    /// Compares plans on every instruction set of the machine with the reference evaluator, and
    /// with themselves on one and two threads.
    fn check(&self) {
        let graph = Graph::new();
        let (program, outputs) = self.grow(&graph);
        let expected = evaluate(&outputs, &program.values(), self.lanes);
        for level in SimdLevel::all() {
            let [one, two] = [1, 2].map(|threads| self.planned(level, threads));
            for (one, two) in one.iter().zip(&two) {
                assert!(
                    bits(one) == bits(two),
                    "{self:?}, {level:?}: threads differ"
                );
            }
            for (found, how) in one.iter().zip(["fused", "not fused"]) {
                for (k, output) in outputs.iter().enumerate() {
                    let label = || format!("{self:?}, {level:?}, {how}: output {k}, {output:?}");
                    assert_agree(&label, &found[k], &expected[k]);
                }
            }
        }
    }
}

/// The outputs of a program: late arrays, a number, its gradient, and a second derivative.
fn outputs<'g>(program: &Program<'g>) -> Vec<Expr<'g>> {
    let graph = program.graph;
    let (target, wrt) = (program.target(), program.wrt());
    let gradient = graph.grad(target, &wrt);
    let moving = gradient[1];
    let twice = graph.grad(moving.square().sum(), &wrt[1..3]);
    let along = graph.jvp(&[target], &wrt[..2], &[graph.scalar(0.5), moving]);
    let arrays = program.pool.iter().rev().take(6).map(|e| e.expr);
    let derivatives = gradient.iter().chain(&twice).chain(&along).copied();
    arrays.chain([target]).chain(derivatives).collect()
}

/// One run of a plan with these options, and a second that must give the same bits.
fn run(program: &Program<'_>, outputs: &[Expr<'_>], options: &PlanOptions) -> Arrays {
    let plan = Plan::with_options(outputs, options);
    let mut workspace = plan.workspace();
    let fill = |workspace: &mut Workspace, scale: f64| {
        for (input, values) in &program.inputs {
            if let Some(slot) = plan.input(*input) {
                let scaled: Vec<f64> = values.iter().map(|x| x * scale).collect();
                workspace.set(slot, &scaled);
            }
        }
    };
    let (groups, numbers) = &program.groups;
    if let Some(slot) = plan.input(groups.expr()) {
        workspace.set_indices(slot, numbers);
    }
    let read = |workspace: &Workspace| -> Arrays {
        let each = 0..outputs.len();
        each.map(|k| workspace.output(k).to_vec()).collect()
    };
    // The results of an earlier run must not have an influence.
    fill(&mut workspace, -0.5);
    plan.run(&mut workspace);
    fill(&mut workspace, 1.0);
    plan.run(&mut workspace);
    let first = read(&workspace);
    plan.run(&mut workspace);
    assert!(
        bits(&first) == bits(&read(&workspace)),
        "a second run differs"
    );
    first
}

fn bits(values: &[Vec<f64>]) -> Vec<Vec<u64>> {
    let each = values.iter();
    each.map(|v| v.iter().map(|x| x.to_bits()).collect())
        .collect()
}

fn assert_agree(label: &dyn Fn() -> String, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{}", label());
    let peak = expected.iter().fold(1e-3_f64, |a, x| a.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        let near = (a - b).abs() <= TOLERANCE * peak;
        assert!(near, "{}: entry {i} is {a:e}, not {b:e}", label());
    }
}

#[test]
fn plans_of_short_programs_agree_with_the_plain_evaluator() {
    for seed in 1000..1150 {
        let lanes = [1, 3, 16][seed as usize % 3];
        let rows = 5 + seed as usize % 9;
        let row_block = 512;
        Trial {
            seed,
            rows,
            width: 4,
            lanes,
            row_block,
            lane_block: 8,
        }
        .check();
    }
}

#[test]
fn plans_that_stream_in_small_blocks_agree_with_the_plain_evaluator() {
    for seed in 3000..3150 {
        let lanes = [1, 3, 16, 5, 9, 17][seed as usize % 6];
        let (rows, row_block) = (20 + seed as usize % 37, 4 + seed as usize % 5);
        Trial {
            seed,
            rows,
            width: 4,
            lanes,
            row_block,
            lane_block: 8,
        }
        .check();
    }
}

#[test]
fn plans_of_long_tables_agree_with_the_plain_evaluator() {
    for seed in 2000..2012 {
        let lanes = [1, 3, 16][seed as usize % 3];
        let row_block = PlanOptions::lanes(lanes).row_block;
        Trial {
            seed,
            rows: 3000,
            width: 4,
            lanes,
            row_block,
            lane_block: 8,
        }
        .check();
    }
}

#[test]
fn plans_of_wide_programs_agree_with_the_plain_evaluator() {
    for seed in 4000..4020 {
        let lanes = [1, 3][seed as usize % 2];
        Trial {
            seed,
            rows: 60,
            width: 52,
            lanes,
            row_block: 9,
            lane_block: 8,
        }
        .check();
    }
}

#[test]
fn plans_of_tables_that_are_lent_agree_with_the_plain_evaluator() {
    for seed in 5000..5003 {
        Trial {
            seed,
            rows: 9000,
            width: 4,
            lanes: 2,
            row_block: 512,
            lane_block: 8,
        }
        .check();
    }
}

#[test]
fn plans_with_many_lanes_in_a_block_agree_with_the_plain_evaluator() {
    for seed in 6000..6012 {
        Trial {
            seed,
            rows: 40,
            width: 30,
            lanes: 70,
            row_block: 512,
            lane_block: [1, 64, 100][seed as usize % 3],
        }
        .check();
    }
}

#[test]
#[ignore = "takes minutes: run by make slow"]
fn a_thousand_more_programs_agree_with_the_plain_evaluator() {
    for seed in 10_000..11_000 {
        let lanes = [1, 2, 3, 8, 9, 16, 17][seed as usize % 7];
        let rows = [7, 40, 200, 1025, 3000][seed as usize % 5];
        let row_block = [4, 16, 64, 512][seed as usize % 4];
        Trial {
            seed,
            rows,
            width: 4,
            lanes,
            row_block,
            lane_block: 8,
        }
        .check();
    }
}
