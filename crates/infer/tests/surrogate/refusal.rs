//! Error messages of surrogates, in full.

use lehr_density::Density;
use lehr_infer::guide::Whitening;
use lehr_infer::surrogate::{
    Setup, StartWeights, SurrogateKind, SurrogateSettings, predicted_quality,
};
use lehr_model::Model;
use lehr_model::distribution::{Bernoulli, Distribution, Normal};
use lehr_table::Table;

use crate::{Likelihood, build, kind, some_mode, starts};

fn refusal(density: &dyn Density, settings: SurrogateSettings) -> String {
    let setup = Setup {
        seed: 1,
        mode: None,
        whitening: &Whitening::Identity,
    };
    let built = settings.build(density, &setup);
    built.err().expect("a refusal").to_string()
}

fn refused(density: &dyn Density, kind: SurrogateKind, rows: usize) -> String {
    refusal(density, SurrogateSettings::new(kind, rows))
}

#[test]
fn impossible_numbers_of_rows_are_refused() {
    let density = Likelihood::Logistic.bind(30, 1);
    for kind in SurrogateKind::all().filter(|kind| kind.has_rows()) {
        assert_eq!(
            refused(&density, kind, 512),
            "sl-dais: 512 surrogate rows were asked for, but the table has 30"
        );
        assert_eq!(
            refused(&density, kind, 0),
            format!("sl-dais: 0 surrogate rows were asked for, but {kind} needs at least 1")
        );
    }
}

#[test]
fn both_labels_and_coresets_refuse_other_responses() {
    let serves = "\n  hint: rand, taylor and nn serve every likelihood";
    for (likelihood, found) in [
        (Likelihood::Poisson, "a whole number from 0 on"),
        (Likelihood::Linear, "a finite number"),
    ] {
        let density = likelihood.bind(30, 1);
        for kind in SurrogateKind::all().skip(1).take(6) {
            assert_eq!(
                refused(&density, kind, 8),
                format!("sl-dais: {kind} needs a binary response, but \"y\" is {found}{serves}")
            );
        }
    }
}

fn table() -> Table {
    let levels = vec!["a".to_owned(), "b".to_owned()];
    Table::new()
        .with_number("y", vec![0.0, 1.0, 1.0, 0.0])
        .and_then(|t| t.with_number("late", vec![1.0, 1.0, 0.0, 0.0]))
        .and_then(|t| t.with_number("x", vec![0.3, -0.2, 1.1, 0.4]))
        .and_then(|t| t.with_category("group", vec![0, 1, 1, 0], levels))
        .unwrap()
}

#[test]
fn several_responses_are_refused_by_name() {
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let logit = row.number("x") * slope;
            row.observe("y", Bernoulli::with_logit(logit));
            row.observe("late", Bernoulli::with_logit(logit));
        });
    });
    assert_eq!(
        refused(&model.bind(&table()).unwrap(), kind("rand±"), 2),
        "sl-dais: rand± needs one binary response, but the model observes \"y\" and \"late\"\n  \
         hint: rand, taylor and nn serve every likelihood"
    );
}

#[test]
fn centroids_refuse_levels_and_models_without_covariates() {
    let model = Model::new(|m| {
        let effect = m.sample("effect", Normal::new(0.0, 1.0).expand([2]));
        m.rows(|row| row.observe("y", Bernoulli::with_logit(effect.at(row.index("group")))));
    });
    let density = model.bind(&table()).unwrap();
    assert_eq!(
        refused(&density, kind("km-fix±"), 2),
        "sl-dais: km-fix± takes means of covariates, but the model reads \"group\" as an index\n  \
         hint: rand± keeps rows as they are"
    );
    assert_eq!(
        refused(&density, kind("cs-init"), 2),
        "sl-dais: cs-init clusters numeric covariates, but the model reads none\n  \
         hint: rand serves every model"
    );
}

#[test]
fn what_needs_a_mode_says_so() {
    let density = Likelihood::Logistic.bind(30, 1);
    assert_eq!(
        refused(&density, SurrogateKind::TAYLOR, 8),
        "sl-dais: taylor needs the posterior's mode, but none was computed"
    );
    let matched = |kind| SurrogateSettings {
        start_weights: StartWeights::Matched,
        ..SurrogateSettings::new(kind, 8)
    };
    assert_eq!(
        refusal(&density, matched(SurrogateKind::RANDOM)),
        "sl-dais: rand with matched weights needs the posterior's mode, but none was computed"
    );
    assert_eq!(
        refusal(&density, matched(kind("cs-fix"))),
        "sl-dais: matched weights are for surrogates that learn theirs from the mode on, but the surrogate is cs-fix"
    );
}

#[test]
fn a_mode_that_is_no_maximum_is_refused() {
    let density = Likelihood::Logistic.bind(30, 1);
    let mut mode = some_mode(&density);
    mode.hessian[0] = 50.0;
    let surrogate = build(&density, SurrogateKind::RANDOM, 8, None);
    let learned = starts(&density, &*surrogate);
    let refused = predicted_quality(&density, &*surrogate, &learned, &mode).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "sl-dais: the log posterior has no maximum at the mode that was given\n  \
         hint: run the optimiser longer"
    );
}

#[test]
fn local_latents_are_refused() {
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, 1.0));
            row.observe("y", Bernoulli::with_logit(row.number("x") * slope + own));
        });
    });
    let Ok(density) = model.bind(&table()) else {
        panic!("the model is sound");
    };
    assert_eq!(
        refused(&density, SurrogateKind::RANDOM, 2),
        "sl-dais: a surrogate has no local latents, but the model gives each row \"own\""
    );
}
