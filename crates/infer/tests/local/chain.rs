//! Chains over the latents of single rows, against closed forms and differences.

use std::sync::Arc;

use lehr_density::{Density, RowData, RowSet, Support, Values};
use lehr_infer::annealed::AnnealedStart;
use lehr_infer::guide::{LearnedBlocks, MeanField, RowInput, RowNumbers, Whitening, all_blocks};
use lehr_infer::local::{IntegratedDensity, RowBase, RowChains, Semi};
use lehr_infer::objective::Score;
use lehr_infer::program::{Program, compile};
use lehr_infer::train::{Task, TrainSettings};
use lehr_model::distribution::{Gamma, HalfNormal, Normal, Poisson, StudentT};
use lehr_model::{Bound, Model};
use lehr_numeric::quadrature::gauss_hermite;
use lehr_numeric::summary::{mean, sd};

use crate::fixture::value;
use crate::{apart, assert_exact_slopes, bind, found, normals};

const DF: f64 = 4.0;
/// α of the posterior of a row's precision.
const ALPHA: f64 = 0.5 * (DF + 1.0);

fn chains(base: RowBase, steps: usize, step_size: f64) -> RowChains {
    RowChains {
        base,
        steps,
        start: AnnealedStart {
            step_size,
            step_growth: 0.01,
            refreshment: 0.7,
            momentum_variance: 0.8,
            max_step_size: 0.4,
        },
    }
}

/// Robust regression as a scale mixture of normals, and in closed form.
fn robust(rows: usize) -> [Bound; 2] {
    let mixture = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(0.5 * DF, 0.5 * DF));
            let mean = row.number("x") * slope;
            row.observe("y", Normal::new(mean, scale / precision.sqrt()));
        });
    });
    let closed = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| row.observe("y", StudentT::new(DF, row.number("x") * slope, scale)));
    });
    let (x, y) = (normals(rows, 41), normals(rows, 42));
    [mixture, closed].map(|model| bind(&model, &[("x", &x), ("y", &y)]))
}

const Z: [f64; 2] = [0.4, -0.3];

/// m and ln s of the best normal approximation of the log precision of each row.
fn best(density: &dyn Density) -> RowNumbers {
    let rows = density.n_rows();
    let column = |place: usize| {
        let mut values = vec![0.0; rows];
        density
            .source()
            .copy_numbers(place, &RowSet::Range(0..rows), &mut values);
        values
    };
    let names: Vec<&str> = density.columns().iter().map(|c| c.name.as_str()).collect();
    let [x, y] = ["x", "y"].map(|name| column(names.iter().position(|n| *n == name).unwrap()));
    let scale = Z[1].exp();
    let numbers = x.iter().zip(&y).flat_map(|(x, y)| {
        let rate = 0.5 * DF + 0.5 * ((y - x * Z[0]) / scale).powi(2);
        [(ALPHA / rate).ln() - 0.5 / ALPHA, -0.5 * ALPHA.ln()]
    });
    RowNumbers {
        width: 2,
        start: numbers.collect(),
    }
}

/// A program of ℒₙ at z, one lane per draw, with given learned quantities of the base.
fn scores(
    density: &dyn Density,
    rows: RowChains,
    z: &[f64],
    lanes: usize,
    base: &[(&str, f64)],
) -> Program {
    let width = density.integrates().unwrap().layout().size();
    let mut blocks = rows.blocks(width);
    for (name, value) in base {
        let own = blocks.iter_mut().filter(|block| block.name == *name);
        own.for_each(|block| block.start.fill(*value));
    }
    let learned = LearnedBlocks::new(blocks);
    let mut program = compile(density, &learned, (lanes, 7), |context| {
        let at = context.at(context.graph().constant([z.len()], z));
        let data = context.rows("score", &RowInput::All);
        vec![rows.log_likelihood(context, &at, &data)]
    })
    .unwrap();
    program.set_learned(&learned.values);
    program.fill(density.source(), 0);
    program
}

fn set(program: &mut Program, name: &str, values: &[f64]) {
    let slot = program.plan().input_named(name).unwrap();
    program.workspace_mut().set(slot, values);
}

/// ℒₙ for a number of draws, row by row.
fn drawn(density: &dyn Density, rows: RowChains, z: &[f64], own: &RowNumbers) -> Vec<Vec<f64>> {
    drawn_off(density, rows, z, own, &[])
}

/// The same with given learned quantities of the base.
fn drawn_off(
    density: &dyn Density,
    rows: RowChains,
    z: &[f64],
    own: &RowNumbers,
    base: &[(&str, f64)],
) -> Vec<Vec<f64>> {
    const LANES: usize = 4096;
    let mut program = scores(density, rows, z, LANES, base);
    if rows.base == RowBase::Own {
        set(&mut program, "row_numbers", &own.start);
    }
    program.run();
    let (all, n) = (program.output(0), density.n_rows());
    let row = |k: usize| all.iter().skip(k).step_by(n).copied().collect();
    (0..n).map(row).collect()
}

#[test]
fn an_estimate_is_below_the_likelihood_for_every_length_and_its_exponential_is_not_off() {
    let [mixture, closed] = robust(12);
    let integrated = IntegratedDensity::of(&mixture).unwrap();
    let truth = found(&closed, &Z).rows;
    let own = best(&mixture);
    for base in [RowBase::Newton, RowBase::Own] {
        for steps in [0, 1, 2, 5, 8] {
            // Away from their starts, so that their contribution to the weight is not zero.
            let off = [("row_shift", 0.1), ("row_log_stretch", 0.15)];
            let found = drawn_off(&integrated, chains(base, steps, 0.2), &Z, &own, &off);
            for (values, truth) in found.iter().zip(&truth) {
                let root = (values.len() as f64).sqrt();
                let (level, error) = (mean(values), sd(values) / root);
                assert!(
                    level - 4.0 * error <= *truth,
                    "{base:?} {steps}: {level} {truth}"
                );
                // E e^ℒₙ = p(yₙ | z): no term of the weight is missing.
                let ratios: Vec<f64> = values.iter().map(|v| (v - truth).exp()).collect();
                let (ratio, error) = (mean(&ratios), sd(&ratios) / root);
                assert!(
                    (ratio - 1.0).abs() < 5.0 * error,
                    "{base:?} {steps}: {ratio} ± {error}"
                );
            }
        }
    }
}

#[test]
fn the_best_normal_of_a_row_is_r_below_its_likelihood() {
    const NODES: usize = 64;
    let [mixture, closed] = robust(6);
    let integrated = IntegratedDensity::of(&mixture).unwrap();
    let mut program = scores(&integrated, chains(RowBase::Own, 0, 0.1), &Z, NODES, &[]);
    set(&mut program, "row_numbers", &best(&mixture).start);
    let (nodes, weights) = gauss_hermite(NODES);
    let noise: Vec<f64> = nodes.iter().flat_map(|t| [*t; 6]).collect();
    set(&mut program, "row base", &noise);
    program.run();
    // ln Γ(5/2)
    let gamma = 1.329_340_388_179_137_f64.ln();
    let remainder =
        gamma - ALPHA * ALPHA.ln() + ALPHA + 0.5 * ALPHA.ln() - 0.5 * std::f64::consts::TAU.ln();
    for (row, truth) in found(&closed, &Z).rows.iter().enumerate() {
        let values = program.output(0).iter().skip(row).step_by(6);
        let level: f64 = values.zip(&weights).map(|(v, w)| v * w).sum();
        let gap = truth - level;
        assert!((gap - remainder).abs() < 1e-6, "{gap} {remainder}");
    }
}

/// Chains over normal latents of each response, and the variance of the response given z.
fn gaussian(locals: usize) -> (Bound, f64) {
    let scales = [1.0, 0.5, 0.7];
    let model = Model::new(move |m| {
        let centre = m.sample("centre", Normal::new(0.0, 10.0));
        m.rows(|row| {
            let mut last = row.local("first", Normal::new(centre, 1.0));
            for (k, scale) in scales.iter().enumerate().take(locals).skip(1) {
                last = row.local(&format!("next{k}"), Normal::new(last, *scale));
            }
            row.observe("y", Normal::new(last, 1.0));
        });
    });
    let variance = 1.0 + scales[..locals].iter().map(|s| s * s).sum::<f64>();
    (bind(&model, &[("y", &normals(9, 43))]), variance)
}

#[test]
fn normal_latents_are_scored_exactly_at_the_peak_and_nearly_along_short_steps() {
    for locals in [1, 2, 3] {
        let (bound, variance) = gaussian(locals);
        let integrated = IntegratedDensity::of(&bound).unwrap();
        let centre = 0.3;
        let constant = (std::f64::consts::TAU * variance).ln();
        let truth = normals(9, 43)
            .into_iter()
            .map(|y| -0.5 * ((y - centre).powi(2) / variance + constant));
        let truth: Vec<f64> = truth.collect();
        assert!(apart(&found(&integrated, &[centre]).rows, &truth) < 1e-9);
        let off = |rows: RowChains| {
            let none = RowNumbers {
                width: 0,
                start: Arc::new([]),
            };
            let found = drawn(&integrated, rows, &[centre], &none);
            let pairs = found.iter().zip(&truth);
            pairs
                .flat_map(|(row, truth)| row.iter().map(move |v| (v - truth).abs()))
                .fold(0.0, f64::max)
        };
        assert!(off(chains(RowBase::Newton, 0, 0.1)) < 1e-9, "{locals}");
        let still = |step_size: f64| RowChains {
            start: AnnealedStart {
                step_growth: 0.0,
                ..chains(RowBase::Newton, 3, step_size).start
            },
            ..chains(RowBase::Newton, 3, step_size)
        };
        let (long, short) = (off(still(0.2)), off(still(0.02)));
        // The energy error of a leapfrog step is of second order.
        assert!(
            long > 1e-3 && short < long / 50.0,
            "{locals}: {long} {short}"
        );
    }
}

/// Counts whose log rates are a sum of three normals, or contain one normal with the same variance.
fn counts() -> [Bound; 2] {
    let y: Vec<f64> = normals(8, 44)
        .iter()
        .map(|e| (2.0 * e.abs()).round())
        .collect();
    let three = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 2.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let a = row.local("a", Normal::new(0.0, 0.6 * scale));
            let b = row.local("b", Normal::new(0.0, 0.48 * scale));
            let c = row.local("c", Normal::new(0.0, 0.64 * scale));
            row.observe("y", Poisson::with_log_rate(centre + a + b + c));
        });
    });
    let one = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 2.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, scale));
            row.observe("y", Poisson::with_log_rate(centre + own));
        });
    });
    [three, one].map(|model| bind(&model, &[("y", &y)]))
}

#[test]
fn three_latents_of_a_row_are_integrated_and_bounded_as_the_one_that_they_sum_to() {
    let [three, one] = counts();
    let (three, one) = (
        IntegratedDensity::of(&three).unwrap(),
        IntegratedDensity::of(&one).unwrap(),
    );
    let none = RowNumbers {
        width: 0,
        start: Arc::new([]),
    };
    for z in [[0.5, -0.4], [-0.3, 0.2]] {
        let (rule, truth) = (found(&three, &z), found(&one, &z));
        let off = apart(&rule.rows, &truth.rows);
        assert!(off < 2e-3, "{off}");
        assert!(apart(&rule.gradient, &truth.gradient) < 2e-2);
        let scored = drawn(&three, chains(RowBase::Newton, 4, 0.2), &z, &none);
        for (values, truth) in scored.iter().zip(&truth.rows) {
            let ratios: Vec<f64> = values.iter().map(|v| (v - truth).exp()).collect();
            let error = sd(&ratios) / (ratios.len() as f64).sqrt();
            assert!((mean(&ratios) - 1.0).abs() < 5.0 * error);
            assert!(mean(values) < truth + 4.0 * sd(values) / (values.len() as f64).sqrt());
        }
    }
}

/// The mixture with learned parameters.
fn learning() -> Bound {
    let model = Model::new(|m| {
        let centre = m.param("centre", 0.3, Support::Real);
        let scale = m.param("scale", 0.8, Support::Positive);
        let slope = m.sample("slope", Normal::new(centre, 1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(2.0, 2.0));
            let mean = row.number("x") * slope;
            row.observe("y", Normal::new(mean, scale / precision.sqrt()));
        });
    });
    bind(&model, &[("x", &normals(5, 45)), ("y", &normals(5, 46))])
}

fn semi(base: RowBase, own: Option<RowNumbers>) -> Semi {
    Semi {
        latents: Arc::new(MeanField { start_scale: 0.4 }),
        rows: chains(base, 3, 0.15),
        own,
    }
}

/// The learned quantities of a guide, each moved a little.
fn stirred(density: &dyn Density, guide: &Semi) -> LearnedBlocks {
    let mut learned = LearnedBlocks::new(all_blocks(density, guide));
    for (place, value) in learned.values.iter_mut().enumerate() {
        *value += 0.1 * (2.3 * place as f64).sin();
    }
    learned
}

#[test]
fn the_slope_of_the_bound_is_exact_in_all_that_is_learned_the_peak_and_parameters_included() {
    let (bound, three) = (learning(), counts()[0].clone());
    for (density, most) in [(&bound, 1e-7), (&three, 1e-6)] {
        let integrated = IntegratedDensity::of(density).unwrap();
        let guide = semi(RowBase::Newton, None);
        let score = Score {
            rows: RowInput::All,
            control: None,
        };
        let task = Task {
            density: &integrated,
            whitening: &Whitening::Identity,
            guide: &guide,
            score: &score,
            seed: 4,
        };
        assert_exact_slopes(&task, stirred(&integrated, &guide), most);
    }
}

#[test]
fn the_bounds_of_all_batches_average_to_that_of_all_rows() {
    const ROWS: usize = 6;
    let [mixture, _] = robust(ROWS);
    let integrated = IntegratedDensity::of(&mixture).unwrap();
    let guide = semi(RowBase::Newton, None);
    let learned = stirred(&integrated, &guide);
    let noise = [
        "row base",
        "row momentum 0",
        "row momentum 1",
        "row momentum 2",
    ];
    let bound = |rows: &[usize]| -> f64 {
        let data = chosen(&mixture, rows);
        let score = Score {
            rows: RowInput::Fixed(Arc::new(data)),
            control: None,
        };
        let task = Task {
            density: &integrated,
            whitening: &Whitening::Identity,
            guide: &guide,
            score: &score,
            seed: 4,
        };
        let mut program = task.program(&learned, &TrainSettings::default()).unwrap();
        program.fill(integrated.source(), 0);
        for (k, name) in noise.iter().enumerate() {
            let all = normals(ROWS, 50 + k as u64);
            let own: Vec<f64> = rows.iter().map(|row| all[*row]).collect();
            set(&mut program, name, &own);
        }
        set(&mut program, "base_noise", &[0.3, -0.8]);
        value(&mut program, &learned.values)
    };
    let whole = bound(&[0, 1, 2, 3, 4, 5]);
    let pairs = (0..ROWS).flat_map(|i| (0..i).map(move |j| [j, i]));
    let bounds: Vec<f64> = pairs.map(|pair| bound(&pair)).collect();
    assert_eq!(bounds.len(), 15);
    assert!(
        (mean(&bounds) - whole).abs() < 1e-10 * whole.abs(),
        "{whole}"
    );
}

/// These rows of a table of numbers.
fn chosen(density: &dyn Density, rows: &[usize]) -> RowData {
    let column = |place: usize| {
        let mut values = vec![0.0; rows.len()];
        density
            .source()
            .copy_numbers(place, &RowSet::List(rows), &mut values);
        Values::Numbers {
            width: 1,
            values: values.into(),
        }
    };
    let columns = (0..density.columns().len()).map(column);
    RowData::new(rows.len(), columns.collect())
}
