//! The contents of the file when it is read back.

use rust_hdf5::H5File;

use super::*;

fn site(level: &str) -> Name {
    Name::new(format!("site[{level}]"), "site").at_label(AxisKind::Level, level)
}

fn draws() -> Draws {
    let names = vec![
        "Intercept".into(),
        site("a"),
        "sd(site)".into(),
        site("b / c"),
        "région/x".into(),
    ];
    let values = (0..15).map(f64::from).collect();
    Draws { names, values }
}

fn written(data: &InferenceData) -> (tempfile::TempDir, H5File) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.nc");
    data.write(&path).unwrap();
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    let file = H5File::open(&path).unwrap();
    (place, file)
}

#[test]
fn levels_of_one_name_become_one_variable_with_labels() {
    let data = InferenceData::from_draws(&draws()).unwrap();
    let (_place, file) = written(&data.with_attribute("inference_library", "lehr"));
    let site = file.dataset("posterior/site").unwrap();
    assert_eq!(site.shape(), [1, 3, 2]);
    assert_eq!(
        site.read_raw::<f64>().unwrap(),
        [1.0, 3.0, 6.0, 8.0, 11.0, 13.0]
    );
    let labels = file.dataset("posterior/site_level").unwrap();
    assert_eq!(labels.read_vlen_strings().unwrap(), ["a", "b / c"]);
    let class = labels.attr("CLASS").unwrap().read_string().unwrap();
    assert_eq!(class, "DIMENSION_SCALE");
    assert!(
        site.attr_names()
            .unwrap()
            .contains(&"DIMENSION_LIST".into())
    );
    let posterior = file.root_group().group("posterior").unwrap();
    assert_eq!(posterior.attr_string("inference_library").unwrap(), "lehr");
}

#[test]
fn names_that_hdf5_forbids_are_replaced_and_remembered() {
    let data = InferenceData::from_draws(&draws()).unwrap();
    let (_place, file) = written(&data);
    let column = file.dataset("posterior/région:x").unwrap();
    assert_eq!(column.read_raw::<f64>().unwrap(), [4.0, 9.0, 14.0]);
    let name = column.attr("long_name").unwrap().read_string().unwrap();
    assert_eq!(name, "région/x");
}

#[test]
fn a_variable_called_draw_does_not_hide_the_axis() {
    let data = Draws {
        names: vec!["draw".into(), "chain".into()],
        values: vec![0.5, 1.5],
    };
    let data = InferenceData::from_draws(&data).unwrap();
    let (_place, file) = written(&data);
    assert_eq!(
        file.dataset("posterior/draw")
            .unwrap()
            .read_raw::<i64>()
            .unwrap(),
        [0]
    );
    let drawn = file.dataset("posterior/draw_").unwrap();
    assert_eq!(drawn.read_raw::<f64>().unwrap(), [0.5]);
}

#[test]
fn one_name_for_two_columns_is_refused_with_the_name() {
    let data = Draws {
        names: vec!["x".into(), "x".into()],
        values: vec![1.0, 2.0],
    };
    let error = InferenceData::from_draws(&data).unwrap_err().to_string();
    assert!(error.starts_with("\"x\": names must differ"), "{error}");
}

#[test]
fn values_that_do_not_fill_their_shape_are_refused_and_the_old_file_stays() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.nc");
    std::fs::write(&path, "old").unwrap();
    let mut data = InferenceData::from_draws(&draws()).unwrap();
    data.variables[0].values.pop();
    let error = data.write(&path).unwrap_err().to_string();
    assert_eq!(
        error,
        "variable \"Intercept\": 3 values fill its shape, found 2"
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
}

#[test]
fn independent_draws_are_dealt_to_chains_without_loss_of_shape() {
    let data = InferenceData::from_draws(&draws()).unwrap().in_chains(2);
    assert_eq!((data.chains, data.draws), (2, 1));
    let (_place, file) = written(&data);
    assert_eq!(file.dataset("posterior/site").unwrap().shape(), [2, 1, 2]);
}

#[test]
fn a_level_with_a_comma_is_one_level() {
    let effect = |level: &str, term: &str| {
        let text = format!("patient[{level}, {term}]");
        let name = Name::new(text, "patient").at_label(AxisKind::Group, level);
        name.at_label(AxisKind::Term, term)
    };
    let names = vec![
        effect("Smith, John", "Intercept"),
        effect("Smith, John", "dose"),
        effect("Doe", "Intercept"),
        effect("Doe", "dose"),
    ];
    let values = (0..4).map(f64::from).collect();
    let data = InferenceData::from_draws(&Draws { names, values }).unwrap();
    let (_place, file) = written(&data);
    assert_eq!(
        file.dataset("posterior/patient").unwrap().shape(),
        [1, 1, 2, 2]
    );
    let labels = |axis: &str| file.dataset(axis).unwrap().read_vlen_strings().unwrap();
    assert_eq!(labels("posterior/patient_level"), ["Smith, John", "Doe"]);
    assert_eq!(labels("posterior/patient_term"), ["Intercept", "dose"]);
}

#[test]
fn numbers_that_fill_no_array_stay_alone() {
    let entry = |row: &str, column: &str| {
        let name = Name::new(format!("w[{row},{column}]"), "w").at_label(AxisKind::Index(0), row);
        name.at_label(AxisKind::Index(1), column)
    };
    let draws = Draws {
        names: vec![entry("0", "0"), entry("0", "1"), entry("1", "0")],
        values: vec![1.0, 2.0, 3.0],
    };
    let data = InferenceData::from_draws(&draws).unwrap();
    let names: Vec<&str> = data.variables.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["w[0,0]", "w[0,1]", "w[1,0]"]);
}
