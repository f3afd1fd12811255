//! Parameters learned together with the guide, compared with the maximum of the evidence.

use lehr_density::Support;
use lehr_infer::fit::Fit;
use lehr_infer::posterior::Posterior;
use lehr_model::Model;
use lehr_model::distribution::{Distribution, Normal};

use crate::{bind, normals};

fn learned(method: &str, model: &Model, columns: &[(&str, &[f64])]) -> Posterior {
    let fit = Fit::named(method).unwrap().seed(5).draws(200);
    fit.run(&bind(model, columns)).unwrap()
}

#[test]
fn chains_learn_the_mean_of_the_prior() {
    let y: Vec<f64> = normals(30, 31).iter().map(|e| 1.7 + e).collect();
    let mean = y.iter().sum::<f64>() / 30.0;
    let model = Model::new(|m| {
        let theta = m.param("theta", 0.0, Support::Real);
        let z = m.sample("z", Normal::new(theta, 1.0));
        m.rows(|row| row.observe("y", Normal::new(z, 1.0)));
    });
    for method in ["sl-dais", "dais"] {
        let fit = learned(method, &model, &[("y", &y)]);
        let found = fit.param_sites()[0].values[0];
        let told = (
            "learned, not random".to_owned(),
            format!("theta {found:.4}"),
        );
        assert!(fit.choices.contains(&told), "{:?}", fit.choices);
        assert!(
            (found - mean).abs() < 5e-3,
            "{method}: {found}, exactly {mean}"
        );
    }
}

#[test]
fn noise_and_prior_scale_of_a_regression_maximise_the_evidence() {
    const GROUPS: usize = 8;
    const EACH: usize = 6;
    let (effects, noise) = (normals(GROUPS, 32), normals(GROUPS * EACH, 33));
    let y: Vec<f64> = (0..GROUPS * EACH)
        .map(|n| 1.5 * effects[n % GROUPS] + 0.8 * noise[n])
        .collect();
    let group: Vec<f64> = (0..GROUPS * EACH).map(|n| (n % GROUPS) as f64).collect();
    let model = Model::new(|m| {
        let spread = m.param("spread", 1.0, Support::Positive);
        let noise = m.param("noise", 1.0, Support::Positive);
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([GROUPS]));
        m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("g")), noise)));
    });
    let fit = learned("full-rank", &model, &[("g", &group), ("y", &y)]);
    let found: Vec<f64> = fit
        .param_sites()
        .iter()
        .map(|site| site.values[0])
        .collect();
    // Balanced groups: s² = Σ(y − ȳ_g)²/(G(n − 1)), and t² + s²/n = Σ ȳ_g²/G.
    let means: Vec<f64> = (0..GROUPS)
        .map(|g| y.iter().skip(g).step_by(GROUPS).sum::<f64>() / EACH as f64)
        .collect();
    let within: f64 = (0..y.len())
        .map(|n| (y[n] - means[n % GROUPS]).powi(2))
        .sum();
    let noise = (within / (GROUPS * (EACH - 1)) as f64).sqrt();
    let between = means.iter().map(|mean| mean * mean).sum::<f64>() / GROUPS as f64;
    let spread = (between - noise * noise / EACH as f64).sqrt();
    assert!(
        (found[0] - spread).abs() < 1e-3,
        "{found:?} {spread} {noise}"
    );
    assert!(
        (found[1] - noise).abs() < 1e-3,
        "{found:?} {spread} {noise}"
    );
}
