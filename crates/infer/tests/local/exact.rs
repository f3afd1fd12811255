//! Local latents whose integral is known in closed form.

use lehr_infer::local::IntegratedDensity;
use lehr_model::Model;
use lehr_model::distribution::{Gamma, HalfNormal, Normal, StudentT};

use crate::{apart, bind, found, normals};

const DF: f64 = 4.0;

/// Robust regression as a scale mixture of normals, and in closed form.
fn robust(x: &[f64], y: &[f64]) -> [lehr_model::Bound; 2] {
    let mixture = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(0.5 * DF, 0.5 * DF));
            row.observe(
                "y",
                Normal::new(row.number("x") * slope, scale / precision.sqrt()),
            );
        });
    });
    let closed = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| row.observe("y", StudentT::new(DF, row.number("x") * slope, scale)));
    });
    [mixture, closed].map(|model| bind(&model, &[("x", x), ("y", y)]))
}

#[test]
fn the_normal_mixture_is_students_t_with_its_derivatives() {
    let (x, mut y) = (normals(200, 1), normals(200, 2));
    y[7] = 40.0;
    y[9] = -15.0;
    let [mixture, closed] = robust(&x, &y);
    let integrated = IntegratedDensity::of(&mixture).unwrap();
    for z in [[0.4, -0.3], [-1.0, 1.2], [0.0, -2.5]] {
        let (found, truth) = (found(&integrated, &z), found(&closed, &z));
        assert!(apart(&found.rows, &truth.rows) < 5e-5);
        let sum = |rows: &[f64]| rows.iter().sum::<f64>();
        assert!((sum(&found.rows) - sum(&truth.rows)).abs() < 1e-4 * 200.0);
        let size = |values: &[f64]| values.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
        let gradient = apart(&found.gradient, &truth.gradient) / size(&truth.gradient);
        let hessian = apart(&found.hessian, &truth.hessian) / size(&truth.hessian);
        assert!(gradient < 1e-4 && hessian < 1e-3, "{gradient} {hessian}");
    }
}

#[test]
fn rows_far_from_all_others_are_integrated_as_well_as_they() {
    // The precision of a row that is 10⁵ scales out is 10⁻¹⁰ of its prior mean.
    let y: Vec<f64> = (-4..=5).map(|power| 10.0_f64.powi(power)).collect();
    let x = vec![0.0; y.len()];
    let [mixture, closed] = robust(&x, &y);
    let integrated = IntegratedDensity::of(&mixture).unwrap();
    for log_scale in [-1.0, 0.0, 1.0] {
        let z = [0.0, log_scale];
        let (found, truth) = (found(&integrated, &z), found(&closed, &z));
        let off = apart(&found.rows, &truth.rows);
        assert!(off < 5e-5, "{off}");
    }
}

#[test]
fn one_node_is_laplace_and_more_nodes_approach_the_integral() {
    let (x, y) = (normals(50, 3), normals(50, 4));
    let [mixture, closed] = robust(&x, &y);
    let z = [0.2, 0.1];
    let truth = found(&closed, &z).rows;
    let off = |nodes: usize| {
        let integrated = IntegratedDensity::of(&mixture).unwrap().with_nodes(nodes);
        apart(&found(&integrated, &z).rows, &truth)
    };
    // R(α) = ln Γ(α) − α ln α + α + ½ ln α − ½ ln 2π for every row.
    let alpha = 0.5 * (DF + 1.0);
    let laplace = 1.329_340_388_179_137_f64.ln() - alpha * alpha.ln() + alpha + 0.5 * alpha.ln()
        - 0.5 * std::f64::consts::TAU.ln();
    assert!((off(1) - laplace).abs() < 1e-8, "{} {laplace}", off(1));
    assert!(off(7) < 2e-3 && off(16) < 4e-5 && off(32) < 1e-6);
}

#[test]
fn normal_latents_are_exact_with_a_single_node() {
    let y = normals(40, 5);
    let normal = |variance: f64| {
        move |y: &f64, mean: f64| {
            -0.5 * ((y - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln())
        }
    };
    // The search also succeeds from a start far from the peak of the prior.
    let one = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 100.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(centre, 1.0));
            row.observe("y", Normal::new(own, 1.0));
        });
    });
    let two = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 100.0));
        m.rows(|row| {
            let first = row.local("first", Normal::new(centre, 1.0));
            let second = row.local("second", Normal::new(first, 0.5));
            row.observe("y", Normal::new(second, 1.0));
        });
    });
    for (model, variance) in [(one, 2.0), (two, 2.25)] {
        let bound = bind(&model, &[("y", &y)]);
        for (centre, nodes) in [(0.3, 1), (60.0, 1), (0.3, 5)] {
            let integrated = IntegratedDensity::of(&bound).unwrap().with_nodes(nodes);
            let found = found(&integrated, &[centre]);
            let truth: Vec<f64> = y.iter().map(|y| normal(variance)(y, centre)).collect();
            assert!(
                apart(&found.rows, &truth) < 1e-9 * (1.0 + centre * centre),
                "{variance} {centre}"
            );
        }
    }
}

#[test]
fn a_row_of_weight_two_is_the_row_twice() {
    let model = Model::new(|m| {
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            row.weight("w");
            let precision = row.local("precision", Gamma::new(2.0, 2.0));
            row.observe("y", Normal::new(0.0, scale / precision.sqrt()));
        });
    });
    let twice = bind(&model, &[("w", &[2.0, 1.0]), ("y", &[1.5, -0.3])]);
    let apiece = bind(&model, &[("w", &[1.0; 3]), ("y", &[1.5, 1.5, -0.3])]);
    let sum = |bound| -> f64 {
        let integrated = IntegratedDensity::of(bound).unwrap();
        found(&integrated, &[0.2]).rows.iter().sum()
    };
    assert!((sum(&twice) - sum(&apiece)).abs() < 1e-12);
}
