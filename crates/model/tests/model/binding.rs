//! Every mistake that binding finds, with its complete message.

use lehr_density::Support;
use lehr_model::Model;
use lehr_model::distribution::{Bernoulli, Binomial, Distribution, HalfNormal, Normal, Poisson};
use lehr_table::{Column, MISSING, Table};

use crate::{X, Y, levels, multilevel, table};

fn refusal(model: &Model, table: &Table) -> String {
    model
        .bind(table)
        .expect_err("the mistake is found")
        .to_string()
}

fn with(name: &str, column: Column) -> Table {
    let mut table = table();
    table.replace(name, column).unwrap();
    table
}

#[test]
fn an_unknown_column_is_named_with_the_nearest() {
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let effect = m.sample("effect", Normal::new(0.0, 1.0).expand([m.levels("grup")]));
        m.rows(|row| {
            let logit = row.matrix("X").dot(weight) + effect.at(row.index("grup"));
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    assert_eq!(
        refusal(&model, &table()),
        "2 mistakes\n\
         no column \"grup\" in the table\n  hint: did you mean \"group\"?\n\
         no column \"X\" in the table\n  hint: did you mean \"x\"?"
    );
}

#[test]
fn a_name_like_no_other_is_met_with_all_names() {
    let model = Model::new(|m| {
        m.rows(|row| row.observe("outcome", Normal::new(row.number("temperature"), 1.0)));
    });
    assert_eq!(
        refusal(&model, &table()),
        "2 mistakes\n\
         no column \"temperature\" in the table\n  hint: the columns are \"y\", \"x\", \"group\"\n\
         no column \"outcome\" in the table\n  hint: the columns are \"y\", \"x\", \"group\""
    );
}

#[test]
fn a_column_of_the_wrong_type_says_how_to_read_it() {
    let model = Model::new(|m| {
        m.rows(|row| {
            let mean = row.number("x") + row.number("group");
            let _ = row.index("x");
            row.observe("y", Normal::new(mean, 1.0));
        });
    });
    assert_eq!(
        refusal(&model, &table()),
        "3 mistakes\n\
         column \"x\": expected a number, found 2 numbers per row\n  \
         hint: read it with row.matrix(\"x\")\n\
         column \"group\": expected a number, found a category\n  \
         hint: read it with row.index(\"group\")\n\
         column \"x\": expected a category or whole numbers from 0 on, found 2 numbers per row\n  \
         hint: read it with row.matrix(\"x\")"
    );
}

#[test]
fn shapes_that_do_not_fit_are_named_with_their_line() {
    let line = line!() + 4;
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([3]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight) + 1.0;
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    let text = refusal(&model, &table());
    let (place, message) = text.split_once(": ").unwrap();
    assert!(place.contains(&format!("binding.rs:{line}:")), "{place}");
    assert_eq!(
        message,
        "dot: shapes [rows, 2] and [3] do not fit: 2 columns meet 3 rows\n  \
         hint: look at the shapes in that line; `rows` is the axis of the table's rows"
    );
}

#[test]
fn an_array_as_long_as_the_table_is_still_no_column() {
    let model = Model::new(|m| {
        let mean = m.sample("mean", Normal::new(0.0, 1.0).expand([4]));
        m.rows(|row| row.observe("y", Normal::new(row.number("y") + mean, 1.0)));
    });
    let text = refusal(&model, &table());
    assert!(
        text.contains("add: shapes [rows] and [4] do not broadcast"),
        "{text}"
    );
}

#[test]
fn a_distribution_over_other_axes_than_rows_is_refused() {
    let model = Model::new(|m| {
        let mean = m.sample("mean", Normal::new(0.0, 1.0).expand([2]));
        m.rows(|row| {
            let column = row.matrix("x").dot(mean).reshape(row.batch_shape(&[1]));
            row.observe("y", Normal::new(column, 1.0));
        });
    });
    assert_eq!(
        refusal(&model, &table()),
        "column \"y\": Normal expects one density per row, found shape [rows, rows]\n  \
         hint: the parameters of an observed distribution are numbers or have one entry per row"
    );
}

#[test]
fn a_label_outside_the_support_is_named_with_its_row() {
    let labels = with("y", Column::Number(vec![0.0, 1.0, 2.0, -1.0]));
    assert_eq!(
        refusal(&multilevel(), &labels),
        "column \"y\", row 3: Bernoulli expects 0 or 1, found 2 (2 such rows)"
    );
    let count = Model::new(|m| {
        let rate = m.sample("rate", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Poisson::with_log_rate(rate)));
    });
    let fractions = with("y", Column::Number(vec![0.0, 1.5, 2.0, 3.0]));
    assert_eq!(
        refusal(&count, &fractions),
        "column \"y\", row 2: Poisson expects a whole number from 0 on, found 1.5"
    );
}

#[test]
fn a_label_among_several_numbers_is_named_with_its_row() {
    let model = Model::new(|m| {
        m.rows(|row| row.observe("x", Poisson::with_rate(1.0)));
    });
    let values = vec![0.0, 1.0, 2.0, 3.0, 4.0, -5.0, 0.5, -0.5];
    assert_eq!(
        refusal(&model, &with("x", Column::Matrix { width: 2, values })),
        "column \"x\", row 3: Poisson expects a whole number from 0 on, found -5 (2 such rows)"
    );
}

#[test]
fn more_hits_than_trials_are_named_with_their_row() {
    let model = Model::new(|m| {
        let logit = m.sample("logit", Normal::new(0.0, 1.0));
        m.rows(|row| {
            row.observe("hits", Binomial::with_logit(row.number("trials"), logit));
        });
    });
    let table = Table::new()
        .with_number("hits", vec![1.0, 4.0])
        .and_then(|t| t.with_number("trials", vec![3.0, 3.0]))
        .unwrap();
    assert_eq!(
        refusal(&model, &table),
        "column \"hits\", row 2: Binomial expects at most 3, the trials in column \"trials\", found 4"
    );
}

#[test]
fn two_sites_of_one_name_are_refused() {
    let model = Model::new(|m| {
        let a = m.sample("a", Normal::new(0.0, 1.0));
        let b = m.sample("a", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Normal::new(a + b, 1.0)));
    });
    assert_eq!(
        refusal(&model, &table()),
        "site \"a\": names must differ, found it twice\n  hint: rename one of the two"
    );
}

#[test]
fn what_belongs_to_all_rows_is_named_outside_them() {
    let model = Model::new(|m| {
        m.rows(|row| {
            let mean = m.sample("mean", Normal::new(0.0, 1.0));
            m.factor("pull", mean);
            row.observe("y", Normal::new(mean, 1.0));
        });
    });
    let hint = "hint: name it before m.rows; a latent of each row's own is row.local";
    assert_eq!(
        refusal(&model, &table()),
        format!(
            "2 mistakes\n\
             site \"mean\": expected outside m.rows, found inside\n  {hint}\n\
             factor \"pull\": expected outside m.rows, found inside\n  {hint}"
        )
    );
}

#[test]
fn a_column_is_observed_once() {
    let model = Model::new(|m| {
        m.rows(|row| {
            row.observe("y", Normal::new(0.0, 1.0));
            row.observe("y", Normal::new(1.0, 1.0));
        });
    });
    assert_eq!(
        refusal(&model, &table()),
        "column \"y\": expected one row.observe, found two\n  \
         hint: a column has one distribution; mixtures are one distribution too"
    );
}

#[test]
fn missing_values_are_counted_in_every_column_read() {
    let mut values = X.to_vec();
    (values[3], values[6], values[7]) = (f64::NAN, f64::NAN, f64::NAN);
    let mut gaps = with("x", Column::Matrix { width: 2, values });
    let codes = vec![0, 1, MISSING, 2];
    let levels = levels().into();
    gaps.replace("group", Column::Category { codes, levels })
        .unwrap();
    let hint = "hint: leave such rows out with drop_missing, or fill them in before binding";
    assert_eq!(
        refusal(&multilevel(), &gaps),
        format!(
            "2 mistakes\n\
             column \"x\": expected a value in every row, found 3 missing, the first in row 2\n  {hint}\n\
             column \"group\": expected a value in every row, found 1 missing, the first in row 3\n  {hint}"
        )
    );
}

#[test]
fn infinite_values_are_counted() {
    let mut values = X.to_vec();
    values[5] = f64::NEG_INFINITY;
    assert_eq!(
        refusal(
            &multilevel(),
            &with("x", Column::Matrix { width: 2, values })
        ),
        "column \"x\": expected finite numbers, found 1 infinite, the first in row 3\n  \
         hint: look for a logarithm of zero or a division by zero upstream"
    );
}

#[test]
fn a_group_index_out_of_range_is_named_with_its_row() {
    let model = Model::new(|m| {
        let effect = m.sample("effect", Normal::new(0.0, 1.0).expand([2]));
        m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("group")), 1.0)));
    });
    assert_eq!(
        refusal(&model, &table()),
        "column \"group\", row 2: expected an index below 2, the length of the array it reads, \
         found 2 (2 such rows)\n  \
         hint: give the array m.levels(\"group\") entries"
    );
}

#[test]
fn an_index_is_a_whole_number() {
    let numbers = with("group", Column::Number(vec![0.0, 1.0, 1.5, -1.0]));
    let model = Model::new(|m| {
        let effect = m.sample("effect", Normal::new(0.0, 1.0).expand([3]));
        m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("group")), 1.0)));
    });
    assert_eq!(
        refusal(&model, &numbers),
        "column \"group\", row 3: an index is a whole number from 0 on, found 1.5 (2 such rows)\n  \
         hint: make it a category, whose levels are numbered for you"
    );
    let whole = with("group", Column::Number(vec![0.0, 1.0, 1.0, 2.0]));
    assert!(model.bind(&whole).is_ok());
}

#[test]
fn a_table_without_rows_is_refused() {
    assert_eq!(
        refusal(&multilevel(), &table().select_rows(&[])),
        "table: expected at least one row, found none"
    );
}

#[test]
fn a_model_that_observes_nothing_is_refused() {
    let model = Model::new(|m| {
        m.sample("a", Normal::new(0.0, 1.0));
    });
    assert_eq!(
        refusal(&model, &table()),
        "model: expected an observed column, found none\n  \
         hint: call row.observe(column, distribution) inside m.rows"
    );
}

#[test]
fn impossible_parameters_and_starts_are_refused() {
    let model = Model::new(|m| {
        let a = m.sample("a", HalfNormal::new(-1.0));
        let b = m.param("b", -0.5, Support::Positive);
        let k = m.sample("k", Poisson::with_log_rate(0.0));
        m.factor("f", m.graph().full([2], 1.0));
        m.deterministic("sum", a + b + k);
        m.rows(|row| row.observe("y", Normal::new(0.0, 0.0)));
    });
    assert_eq!(
        refusal(&model, &table()),
        "5 mistakes\n\
         site \"a\": HalfNormal: scale must be positive, found -1\n\
         site \"b\": positive: expected values strictly inside, found -0.5\n\
         site \"k\": expected a continuous distribution, found Poisson\n  \
         hint: counts and labels can only be observed; sum them out of the model\n\
         factor \"f\": expected one number, found shape [2]\n  hint: sum it with .sum()\n\
         column \"y\": Normal: scale must be positive, found 0"
    );
}

#[test]
fn a_negative_weight_is_named_with_its_row() {
    let model = Model::new(|m| {
        m.rows(|row| {
            row.weight("w");
            row.observe("y", Normal::new(0.0, 1.0));
        });
    });
    let table = Table::new()
        .with_number("y", Y.to_vec())
        .and_then(|t| t.with_number("w", vec![1.0, 0.0, -2.0, 1.0]))
        .unwrap();
    assert_eq!(
        refusal(&model, &table),
        "column \"w\", row 3: expected a weight from 0 on, found -2"
    );
}
