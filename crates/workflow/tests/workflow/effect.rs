//! Effects: averages of counterfactual predictions, recomputed by hand from coefficients.

use lehr_infer::fit::Fit;
use lehr_infer::method::FullRank;
use lehr_regression::{Groups, PredictionLevel};
use lehr_table::Table;
use lehr_workflow::{
    EffectAverager, EffectEstimate, EffectEstimates, EffectKind, EffectQuestion, EffectScale,
    Forecaster, SavedFit, regress,
};

use crate::{category, number, sigmoid};

const ROWS: u32 = 90;

fn table() -> Table {
    let rows = 0..ROWS;
    let x: Vec<f64> = rows
        .clone()
        .map(|row| f64::from(row % 7) / 3.0 - 1.0)
        .collect();
    let shift: Vec<&str> = (rows.clone())
        .map(|row| ["day", "late", "night"][(row * row % 11) as usize % 3])
        .collect();
    let site: Vec<&str> = rows
        .clone()
        .map(|row| ["n", "s"][row as usize % 2])
        .collect();
    let y: Vec<f64> = (rows.clone().zip(&x))
        .map(|(row, x)| x + f64::from(row * 7 % 13) / 6.0)
        .collect();
    let hit: Vec<f64> = rows.map(|row| f64::from(row * 5 % 7 < 3)).collect();
    let table = number(number(number(Table::new(), "x", &x), "y", &y), "hit", &hit);
    category(category(table, "shift", &shift), "site", &site)
}

fn fit(formula: &str, family: &str) -> SavedFit {
    let method = Fit::new(FullRank::default()).seed(3).draws(64);
    let method = method.set("iterations", "60").unwrap();
    let table = table();
    let regress = regress(formula, &table).unwrap().family(family).unwrap();
    regress.with(method).fit().unwrap()
}

fn all_draws(saved: &SavedFit) -> Forecaster<'_> {
    saved.forecaster(saved.posterior.n_draws())
}

fn asked(saved: &SavedFit, question: &EffectQuestion) -> EffectEstimates {
    let forecaster = all_draws(saved);
    let mut averager = EffectAverager::new(&forecaster, question).unwrap();
    averager.push(&table()).unwrap();
    averager.finish().unwrap()
}

/// The mean over draws of a function of the coefficients.
fn by_hand(saved: &SavedFit, of: impl Fn(&dyn Fn(&str) -> f64) -> f64) -> f64 {
    let draws = saved.even_draws(Groups::Include);
    let count = draws[0].values.len();
    let sum: f64 = (0..count)
        .map(|draw| {
            of(&|name: &str| {
                let found = draws.iter().find(|one| one.name.as_str() == name);
                found.unwrap_or_else(|| panic!("{name}")).values[draw]
            })
        })
        .sum();
    sum / count as f64
}

fn named<'e>(effects: &'e EffectEstimates, name: &str) -> &'e EffectEstimate {
    let found = effects.effects.iter().find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("{name} is not among {:?}", effects.effects))
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-6,
        "found {found}, expected {expected}"
    );
}

#[test]
fn the_average_slope_of_an_interaction_weighs_levels_by_their_rows() {
    let saved = fit("y ~ x * shift", "gaussian");
    let effects = asked(&saved, &EffectQuestion::new("x"));
    let table = table();
    let (codes, _) = table.category("shift").unwrap();
    let share =
        |code: u32| codes.iter().filter(|one| **one == code).count() as f64 / f64::from(ROWS);
    let expected = by_hand(&saved, |at| {
        at("x") + share(1) * at("x:shift[late]") + share(2) * at("x:shift[night]")
    });
    let slope = named(&effects, "slope");
    assert_eq!(slope.kind, EffectKind::Slope);
    close(slope.summary.mean, expected);
    assert_eq!(effects.effects.len(), 6, "a slope and five predictions");
    let apart = EffectQuestion {
        by: Some("shift".into()),
        ..EffectQuestion::new("x")
    };
    let effects = asked(&saved, &apart);
    let night = effects
        .effects
        .iter()
        .find(|one| one.by.as_deref() == Some("night"));
    close(
        night.unwrap().summary.mean,
        by_hand(&saved, |at| at("x") + at("x:shift[night]")),
    );
}

#[test]
fn adjusted_predictions_average_probabilities_over_the_rows_as_they_are() {
    let saved = fit("hit ~ x + shift + (1 | site)", "bernoulli");
    let effects = asked(&saved, &EffectQuestion::new("shift"));
    let table = table();
    let (xs, sites) = (
        table.number("x").unwrap(),
        table.category("site").unwrap().0,
    );
    let at_level = |level: &str, at: &dyn Fn(&str) -> f64| {
        let shift = match level {
            "day" => 0.0,
            other => at(&format!("shift[{other}]")),
        };
        let site = [at("site[n]"), at("site[s]")];
        let rows = xs.iter().zip(sites);
        let sum: f64 = rows
            .map(|(x, code)| sigmoid(at("Intercept") + x * at("x") + shift + site[*code as usize]))
            .sum();
        sum / f64::from(ROWS)
    };
    for level in ["day", "late", "night"] {
        let found = named(&effects, &format!("shift = {level}")).summary.mean;
        close(found, by_hand(&saved, |at| at_level(level, at)));
    }
    let contrast = named(&effects, "night - day");
    close(
        contrast.summary.mean,
        by_hand(&saved, |at| at_level("night", at) - at_level("day", at)),
    );
    let odds = EffectQuestion {
        contrasts: vec!["shift: night - late".into()],
        scale: EffectScale::Odds,
        ..EffectQuestion::new("shift")
    };
    close(
        named(&asked(&saved, &odds), "night / late").summary.mean,
        by_hand(&saved, |at| (at("shift[night]") - at("shift[late]")).exp()),
    );
}

#[test]
fn conditional_effects_stand_at_the_reference_without_groups() {
    let saved = fit("hit ~ x + shift + (1 | site)", "bernoulli");
    let forecaster = Forecaster {
        level: PredictionLevel::Population,
        ..all_draws(&saved)
    };
    let question = EffectQuestion {
        at: vec![("shift".into(), "night".into())],
        points: 3,
        ..EffectQuestion::new("x")
    };
    let effects = EffectAverager::new(&forecaster, &question).unwrap();
    let effects = effects.at_reference().unwrap();
    assert_eq!(effects.n_rows, 0);
    close(
        named(&effects, "x = 1").summary.mean,
        by_hand(&saved, |at| {
            sigmoid(at("Intercept") + at("x") + at("shift[night]"))
        }),
    );
    let mean = table().number("x").unwrap().iter().sum::<f64>() / f64::from(ROWS);
    let slope = by_hand(&saved, |at| {
        let p = sigmoid(at("Intercept") + mean * at("x") + at("shift[night]"));
        at("x") * p * (1.0 - p)
    });
    close(named(&effects, "slope").summary.mean, slope);
}

#[test]
fn blocks_of_rows_add_up_to_the_table() {
    let saved = fit("hit ~ x + shift", "bernoulli");
    let question = EffectQuestion {
        by: Some("site".into()),
        ..EffectQuestion::new("shift")
    };
    let forecaster = all_draws(&saved);
    let mut averager = EffectAverager::new(&forecaster, &question).unwrap();
    let order: Vec<usize> = (0..ROWS as usize).rev().collect();
    for part in order.chunks(17) {
        averager.push(&table().select_rows(part)).unwrap();
    }
    let parts = averager.finish().unwrap();
    for (one, other) in asked(&saved, &question).effects.iter().zip(&parts.effects) {
        assert_eq!((&one.name, &one.by), (&other.name, &other.by));
        close(one.summary.q95, other.summary.q95);
    }
}

#[test]
fn the_probabilities_of_classes_sum_to_one_and_their_contrasts_to_nothing() {
    for family in ["ordinal", "categorical"] {
        let saved = fit("shift ~ x + site", family);
        let effects = asked(&saved, &EffectQuestion::new("site"));
        let sum = |name: &str| -> f64 {
            let classes = effects.effects.iter().filter(|one| one.name == name);
            assert_eq!(classes.clone().count(), 3);
            assert!(classes.clone().all(|one| one.class.is_some()));
            classes.map(|one| one.summary.mean).sum()
        };
        close(sum("site = n"), 1.0);
        close(sum("s - n"), 0.0);
    }
}

#[test]
fn mistakes_in_a_question_name_what_is_known() {
    let saved = fit("hit ~ x + shift", "bernoulli");
    let forecaster = all_draws(&saved);
    let refusal = |question: &EffectQuestion| {
        let refused = EffectAverager::new(&forecaster, question).err();
        refused.expect("a refusal").to_string()
    };
    assert_eq!(
        refusal(&EffectQuestion::new("shft")),
        "no column \"shft\" in the table\n  hint: did you mean \"shift\"?"
    );
    let contrast = EffectQuestion {
        contrasts: vec!["night - dusk".into()],
        ..EffectQuestion::new("shift")
    };
    assert_eq!(
        refusal(&contrast),
        "column \"shift\": expected a level of the table that was fitted, found \"dusk\"\n  hint: \
         the levels are \"day\", \"late\", \"night\""
    );
    let gaussian = fit("y ~ x", "gaussian");
    let forecaster = all_draws(&gaussian);
    let odds = EffectQuestion {
        scale: EffectScale::Odds,
        ..EffectQuestion::new("x")
    };
    assert!(EffectAverager::new(&forecaster, &odds).is_err());
}
