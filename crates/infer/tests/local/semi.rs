//! Fits by `semi-dais`, compared with those by quadrature and in closed form.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::judge::Level;
use lehr_infer::local::IntegratedDensity;
use lehr_infer::posterior::Posterior;
use lehr_model::distribution::{Gamma, HalfNormal, Normal, Poisson};
use lehr_model::{Bound, Model};

use crate::{bind, normals};

const ROWS: usize = 48;

fn mixture(rows: usize) -> Bound {
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(2.0, 2.0));
            let mean = row.number("x") * slope;
            row.observe("y", Normal::new(mean, scale / precision.sqrt()));
        });
    });
    let (x, noise, wide) = (normals(rows, 61), normals(rows, 62), normals(rows, 63));
    let y = (0..rows).map(|n| 0.7 * x[n] + 0.5 * noise[n] * (0.6 * wide[n]).exp());
    let y: Vec<f64> = y.collect();
    bind(&model, &[("x", &x), ("y", &y)])
}

fn fitted(settings: &[(&str, &str)], density: &dyn Density) -> Posterior {
    let mut fit = Fit::named("semi-dais").unwrap().seed(3).draws(512);
    for (name, value) in settings {
        fit = fit.set(name, value).unwrap();
    }
    fit.unexamined().run(density).unwrap()
}

/// The loss of the chains of rows, in nats.
fn lost(posterior: &Posterior) -> f64 {
    let name = "lost in the chains of rows";
    let found = posterior.choices.iter().find(|(what, _)| what == name);
    let words = &found.expect("it is told").1;
    words.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn chains_of_rows_come_near_the_integral_from_below_and_nearer_with_every_step() {
    let density = mixture(ROWS);
    let exact = Fit::named("full-rank").unwrap().seed(3).draws(512);
    let exact = exact.unexamined().run(&density).unwrap();
    let most = exact.bound().unwrap();
    // N·R(5/2): the loss of the best normal approximations of the rows.
    let ceiling = ROWS as f64 * 0.033_162;
    let mut before = f64::INFINITY;
    for (steps, share) in [("0", 1.25), ("4", 0.9), ("16", 0.3)] {
        let found = fitted(&[("chain-steps", steps), ("iterations", "4000")], &density);
        let bound = found.bound().unwrap();
        let error = bound.error.hypot(most.error);
        assert!(bound.mean < most.mean + 4.0 * error, "{bound:?} {most:?}");
        let lost = lost(&found);
        assert!(
            lost < share * ceiling && lost < before,
            "{steps}: {lost} {ceiling}"
        );
        before = lost;
        for (a, b) in found.summaries().iter().zip(exact.summaries()) {
            assert!((a.mean - b.mean).abs() < 0.25 * b.sd, "{a:?} {b:?}");
            assert!((a.sd / b.sd - 1.0).abs() < 0.2, "{a:?} {b:?}");
        }
    }
}

#[test]
fn numbers_learned_of_every_row_are_stored_and_bound_the_evidence() {
    let density = mixture(ROWS);
    let common = [
        ("chain-steps", "0"),
        ("batch", "16"),
        ("iterations", "6000"),
    ];
    let found = fitted(&[&common[..], &[("row-base", "own")]].concat(), &density);
    let follows = fitted(&common, &density);
    let (own, newton) = (lost(&found), lost(&follows));
    assert!(
        own > newton,
        "a base that cannot follow z loses more: {own} {newton}"
    );
    assert!(own < 6.0, "{own}");
    let sampler = found.sampler().unwrap();
    let (_, learned) = sampler.learned().unwrap();
    let numbers = learned.get("row_numbers").unwrap();
    assert_eq!(numbers.len(), 2 * ROWS);
    let scales = numbers.iter().skip(1).step_by(2).map(|log| log.exp());
    for scale in scales {
        // The best normal approximation has 1/√α = 0.63.
        assert!((0.4..0.9).contains(&scale), "{scale}");
    }
    assert!(found.origin.contents.contains("of every row"));
    assert_eq!(found.draw_more(&density, 40, 9).unwrap().len(), 80);
}

/// Counts whose log rates are sums of `locals` normals.
fn counts(locals: usize) -> Bound {
    let share = 1.0 / (locals as f64).sqrt();
    let model = Model::new(move |m| {
        let centre = m.sample("centre", Normal::new(0.0, 2.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let own = (0..locals).map(|k| row.local(&format!("own{k}"), Normal::new(0.0, scale)));
            let sum = own.reduce(|a, b| a + b).unwrap();
            row.observe("y", Poisson::with_log_rate(centre + share * sum));
        });
    });
    let (e, f) = (normals(ROWS, 64), normals(ROWS, 65));
    let y = (0..ROWS).map(|n| (1.2 + 0.6 * e[n]).exp() + (1.2 + 0.6 * e[n]).exp().sqrt() * f[n]);
    let y: Vec<f64> = y.map(|y| y.max(0.0).round()).collect();
    bind(&model, &[("y", &y)])
}

#[test]
fn three_latents_of_a_row_go_to_semi_dais_and_are_fitted_as_the_one_that_they_sum_to() {
    let (three, one) = (counts(3), counts(1));
    let found = Fit::default().seed(3).draws(256);
    let found = found.unexamined().run(&three).unwrap();
    assert_eq!(found.method(), "semi-dais");
    let exact = Fit::named("full-rank").unwrap().seed(3).draws(512);
    let exact = exact.unexamined().run(&one).unwrap();
    for (a, b) in found.summaries().iter().zip(exact.summaries()) {
        assert!((a.mean - b.mean).abs() < 0.25 * b.sd, "{a:?} {b:?}");
        assert!((a.sd / b.sd - 1.0).abs() < 0.25, "{a:?} {b:?}");
    }
    let (bound, most) = (found.bound().unwrap(), exact.bound().unwrap());
    assert!(bound.mean < most.mean + 4.0 * bound.error.hypot(most.error));
    assert!(bound.mean > most.mean - 2.0, "{bound:?} {most:?}");
    let error = found.origin.integration.unwrap().error;
    println!("{} {error}", found.verdict());
    // Draws that were weighed by a coarse rule are not reported as reliable.
    let vouched = error <= 1.0;
    assert!(vouched || found.verdict().level >= Level::Doubtful);
    let drawn = found.draw_locals(&three, &[4, 7], 1).unwrap();
    assert_eq!(
        (drawn.len(), drawn[0].values.len()),
        (3, 2 * found.n_draws())
    );
}

#[test]
fn every_guide_of_the_shared_latents_works_with_chains_of_rows() {
    let density = mixture(ROWS);
    let best = fitted(&[("iterations", "500")], &density).bound().unwrap();
    for guide in ["base", "dais", "ns-dais", "ns2-dais", "sl-dais"] {
        for base in ["mean-field", "full-rank", "low-rank"] {
            let settings = [
                ("latent-guide", guide),
                ("base", base),
                ("batch", "20"),
                ("chain-steps", "2"),
                ("latent-steps", "2"),
                ("iterations", "300"),
            ];
            let found = fitted(&settings, &density);
            let bound = found.bound().unwrap();
            assert!(bound.mean > best.mean - 4.0, "{guide} {base}: {bound:?}");
            assert_eq!(found.draw_more(&density, 32, 9).unwrap().len(), 64);
        }
    }
}

#[test]
fn a_fit_that_is_not_vouched_for_is_not_reliable() {
    let density = counts(3);
    let mut found = fitted(&[("iterations", "200"), ("chain-steps", "1")], &density);
    assert!(
        found.verdict().level >= Level::Doubtful,
        "nobody examined it"
    );
    let coarse = found.origin.integration.as_mut().unwrap();
    coarse.error = f64::NAN;
    assert!(found.verdict().level >= Level::Doubtful);
}

#[test]
fn rows_without_latents_or_with_too_many_are_refused_in_words() {
    let plain = Model::new(|m| {
        let centre = m.sample("centre", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Normal::new(centre, 1.0)));
    });
    let plain = bind(&plain, &[("y", &[0.1, 0.2, 0.4])]);
    let refused = |density: &Bound| {
        let fit = Fit::named("semi-dais").unwrap();
        fit.run(density).unwrap_err().to_string()
    };
    let words = refused(&plain);
    assert!(
        words.contains("found none") && words.contains("use sl-dais"),
        "{words}"
    );
    let nine = counts(9);
    assert!(IntegratedDensity::of(&nine).is_none());
    let words = refused(&nine);
    assert!(
        words.contains("\"own0\"") && words.contains("up to eight"),
        "{words}"
    );
}
