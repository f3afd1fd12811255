//! The table in memory: its columns, the input that it refuses, and standardisation.

use lehr_table::{Column, MISSING, Table};

fn text(levels: &[&str]) -> Vec<String> {
    levels.iter().map(ToString::to_string).collect()
}

fn small() -> Table {
    Table::new()
        .with_number("height", vec![1.0, 2.0, 3.0, 4.0])
        .and_then(|table| table.with_matrix("x", 4, 2, (0..8).map(f64::from).collect()))
        .and_then(|table| table.with_category("g", vec![1, 0, 1, MISSING], text(&["a", "b"])))
        .and_then(|table| table.with_boolean("b", vec![true, false, true, true]))
        .unwrap()
}

#[test]
fn an_unknown_column_is_answered_with_the_nearest_name() {
    let error = small().column("hieght").unwrap_err().to_string();
    assert_eq!(
        error,
        "no column \"hieght\" in the table\n  hint: did you mean \"height\"?"
    );
    let error = small().column("completely else").unwrap_err().to_string();
    assert_eq!(error, "no column \"completely else\" in the table");
}

#[test]
fn columns_of_different_length_are_refused_with_both_names() {
    let error = small().with_number("z", vec![1.0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"z\" has 1 rows, but column \"height\" has 4"
    );
}

#[test]
fn a_name_is_given_once() {
    let error = small().with_number("x", vec![0.0; 4]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("column \"x\": names must differ")
    );
}

#[test]
fn a_matrix_must_be_full() {
    let error = Table::new()
        .with_matrix("x", 3, 2, vec![0.0; 5])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"x\": 3 rows of 2 need 6 values, found 5"
    );
    assert!(Table::new().with_matrix("x", 0, 0, vec![]).is_err());
    let uneven = Column::Matrix {
        width: 2,
        values: vec![0.0; 3],
    };
    assert!(Table::new().insert("x", uneven).is_err());
}

#[test]
fn a_code_needs_a_level() {
    let error = Table::new()
        .with_category("g", vec![0, 2], text(&["a", "b"]))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"g\", row 2: expected a code below 2, found 2"
    );
}

#[test]
fn a_column_of_another_kind_is_refused_by_what_it_holds() {
    let error = small().number("g").unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"g\": expected a number, found a category"
    );
}

#[test]
fn selected_rows_keep_their_order_in_every_kind() {
    let table = small().select_rows(&[3, 0, 0]);
    assert_eq!(table.number("height").unwrap(), [4.0, 1.0, 1.0]);
    assert_eq!(
        table.matrix("x").unwrap(),
        (2, [6.0, 7.0, 0.0, 1.0, 0.0, 1.0].as_slice())
    );
    assert_eq!(table.category("g").unwrap().0, [MISSING, 1, 1]);
    assert_eq!(
        table.column("b").unwrap(),
        &Column::Boolean(vec![Some(true); 3])
    );
    assert_eq!(small().head(9), small());
}

#[test]
fn a_split_shares_out_every_row_once_and_repeats_with_its_seed() {
    let values: Vec<f64> = (0..100).map(f64::from).collect();
    let table = Table::new().with_number("v", values.clone()).unwrap();
    let (train, test) = table.split(0.8, 3);
    assert_eq!((train.n_rows(), test.n_rows()), (80, 20));
    let mut all = [train.number("v").unwrap(), test.number("v").unwrap()].concat();
    all.sort_by(f64::total_cmp);
    assert_eq!(all, values);
    assert_eq!(table.split(0.8, 3), (train.clone(), test));
    assert_ne!(table.split(0.8, 4).0, train);
    assert_eq!(table.split(f64::NAN, 3).0.n_rows(), 0);
    assert_eq!(table.split(7.0, 3).1.n_rows(), 0);
}

#[test]
fn missing_values_are_counted_or_dropped_with_their_rows() {
    let table = small()
        .with_number("age", vec![f64::NAN, 1.0, 2.0, f64::NAN])
        .unwrap();
    assert_eq!(table.count_missing(), [("g".into(), 1), ("age".into(), 2)]);
    let kept = table.drop_missing();
    assert_eq!((kept.n_rows(), kept.dropped_rows()), (2, 2));
    assert_eq!(kept.count_missing(), []);
}

#[test]
fn gathered_columns_stand_side_by_side() {
    let column = small().gather_columns(&["height", "x", "b"]).unwrap();
    let Column::Matrix { width, values } = column else {
        panic!("a matrix");
    };
    assert_eq!(width, 4);
    assert_eq!(values[..8], [1.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 0.0]);
    assert!(small().gather_columns(&["g"]).is_err());
    assert!(small().gather_columns(&[]).is_err());
}

#[test]
fn empty_tables_and_columns_work() {
    let table = Table::new().with_number("y", vec![]).unwrap();
    assert_eq!(table.n_rows(), 0);
    assert_eq!(Table::new().split(0.5, 1), (Table::new(), Table::new()));
}
