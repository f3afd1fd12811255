//! The table in memory: what it keeps, what it refuses, and how it standardises.

use lehr_table::{Column, MISSING, Standardizer, Table};

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
    assert_eq!(table.missing(), [("g".into(), 1), ("age".into(), 2)]);
    let kept = table.drop_missing();
    assert_eq!((kept.n_rows(), kept.dropped_rows()), (2, 2));
    assert_eq!(kept.missing(), []);
}

#[test]
fn gathered_columns_stand_side_by_side() {
    let column = small().gather(&["height", "x", "b"]).unwrap();
    let Column::Matrix { width, values } = column else {
        panic!("a matrix");
    };
    assert_eq!(width, 4);
    assert_eq!(values[..8], [1.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 0.0]);
    assert!(small().gather(&["g"]).is_err());
    assert!(small().gather(&[]).is_err());
}

#[test]
fn standardised_columns_have_mean_zero_and_spread_one() {
    let table = small();
    let standardizer = Standardizer::fit(&table, &["height", "x"]).unwrap();
    let (_, values) = standardizer
        .apply(&table)
        .map(|t| {
            let (width, values) = t.matrix("x").unwrap();
            (width, values.to_vec())
        })
        .unwrap();
    for place in 0..2 {
        let column: Vec<f64> = values.iter().skip(place).step_by(2).copied().collect();
        assert!(column.iter().sum::<f64>().abs() < 1e-12);
        assert!((column.iter().map(|v| v * v).sum::<f64>() / 4.0 - 1.0).abs() < 1e-12);
    }
}

#[test]
fn undone_coefficients_predict_the_same_on_the_original_scale() {
    let huge = vec![1e9, 1.5e9, -2e9, 7e8];
    let table = small()
        .with_number("huge", huge)
        .unwrap()
        .with_number("one", vec![5.0; 4])
        .unwrap();
    let names = ["height", "x", "huge", "one"];
    let standardizer = Standardizer::fit(&table, &names).unwrap();
    assert_eq!(standardizer.constant(), ["one"]);
    let scaled = standardizer.apply(&table).unwrap();
    let coefficients = [0.3, -1.0, 2.0, 0.7, 4.0];
    let line = standardizer.undo(0.5, &coefficients).unwrap();
    let predict = |table: &Table, intercept: f64, by: &[f64]| -> Vec<f64> {
        let Ok(Column::Matrix { values, .. }) = table.gather(&names) else {
            panic!("a matrix");
        };
        (values.chunks(5))
            .map(|row| intercept + row.iter().zip(by).map(|(a, b)| a * b).sum::<f64>())
            .collect()
    };
    let inside = predict(&scaled, 0.5, &coefficients);
    let outside = predict(&table, line.intercept, &line.coefficients);
    for (a, b) in inside.iter().zip(&outside) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn a_standardizer_survives_being_saved() {
    let standardizer = Standardizer::fit(&small(), &["x", "height"]).unwrap();
    let text = serde_json::to_string(&standardizer).unwrap();
    assert_eq!(
        serde_json::from_str::<Standardizer>(&text).unwrap(),
        standardizer
    );
}

#[test]
fn infinite_and_overflowing_columns_cannot_be_standardised() {
    let table = Table::new()
        .with_number("i", vec![1.0, f64::INFINITY])
        .and_then(|table| table.with_number("o", vec![1e300, -1e300]))
        .unwrap();
    let error = Standardizer::fit(&table, &["i"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"i\": expected finite numbers, found 1 infinite"
    );
    assert!(Standardizer::fit(&table, &["o"]).is_err());
}

#[test]
fn empty_tables_and_columns_work() {
    let table = Table::new().with_number("y", vec![]).unwrap();
    assert_eq!(table.n_rows(), 0);
    let standardizer = Standardizer::fit(&table, &["y"]).unwrap();
    assert_eq!(standardizer.apply(&table).unwrap(), table);
    assert_eq!(Table::new().split(0.5, 1), (Table::new(), Table::new()));
}
