//! The language of priors.

use lehr_formula::{PriorSpec, PriorTarget};

fn parsed(text: &str) -> PriorSpec {
    match PriorSpec::parse(text) {
        Ok(prior) => prior,
        Err(error) => panic!("{}", error.render(text)),
    }
}

#[test]
fn priors_print_in_one_way() {
    let table = [
        ("weight ~ normal(0, 1)", "weight ~ normal(0, 1)"),
        (
            "Intercept~student(3,0,2.5)",
            "Intercept ~ student(3, 0, 2.5)",
        ),
        ("sd(site) ~ half_normal(1)", "sd(site) ~ half_normal(1)"),
        (
            "sd( patient , dose ) ~ exponential(1/2)",
            "sd(patient, dose) ~ exponential(0.5)",
        ),
        (
            "sd(region : district) ~ exponential(1)",
            "sd(region:district) ~ exponential(1)",
        ),
        (
            "sd(g, color[dark red]) ~ exponential(1)",
            "sd(g, color[dark red]) ~ exponential(1)",
        ),
        ("cor(patient) ~ lkj(2)", "cor(patient) ~ lkj(2)"),
        ("sigma ~ half_cauchy(1)", "sigma ~ half_cauchy(1)"),
        ("x1 : x2 ~ normal(-1, 2)", "x1:x2 ~ normal(-1, 2)"),
        (
            "color[light blue] ~ normal(0, 1)",
            "color[light blue] ~ normal(0, 1)",
        ),
        ("color[a~b] ~ normal(0, 1)", "color[a~b] ~ normal(0, 1)"),
        (
            "C(color)[red]:x ~ normal(0, 1)",
            "color[red]:x ~ normal(0, 1)",
        ),
        (
            "poly(x,3)[1] ~ normal(0, 10)",
            "poly(x, 3)[1] ~ normal(0, 10)",
        ),
        ("I( x ^ 2 ) ~ normal(0, 1)", "I(x^2) ~ normal(0, 1)"),
        ("`my col` ~ normal(0, 1)", "`my col` ~ normal(0, 1)"),
        (
            "gp( day,k=9 ).lengthscale ~ log_normal(0, 1)",
            "gp(day).lengthscale ~ log_normal(0, 1)",
        ),
        (
            "gp(a, b).lengthscale[a] ~ exponential(2)",
            "gp(a, b).lengthscale[a] ~ exponential(2)",
        ),
        (
            "gp(x, by = C(g), period = 7).scale ~ half_normal(1)",
            "gp(x, by = g, period = 7).scale ~ half_normal(1)",
        ),
        ("shape ~ gamma(2, .1)", "shape ~ gamma(2, 0.1)"),
        ("weight ~ flat", "weight ~ flat"),
        ("weight ~ flat()", "weight ~ flat"),
    ];
    for (text, printed) in table {
        assert_eq!(parsed(text).to_string(), printed);
        assert_eq!(parsed(printed).to_string(), printed);
    }
}

#[test]
fn priors_of_splines_and_monotonic_effects_print_in_one_way() {
    for (text, printed) in [
        (
            "sd(s( day, k = 9 )) ~ half_normal(1)",
            "sd(s(day)) ~ half_normal(1)",
        ),
        (
            "bs(x,6)[2] ~ normal(0, 1)",
            "bs(x, df = 6)[2] ~ normal(0, 1)",
        ),
        ("mo( x ) ~ normal(0, 1)", "mo(x) ~ normal(0, 1)"),
        (
            "mo(x,levels=c('a',\"b\")).step ~ dirichlet(2)",
            "mo(x).step ~ dirichlet(2)",
        ),
    ] {
        assert_eq!(parsed(text).to_string(), printed);
        assert_eq!(parsed(printed).to_string(), printed);
    }
}

#[test]
fn targets_are_told_apart() {
    assert_eq!(parsed("weight ~ normal(0, 1)").target, PriorTarget::Weight);
    assert_eq!(
        parsed("Intercept ~ normal(0, 1)").target,
        PriorTarget::Intercept
    );
    assert_eq!(parsed("sigma ~ normal(0, 1)").target, PriorTarget::Sigma);
    let prior = parsed("sd(patient, dose) ~ half_normal(2e0)");
    let target = PriorTarget::Sd {
        group: "patient".into(),
        effect: Some("dose".into()),
    };
    assert_eq!(prior.target, target);
    assert_eq!(
        (prior.distribution.as_str(), &prior.arguments[..]),
        ("half_normal", &[2.0][..])
    );
    let cor = PriorTarget::Cor { group: "g".into() };
    assert_eq!(parsed("cor(g) ~ lkj(2)").target, cor);
    assert_eq!(parsed("x ~ flat").target, PriorTarget::Named("x".into()));
}

#[test]
fn a_prior_of_an_unknown_distribution_is_refused_with_the_nearest() {
    let text = "sd(stie) ~ half_nromal(1)";
    let prior = parsed(text);
    let error = prior
        .check_distribution(&["normal", "half_normal"])
        .unwrap_err();
    assert_eq!(
        error.render(text),
        "prior:1:12: no distribution \"half_nromal\"\n  \
         sd(stie) ~ half_nromal(1)\n  \
         \u{20}          ^^^^^^^^^^^  did you mean \"half_normal\"?"
    );
    assert!(prior.check_distribution(&["half_nromal"]).is_ok());
}
