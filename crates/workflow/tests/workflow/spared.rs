//! Fits that keep moments of their groups instead of draws, compared with the same fits with all
//! draws.

use lehr_infer::fit::Fit;
use lehr_infer::method::Collapse;
use lehr_numeric::stream::Stream;
use lehr_regression::{Groups, PredictionLevel};
use lehr_report::Coefficient;
use lehr_table::Table;
use lehr_workflow::{SavedFit, regress};

use crate::{category, number};

const FORMULA: &str = "y ~ x + (1 + x | g) + (1 | h)";

/// 40 groups of six rows with correlated intercepts and slopes, crossed with five others.
fn table() -> Table {
    let mut random = Stream::new(12, "spared", 0);
    let mut normals = |count: usize| {
        let mut values = vec![0.0; count];
        random.fill_normal(&mut values);
        values
    };
    let (x, noise, own, other) = (normals(240), normals(240), normals(80), normals(5));
    let y: Vec<f64> = (0..240)
        .map(|n| {
            let (a, b) = (own[2 * (n % 40)], own[2 * (n % 40) + 1]);
            3.0 + 2.0 * a + (1.0 + 0.5 * a + b) * x[n] + other[n % 5] + noise[n]
        })
        .collect();
    let names: Vec<String> = (0..240).map(|n| format!("g{}", n % 40)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let others: Vec<&str> = (0..240).map(|n| ["p", "q", "r", "s", "t"][n % 5]).collect();
    let table = number(number(Table::new(), "x", &x), "y", &y);
    category(category(table, "g", &names), "h", &others)
}

fn fitted(spares: bool) -> SavedFit {
    let fit = Fit::new(Collapse::default()).seed(4).draws(2000);
    let fit = if spares { fit.sparing(0) } else { fit };
    let table = table();
    let made = regress(FORMULA, &table).unwrap().with(fit);
    made.fit().unwrap()
}

/// Rows of two groups that were fitted and of one that was not.
fn later() -> Table {
    let table = number(Table::new(), "x", &[0.5, -1.0, 2.0, 0.3]);
    let table = category(table, "g", &["g7", "new", "g31", "g7"]);
    category(table, "h", &["q", "p", "t", "q"])
}

#[test]
fn groups_have_the_moments_and_predictions_of_a_fit_that_keeps_all_draws() {
    let (whole, spared) = (fitted(false), fitted(true));
    let own = spared.coefficients(Groups::Include);
    let all = whole.coefficients(Groups::Include);
    assert_eq!(own.len(), all.len());
    let of = |name: &str| -> &Coefficient { own.iter().find(|one| one.name == name).unwrap() };
    for other in &all {
        let (own, other) = (of(&other.name).best_summary(), other.best_summary());
        // Two times 2,000 draws of 90 numbers.
        assert!((own.mean - other.mean).abs() < 0.12 * other.sd, "{other:?}");
        assert!((own.sd / other.sd).ln().abs() < 0.1, "{own:?} {other:?}");
        assert!((own.q95 - other.q95).abs() < 0.25 * other.sd);
    }
    let rows = later();
    let means = |fit: &SavedFit| {
        let forecaster = fit.forecaster(2000);
        forecaster.predict(&rows, 0).unwrap().table().unwrap()
    };
    let (one, other) = (means(&spared), means(&whole));
    for row in 0..4 {
        let at = |table: &Table, name: &str| table.number(name).unwrap()[row];
        let sd = at(&other, "y_mean_sd");
        let shift = at(&one, "y_mean") - at(&other, "y_mean");
        assert!(shift.abs() < 0.12 * sd, "row {row}: {shift} of {sd}");
        let ratio = at(&one, "y_mean_sd") / sd;
        assert!(ratio.ln().abs() < 0.1, "row {row}: {ratio}");
    }
}

#[test]
fn everything_that_is_asked_of_a_fit_is_answered() {
    let (table, fit) = (table(), fitted(true));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.lehr");
    fit.save(&path).unwrap();
    let loaded = SavedFit::load(&path).unwrap();
    assert_eq!(
        fit.evaluate(&table).unwrap(),
        loaded.evaluate(&table).unwrap()
    );
    assert!(loaded.evaluate(&table).unwrap().rmse.unwrap() < 1.0);
    let whole = fitted(false);
    let elpd = |fit: &SavedFit| fit.loo(&table, None, 1).unwrap().rows;
    for (own, other) in elpd(&loaded).iter().zip(&elpd(&whole)) {
        assert!((own.left.lpd - other.left.lpd).abs() < 0.1, "{own:?}");
    }
    let population = |fit: &SavedFit| {
        let mut forecaster = fit.forecaster(2000);
        forecaster.level = PredictionLevel::Population;
        forecaster.predict(&later(), 0).unwrap().means().unwrap()
    };
    for (own, other) in population(&loaded).iter().zip(population(&whole)) {
        assert!((own - other).abs() < 0.15, "{own} {other}");
    }
    let groups = loaded.report().groups;
    let [intercept, slope, other] = &groups[..] else {
        panic!("three kinds of effects: {}", groups.len());
    };
    assert_eq!((&*intercept.term, &*slope.term), ("Intercept", "x"));
    assert_eq!((&*other.group, other.effects.len()), ("h", 5));
    assert_eq!(intercept.effects.len(), 24);
    assert_eq!(intercept.all.as_ref().unwrap().means.len(), 40);
    let explained = |fit: &SavedFit| fit.explained()[0].best_summary().mean;
    assert!((explained(&loaded) - explained(&whole)).abs() < 0.03);
    assert_eq!(
        loaded.prior_sensitivity().unwrap().len(),
        whole.prior_sensitivity().unwrap().len()
    );
    assert!(
        loaded
            .contents
            .starts_with("sums over the rows of each group of standard(g)")
    );
    let sentence = loaded.not_kept().unwrap();
    assert!(
        sentence.starts_with("the draws of standard(g) are not kept"),
        "{sentence}"
    );
    assert!(whole.not_kept().is_none());
    let (data, left_out) = loaded.arviz(Groups::Include).data().unwrap();
    assert_eq!(left_out, [sentence]);
    assert!(data.variables.iter().all(|one| one.name != "g"));
}
