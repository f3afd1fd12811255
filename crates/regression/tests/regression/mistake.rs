//! Tables and formulas that are refused, each with its message.

use lehr_learn::NewLevels;
use lehr_regression::{Family, Purpose, Regression, TableBlock};
use lehr_table::{Column, Table};

use crate::{category, number, refusal, regression};

fn table() -> Table {
    let table = number(Table::new(), "y", &[1.0, 2.0, 4.0, 3.0]);
    let table = number(table, "x", &[0.5, 0.1, 0.9, 0.4]);
    category(table, "color", &["red", "blue", "red", "green"])
}

#[track_caller]
fn refused(formula: &str, family: Family, table: &Table, message: &str) {
    assert_eq!(refusal(formula, family, table), message);
}

#[test]
fn an_unknown_column_has_a_caret() {
    refused(
        "y ~ colour",
        Family::Gaussian,
        &table(),
        "formula:1:5: no column \"colour\" in the table\n  y ~ colour\n      ^^^^^^  did you mean \"color\"?",
    );
}

#[test]
fn an_unknown_family_is_told_the_nearest() {
    assert_eq!(
        "guassian".parse::<Family>().unwrap_err().to_string(),
        "no family \"guassian\"\n  hint: did you mean \"gaussian\"?"
    );
    let names: Vec<&str> = Family::ALL.iter().map(|family| family.name()).collect();
    assert!(names.contains(&"gaussian"));
    assert_eq!(
        "wishart".parse::<Family>().unwrap_err().to_string(),
        format!(
            "no family \"wishart\"\n  hint: the families are {}",
            names.join(", ")
        )
    );
    for &family in Family::ALL {
        assert_eq!(family.to_string().parse::<Family>().unwrap(), family);
        assert!(!family.help().is_empty());
    }
}

#[test]
fn a_table_without_rows_is_refused() {
    let table = number(number(Table::new(), "y", &[]), "x", &[]);
    refused(
        "y ~ x",
        Family::Gaussian,
        &table,
        "table: expected at least one row, found none\n  \
         hint: there is nothing below the names of the columns",
    );
}

#[test]
fn a_table_of_one_row_has_nothing_to_compare() {
    let table = table().head(1);
    refused(
        "y ~ x",
        Family::Gaussian,
        &table,
        "formula: expected a column that varies, found the same value in every row of x\n  \
         hint: write y ~ 1 for an intercept alone",
    );
    refused(
        "y ~ 1",
        Family::Gaussian,
        &table,
        "column \"y\": expected values that differ for family gaussian, found 1 in every row\n  \
         hint: there is no noise to learn from a constant",
    );
}

#[test]
fn a_group_per_row_is_refused_where_rows_have_noise_of_their_own() {
    let table = category(table(), "id", &["a", "b", "c", "d"]);
    for family in [Family::Gaussian, Family::Student] {
        for formula in ["y ~ x + (1 | id)", "y ~ 1 + (1 + x | id) + (1 | color)"] {
            refused(
                formula,
                family,
                &table,
                &format!(
                    "group id: expected fewer groups than rows for family {family}, found 4 groups in 4 rows\n  \
                     hint: each row is a group of its own, so sd(id) cannot be told from sigma: leave the \
                     term out, or say what is known of sigma, as in --prior 'sigma ~ gamma(25, 50)'"
                ),
            );
        }
    }
    let crossed = refusal("y ~ 1 + (1 | id:color)", Family::Gaussian, &table);
    assert!(crossed.starts_with("group id:color: "), "{crossed}");
    // If only the slope varies by row, rows with small x determine sigma.
    regression("y ~ 1 + (0 + x | id)", Family::Gaussian, &table);
    regression("y ~ 1 + (1 | color)", Family::Gaussian, &table);
    for family in [Family::Poisson, Family::NegBinomial, Family::Gamma] {
        regression("y ~ 1 + (1 | id)", family, &table);
    }
}

#[test]
fn a_prior_may_tell_the_spread_of_groups_of_one_row_from_the_noise() {
    let table = category(table(), "id", &["a", "b", "c", "d"]);
    for prior in [
        "sigma ~ gamma(25, 50)",
        "sd(id) ~ half_normal(1)",
        "sd(id, Intercept) ~ half_normal(1)",
    ] {
        let priors = [prior.to_owned()];
        let made = Regression::new("y ~ 1 + (1 + x | id)", Family::Gaussian, &priors, &table);
        let notes = made.unwrap().notes().to_vec();
        assert!(notes[0].contains("only priors tell sd(id)"), "{notes:?}");
    }
}

#[test]
fn missing_values_are_counted_with_their_row() {
    let holes = number(table(), "z", &[1.0, f64::NAN, 2.0, f64::NAN]);
    refused(
        "y ~ z",
        Family::Gaussian,
        &holes,
        "column \"z\": expected a value in every row, found 2 missing, the first in row 2\n  \
         hint: leave such rows out with --missing drop",
    );
    let blank = number(table(), "z", &[f64::NAN; 4]);
    refused(
        "y ~ .",
        Family::Gaussian,
        &blank,
        "column \"z\": expected a value in every row, found none at all\n  \
         hint: leave the column out of the formula, or out of the table",
    );
    assert!(Regression::new("y ~ x", Family::Gaussian, &[], &blank).is_ok());
}

#[test]
fn infinities_are_counted_with_their_row() {
    let table = number(table(), "z", &[1.0, 2.0, f64::INFINITY, 0.0]);
    refused(
        "y ~ z",
        Family::Gaussian,
        &table,
        "column \"z\": expected finite numbers, found 1 infinite, the first in row 3\n  \
         hint: look for a logarithm of zero or a division by zero upstream",
    );
    refused(
        "y ~ 1 + offset(log(x - 0.4))",
        Family::Gaussian,
        &table,
        "log(x - 0.4), row 2: expected a finite number, found NaN\n  \
         hint: look for a logarithm of zero or a division by zero",
    );
}

#[test]
fn numbers_too_large_to_square_are_refused() {
    let table = number(table(), "z", &[1e300, -1e300, 1e299, 0.0]);
    refused(
        "y ~ z",
        Family::Gaussian,
        &table,
        "z: expected numbers of a size from 1e-140 to 1e140, found others\n  \
         hint: give the column in another unit",
    );
    for size in [1e300, 1e-300, 1e160] {
        let y: Vec<f64> = [1.0, 2.0, 4.0, 3.0].map(|y| y * size).to_vec();
        let table = number(table.clone(), "odd", &y);
        refused(
            "odd ~ x",
            Family::Gaussian,
            &table,
            "column \"odd\": expected numbers of a size from 1e-140 to 1e140, found others\n  \
             hint: give the column in another unit",
        );
    }
}

#[test]
fn rows_of_numbers_are_refused() {
    let table = table().with_matrix("z", 4, 2, vec![0.0; 8]).unwrap();
    refused(
        "y ~ z",
        Family::Gaussian,
        &table,
        "column \"z\": expected one value per row, found 2 per row\n  \
         hint: give each number a column of its own",
    );
}

#[test]
fn a_category_of_many_levels_belongs_into_a_group_term() {
    let levels: Vec<String> = (0..100_000).map(|level| format!("g{level}")).collect();
    let codes: Vec<u32> = (0..100_000).chain(0..100_000).collect();
    let y: Vec<f64> = (0..200_000).map(|row| f64::from(row).sin()).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|table| table.with_category("user id", codes, levels))
        .unwrap();
    refused(
        "y ~ 1 + `user id`",
        Family::Gaussian,
        &table,
        "formula:1:9: column \"user id\": expected at most 1000 levels for coefficients of their \
         own, found 100000\n  y ~ 1 + `user id`\n          ^^^^^^^^^  write (1 | `user id`) for \
         an effect that varies by group",
    );
    let made = regression("y ~ 1 + (1 | `user id`)", Family::Gaussian, &table);
    assert!(made.bind(&table).is_ok());
}

#[test]
fn bernoulli_takes_two_outcomes() {
    refused(
        "y ~ x",
        Family::Bernoulli,
        &table(),
        "column \"y\", row 2: expected 0 or 1 for family bernoulli, found 2 (3 such rows)\n  \
         hint: use --family poisson for counts, gaussian for numbers, categorical for classes",
    );
    refused(
        "color ~ x",
        Family::Bernoulli,
        &table(),
        "column \"color\": expected 0 and 1, true and false or two levels for family bernoulli, \
         found 3\n  hint: use --family categorical, or ordinal if the classes are ordered",
    );
    let one = category(table(), "class", &["yes"; 4]);
    refused(
        "class ~ x",
        Family::Bernoulli,
        &one,
        "column \"class\": expected 0 and 1, true and false or two levels for family bernoulli, \
         found only \"yes\"\n  hint: there is nothing to tell apart; look at how the rows were \
         chosen",
    );
}

#[test]
fn one_class_only_is_no_categorical_response() {
    let table = category(table(), "class", &["yes"; 4]);
    for family in [Family::Categorical, Family::Ordinal] {
        refused(
            "class ~ x",
            family,
            &table,
            &format!(
                "column \"class\": expected two classes or more for family {family}, found only \
                 \"yes\"\n  hint: there is nothing to tell apart; look at how the rows were chosen"
            ),
        );
    }
}

#[test]
fn a_quantity_is_no_categorical_response() {
    let table = number(table(), "z", &[0.5, 1.5, -1.0, 0.0]);
    refused(
        "z ~ x",
        Family::Categorical,
        &table,
        "column \"z\": expected classes for family categorical, found numbers such as 0.5\n  hint: use --family \
         gaussian or student for a quantity, or cut it into classes first",
    );
}

#[test]
fn responses_outside_the_family_are_refused_with_their_row() {
    let table = number(table(), "z", &[0.5, 1.5, -1.0, 0.0]);
    refused(
        "z ~ x",
        Family::Poisson,
        &table,
        "column \"z\", row 1: expected a whole number from 0 on for family poisson, found 0.5 (3 \
         such rows)\n  hint: use --family gamma for positive numbers, gaussian for any",
    );
    refused(
        "z ~ x",
        Family::Gamma,
        &table,
        "column \"z\", row 3: expected a number above 0 for family gamma, found -1 (2 such rows)\n  \
         hint: use --family gaussian, or leave such rows out",
    );
    refused(
        "z ~ x",
        Family::Beta,
        &table,
        "column \"z\", row 2: expected a number strictly between 0 and 1 for family beta, found \
         1.5 (3 such rows)\n  hint: use --family binomial if it is a proportion of counts, \
         bernoulli if it is 0 or 1",
    );
    refused(
        "color ~ x",
        Family::Gaussian,
        &table,
        "column \"color\": expected numbers for family gaussian, found text\n  \
         hint: use --family categorical or ordinal for classes",
    );
}

#[test]
fn trials_belong_to_binomial_and_bound_the_successes() {
    let table = number(table(), "n", &[2.0, 2.0, 3.0, 2.0]);
    refused(
        "y ~ x",
        Family::Binomial,
        &table,
        "binomial: expected a number of trials, found none\n  \
         hint: write cbind(successes, failures) ~ ... or successes | trials(n) ~ ...",
    );
    refused(
        "y | trials(n) ~ x",
        Family::Poisson,
        &table,
        "poisson: expected a response without trials, found y | trials(n)\n  \
         hint: only --family binomial and beta_binomial count successes among trials",
    );
    let made = regression("y | trials(9) ~ x", Family::Binomial, &table);
    assert!(made.bind(&table).is_ok());
    refused(
        "y | trials(n) ~ x",
        Family::Binomial,
        &table,
        "column \"y\", row 3: expected at most 3 successes, the trials there, found 4 (2 such \
         rows)\n  hint: trials(...) counts all trials; failures go into cbind(successes, failures)",
    );
    refused(
        "cbind(y, n - y) ~ x",
        Family::Binomial,
        &table,
        "n - y, row 3: expected a whole number of failures, found -1\n  \
         hint: write successes | trials(n) where n counts all trials",
    );
    let half = number(table.clone(), "half", &[4.5, 4.0, 4.0, 4.0]);
    refused(
        "y | trials(half) ~ x",
        Family::Binomial,
        &half,
        "column \"half\", row 1: expected a whole number of trials, found 4.5",
    );
}

#[test]
fn a_note_says_which_column_counts_successes() {
    let table = number(table(), "n", &[2.0, 2.0, 5.0, 9.0]);
    let notes = |formula: &str| {
        let made = regression(formula, Family::Binomial, &table);
        made.notes().join("\n")
    };
    assert_eq!(
        notes("cbind(y, n) ~ x"),
        "cbind(y, n): y counts successes, n the failures; if n counts the trials, write y | \
         trials(n)"
    );
    assert_eq!(
        notes("cbind(n, y) ~ x"),
        "cbind(n, y): n counts successes, y the failures"
    );
    assert_eq!(
        notes("y | trials(n) ~ x"),
        "y | trials(n): y counts successes, n the trials"
    );
}

#[test]
fn negative_weights_are_refused() {
    let table = number(table(), "w", &[1.0, 1.0, -2.0, 1.0]);
    let made = regression("y ~ x + weights(w)", Family::Gaussian, &table);
    assert_eq!(
        made.bind(&table).unwrap_err().to_string(),
        "weights(w), row 3: expected a weight from 0 on, found -2"
    );
}

#[test]
fn offsets_do_not_go_with_classes() {
    refused(
        "color ~ x + offset(y)",
        Family::Categorical,
        &table(),
        "categorical: expected no offset, found color ~ 1 + x + offset(y)\n  \
         hint: an offset would be added to each class alike; leave it out",
    );
}

#[test]
fn later_tables_need_the_columns_and_classes_of_the_first() {
    let made = regression("color ~ x", Family::Categorical, &table());
    let other = category(number(Table::new(), "x", &[1.0]), "color", &["pink"]);
    assert_eq!(
        made.design(&other).unwrap_err().to_string(),
        "column \"color\", row 1: expected a class of the table that was fitted, found \"pink\"\n  \
         hint: the classes are \"blue\", \"green\", \"red\""
    );
    let other = number(Table::new(), "X", &[1.0]);
    assert_eq!(
        made.design_rows(
            &TableBlock::whole(&other),
            Purpose::Predict(NewLevels::Refuse)
        )
        .unwrap_err()
        .to_string(),
        "no column \"x\" in the table\n  hint: did you mean \"X\"?"
    );
    let made = regression("y ~ color", Family::Gaussian, &table());
    let other = category(Table::new(), "color", &["redd"]);
    assert_eq!(
        made.design_rows(
            &TableBlock::whole(&other),
            Purpose::Predict(NewLevels::Sample)
        )
        .unwrap_err()
        .to_string(),
        "column \"color\": the level \"redd\" was not in the table that was fitted\n  \
         hint: did you mean \"red\"?"
    );
}

#[test]
fn text_where_the_first_table_had_numbers_is_refused() {
    let first = number(table(), "n", &[9.0; 4]);
    let made = regression("y | trials(n) ~ 1 + offset(x)", Family::Binomial, &first);
    let text = |name: &str| {
        let rest = if name == "n" { "x" } else { "n" };
        let table = category(number(Table::new(), rest, &[1.0]), name, &["many"]);
        let refused = made.design_rows(
            &TableBlock::whole(&table),
            Purpose::Predict(NewLevels::Refuse),
        );
        refused.unwrap_err().to_string()
    };
    assert_eq!(text("n"), "column \"n\" expects numbers, found text");
    assert_eq!(text("x"), "column \"x\" expects numbers, found text");
}

#[test]
fn a_constant_response_is_refused_where_noise_is_learnt() {
    for family in [Family::Gaussian, Family::Student, Family::Gamma] {
        let flat = number(table(), "flat", &[2.0; 4]);
        refused(
            "flat ~ x",
            family,
            &flat,
            &format!(
                "column \"flat\": expected values that differ for family {family}, found 2 in \
                 every row\n  hint: there is no noise to learn from a constant"
            ),
        );
    }
}

#[test]
fn a_category_of_one_level_is_refused() {
    let table = category(table(), "same", &["a"; 4]);
    refused(
        "y ~ same",
        Family::Gaussian,
        &table,
        "column \"same\" expects two levels or more, found only \"a\"",
    );
}

#[test]
fn text_inside_arithmetic_has_a_caret() {
    let message = refusal("y ~ log(color)", Family::Gaussian, &table());
    assert!(
        message.starts_with("formula:1:9: arithmetic needs numbers"),
        "{message}"
    );
}

#[test]
fn a_missing_category_never_reaches_a_basis() {
    let mut holes = table();
    let column = Column::Category {
        codes: vec![0, u32::MAX, 0, 0],
        levels: ["a".to_owned()].into(),
    };
    holes.insert("g", column).unwrap();
    refused(
        "y ~ 1 + (1 | g)",
        Family::Gaussian,
        &holes,
        "column \"g\": expected a value in every row, found 1 missing, the first in row 2\n  \
         hint: leave such rows out with --missing drop",
    );
}
