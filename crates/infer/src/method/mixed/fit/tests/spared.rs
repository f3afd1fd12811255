//! Fits that keep moments of their groups instead of draws.

use lehr_density::Density;
use lehr_model::distribution::{Distribution, Exponential, HalfNormal, LkjCholesky, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, sd};
use lehr_table::Table;

use crate::estimate::Level;
use crate::fit::Fit;
use crate::method::Collapse;
use crate::posterior::Posterior;

const GROUPS: usize = 30;

/// 30 groups with correlated intercepts and slopes, in the form of standard normals, crossed with
/// six others; one group has a single row and one has none.
fn crossed() -> Bound {
    let rows = 150;
    let mut random = Stream::new(8, "spared", 0);
    let mut normals = |count: usize| {
        let mut values = vec![0.0; count];
        random.fill_normal(&mut values);
        values
    };
    let (x, noise, own, other) = (normals(rows), normals(rows), normals(60), normals(6));
    let group = |n: usize| if n == 0 { 28 } else { n % 28 };
    let y = (0..rows).map(|n| {
        let (a, b) = (own[2 * group(n)], own[2 * group(n) + 1]);
        0.5 + 0.8 * a + (0.4 + 0.5 * b) * x[n] + 0.6 * other[n % 6] + 0.7 * noise[n]
    });
    let y = y.collect();
    let levels = |count: usize| (0..count).map(|k| k.to_string()).collect();
    let codes = (0..rows).map(|n| group(n) as u32).collect();
    let slopes = x.iter().flat_map(|x| [1.0, *x]).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_number("x", x.clone()))
        .and_then(|t| t.with_matrix("z", rows, 2, slopes))
        .and_then(|t| t.with_category("g", codes, levels(GROUPS)))
        .and_then(|t| t.with_category("h", (0..rows).map(|n| n as u32 % 6).collect(), levels(6)))
        .unwrap();
    let model = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 2.0));
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let spread = m.sample("spread", HalfNormal::new(1.0).expand([2]));
        let factor = m.sample("factor", LkjCholesky::new(2, 2.0));
        let own = m.sample("own", Normal::new(0.0, 1.0).expand([GROUPS, 2]));
        let width = m.sample("width", HalfNormal::new(1.0));
        let other = m.sample("other", Normal::new(0.0, 1.0).expand([6]));
        let noise = m.sample("noise", Exponential::new(1.0));
        m.rows(|row| {
            let group = own.at(row.index("g")).dot(factor.transpose()) * spread;
            let group = (group * row.matrix("z")).sum_axis(1);
            let others = other.at(row.index("h")) * width;
            let centre = level + slope * row.number("x") + group + others;
            row.observe("y", Normal::new(centre, noise));
        });
    });
    model.bind(&table).unwrap()
}

fn fit(density: &Bound, spares: bool) -> Posterior {
    let fit = Fit::new(Collapse::default()).seed(6).draws(4096);
    let fit = if spares { fit.sparing(0) } else { fit };
    fit.run(density).unwrap()
}

/// Whether two sets of draws, or draws and moments, agree within their Monte Carlo errors.
fn same(name: &str, one: (f64, f64), other: (f64, f64)) {
    let (shift, ratio) = ((one.0 - other.0) / other.1, one.1 / other.1);
    // Two times 4,096 draws, 70 numbers.
    assert!(shift.abs() < 0.1, "{name}: {one:?} {other:?}");
    assert!(ratio.ln().abs() < 0.07, "{name}: {one:?} {other:?}");
}

fn moments(values: &[f64]) -> (f64, f64) {
    (mean(values), sd(values))
}

/// The effects as the rows read them, E = diag(sd) factor u, for every draw of a group.
fn effects(posterior: &Posterior, own: impl Fn(usize) -> [f64; 2]) -> [Vec<f64>; 2] {
    let sites = posterior.latents.constrain_values(&posterior.draws);
    let site = |name: &str| &sites.iter().find(|one| one.name == name).unwrap().values;
    let (spread, factor) = (site("spread"), site("factor"));
    let each = |effect: usize| {
        let value = |draw: usize| {
            let (s, f, u) = (&spread[2 * draw..], &factor[4 * draw..], own(draw));
            s[effect] * (f[2 * effect] * u[0] + f[2 * effect + 1] * u[1])
        };
        (0..posterior.n_draws()).map(value).collect()
    };
    [each(0), each(1)]
}

#[test]
fn moments_and_draws_made_again_are_those_of_all_draws() {
    let density = crossed();
    let (whole, spared) = (fit(&density, false), fit(&density, true));
    assert_eq!(spared.draws_level(), Level::Reliable);
    let kept = spared.spared.as_ref().unwrap();
    assert_eq!(kept.site().name, "own");
    assert_eq!(spared.n_latents(), whole.latents.size());
    let summaries = whole.summaries();
    for own in spared.summaries() {
        let other = summaries.iter().find(|one| one.name == own.name).unwrap();
        if other.sd > 1e-9 {
            same(&own.name, (own.mean, own.sd), (other.mean, other.sd));
        }
    }
    let place = kept.place().start;
    for group in [0, 3, 28, 29] {
        let of_whole = effects(&whole, |draw| {
            let z = whole.draw(draw);
            [z[place + 2 * group], z[place + 2 * group + 1]]
        });
        let again = effects(&spared, |draw| {
            let own = kept.effects(draw, spared.draw(draw), &[group as u32]);
            [own[0], own[1]]
        });
        // At the start of the hyperparameters standard deviations are 1 and correlations 0, so
        // moments are those of the effects.
        let (means, covariance) = kept.moments(group);
        for effect in 0..2 {
            let name = format!("group {group}, effect {effect}");
            let known = (means[effect], covariance[3 * effect].sqrt());
            same(&name, moments(&again[effect]), moments(&of_whole[effect]));
            same(&name, moments(&of_whole[effect]), known);
        }
    }
}

#[test]
fn what_is_drawn_of_a_group_is_joint_with_the_kept_numbers() {
    let density = crossed();
    let posterior = fit(&density, true);
    let kept = posterior.spared.as_ref().unwrap();
    // The prior and the likelihood of complete draws, and of draws in which one group comes from
    // another draw.
    let groups: Vec<u32> = (0..GROUPS as u32).collect();
    let level = density.latents().position("level").unwrap();
    let level = density.latents().range(level).start;
    let place = kept.place().start;
    let pairs = |number: usize| {
        let z = posterior.draw_with(number, &groups);
        assert_eq!(z, posterior.draw_filled(number, &groups));
        (z[level], z[place])
    };
    let (levels, first): (Vec<f64>, Vec<f64>) = (0..4096).map(pairs).unzip();
    let correlation = |a: &[f64], b: &[f64]| {
        let (ma, mb) = (mean(a), mean(b));
        let sum: f64 = a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum();
        sum / (a.len() as f64 * sd(a) * sd(b))
    };
    let whole = fit(&density, false);
    let of_whole = |at: usize| -> Vec<f64> { (0..4096).map(|k| whole.draw(k)[at]).collect() };
    let (found, wanted) = (
        correlation(&levels, &first),
        correlation(&of_whole(level), &of_whole(place)),
    );
    assert!(wanted.abs() > 0.1, "{wanted}");
    assert!((found - wanted).abs() < 0.08, "{found} {wanted}");
}

#[test]
fn threads_and_other_groups_change_no_bit() {
    let density = crossed();
    let on = |threads: usize| {
        let fit = Fit::new(Collapse::default()).seed(6).draws(200).sparing(0);
        fit.threads(threads).run(&density).unwrap()
    };
    let (one, two, four) = (on(1), on(2), on(4));
    assert_eq!(one.draws, two.draws);
    assert_eq!(one.spared, two.spared);
    assert_eq!(one.draws, four.draws);
    assert_eq!(one.spared, four.spared);
    let kept = one.spared.as_ref().unwrap();
    let alone = kept.effects(17, one.draw(17), &[5]);
    assert_eq!(kept.effects(17, one.draw(17), &[2, 5])[2..], alone);
}
