//! Several responses: their densities against those of single responses and in closed form, their
//! draws one by one, their names, and their error messages.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::method::Nuts;
use lehr_learn::NewLevels;
use lehr_regression::{
    Family, FormulaModel, Groups, MultivariateRegression, RegressionError, Specification,
};
use lehr_table::{Column, Table};
use lehr_workflow::{AnyModel, SavedFit, regress};

use crate::{category, densities, near, point};

/// Pseudo-random numbers with mean 0 and standard deviation of about 1.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Groups of rows whose two responses have group effects with correlation 0.7 and noise with
/// correlation −0.5; a count and an event that depend on the same effects.
fn table(groups: usize, rows: usize) -> Table {
    let mut noise = Noise(11);
    let mut columns: [Vec<f64>; 5] = std::array::from_fn(|_| Vec::new());
    let mut names = Vec::new();
    for group in 0..groups {
        let one = noise.normal();
        let two = 0.7 * one + 0.51_f64.sqrt() * noise.normal();
        for _ in 0..rows {
            let x = noise.normal();
            let first = noise.normal();
            let second = -0.5 * first + 0.75_f64.sqrt() * noise.normal();
            let rate = (0.3 + 0.2 * x + 0.5 * two).exp();
            let (mut count, mut left) = (0.0, (-rate).exp());
            loop {
                left /= noise.uniform().max(1e-12);
                if left > 1.0 {
                    break;
                }
                count += 1.0;
            }
            let event = f64::from(noise.uniform() < 1.0 / (1.0 + (-0.5 * x - one).exp()));
            let row = [
                1.0 + 0.5 * x + one + 0.5 * first,
                -1.0 - 0.3 * x + 1.5 * two + second,
                count,
                event,
                x,
            ];
            columns
                .iter_mut()
                .zip(row)
                .for_each(|(column, value)| column.push(value));
            names.push(format!("g{group:02}"));
        }
    }
    let [y, z, count, event, x] = columns;
    let table = Table::new()
        .with_number("y", y)
        .and_then(|table| table.with_number("z", z))
        .and_then(|table| table.with_number("count", count))
        .and_then(|table| table.with_number("event", event))
        .and_then(|table| table.with_number("x", x));
    let labels: Vec<&str> = names.iter().map(String::as_str).collect();
    category(table.unwrap(), "g", &labels)
}

fn families(names: &str) -> Vec<Family> {
    Family::parse_all(names).unwrap()
}

fn specified(formula: &str, names: &str, table: &Table) -> Result<FormulaModel, RegressionError> {
    let specification = Specification::parse(formula, table.names())?;
    specification.with_families(&families(names))?.model(table)
}

fn several(formula: &str, names: &str, table: &Table) -> MultivariateRegression {
    match specified(formula, names, table).unwrap_or_else(|error| panic!("{error}")) {
        FormulaModel::Multivariate(several) => *several,
        FormulaModel::Univariate(_) => panic!("several responses are expected"),
    }
}

#[test]
fn responses_that_share_nothing_have_the_sum_of_their_log_densities() {
    let table = table(5, 4);
    let formula = "bf(y ~ x + (1 + x | g)) + bf(count ~ x + (1 | g)) + bf(event ~ 1 + (1 | g))";
    let names = ["gaussian", "poisson", "bernoulli"];
    let joint = several(formula, &names.join(","), &table);
    let bound = joint.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let (prior, rows) = densities(&bound, &z);
    let (mut first, mut priors, mut sums) = (0, 0.0, vec![0.0; rows.len()]);
    for regression in joint.responses() {
        let own = regression.bind(&table).unwrap();
        let end = first + own.latents().size();
        let (prior, rows) = densities(&own, &z[first..end]);
        priors += prior;
        sums.iter_mut().zip(rows).for_each(|(sum, row)| *sum += row);
        first = end;
    }
    assert_eq!(first, z.len());
    near(prior, priors);
    rows.iter()
        .zip(&sums)
        .for_each(|(row, sum)| near(*row, *sum));
}

/// The draws of one response, in its own model, give its rows the same likelihood as the joint
/// model does.
#[test]
fn a_response_of_its_own_has_the_rows_of_the_whole() {
    let table = table(6, 5);
    let formula = "mvbind(y, count, event) ~ x + (1 + x |p| g)";
    let joint = several(formula, "gaussian,poisson,bernoulli", &table);
    let saved = drawn(&joint, &table);
    let bound = joint.bind(&table).unwrap();
    let (_, rows) = densities(&bound, saved.posterior.draw(0));
    let mut sums = vec![0.0; rows.len()];
    for one in saved.responses().unwrap() {
        let regression = one.subject.regression().unwrap();
        let own = regression.bind(&table).unwrap();
        let (_, rows) = densities(&own, one.posterior.draw(0));
        sums.iter_mut().zip(rows).for_each(|(sum, row)| *sum += row);
    }
    rows.iter()
        .zip(&sums)
        .for_each(|(row, sum)| near(*row, *sum));
}

/// A fit with two points of the latent space.
fn drawn(joint: &MultivariateRegression, table: &Table) -> SavedFit {
    let specification = Specification::parse(joint.formula(), table.names()).unwrap();
    let specification = specification.with_families(&joint.families()).unwrap();
    let bound =
        lehr_workflow::BoundRegression::new(&specification, table, std::time::Instant::now());
    bound.unwrap().prior_only(60, 3).unwrap()
}

#[test]
fn correlated_residuals_are_those_of_a_bivariate_normal() {
    let table = table(4, 3);
    let joint = several(
        "mvbind(y, z) ~ x + (1 | g) + set_rescor(TRUE)",
        "gaussian",
        &table,
    );
    let bound = joint.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let (_, rows) = densities(&bound, &z);
    let sites = bound.latents().constrain_values(&z);
    let named = joint.coefficients(&sites, Groups::Include);
    let value = |name: &str| {
        let found = named.iter().find(|one| one.name.as_str() == name);
        found.unwrap_or_else(|| panic!("{name}")).values[0]
    };
    let rho = value("rescor(y, z)");
    assert!(rho.abs() > 0.05 && rho.abs() < 1.0);
    for (row, found) in rows.iter().enumerate() {
        let standardised = |response: &str| {
            let x = table.number("x").unwrap()[row];
            let group = format!("{response}.g[g{:02}]", row / 3);
            let mean = value(&format!("{response}.Intercept"))
                + value(&format!("{response}.x")) * x
                + value(&group);
            let sigma = value(&format!("{response}.sigma"));
            let y = table.number(response).unwrap()[row];
            ((y - mean) / sigma, sigma)
        };
        let ((a, s), (b, t)) = (standardised("y"), standardised("z"));
        let rest = 1.0 - rho * rho;
        let form = (a * a - 2.0 * rho * a * b + b * b) / rest;
        let expected = -0.5 * form - (std::f64::consts::TAU * s * t * rest.sqrt()).ln();
        near(*found, expected);
    }
}

#[test]
fn coefficients_begin_with_their_response() {
    let table = table(4, 4);
    let formula = "mvbind(y, z) ~ x + (1 + x |p| g) + (1 | event) + set_rescor(TRUE)";
    let joint = several(formula, "gaussian", &table);
    let bound = joint.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let sites = bound.latents().constrain_values(&z);
    let named = joint.coefficients(&sites, Groups::Leave);
    let names: Vec<&str> = named.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "y.Intercept",
            "y.x",
            "sd(y.g, Intercept)",
            "sd(y.g, x)",
            "sd(y.event)",
            "y.sigma",
            "z.Intercept",
            "z.x",
            "sd(z.g, Intercept)",
            "sd(z.g, x)",
            "sd(z.event)",
            "z.sigma",
            "cor(g, y.Intercept, y.x)",
            "cor(g, y.Intercept, z.Intercept)",
            "cor(g, y.x, z.Intercept)",
            "cor(g, y.Intercept, z.x)",
            "cor(g, y.x, z.x)",
            "cor(g, z.Intercept, z.x)",
            "rescor(y, z)",
        ]
    );
    let single = several("mvbind(y, log(x)) ~ 1", "gaussian", &positive());
    assert_eq!(single.names(), ["y", "logx"]);
}

fn positive() -> Table {
    let table = Table::new().with_number("y", vec![1.0, 2.0, 0.5, 0.1]);
    table
        .unwrap()
        .with_number("x", vec![1.0, 2.0, 3.0, 5.0])
        .unwrap()
}

#[test]
fn priors_are_of_one_response_or_of_all() {
    let table = table(4, 4);
    let specification = Specification::parse(
        "mvbind(y, z) ~ x + (1 |p| g) + set_rescor(TRUE)",
        table.names(),
    );
    let priors = [
        "weight ~ normal(0, 3)",
        "z.x ~ normal(0, 1)",
        "sd(y.g) ~ half_normal(4)",
        "cor(g) ~ lkj(5)",
        "rescor ~ lkj(3)",
        "sigma ~ exponential(7)",
    ];
    let priors: Vec<String> = priors.iter().map(ToString::to_string).collect();
    let model = specification
        .unwrap()
        .with_priors(&priors)
        .unwrap()
        .model(&table)
        .unwrap();
    let all = AnyModel::from(model).priors();
    let prior = |name: &str| all.iter().find(|one| one.0 == name).unwrap().1.as_str();
    for (name, expected) in [
        ("y.x", "normal(0, 3)"),
        ("z.x", "normal(0, 1)"),
        ("sd(y.g)", "half_normal(4)"),
        ("y.sigma", "exponential(7)"),
        ("z.sigma", "exponential(7)"),
        ("cor(g)", "lkj(5)"),
        ("rescor", "lkj(3)"),
    ] {
        assert_eq!(prior(name), expected, "{name}");
    }
    assert!(prior("sd(z.g)") != "half_normal(4)");
    assert_eq!(all.len(), 10, "{all:?}");
}

#[test]
fn formulas_of_parameters_are_of_one_response_or_of_all() {
    let table = table(4, 4);
    let made = |formulas: &[&str]| {
        let formulas: Vec<String> = formulas.iter().map(ToString::to_string).collect();
        let specification = Specification::parse("mvbind(y, z) ~ 1", table.names()).unwrap();
        let model = specification
            .with_formulas(&formulas, table.names())
            .unwrap()
            .model(&table);
        let priors = AnyModel::from(model.unwrap()).priors();
        priors
            .into_iter()
            .map(|one| one.0)
            .filter(|name| name.contains("sigma"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        made(&["z.sigma ~ x"]),
        ["y.sigma", "z.sigma.x", "z.sigma.Intercept"]
    );
    assert_eq!(
        made(&["sigma ~ x"]),
        [
            "y.sigma.x",
            "y.sigma.Intercept",
            "z.sigma.x",
            "z.sigma.Intercept"
        ]
    );
}

#[test]
fn what_several_responses_cannot_have_is_refused() {
    let table = table(4, 4);
    for (formula, families, expected) in [
        ("mvbind(y, z) ~ x + (1 | row())", "gaussian", "(1 |p| id)"),
        (
            "mvbind(y, z) ~ me(x, 0.1)",
            "gaussian",
            "the column as it stands",
        ),
        ("mvbind(y, y) ~ x", "gaussian", "it a second time"),
        (
            "mvbind(y, count) ~ x + set_rescor(TRUE)",
            "gaussian,poisson",
            "(1 |p| id)",
        ),
        (
            "bf(y ~ (1 |p| g)) + bf(z ~ (1 |p| event))",
            "gaussian",
            "found g and event",
        ),
        (
            "mvbind(y, z) ~ x",
            "gaussian,gaussian,gaussian",
            "2 in their order",
        ),
    ] {
        let error = specified(formula, families, &table)
            .expect_err(formula)
            .to_string();
        assert!(error.contains(expected), "{formula}: {error}");
    }
    let priors = ["sigma ~ exponential(1)".to_owned()];
    let specification = Specification::parse("mvbind(y, count) ~ x", table.names()).unwrap();
    let specification = specification
        .with_families(&families("gaussian,poisson"))
        .unwrap();
    let refused = specification.with_priors(&priors).unwrap().model(&table);
    let error = refused
        .expect_err("a prior that one response lacks")
        .to_string();
    assert!(
        error.contains("of count") && error.contains("y.sigma"),
        "{error}"
    );
}

/// Chains recover the truth, in the joint model and in the models of single responses.
#[test]
fn chains_find_the_correlations_that_rows_were_drawn_with() {
    let table = table(60, 8);
    let fit = regress("mvbind(y, z) ~ x + (1 |p| g) + set_rescor(TRUE)", &table);
    let fit = fit
        .unwrap()
        .with(Fit::new(Nuts::default()).seed(1))
        .fit()
        .unwrap();
    let all = fit.coefficients(Groups::Leave);
    for (name, truth) in [
        ("y.Intercept", 1.0),
        ("y.x", 0.5),
        ("sd(y.g)", 1.0),
        ("y.sigma", 0.5),
        ("z.Intercept", -1.0),
        ("z.x", -0.3),
        ("sd(z.g)", 1.5),
        ("z.sigma", 1.0),
        ("cor(g, y.Intercept, z.Intercept)", 0.7),
        ("rescor(y, z)", -0.5),
    ] {
        let one = all
            .iter()
            .find(|one| one.name == name)
            .unwrap()
            .best_summary();
        assert!(
            (one.mean - truth).abs() < 3.5 * one.sd,
            "{name}: {} ± {}",
            one.mean,
            one.sd
        );
    }
    let one = fit.response("z").unwrap();
    let x = one
        .coefficients(Groups::Leave)
        .into_iter()
        .find(|one| one.name == "x");
    let whole = all
        .iter()
        .find(|one| one.name == "z.x")
        .unwrap()
        .best_summary();
    near(x.unwrap().best_summary().mean, whole.mean);
    assert_eq!(one.predict(&table).unwrap().means().unwrap().len(), 480);
    assert!(fit.response("w").is_err());
}

/// The effects of a new group are drawn from the population distribution, for all responses.
#[test]
fn rows_of_new_groups_are_scored_and_predicted() {
    let table = table(6, 5);
    let joint = several(
        "mvbind(y, count) ~ x + (1 |p| g)",
        "gaussian,poisson",
        &table,
    );
    let saved = drawn(&joint, &table);
    let mut other = table.select_rows(&[0, 1, 2]);
    let levels: Vec<String> = vec!["g01".into(), "new".into()];
    let labels = Column::Category {
        codes: vec![1, 1, 0],
        levels: levels.into(),
    };
    other.replace("g", labels).unwrap();
    let evaluated = saved.evaluate(&other).unwrap();
    assert!(evaluated.log_likelihood_per_row.is_finite() && evaluated.rmse.is_none());
    for one in saved.responses().unwrap() {
        let mut forecaster = one.forecaster(20);
        forecaster.new_levels = NewLevels::Refuse;
        assert!(forecaster.predict(&other, 0).is_err());
        assert_eq!(one.predict(&other).unwrap().means().unwrap().len(), 3);
    }
}
