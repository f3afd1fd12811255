//! Fits of formulas: names are kept apart from the report to the files, and commands on fits.

use lehr_infer::fit::Fit;
use lehr_infer::method::MeanField;
use lehr_regression::Groups;
use lehr_table::Table;
use lehr_workflow::{ArvizExport, RowGroup, SavedFit, regress};

use crate::{category, number};

const PEOPLE: [&str; 4] = ["Smith, John", "Smith, Jane", "Doe", "Roe"];
const COLORS: [&str; 3] = ["blue", "green", "red"];

fn table() -> Table {
    let rows = 0..120_u32;
    let x: Vec<f64> = rows.clone().map(|row| f64::from(row % 7) - 3.0).collect();
    let y: Vec<f64> = (rows.clone().zip(&x))
        .map(|(row, x)| 0.5 * x + f64::from(row % 4) + f64::from(row * row % 11) / 11.0)
        .collect();
    let people: Vec<&str> = rows.clone().map(|row| PEOPLE[row as usize % 4]).collect();
    let colors: Vec<&str> = rows.map(|row| COLORS[(row / 4) as usize % 3]).collect();
    let table = number(number(Table::new(), "x", &x), "y", &y);
    category(category(table, "person", &people), "color", &colors)
}

fn quick(formula: &str, table: &Table) -> SavedFit {
    let fit = Fit::new(MeanField::default()).seed(3).unexamined();
    let fit = fit.set("iterations", "50").unwrap();
    let regress = regress(formula, table).unwrap();
    regress.with(fit).fit().unwrap()
}

#[test]
fn a_level_with_a_comma_is_no_term() {
    let fit = quick("y ~ x + (1 | person)", &table());
    let groups = fit.report().groups;
    assert_eq!(groups.len(), 1);
    let group = &groups[0];
    assert_eq!((&*group.group, &*group.term), ("person", "Intercept"));
    assert_eq!(group.effects.len(), 4);
    let levels = (group.effects.iter()).map(|one| one.effect.as_ref().unwrap().level.as_str());
    assert!(levels.eq(["Doe", "Roe", "Smith, Jane", "Smith, John"]));
    let slopes = quick("y ~ x + (1 + x | person)", &table());
    let terms: Vec<String> = (slopes.report().groups.into_iter())
        .map(|group| format!("{} {}", group.term, group.effects.len()))
        .collect();
    assert_eq!(terms, ["Intercept 4", "x 4"]);
}

#[test]
fn effects_of_classes_stay_apart() {
    let fit = quick("color ~ x + (1 | person)", &table());
    let groups = fit.report().groups;
    let classes: Vec<&str> = (groups.iter())
        .map(|group| group.class.as_deref().unwrap())
        .collect();
    assert_eq!(classes, ["green", "red"]);
    assert!(groups.iter().all(|group| group.effects.len() == 4));
    let (data, _) = fit.arviz(Groups::Include).data().unwrap();
    let person = data.variables.iter().find(|one| one.name == "person");
    let shape: Vec<usize> = (person.unwrap().dimensions.iter())
        .map(|axis| axis.labels.len())
        .collect();
    assert_eq!(shape, [4, 2]);
}

#[test]
fn a_fit_predicts_scores_and_survives_its_file() {
    let table = table();
    let fit = quick("y ~ x + (1 | person)", &table);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.lehr");
    fit.save(&path).unwrap();
    let loaded = SavedFit::load(&path).unwrap();
    let means = |fit: &SavedFit| fit.predict(&table).unwrap().means().unwrap();
    assert_eq!(means(&fit), means(&loaded));
    assert_eq!(
        fit.evaluate(&table).unwrap(),
        loaded.evaluate(&table).unwrap()
    );
    assert!(loaded.evaluate(&table).unwrap().rmse.unwrap() < 1.0);
}

#[test]
fn files_for_arviz_say_what_is_known_of_rows_and_of_the_fit() {
    let table = table();
    let fit = quick("y ~ x*color + (1 + x | person)", &table);
    let export = ArvizExport {
        table: Some(&table),
        ..fit.arviz(Groups::Include)
    };
    let (data, left_out) = export.data().unwrap();
    assert!(left_out.is_empty(), "{left_out:?}");
    let group = |name: &str| data.groups.iter().find(|group| group.name == name).unwrap();
    let numbers = data.chains * data.draws;
    assert_eq!(
        group("observed_data").variables[0].values,
        table.number("y").unwrap()
    );
    assert_eq!(
        group("posterior_predictive").variables[0].values.len(),
        numbers * 120
    );
    assert_eq!(group("sample_stats").variables[0].values.len(), numbers);
    let sum: f64 = group("sample_stats").variables[0]
        .values
        .iter()
        .map(|w| w.exp())
        .sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let draws = fit.raw_draws(Groups::Include);
    let first = |name: &str| {
        draws
            .iter()
            .find(|one| one.name.as_str() == name)
            .unwrap()
            .values[0]
    };
    let x = table.number("x").unwrap()[0];
    let at = first("Intercept") + first("x") * x;
    let at = at + first("person[Smith, John, Intercept]") + x * first("person[Smith, John, x]");
    let z = (table.number("y").unwrap()[0] - at) / first("sigma");
    let expected = -0.5 * z * z - first("sigma").ln() - 0.5 * (2.0 * std::f64::consts::PI).ln();
    let found = group("log_likelihood").variables[0].values[0];
    if !fit.is_corrected() {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }
    let says = |key: &str| {
        data.attributes
            .iter()
            .any(|(known, value)| known == key && !value.is_empty())
    };
    assert!(says("verdict") && says("verdict_sentence") && says("method"));
    let product = data
        .variables
        .iter()
        .find(|one| one.name == "x:color")
        .unwrap();
    assert_eq!(product.dimensions[0].labels, ["green", "red"]);
}

#[test]
fn interactions_of_levels_are_arrays() {
    let rows = 0..120_usize;
    let shapes: Vec<&str> = rows.map(|row| ["ball", "cube", "rod"][row % 3]).collect();
    let table = category(table(), "shape", &shapes);
    let fit = quick("y ~ person*shape", &table);
    let (data, _) = fit.arviz(Groups::Leave).data().unwrap();
    let product = data
        .variables
        .iter()
        .find(|one| one.name == "person:shape")
        .unwrap();
    let axes: Vec<&str> = product
        .dimensions
        .iter()
        .map(|axis| axis.name.as_str())
        .collect();
    assert_eq!(axes, ["person:shape_level_0", "person:shape_level_1"]);
    assert_eq!(product.dimensions[1].labels, ["cube", "rod"]);
}

#[test]
fn large_groups_are_left_out_in_words() {
    let table = table();
    let fit = quick("y ~ x", &table);
    let many: Vec<usize> = (0..10_000).map(|row| row % 120).collect();
    let large = table.select_rows(&many);
    let export = |log_likelihood| ArvizExport {
        table: Some(&large),
        log_likelihood,
        ..fit.arviz(Groups::Leave)
    };
    let names = |wish| -> (Vec<String>, usize) {
        let (data, left_out) = export(wish).data().unwrap();
        (
            data.groups.iter().map(|one| one.name.clone()).collect(),
            left_out.len(),
        )
    };
    assert!(fit.posterior.n_draws() * 10_000 > 10_000_000);
    let (without, said) = names(RowGroup::WithinLimit);
    assert_eq!(
        (said, without.contains(&"log_likelihood".into())),
        (2, false)
    );
    let (with, said) = names(RowGroup::Always);
    assert_eq!((said, with.contains(&"log_likelihood".into())), (1, true));
}
