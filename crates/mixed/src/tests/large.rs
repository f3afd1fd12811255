//! Approximations for large tables: in place of a factor of S, and in place of draws of very many
//! groups.

use lehr_density::Density;

use super::{Data, Form, bind, theta};
use crate::collapsed::MarginalDensity;
use crate::gap::Accuracy;
use crate::marginal_point::MarginalPoint;
use crate::near::WarmStart;
use crate::sight::Sight;
use crate::workspace::MixedWorkspace;

/// The same table with the factor of the Schur complement in S, and with the approximation used in
/// its place.
fn both(
    form: Form,
    look: impl Fn(&MarginalDensity<'_>, MarginalPoint, &mut MixedWorkspace) -> Vec<f64>,
) {
    let (bound, theta) = (bind(form, &Data::new()), theta(form));
    let [dense, loose] = [Sight::Exact, Sight::Loose].map(|sight| {
        let collapsed = MarginalDensity::seen(&bound, sight).unwrap();
        let mut bench = collapsed.bench();
        let at = collapsed.at(&theta, &WarmStart::default(), Accuracy::Slope, &mut bench);
        let at = at.unwrap();
        assert_eq!(bench.factor.loose.is_some(), sight == Sight::Loose);
        look(&collapsed, at, &mut bench)
    });
    assert_eq!(dense.len(), loose.len());
    for (dense, loose) in dense.iter().zip(&loose) {
        assert!((dense - loose).abs() < 1e-7, "{dense} {loose}");
    }
}

#[test]
fn solves_and_probes_in_all_directions_are_the_factor() {
    for form in [Form::Standard, Form::Effect] {
        both(form, |collapsed, at, bench| {
            let theta = theta(form);
            let mut found = vec![at.value];
            found.extend(collapsed.slope_at(&theta, &at, bench).unwrap());
            found.extend(&at.mean.own);
            found.extend(&at.mean.others);
            found
        });
    }
}

#[test]
fn draws_without_a_factor_have_the_covariance_of_the_inverse() {
    for form in [Form::Standard, Form::Effect] {
        both(form, |collapsed, _, bench| {
            let size = collapsed.design.rest;
            let mut draws = vec![vec![0.0; size]; size];
            for (k, draw) in draws.iter_mut().enumerate() {
                draw[k] = 1.0;
            }
            let mut all: Vec<&mut [f64]> = draws.iter_mut().map(Vec::as_mut_slice).collect();
            bench
                .factor
                .colour_rest(&collapsed.design, &mut all)
                .unwrap();
            let entry = |k: usize| draws.iter().map(|own| own[k / size] * own[k % size]).sum();
            (0..size * size).map(entry).collect()
        });
    }
}

#[test]
fn eight_probes_are_close_to_the_factor() {
    let bound = bind(Form::Effect, &Data::new());
    let exact = MarginalDensity::new(&bound).unwrap();
    let value = |collapsed: &MarginalDensity<'_>, shift: f64| {
        let mut moved = theta(Form::Effect);
        for entry in &mut moved {
            *entry += shift;
        }
        let at = collapsed.at(
            &moved,
            &WarmStart::default(),
            Accuracy::Value,
            &mut collapsed.bench(),
        );
        at.unwrap().value
    };
    let loose = MarginalDensity::seen(&bound, Sight::Probed).unwrap();
    let change = |collapsed: &MarginalDensity<'_>| value(collapsed, 0.3) - value(collapsed, 0.0);
    let off = change(&exact) - change(&loose);
    assert!(off.abs() < 0.2 && off != 0.0, "{off}");
    assert!(bound.latents().size() > 0);
}
