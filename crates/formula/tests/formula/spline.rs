//! Spline columns have the values of R's package splines.

use lehr_formula::{ColumnValues, Formula, LevelCoding};

use crate::learned;

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{found:?} against {expected:?}");
    }
}

/// The rows that the values from R were computed with.
const SPLINE_ROWS: [f64; 11] = [0.5, 1.2, 2.1, 2.9, 4.4, 5.0, 6.3, 7.7, 8.1, 9.6, 3.3];

/// The columns of a factor that was fitted to those rows, evaluated at other values.
fn splines(source: &str, places: &[f64]) -> Vec<Vec<f64>> {
    let formula = Formula::parse(&format!("y ~ {source}")).unwrap();
    let term = &formula.expand(&["y", "x"]).unwrap().fixed[0];
    let rows = |name: &str| (name == "x").then_some(ColumnValues::Numbers(&SPLINE_ROWS[..]));
    let basis = learned(term, &[LevelCoding::Treatment], &rows).unwrap();
    let at = |name: &str| (name == "x").then_some(ColumnValues::Numbers(places));
    basis.evaluate_columns(&at).unwrap()
}

#[test]
fn bs_has_the_values_of_r() {
    // predict(bs(x, df = 6), c(0.5, 2.5, 6.6, 9.6))
    let found = splines("bs(x, df = 6)", &[0.5, 2.5, 6.6, 9.6]);
    let expected = [
        [0.0, 0.237_343_852_728_468_1, 0.0, 0.0],
        [
            0.0,
            0.604_865_220_249_835_5,
            0.000_841_551_610_782_382_4,
            0.0,
        ],
        [0.0, 0.157_790_927_021_696_2, 0.278_328_008_815_549_5, 0.0],
        [0.0, 0.0, 0.569_373_907_939_621_7, 0.0],
        [0.0, 0.0, 0.151_456_531_634_046_3, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ];
    for (found, expected) in found.iter().zip(&expected) {
        close(found, expected, 1e-14);
    }
    // predict(bs(x, df = 4, degree = 2), 2.5)
    let found = splines("bs(x, 4, degree = 2)", &[2.5]).concat();
    close(
        &found,
        &[0.661_464_875_002_150_6, 0.294_213_795_357_960_2, 0.0, 0.0],
        1e-14,
    );
}

#[test]
fn ns_spans_the_functions_of_r() {
    // ns(x, df = 4)[, 2:3] at its knots; its values there determine a natural spline.
    let at_knots = [
        [0.0, 0.0],
        [-0.173_464_281_872_889_65, 0.520_392_845_618_668_8],
        [0.046_420_940_789_091_92, 0.199_704_313_782_959_05],
        [0.579_979_879_275_654, 0.210_764_587_525_150_93],
        [-0.142_857_142_857_142_88, 0.428_571_428_571_428_55],
    ];
    // The same at 2.5, 8.8 and, as a line, at 12.
    let expected = [
        [-0.173_464_281_872_889_65, 0.520_392_845_618_668_8],
        [0.176_658_494_434_975_44, 0.362_534_789_987_077_83],
        [-1.131_868_131_868_132_3, 0.626_373_626_373_626_4],
    ];
    let columns = splines("ns(x, df = 4)", &[2.5, 8.8, 12.0]);
    for (row, expected) in expected.iter().enumerate() {
        let at = |j: usize| -> f64 {
            (columns.iter().zip(&at_knots[1..]))
                .map(|(column, value)| column[row] * value[j])
                .sum()
        };
        close(&[at(0), at(1)], expected, 1e-13);
    }
}
