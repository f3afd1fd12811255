//! Priors: defaults scaled to the table, and the user's priors on the original scale.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::method::FullRank;
use lehr_infer::posterior::Posterior;
use lehr_regression::{Family, Regression, prior_distributions};
use lehr_table::Table;
use rand_chacha::rand_core::SeedableRng;

use crate::{category, coefficients, densities, near, normal, number, point, regression};

const Y: [f64; 4] = [100.0, 300.0, 200.0, 400.0];
const X: [f64; 4] = [1.0, 2.0, 4.0, 5.0];

fn table() -> Table {
    let table = number(Table::new(), "y", &Y);
    let table = number(table, "x", &X);
    let table = category(table, "site", &["a", "b", "a", "b"]);
    number(table, "count", &[0.0, 2.0, 1.0, 1.0])
}

fn printed(regression: &Regression) -> Vec<String> {
    let priors = regression.priors().into_iter();
    priors
        .map(|(name, law)| format!("{name} ~ {law}"))
        .collect()
}

#[test]
fn defaults_are_scaled_to_the_table() {
    let made = regression("y ~ x + (1 + x | site)", Family::Gaussian, &table());
    assert_eq!(
        printed(&made),
        [
            "Intercept ~ normal(250, 279.5) at the means of the columns",
            "x ~ normal(0, 176.8)",
            "sd(site, Intercept) ~ half_normal(111.8)",
            "sd(site, x) ~ half_normal(32.97)",
            "cor(site) ~ lkj(2)",
            "sigma ~ exponential(0.008944)",
        ]
    );
    let made = regression("count ~ 1 + (1 | site)", Family::NegBinomial, &table());
    assert_eq!(
        printed(&made),
        [
            "Intercept ~ normal(0, 2.5)",
            "sd(site) ~ half_normal(2)",
            "shape ~ inverse_gamma(0.4, 0.3)",
        ]
    );
}

#[test]
fn the_particular_prior_beats_the_general_one() {
    let priors = [
        "weight ~ normal(0, 1)",
        "x ~ student_t(3, 0, 2)",
        "sd(site) ~ half_normal(1)",
        "sd(site, x) ~ exponential(4)",
    ];
    let priors = priors.map(String::from);
    let formula = "y ~ x + I(x^2) + count + (1 + x | site)";
    let made = Regression::new(formula, Family::Gaussian, &priors, &table()).unwrap();
    let printed = printed(&made);
    let common = [
        "x ~ student_t(3, 0, 2)",
        "I(x^2) ~ normal(0, 1)",
        "count ~ normal(0, 1)",
    ];
    assert_eq!(printed[1..4], common);
    assert_eq!(printed[4], "sd(site, Intercept) ~ half_normal(1)");
    assert_eq!(printed[5], "sd(site, x) ~ exponential(4)");
    assert!(made.bind(&table()).is_ok());
}

/// ln of a half normal density.
fn half_normal(x: f64, scale: f64) -> f64 {
    2.0_f64.ln() + normal(x, 0.0, scale)
}

#[test]
fn a_users_priors_are_densities_of_the_reported_coefficients() {
    let priors = [
        "Intercept ~ normal(50, 10)",
        "x ~ normal(3, 20)",
        "sigma ~ half_normal(70)",
        "sd(site) ~ half_normal(5)",
    ]
    .map(String::from);
    let table = table();
    let made = Regression::new("y ~ x + (1 | site)", Family::Gaussian, &priors, &table).unwrap();
    let bound = made.bind(&table).unwrap();
    let latents = bound.latents();
    // The prior's terms in the calculation by hand: the Jacobians of both positive sites and the
    // standard normals, which differ from point to point, and a constant.
    let by_hand = |z: &[f64]| {
        let named = coefficients(&made, &bound, z);
        let free = |site: &str| z[latents.range(latents.position(site).unwrap()).start];
        let standard = latents.range(latents.position("standard(site)").unwrap());
        normal(named["Intercept"], 50.0, 10.0)
            + normal(named["x"], 3.0, 20.0)
            + half_normal(named["sigma"], 70.0)
            + free("sigma")
            + half_normal(named["sd(site)"], 5.0)
            + free("sd(site)")
            + z[standard]
                .iter()
                .map(|z| normal(*z, 0.0, 1.0))
                .sum::<f64>()
    };
    let first = point(latents.size());
    let second: Vec<f64> = first.iter().map(|z| 0.4 - 1.3 * z * z).collect();
    let difference = densities(&bound, &first).0 - densities(&bound, &second).0;
    near(difference, by_hand(&first) - by_hand(&second));
}

fn refused(prior: &str) -> String {
    let made = Regression::new(
        "y ~ x + (1 + x | site)",
        Family::Gaussian,
        &[prior.to_owned()],
        &table(),
    );
    made.expect_err("a refusal").to_string()
}

#[test]
fn a_prior_on_an_unknown_name_points_to_the_nearest() {
    assert_eq!(
        refused("sd(sitee) ~ half_normal(1)"),
        "prior:1:1: no parameter \"sd(sitee)\" in the model\n  \
         sd(sitee) ~ half_normal(1)\n  \
         ^^^^^^^^^  did you mean \"sd(site)\"?"
    );
    assert_eq!(
        refused("shape ~ gamma(2, 1)"),
        "prior:1:1: no parameter \"shape\" in the model\n  \
         shape ~ gamma(2, 1)\n  \
         ^^^^^  the model has Intercept, x, weight, sd(site, Intercept), sd(site), sd(site, x), cor(site), sigma"
    );
}

#[test]
fn distributions_and_their_arguments_are_checked() {
    assert_eq!(
        refused("x ~ norml(0, 1)"),
        "prior:1:5: no distribution \"norml\"\n  x ~ norml(0, 1)\n      \
         ^^^^^  did you mean \"normal\"?"
    );
    assert_eq!(
        refused("x ~ normal(1)"),
        "prior:1:5: normal has 2 arguments, found 1\n  x ~ normal(1)\n      \
         ^^^^^^  write normal(location, scale)"
    );
    assert_eq!(
        refused("x ~ normal(0, -1)"),
        "prior:1:5: the scale of normal is above 0, found -1\n  x ~ normal(0, -1)\n      \
         ^^^^^^  write normal(location, scale)"
    );
    assert_eq!(
        refused("sigma ~ normal(0, 1)"),
        "prior:1:9: \"sigma\" expects a distribution of positive numbers, found normal\n  \
         sigma ~ normal(0, 1)\n          \
         ^^^^^^  use half_normal, half_student_t, half_cauchy, exponential, gamma, \
         inverse_gamma, log_normal or uniform from 0 on"
    );
}

#[test]
fn a_prior_given_twice_is_refused() {
    let priors = ["x ~ normal(0, 1)", "x ~ normal(0, 2)"].map(String::from);
    let made = Regression::new("y ~ x", Family::Gaussian, &priors, &table());
    assert_eq!(
        made.unwrap_err().to_string(),
        "prior:1:1: \"x\" has a prior already\n  x ~ normal(0, 2)\n  ^  leave one out"
    );
}

#[test]
fn every_distribution_of_a_coefficient_binds() {
    for law in [
        "normal(0, 1)",
        "student_t(3, 0, 1)",
        "cauchy(0, 1)",
        "laplace(0, 1)",
        "flat",
    ] {
        let priors = [format!("weight ~ {law}"), format!("Intercept ~ {law}")];
        let made = Regression::new("y ~ x", Family::Gaussian, &priors, &table()).unwrap();
        let bound = made.bind(&table()).unwrap();
        assert!(
            densities(&bound, &point(bound.latents().size()))
                .0
                .is_finite(),
            "{law}"
        );
    }
    let positive = [
        "half_normal(1)",
        "half_student_t(3, 1)",
        "half_cauchy(1)",
        "exponential(1)",
        "gamma(2, 1)",
        "inverse_gamma(2, 1)",
    ];
    for law in positive {
        let priors = [
            format!("sigma ~ {law}"),
            format!("sd(site) ~ {law}"),
            "cor(site) ~ lkj(3)".into(),
        ];
        let made =
            Regression::new("y ~ x + (x | site)", Family::Gaussian, &priors, &table()).unwrap();
        let bound = made.bind(&table()).unwrap();
        assert!(
            densities(&bound, &point(bound.latents().size()))
                .0
                .is_finite(),
            "{law}"
        );
    }
}

#[test]
fn uniform_priors_bound_coefficients_and_spreads() {
    let made = |priors: &[&str]| {
        let priors: Vec<String> = priors.iter().map(ToString::to_string).collect();
        Regression::new("y ~ x + count", Family::Gaussian, &priors, &table())
    };
    let bounded = made(&["weight ~ uniform(-100, 300)", "sigma ~ uniform(0, 500)"]).unwrap();
    assert!(printed(&bounded).contains(&"x ~ uniform(-100, 300)".to_owned()));
    let bound = bounded.bind(&table()).unwrap();
    for at in [-30.0, 0.0, 30.0] {
        let z = vec![at; bound.latents().size()];
        let named = coefficients(&bounded, &bound, &z);
        for name in ["x", "count"] {
            assert!((-100.001..=300.001).contains(&named[name]), "{named:?}");
        }
        assert!((0.0..=500.001).contains(&named["sigma"]), "{named:?}");
    }
    let why = |prior: &str| made(&[prior]).unwrap_err().to_string();
    assert!(why("x ~ uniform(2, 1)").contains("the high of uniform is above its low"));
    assert!(why("sigma ~ uniform(-1, 1)").contains("expects a distribution of positive numbers"));
    let error = why("Intercept ~ uniform(0, 1)");
    let expected = "prior on Intercept: expected a distribution without bounds, \
                    found uniform(0, 1)\n  hint: use normal, student_t, ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn every_distribution_is_a_prior_of_the_intercept_or_refused() {
    let mut taken = 0;
    for usage in prior_distributions() {
        let (name, rest) = usage.split_once('(').unwrap_or((&usage, ""));
        let count = rest.split(", ").filter(|argument| !argument.is_empty());
        let numbers: Vec<String> = (1..=count.count()).map(|k| k.to_string()).collect();
        let prior = format!("Intercept ~ {name}({})", numbers.join(", "));
        let made = Regression::new("y ~ x + count", Family::Gaussian, &[prior], &table());
        if let Ok(made) = made {
            assert!(made.bind(&table()).is_ok(), "{name}");
            taken += 1;
        }
    }
    assert!(taken > 1);
}

/// A fit of a regression whose coefficients have flat priors.
fn flat(family: Family, table: &Table) -> Result<Posterior, String> {
    let priors = ["weight ~ flat", "Intercept ~ flat()"].map(String::from);
    let made = Regression::new("y ~ x", family, &priors, table).unwrap();
    assert!(printed(&made).contains(&"x ~ flat".to_owned()));
    let fit = Fit::new(FullRank::default()).seed(3);
    let bound = made.bind(table).unwrap();
    fit.run(&bound).map_err(|error| error.to_string())
}

#[test]
fn flat_priors_leave_the_slope_to_the_rows() {
    let x: Vec<f64> = (0..30).map(|k| (1.7 * f64::from(k)).sin()).collect();
    let y: Vec<f64> = (0..30)
        .map(|k| 3.0 * x[k] + (2.3 * k as f64).cos())
        .collect();
    let table = number(number(Table::new(), "x", &x), "y", &y);
    let posterior = flat(Family::Gaussian, &table).unwrap();
    let centre = |of: &[f64]| of.iter().sum::<f64>() / 30.0;
    let (cx, cy) = (centre(&x), centre(&y));
    let pairs = || x.iter().zip(&y).map(|(x, y)| (x - cx, y - cy));
    let square: f64 = pairs().map(|(x, _)| x * x).sum();
    let slope = pairs().map(|(x, y)| x * y).sum::<f64>() / square;
    let spread =
        |of: &[f64], by: f64| of.iter().map(|v| (v - centre(of)).powi(2)).sum::<f64>() / by;
    // The slope of the model is that of standardised columns and a standardised response.
    let unit = (spread(&x, 30.0) / spread(&y, 30.0)).sqrt();
    let found = posterior.summaries();
    let weight = found
        .iter()
        .find(|one| one.name.starts_with("weight"))
        .unwrap();
    let most = 5.0 * weight.sd / (posterior.n_draws() as f64).sqrt() + 0.02 * weight.sd;
    assert!(
        (weight.mean - unit * slope).abs() < most,
        "{weight:?} {slope} {unit}"
    );
}

#[test]
fn flat_priors_are_refused_where_the_rows_do_not_make_a_posterior() {
    let x: Vec<f64> = (0..30).map(|k| f64::from(k) - 14.5).collect();
    let above: Vec<f64> = x.iter().map(|x| f64::from(u8::from(*x > 0.0))).collect();
    let table = |y: &[f64]| number(number(Table::new(), "x", &x), "y", y);
    let separated = flat(Family::Bernoulli, &table(&above)).unwrap_err();
    assert!(separated.starts_with("flat prior on "), "{separated}");
    assert!(separated.contains("there is no posterior"), "{separated}");
    // With one exchange on either side the rows determine the slope.
    let mut mixed = above;
    (mixed[10], mixed[20]) = (1.0, 0.0);
    flat(Family::Bernoulli, &table(&mixed)).unwrap();
    let zeros = flat(Family::Poisson, &table(&[0.0; 30])).unwrap_err();
    assert!(zeros.starts_with("flat prior on "), "{zeros}");
}

#[test]
fn nothing_is_drawn_from_a_flat_prior() {
    let priors = ["weight ~ flat".to_owned()];
    let made = Regression::new("y ~ x", Family::Gaussian, &priors, &table()).unwrap();
    let bound = made.bind(&table()).unwrap();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let why = bound.draw_prior(&[], &mut random).unwrap_err().to_string();
    assert!(why.contains("found a flat one"), "{why}");
}

/// 40 rows, of which one has the level "rare".
fn rare() -> Table {
    let wave = |pace: f64| -> Vec<f64> { (0..40).map(|k| (pace * f64::from(k)).sin()).collect() };
    let mut color = vec!["usual"; 40];
    color[3] = "rare";
    color[20..].fill("other");
    let flag: Vec<f64> = (0..40).map(|k| f64::from(u8::from(k == 7))).collect();
    let bit: Vec<f64> = (0..40).map(|k| f64::from(k % 2)).collect();
    let table = category(Table::new(), "color", &color);
    let table = number(number(table, "flag", &flag), "bit", &bit);
    number(table, "x", &wave(0.7))
}

#[test]
fn rare_levels_have_the_prior_of_a_contrast_and_numbers_one_per_deviation() {
    let made = regression("bit ~ color + flag + x", Family::Bernoulli, &rare());
    let found = printed(&made);
    assert_eq!(found[1], "color[rare] ~ normal(0, 2.5)");
    assert_eq!(found[2], "color[usual] ~ normal(0, 2.5)");
    assert_eq!(found[3], "flag ~ normal(0, 2.5)");
    assert!(found[4].starts_with("x ~ normal(0, 3."), "{}", found[4]);
}

#[test]
fn separation_and_exactly_collinear_columns_are_named() {
    let table = rare();
    let made = regression("bit ~ color + flag + x", Family::Bernoulli, &table);
    let separated = |name: &str| {
        made.notes()
            .iter()
            .any(|note| note.starts_with(&format!("{name}:")) && note.contains("(separation)"))
    };
    assert!(
        separated("color[rare]") && separated("flag"),
        "{:?}",
        made.notes()
    );
    assert!(
        !separated("x") && !separated("color[usual]"),
        "{:?}",
        made.notes()
    );
    let twice: Vec<f64> = (0..40)
        .map(|k| 1.0 - 2.0 * (0.7 * f64::from(k)).sin())
        .collect();
    let made = regression(
        "bit ~ x + twice",
        Family::Bernoulli,
        &number(table, "twice", &twice),
    );
    let note = "twice is determined by x (exactly collinear): the priors decide how an effect is shared among them";
    assert_eq!(made.notes(), [note]);
}

#[test]
fn coefficients_that_the_prior_decides_are_named_after_the_fit() {
    let table = rare();
    let fit = lehr_workflow::regress("bit ~ flag + x", &table).unwrap();
    let method = lehr_infer::fit::Fit::named("full-rank").unwrap();
    let saved = fit.with(method).fit().unwrap();
    let notes = saved.subject.regression().unwrap().notes().join("\n");
    assert!(
        notes.contains("\"flag\": the prior says more than the data"),
        "{notes}"
    );
    assert!(!notes.contains("\"x\""), "{notes}");
}

/// The 5, 50 and 95 % points of draws.
fn middle(draws: &[f64]) -> [f64; 3] {
    let mut sorted = draws.to_vec();
    sorted.sort_by(f64::total_cmp);
    [0.05, 0.5, 0.95].map(|share| sorted[(share * sorted.len() as f64) as usize])
}

#[test]
fn draws_of_the_prior_have_its_quantiles_and_its_responses() {
    let table = table();
    let priors = [
        "Intercept ~ normal(10, 3)",
        "x ~ normal(-1, 2)",
        "sigma ~ half_normal(5)",
    ];
    let priors = priors.map(String::from);
    let specification = lehr_regression::Specification::parse("y ~ x", table.names()).unwrap();
    let specification = specification
        .with_family(Family::Gaussian)
        .with_priors(&priors)
        .unwrap();
    let clock = std::time::Instant::now();
    let bound = lehr_workflow::BoundRegression::new(&specification, &table, clock).unwrap();
    let drawn = bound.prior_predictive(4000, 11).unwrap();
    let of = |name: &str| {
        let one = drawn
            .coefficients
            .iter()
            .find(|one| one.name.as_str() == name);
        middle(&one.unwrap().values)
    };
    // The standard error of a 5 % quantile of 4,000 draws is about 0.035 standard deviations; the
    // tolerance is four times that.
    for (name, location, scale) in [("Intercept", 10.0, 3.0), ("x", -1.0, 2.0)] {
        for (found, point) in of(name).into_iter().zip([-1.6449, 0.0, 1.6449]) {
            assert!(
                (found - location - scale * point).abs() < 0.14 * scale,
                "{name} {found}"
            );
        }
    }
    assert!((of("sigma")[1] - 5.0 * 0.6745).abs() < 0.3);
    // The mean of four rows is Intercept + 3x + noise of variance sigma²/4: in all 9 + 36 + 25/4.
    let mean = &drawn.statistics[0];
    let sd = (9.0_f64 + 36.0 + 6.25).sqrt();
    assert_eq!((mean.name.as_str(), mean.observed), ("mean", 250.0));
    assert!((mean.q50 - 7.0).abs() < 0.1 * sd && (mean.q95 - 7.0 - 1.645 * sd).abs() < 0.16 * sd);
    assert!(mean.is_surprising());
}

#[test]
fn a_prior_that_contradicts_the_rows_is_seen_to_move_the_posterior() {
    let x: Vec<f64> = (0..40).map(|row| f64::from(row) / 10.0 - 2.0).collect();
    let y: Vec<f64> = (x.iter().enumerate())
        .map(|(row, x)| 1.0 + x + ((row * row % 13) as f64 - 6.0) / 4.0)
        .collect();
    let table = number(number(Table::new(), "x", &x), "y", &y);
    let most = |prior: Option<&str>| {
        let regress = lehr_workflow::regress("y ~ x", &table).unwrap();
        let regress = match prior {
            Some(prior) => regress.prior(prior).unwrap(),
            None => regress,
        };
        let method = lehr_infer::method::FullRank::default();
        let fit = lehr_infer::fit::Fit::new(method).seed(3).draws(2000);
        let fit = regress
            .with(fit.set("iterations", "400").unwrap())
            .fit()
            .unwrap();
        let all = fit.prior_sensitivity().unwrap();
        all.into_iter().find(|one| one.prior == "weight").unwrap()
    };
    let plain = most(None);
    assert!(!plain.matters(), "{plain:?}");
    let against = most(Some("x ~ normal(-1, 0.3)"));
    assert!(
        against.matters() && against.coefficient == "x",
        "{against:?}"
    );
}
