//! Groups and smooths in the formulas of parameters: densities, names, priors, estimates, error
//! messages.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::method::Nuts;
use lehr_learn::NewLevels;
use lehr_regression::{
    Family, Groups, PredictionLevel, Regression, RegressionError, Specification,
};
use lehr_table::Table;
use lehr_workflow::{Forecaster, PredictionDetails, SavedFit, regress};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};

use crate::{category, coefficients, densities, names, near, normal, number, point, sigmoid};

const Y: [f64; 6] = [0.3, -1.1, 2.5, 0.9, 4.0, -0.2];
const X: [f64; 6] = [-1.0, 0.5, 2.0, 1.0, 3.0, -2.0];
const COUNT: [f64; 6] = [0.0, 3.0, 0.0, 1.0, 5.0, 0.0];
const SITES: [&str; 6] = ["a", "b", "a", "b", "c", "c"];

fn table() -> Table {
    let table = number(Table::new(), "y", &Y);
    let table = number(number(table, "x", &X), "count", &COUNT);
    category(table, "site", &SITES)
}

fn made(
    formula: &str,
    family: Family,
    parameter: &str,
    priors: &[&str],
) -> Result<Regression, RegressionError> {
    let table = table();
    let priors: Vec<String> = priors.iter().map(ToString::to_string).collect();
    Specification::parse(formula, table.names())?
        .with_family(family)
        .with_formulas(&[parameter.to_owned()], table.names())?
        .with_priors(&priors)?
        .learn(&table)
}

#[test]
fn sigma_has_the_effects_of_its_own_groups_beside_those_of_the_mean() {
    let formula = "y ~ x + (1 | site)";
    let regression = made(formula, Family::Gaussian, "sigma ~ x + (1 + x | site)", &[]).unwrap();
    assert_eq!(
        names(&regression, &table(), Groups::Leave),
        [
            "Intercept",
            "x",
            "sd(site)",
            "sigma.Intercept",
            "sigma.x",
            "sd(sigma.site, Intercept)",
            "sd(sigma.site, x)",
            "cor(sigma.site, Intercept, x)",
        ]
    );
    let bound = regression.bind(&table()).unwrap();
    let z = point(bound.latents().size());
    let (_, rows) = densities(&bound, &z);
    let at = coefficients(&regression, &bound, &z);
    for (row, found) in rows.iter().enumerate() {
        let (site, x) = (SITES[row], X[row]);
        let own = |effect: &str| at[&format!("sigma.site[{site}, {effect}]")];
        let log_sigma = at["sigma.Intercept"] + own("Intercept") + (at["sigma.x"] + own("x")) * x;
        let mean = at["Intercept"] + at["x"] * x + at[&format!("site[{site}]")];
        near(*found, normal(Y[row], mean, log_sigma.exp()));
    }
}

#[test]
fn a_gate_varies_by_group_on_the_scale_of_log_odds() {
    let family = Family::ZeroInflatedPoisson;
    let regression = made("count ~ 1", family, "gate ~ (1 | site)", &[]).unwrap();
    let bound = regression.bind(&table()).unwrap();
    let z = point(bound.latents().size());
    let (_, rows) = densities(&bound, &z);
    let at = coefficients(&regression, &bound, &z);
    for (row, found) in rows.iter().enumerate() {
        let own = at[&format!("gate.site[{}]", SITES[row])];
        let gate = sigmoid(at["gate.Intercept"] + own);
        let (count, mean) = (COUNT[row], at["Intercept"].exp());
        let factorial: f64 = (1..=count as u32).map(f64::from).product();
        let log = count * mean.ln() - mean - factorial.ln();
        let expected = match count {
            0.0 => (gate + (1.0 - gate) * log.exp()).ln(),
            _ => (1.0 - gate).ln() + log,
        };
        near(*found, expected);
    }
}

#[test]
fn spreads_of_parameters_have_priors_by_the_names_that_are_shown() {
    let shown = |formula: &str, priors: &[&str]| {
        let made = made("y ~ 1", Family::Gaussian, formula, priors);
        made.unwrap_or_else(|error| panic!("{error}")).priors()
    };
    let law = |priors: &[(String, String)], name: &str| {
        let found = priors.iter().find(|(own, _)| own == name);
        found
            .unwrap_or_else(|| panic!("{name} in {priors:?}"))
            .1
            .clone()
    };
    let plain = shown("sigma ~ (1 | site)", &[]);
    assert_eq!(law(&plain, "sd(sigma.site)"), "half_normal(1)");
    let given = ["sd(sigma.site) ~ exponential(3)"];
    let priors = shown("sigma ~ (1 | site)", &given);
    assert_eq!(law(&priors, "sd(sigma.site)"), "exponential(3)");
    let smooth = shown("sigma ~ s(x)", &[]);
    assert_eq!(law(&smooth, "sd(sigma.s(x))"), "half_student_t(3, 1)");
    let given = ["sd(sigma.s(x)) ~ exponential(3)"];
    let priors = shown("sigma ~ s(x)", &given);
    assert_eq!(law(&priors, "sd(sigma.s(x))"), "exponential(3)");
}

#[test]
fn what_a_parameter_cannot_have_is_refused_with_what_to_write() {
    for (formula, expected) in [
        ("sigma ~ gp(x)", "write s(x) for a smooth function"),
        ("sigma ~ mo(x)", "write C(x) for an effect of each level"),
        ("sigma ~ (1 | row())", "write (1 | g) for effects of groups"),
        ("sigma ~ offset(x)", "leave it out"),
        ("sigma ~ mi(x)", "write the column as it stands"),
    ] {
        let error = made("y ~ 1", Family::Gaussian, formula, &[]).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("belongs to the formula of the response"),
            "{text}"
        );
        assert!(text.contains(expected), "{text}");
    }
}

/// 40 groups of 30 rows whose log noise is 0.2 + 0.5 u, and x from 0 to 1.
fn noisy(seed: u64, log_sigma: impl Fn(f64, f64) -> f64) -> (Table, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let effects: Vec<f64> = (0..40)
        .map(|_| StandardNormal.sample(&mut random))
        .collect();
    let (mut y, mut x, mut g) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..1200 {
        let place: f64 = StandardUniform.sample(&mut random);
        let noise: f64 = StandardNormal.sample(&mut random);
        y.push(1.0 + 2.0 * place + log_sigma(effects[row % 40], place).exp() * noise);
        x.push(place);
        g.push(format!("g{:02}", row % 40));
    }
    let table = number(number(Table::new(), "y", &y), "x", &x);
    let cells: Vec<&str> = g.iter().map(String::as_str).collect();
    (category(table, "g", &cells), effects)
}

fn fitted(formula: &str, parameter: &str, table: &Table) -> SavedFit {
    let mut nuts = Nuts::default();
    nuts.sampler.chains = Some(2);
    let asked = regress(formula, table).unwrap().formula(parameter).unwrap();
    let fit = asked.with(Fit::new(nuts).draws(600).seed(3)).fit();
    fit.unwrap_or_else(|error| panic!("{error}"))
}

fn known(fit: &SavedFit, name: &str) -> (f64, f64) {
    let all = fit.coefficients(Groups::Include);
    let one = all.iter().find(|one| one.name == name);
    let best = one.unwrap_or_else(|| panic!("{name}")).best_summary();
    (best.mean, best.sd)
}

#[test]
fn noise_that_varies_by_group_is_recovered_group_by_group() {
    let (table, effects) = noisy(11, |effect, _| 0.2 + 0.5 * effect);
    let fit = fitted("y ~ x", "sigma ~ (1 | g)", &table);
    let (mean, sd) = known(&fit, "sd(sigma.g)");
    assert!(sd < 0.1 && (mean - 0.5).abs() < 4.0 * sd, "{mean} ± {sd}");
    let average = effects.iter().sum::<f64>() / 40.0;
    let (mean, sd) = known(&fit, "sigma.Intercept");
    let truth = 0.2 + 0.5 * average;
    assert!(
        sd < 0.15 && (mean - truth).abs() < 4.0 * sd,
        "{mean} ± {sd}"
    );
    // 40 standardised errors: their mean square is 1 ± √(2/40) if the posterior is right.
    let mut squares = 0.0;
    for (group, effect) in effects.iter().enumerate() {
        let (mean, sd) = known(&fit, &format!("sigma.g[g{group:02}]"));
        squares += ((mean - 0.5 * (effect - average)) / sd).powi(2) / 40.0;
    }
    assert!(squares < 1.0 + 4.0 * (2.0_f64 / 40.0).sqrt(), "{squares}");
}

#[test]
fn noise_that_bends_with_a_column_is_recovered_and_predicted() {
    let truth = |x: f64| -0.5 + 0.8 * (6.0 * x).sin();
    let (table, _) = noisy(12, |_, x| truth(x));
    let fit = fitted("y ~ x", "sigma ~ s(x)", &table);
    let x: Vec<f64> = (1..10).map(|k| f64::from(k) / 10.0).collect();
    let new = number(Table::new(), "x", &x);
    let forecaster = Forecaster {
        details: PredictionDetails {
            parameters: vec!["sigma".into()],
            ..PredictionDetails::default()
        },
        ..fit.forecaster(400)
    };
    let found = forecaster.predict(&new, 0).unwrap().table().unwrap();
    let sigma = found.number("y_sigma").unwrap();
    // 1,200 rows determine ln sigma at one of about 9 independent places to √(9/2400) = 0.06.
    for (x, sigma) in x.iter().zip(sigma) {
        let error = sigma.ln() - truth(*x);
        assert!(error.abs() < 0.25, "{x}: {sigma} {error}");
    }
}

#[test]
fn new_groups_of_a_parameter_are_drawn_and_left_out_of_the_population() {
    let (table, _) = noisy(13, |effect, _| 0.2 + 0.5 * effect);
    let fit = fitted("y ~ x", "sigma ~ (1 | g)", &table);
    let new = number(Table::new(), "x", &[0.5, 0.5]);
    let both = category(new.clone(), "g", &["g00", "new"]);
    let sigma = |level, table: &Table| {
        let forecaster = Forecaster {
            level,
            new_levels: NewLevels::Sample,
            details: PredictionDetails {
                parameters: vec!["sigma".into()],
                ..PredictionDetails::default()
            },
            ..fit.forecaster(600)
        };
        let found = forecaster.predict(table, 0).unwrap().table().unwrap();
        let of = |name: &str| found.number(name).unwrap().to_vec();
        (of("y_sigma"), of("y_sigma_sd"))
    };
    let (_, spread) = sigma(PredictionLevel::Groups, &both);
    assert!(spread[1] > 2.0 * spread[0], "{spread:?}");
    let (_, population) = sigma(PredictionLevel::Population, &new);
    assert!(population[0] < 0.5 * spread[1], "{population:?} {spread:?}");
}
