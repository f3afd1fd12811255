//! Approximations for large tables: in place of a factor of S, and in place of draws of very many
//! groups.

use lehr_density::Density;
use lehr_numeric::lanczos::{LANES, LaneMoments, Probes};

use super::{Data, Form, bind, theta};
use crate::group_integral::Accuracy;
use crate::marginal::MarginalDensity;
use crate::marginal_point::MarginalPoint;
use crate::warm_start::WarmStart;
use crate::workspace::MixedWorkspace;

/// The same table with the factor of the Schur complement in S, and with the approximation used in
/// its place.
fn both(
    form: Form,
    look: impl Fn(&MarginalDensity<'_>, MarginalPoint, &mut MixedWorkspace) -> Vec<f64>,
) {
    let (bound, theta) = (bind(form, &Data::new()), theta(form));
    let [dense, iterative] = [None, Some(unit_probes as fn(usize) -> Probes)].map(|probes| {
        let marginal = MarginalDensity::with_rows(&bound, false, probes).unwrap();
        let mut work = marginal.workspace();
        let at = marginal.evaluate(&theta, &WarmStart::default(), Accuracy::Slope, &mut work);
        let at = at.unwrap();
        assert_eq!(work.factor.iterative.is_some(), probes.is_some());
        look(&marginal, at, &mut work)
    });
    assert_eq!(dense.len(), iterative.len());
    for (dense, iterative) in dense.iter().zip(&iterative) {
        assert!((dense - iterative).abs() < 1e-7, "{dense} {iterative}");
    }
}

/// Every unit direction in turn as a probe, so that results are exact.
pub(super) fn unit_probes(size: usize) -> Probes {
    let unit = |first: usize| -> Vec<LaneMoments> {
        let entry = |k: usize, lane: usize| {
            let own = k == first * LANES + lane;
            if own { (size as f64).sqrt() } else { 0.0 }
        };
        let row = |k: usize| std::array::from_fn(|lane| entry(k, lane));
        (0..size).map(row).collect()
    };
    Probes {
        lanes: (0..size.div_ceil(LANES)).map(unit).collect(),
        count: size,
        steps: size,
    }
}

#[test]
fn solves_and_probes_in_all_directions_are_the_factor() {
    for form in [Form::Standard, Form::Effect] {
        both(form, |marginal, at, work| {
            let mut found = vec![at.value];
            found.extend(marginal.gradient_at(&at, work).unwrap());
            found.extend(&at.mean.own);
            found.extend(&at.mean.others);
            found
        });
    }
}

#[test]
fn draws_without_a_factor_have_the_covariance_of_the_inverse() {
    for form in [Form::Standard, Form::Effect] {
        both(form, |marginal, _, work| {
            let size = marginal.order.rest;
            let mut draws = vec![vec![0.0; size]; size];
            for (k, draw) in draws.iter_mut().enumerate() {
                draw[k] = 1.0;
            }
            let mut all: Vec<&mut [f64]> = draws.iter_mut().map(Vec::as_mut_slice).collect();
            work.factor.colour_rest(&mut all).unwrap();
            let entry = |k: usize| draws.iter().map(|own| own[k / size] * own[k % size]).sum();
            (0..size * size).map(entry).collect()
        });
    }
}

#[test]
fn eight_probes_are_close_to_the_factor() {
    let bound = bind(Form::Effect, &Data::new());
    let exact = MarginalDensity::new(&bound).unwrap();
    let value = |marginal: &MarginalDensity<'_>, shift: f64| {
        let mut moved = theta(Form::Effect);
        for entry in &mut moved {
            *entry += shift;
        }
        let at = marginal.evaluate(
            &moved,
            &WarmStart::default(),
            Accuracy::Value,
            &mut marginal.workspace(),
        );
        at.unwrap().value
    };
    let iterative = MarginalDensity::with_rows(&bound, false, Some(Probes::random_signs)).unwrap();
    let change = |marginal: &MarginalDensity<'_>| value(marginal, 0.3) - value(marginal, 0.0);
    let off = change(&exact) - change(&iterative);
    assert!(off.abs() < 0.2 && off != 0.0, "{off}");
    assert!(bound.latents().size() > 0);
}
