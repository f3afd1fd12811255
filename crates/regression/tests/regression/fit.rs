//! Fits of formulas: names kept apart from report to files, and what is done with a fit.

use lehr_infer::fit::Fit;
use lehr_infer::method::MeanField;
use lehr_regression::{Groups, SavedFit, regress};
use lehr_table::Table;

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
    let fit = Fit::new(MeanField::default()).seed(3);
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
