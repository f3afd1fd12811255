//! Effects of single rows: `(1 | row())`.

use lehr_density::{Density, Locals};
use lehr_infer::fit::Fit;
use lehr_infer::method::{FullRank, Nuts};
use lehr_infer::posterior::Posterior;
use lehr_learn::NewLevels;
use lehr_model::Model;
use lehr_model::distribution::{Distribution as _, HalfNormal, Normal, Poisson as Counts};
use lehr_regression::{Family, Groups, PredictionLevel, Regression};
use lehr_table::Table;
use lehr_workflow::{Forecaster, PredictionDetails, SavedFit, regress};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Poisson, StandardNormal};

use crate::{coefficients, names, near, number, point, refusal, regression};

const FORMULA: &str = "y ~ x + (1 | row())";

/// Counts of mean exp(1 + 0.8 x + 0.6 w), with w normal in each row.
fn generated(rows: usize, seed: u64) -> Table {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let x: Vec<f64> = (0..rows).map(|_| normal()).collect();
    let rates: Vec<f64> = x
        .iter()
        .map(|x| (1.0 + 0.8 * x + 0.6 * normal()).exp())
        .collect();
    let y: Vec<f64> = rates
        .iter()
        .map(|rate| Poisson::new(*rate).unwrap().sample(&mut random))
        .collect();
    number(number(Table::new(), "y", &y), "x", &x)
}

fn priors() -> Vec<String> {
    let all = [
        "Intercept ~ normal(0, 2)",
        "x ~ normal(0, 1)",
        "sd(row()) ~ half_normal(1)",
    ];
    all.map(str::to_owned).to_vec()
}

/// The log density of rows and their local latents at one point.
fn joint(regression: &Regression, table: &Table, spread: &str) -> (Vec<f64>, f64) {
    let density = regression.bind(table).unwrap();
    let z = point(density.latents().size());
    let named = coefficients(regression, &density, &z);
    let own: Vec<f64> = (0..table.n_rows()).map(|row| (row as f64).sin()).collect();
    (crate::joint(&density, &z, &own), named[spread])
}

#[test]
fn counts_with_effects_of_rows_are_the_family_that_has_them() {
    let table = generated(12, 5);
    let effects = regression(FORMULA, Family::Poisson, &table);
    let family = regression("y ~ x", Family::PoissonLogNormal, &table);
    let (found, spread) = joint(&effects, &table, "sd(row())");
    let (expected, sigma) = joint(&family, &table, "sigma");
    near(spread, sigma);
    for (found, expected) in found.iter().zip(&expected) {
        near(*found, *expected);
    }
    assert_eq!(
        names(&effects, &table, Groups::Leave),
        ["Intercept", "x", "sd(row())"]
    );
    let bound = effects.bind(&table).unwrap();
    let locals: &dyn Locals = bound.locals().unwrap();
    assert!(locals.linear().is_some(), "the effect only shifts");
}

fn regressed<'t>(table: &'t Table, fit: Fit<'t>) -> SavedFit {
    let mut asked = regress(FORMULA, table).unwrap().family("poisson").unwrap();
    for prior in priors() {
        asked = asked.prior(&prior).unwrap();
    }
    asked.with(fit).fit().unwrap()
}

#[test]
fn a_fit_finds_the_spread_of_rows() {
    let table = generated(500, 31);
    let fit = regressed(&table, Fit::new(FullRank::default()).seed(2));
    let words = format!("{:?}", fit.posterior.choices);
    assert!(words.contains("row_effect integrated out"), "{words}");
    let all = fit.coefficients(Groups::Leave);
    for (one, (name, truth)) in all
        .iter()
        .zip([("Intercept", 1.0), ("x", 0.8), ("sd(row())", 0.6)])
    {
        let best = one.best_summary();
        assert_eq!(one.name, name);
        let off = (best.mean - truth) / best.sd;
        assert!(off.abs() < 3.5 && best.sd < 0.1, "{name}: {best:?}");
    }
}

/// All latents sampled, those of rows included.
fn sampled_jointly(table: &Table) -> Posterior {
    let rows = table.n_rows();
    let ids: Vec<f64> = (0..rows).map(|row| row as f64).collect();
    let model = Model::new(move |m| {
        let intercept = m.sample("intercept", Normal::new(0.0, 2.0));
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let effects = m.sample("effects", Normal::new(0.0, 1.0).expand([rows]));
        m.rows(|row| {
            let own = effects.at(row.index("id")) * spread;
            let at = row.number("x") * slope + intercept + own;
            row.observe("y", Counts::with_log_rate(at));
        });
    });
    let bound = model.bind(&number(table.clone(), "id", &ids)).unwrap();
    Fit::new(Nuts::default()).seed(6).run(&bound).unwrap()
}

#[test]
fn the_integrated_posterior_is_that_of_chains_over_all_latents() {
    let table = generated(40, 8);
    let integrated = regressed(&table, Fit::new(Nuts::default()).seed(5));
    let truth = sampled_jointly(&table);
    let found = integrated.coefficients(Groups::Leave);
    let sites = truth.summaries();
    for (one, name) in found.iter().zip(["intercept", "slope", "spread"]) {
        let site = sites.iter().find(|site| site.name == name).unwrap();
        let best = one.best_summary();
        let off = (best.mean - site.mean).abs() / site.sd;
        assert!(off < 0.2, "{name}: {best:?}, {site:?}");
        assert!(
            (best.sd / site.sd - 1.0).abs() < 0.2,
            "{name}: {best:?}, {site:?}"
        );
    }
}

#[test]
fn new_rows_draw_effects_of_their_own_unless_the_population_is_asked_for() {
    let table = generated(200, 9);
    let fit = regressed(&table, Fit::new(FullRank::default()).seed(2));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.lehr");
    fit.save(&path).unwrap();
    let loaded = SavedFit::load(&path).unwrap();
    let rows = number(Table::new(), "x", &[0.0]);
    let means = loaded.predict(&rows).unwrap().means().unwrap();
    assert_eq!(means, fit.predict(&rows).unwrap().means().unwrap());
    // E exp(1 + 0.6 w) = exp(1.18)
    assert!((means[0] / 1.18_f64.exp() - 1.0).abs() < 0.2, "{means:?}");
    let forecaster = Forecaster {
        saved: &loaded,
        draws: (0..400).collect(),
        new_levels: NewLevels::Refuse,
        level: PredictionLevel::Population,
        seed: 1,
        details: PredictionDetails::default(),
    };
    let population = forecaster.predict(&rows, 0).unwrap().means().unwrap();
    // Without the effect the mean is smaller by a factor of exp(0.6²/2) = 1.2.
    let ratio = means[0] / population[0];
    assert!((1.08..1.4).contains(&ratio), "{ratio}");
}

#[test]
fn what_no_row_can_tell_is_refused_with_a_sentence() {
    let table = generated(30, 3);
    let positive: Vec<f64> = (table.number("y").unwrap().iter())
        .map(|y| y + 0.5)
        .collect();
    let errors = vec![0.5; 30];
    let table = number(number(table, "z", &positive), "s", &errors);
    for (formula, family, expected) in [
        (
            FORMULA,
            Family::Gaussian,
            "(1 | row()): expected a family whose rows tell their own effects from other noise, \
             found gaussian, where only the sum of its variance and sigma² is known",
        ),
        ("z ~ x + (1 | row())", Family::LogNormal, "found lognormal"),
        (
            FORMULA,
            Family::Ordinal,
            "a row of one outcome says nothing",
        ),
        (
            FORMULA,
            Family::PoissonLogNormal,
            "which has such an effect already",
        ),
        (
            "y ~ (x | row())",
            Family::Poisson,
            "only the intercept can vary by row",
        ),
        ("y ~ (1 | row():x)", Family::Poisson, "row() stands alone"),
        (
            "y ~ (1 | row()) + (1 | row())",
            Family::Poisson,
            "(1 | row()) is given twice",
        ),
    ] {
        let told = refusal(formula, family, &table);
        assert!(told.contains(expected), "{formula}: {told}");
    }
    regression("z | se(s) ~ x + (1 | row())", Family::Gaussian, &table);
}
