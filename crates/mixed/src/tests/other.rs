//! Non-normal responses against numerical integrals.

use lehr_model::distribution::{
    Bernoulli, Distribution, Exponential, HalfNormal, NegativeBinomial, Normal, Poisson, StudentT,
};
use lehr_model::{Bound, Model};
use lehr_numeric::pareto::log_mean;
use lehr_numeric::stream::Stream;
use lehr_table::Table;

use crate::effect_target::EffectTarget;
use crate::group_integral::Accuracy;
use crate::marginal::{MarginalDensity, ResponseRows};
use crate::marginal_point::Detail;
use crate::mode::find_mode_from;
use crate::proposal::ProposalKind;
use crate::warm_start::WarmStart;

const GROUPS: usize = 30;
const ROWS: usize = 180;

/// Rows of 30 groups, a second factor with 5 levels, a covariate, and three responses.
struct Data {
    group: Vec<u32>,
    other: Vec<u32>,
    x: Vec<f64>,
    binary: Vec<f64>,
    count: Vec<f64>,
    real: Vec<f64>,
}

impl Data {
    fn new() -> Data {
        let mut random = Stream::new(23, "other responses", 0);
        let mut effects = vec![0.0; GROUPS];
        random.fill_normal(&mut effects);
        let mut x = vec![0.0; ROWS];
        random.fill_normal(&mut x);
        let group: Vec<u32> = (0..ROWS).map(|n| (n * 7 % GROUPS) as u32).collect();
        let eta = |n: usize| 0.3 + 1.2 * effects[group[n] as usize] - 0.5 * x[n];
        let mut binary = Vec::new();
        let (mut count, mut real) = (Vec::new(), Vec::new());
        for n in 0..ROWS {
            let chance = 1.0 / (1.0 + (-eta(n)).exp());
            binary.push(f64::from(u8::from(random.uniform() < chance)));
            let (mut events, mut left) = (0.0, (0.4 * eta(n)).exp());
            loop {
                left += random.uniform().ln();
                if left < 0.0 {
                    break;
                }
                events += 1.0;
            }
            count.push(events);
            real.push(eta(n) + random.normal() / random.uniform().max(0.2));
        }
        Data {
            other: (0..ROWS).map(|n| (n * n % 5) as u32).collect(),
            group,
            x,
            binary,
            count,
            real,
        }
    }

    fn table(&self) -> Table {
        let levels = |count: usize| (0..count).map(|k| k.to_string()).collect::<Vec<String>>();
        Table::new()
            .with_number("x", self.x.clone())
            .and_then(|t| t.with_number("binary", self.binary.clone()))
            .and_then(|t| t.with_number("count", self.count.clone()))
            .and_then(|t| t.with_number("real", self.real.clone()))
            .and_then(|t| t.with_matrix("z", ROWS, 2, self.slopes()))
            .and_then(|t| t.with_category("group", self.group.clone(), levels(GROUPS)))
            .and_then(|t| t.with_category("other", self.other.clone(), levels(5)))
            .unwrap()
    }

    fn slopes(&self) -> Vec<f64> {
        self.x.iter().flat_map(|x| [1.0, *x]).collect()
    }
}

/// binary ~ offset(x) + (1 | group): only the group effects are integrated out.
fn alone(data: &Data) -> Bound {
    let model = Model::new(|m| {
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(0.2, spread).expand([GROUPS]));
        m.rows(|row| {
            let logit = effect.at(row.index("group")) + row.offset("x");
            row.observe("binary", Bernoulli::with_logit(logit));
        });
    });
    model.bind(&data.table()).unwrap()
}

/// binary ~ x + (1 | group) + (1 | other).
fn crossed(data: &Data) -> Bound {
    let model = Model::new(|m| {
        let (own, others) = (
            m.sample("own", HalfNormal::new(1.0)),
            m.sample("others", HalfNormal::new(1.0)),
        );
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let effect = m.sample("effect", Normal::new(0.0, own).expand([GROUPS]));
        let other = m.sample("other", Normal::new(0.0, others).expand([5]));
        m.rows(|row| {
            let groups = effect.at(row.index("group")) + other.at(row.index("other"));
            let logit = row.matrix("z").dot(weight) + groups;
            row.observe("binary", Bernoulli::with_logit(logit));
        });
    });
    model.bind(&data.table()).unwrap()
}

/// ln of the integral of one group's rows and effect, by 401 equal steps.
fn group_integral(data: &Data, group: usize, at: [f64; 3]) -> f64 {
    let [mean, slope, spread] = at;
    let rows: Vec<usize> = (0..ROWS)
        .filter(|n| data.group[*n] as usize == group)
        .collect();
    let step = 20.0 * spread / 400.0;
    let height = |k: i32| {
        let v = f64::from(k - 200) * step;
        let row = |n: &usize| {
            let eta = mean + v + slope * data.x[*n];
            let top = eta.max(0.0);
            data.binary[*n] * eta - top - ((eta - top).exp() + (-top).exp()).ln()
        };
        let square = (v / spread).powi(2) + (std::f64::consts::TAU * spread * spread).ln();
        rows.iter().map(row).sum::<f64>() - 0.5 * square
    };
    let heights: Vec<f64> = (0..=400).map(height).collect();
    let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + (heights.iter().map(|h| (h - top).exp()).sum::<f64>() * step).ln()
}

/// ln p(θ) of a half-normal spread on the log scale.
fn log_half_normal(log_spread: f64) -> f64 {
    let spread = log_spread.exp();
    (2.0 / std::f64::consts::TAU.sqrt()).ln() - 0.5 * spread * spread + log_spread
}

#[test]
fn the_gaps_of_groups_lead_from_the_bound_to_the_integral() {
    let data = Data::new();
    let bound = alone(&data);
    let marginal = MarginalDensity::new(&bound).unwrap();
    let mut work = marginal.workspace();
    for log_spread in [-3.0, -0.5, 0.0, 0.8] {
        let theta: [f64; 1] = [log_spread];
        let at = marginal.evaluate(&theta, &WarmStart::default(), Accuracy::Slope, &mut work);
        let at = at.unwrap();
        let spread = log_spread.exp();
        let groups = (0..GROUPS).map(|g| group_integral(&data, g, [0.2, 1.0, spread]));
        let exact = groups.sum::<f64>() + log_half_normal(log_spread);
        let Detail::Other(other) = &at.detail else {
            panic!("a binary response");
        };
        let gap = other.gap;
        assert!(
            gap >= 0.0 && at.value - gap <= exact + 1e-6,
            "{gap} {exact}"
        );
        assert!((at.value - exact).abs() < 2e-3, "{} {exact}", at.value);
    }
}

#[test]
fn rows_that_are_the_same_are_one_row_that_counts_as_often() {
    let data = Data::new();
    // Three rows out of four are copies, in a different order.
    let copies: Vec<usize> = (0..4 * ROWS).map(|n| n * 7 % ROWS / (1 + n % 2)).collect();
    let mut times = vec![0.0; ROWS];
    for row in &copies {
        times[*row] += 1.0;
    }
    let model = |weighted: bool| {
        Model::new(move |m| {
            let spread = m.sample("spread", HalfNormal::new(1.0));
            let shape = m.sample("shape", HalfNormal::new(5.0));
            let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
            let effect = m.sample("effect", Normal::new(0.0, spread).expand([GROUPS]));
            m.rows(|row| {
                let log = row.matrix("z").dot(weight) + effect.at(row.index("group"));
                if weighted {
                    row.weight("times");
                }
                row.observe("count", NegativeBinomial::with_log_mean(log, shape));
            });
        })
    };
    let joined = model(false)
        .bind(&data.table().select_rows(&copies))
        .unwrap();
    let weighted = data.table().with_number("times", times.clone()).unwrap();
    let weighted = model(true).bind(&weighted).unwrap();
    let theta = [-0.4, 0.7];
    let of = |bound: &Bound| {
        let marginal = MarginalDensity::new(bound).unwrap();
        let (value, slope) = marginal
            .gradient(&theta, &WarmStart::default(), &mut marginal.workspace())
            .unwrap();
        (marginal.order.rows.len(), value, slope)
    };
    let ((rows, value, slope), (all, wanted, slopes)) = (of(&joined), of(&weighted));
    let distinct = times.iter().filter(|count| **count > 0.0).count();
    assert_eq!((rows, all), (distinct, ROWS));
    assert!((value / wanted - 1.0).abs() < 1e-10, "{value} {wanted}");
    for (found, wanted) in slope.iter().zip(&slopes) {
        assert!((found - wanted).abs() < 1e-7 * wanted.abs().max(1.0));
    }
}

#[test]
fn values_from_what_is_near_are_those_of_a_search_from_scratch() {
    let bound = crossed(&Data::new());
    let marginal = MarginalDensity::new(&bound).unwrap();
    let mut work = marginal.workspace();
    let mode = find_mode_from(&marginal, &vec![-0.5; marginal.size()], &mut work).unwrap();
    let mut value = |theta: &[f64], warm_start: &WarmStart, accuracy: Accuracy| {
        let before = work.factors;
        let found = marginal
            .evaluate(theta, warm_start, accuracy, &mut work)
            .unwrap()
            .value;
        (found, work.factors - before)
    };
    for change in [
        [0.0, 0.0],
        [0.25, -0.2],
        [-0.3, 0.3],
        [0.4, 0.5],
        [-0.5, -0.6],
    ] {
        let theta: Vec<f64> = mode.theta.iter().zip(change).map(|(t, c)| t + c).collect();
        let (warm_start, factors) = value(&theta, &mode.warm_start, Accuracy::Value);
        let (exact, more) = value(&theta, &WarmStart::default(), Accuracy::Slope);
        assert!(
            (warm_start - exact).abs() < 0.02,
            "{change:?}: {warm_start} {exact}"
        );
        assert!(factors == 1 && more > 3, "{change:?}: {factors} {more}");
    }
}

/// Central differences of the value.
fn differences(marginal: &MarginalDensity<'_>, theta: &[f64]) -> Vec<f64> {
    let mut work = marginal.workspace();
    let mut side = |k: usize, step: f64| {
        let mut moved = theta.to_vec();
        moved[k] += step;
        let found = marginal.evaluate(&moved, &WarmStart::default(), Accuracy::Slope, &mut work);
        found.unwrap().value
    };
    (0..theta.len())
        .map(|k| (side(k, 1e-3) - side(k, -1e-3)) / 2e-3)
        .collect()
}

fn slope(marginal: &MarginalDensity<'_>, theta: &[f64]) -> Vec<f64> {
    let mut work = marginal.workspace();
    let found = marginal.gradient(theta, &WarmStart::default(), &mut work);
    found.unwrap().1
}

#[test]
fn slopes_are_differences_of_values_where_nothing_else_moves() {
    let data = Data::new();
    let shaped = Model::new(|m| {
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let shape = m.sample("shape", Exponential::new(0.3));
        let effect = m.sample("effect", Normal::new(0.0, 1.0).expand([GROUPS]));
        m.rows(|row| {
            let log_mean = effect.at(row.index("group")) * spread;
            row.observe("count", NegativeBinomial::with_log_mean(log_mean, shape));
        });
    });
    let tailed = Model::new(|m| {
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let noise = m.sample("noise", Exponential::new(1.0));
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([GROUPS]));
        m.rows(|row| {
            let mean = effect.at(row.index("group"));
            row.observe("real", StudentT::new(4.0, mean, noise));
        });
    });
    let table = data.table();
    for (model, theta) in [(shaped, [-0.3, 0.7]), (tailed, [0.1, 0.2])] {
        let bound = model.bind(&table).unwrap();
        let marginal = MarginalDensity::new(&bound).unwrap();
        let (found, expected) = (slope(&marginal, &theta), differences(&marginal, &theta));
        for (found, expected) in found.iter().zip(&expected) {
            let close = (found - expected).abs() < 0.01 * (1.0 + expected.abs());
            assert!(close, "{found} {expected}");
        }
    }
    let bound = alone(&data);
    let marginal = MarginalDensity::new(&bound).unwrap();
    let (found, expected) = (
        slope(&marginal, &[0.1])[0],
        differences(&marginal, &[0.1])[0],
    );
    assert!(
        (found - expected).abs() < 0.03 * (1.0 + expected.abs()),
        "{found} {expected}"
    );
}

/// The mean weight of draws at one θ, with its standard error, and the value there.
fn weighed(bound: &Bound, theta: &[f64], kind: ProposalKind) -> (f64, f64, f64) {
    let marginal = MarginalDensity::new(bound).unwrap();
    let mut work = marginal.workspace();
    let at = marginal.evaluate(theta, &WarmStart::default(), Accuracy::Slope, &mut work);
    let at = at.unwrap();
    let ResponseRows::Other(rows) = &marginal.rows else {
        panic!("not a normal response");
    };
    let target = EffectTarget {
        problem: marginal.problem(rows),
        at: at.theta_prior(),
        mean: &at.mean,
        group_rows: &rows.largest,
        grids: &rows.grids,
    };
    let mut random = Stream::new(31, "ways", 0);
    let drawn = target.draw(kind, 400, &mut random, &mut work).unwrap();
    let weights: Vec<f64> = drawn.iter().map(|one| one.log_weight).collect();
    let (mean, error) = log_mean(&weights);
    (mean, error, at.value)
}

#[test]
fn every_way_to_draw_weighs_to_the_same_integral() {
    let data = Data::new();
    let single = alone(&data);
    let exact = (0..GROUPS).map(|g| group_integral(&data, g, [0.2, 1.0, 0.9]));
    let theta = [0.9_f64.ln()];
    let exact = exact.sum::<f64>() + log_half_normal(theta[0]);
    let (mean, error, _) = weighed(&single, &theta, ProposalKind::Gaussian);
    assert!(
        (mean - exact).abs() < 4.0 * error + 1e-6,
        "{mean} {exact} {error}"
    );
    // If only group effects are integrated out, every weight is the integral itself.
    let (mean, error, _) = weighed(&single, &theta, ProposalKind::Exact);
    assert!(
        (mean - exact).abs() < 1e-5 && error < 1e-9,
        "{mean} {exact} {error}"
    );
    let crossed = Model::new(|m| {
        let beta = m.sample("beta", Normal::new(0.0, 2.0).expand([2]));
        let spread = m.sample("spread", HalfNormal::new(1.0).expand([2]));
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([GROUPS, 2]));
        let sd = m.sample("sd", HalfNormal::new(1.0));
        let other = m.sample("other", Normal::new(0.0, sd).expand([5]));
        m.rows(|row| {
            let own = (effect.at(row.index("group")) * row.matrix("z")).sum_axis(1);
            let eta = row.matrix("z").dot(beta) + own + other.at(row.index("other"));
            row.observe("count", Poisson::with_log_rate(eta));
        });
    });
    let crossed = crossed.bind(&data.table()).unwrap();
    let theta = [-0.9, -1.2, -1.0];
    let (all, all_error, value) = weighed(&crossed, &theta, ProposalKind::Gaussian);
    let (chosen, error, _) = weighed(&crossed, &theta, ProposalKind::Exact);
    let both = (all_error * all_error + error * error).sqrt();
    assert!((all - chosen).abs() < 4.0 * both, "{all} {chosen} {both}");
    assert!(error < all_error, "{error} {all_error}");
    assert!((value - chosen).abs() < 0.1, "{value} {chosen}");
}
