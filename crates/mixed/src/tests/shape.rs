//! Groups of every kind: empty, with one row, one group in all, renamed, with three effects; and
//! sites that are not groups.

use std::f64::consts::TAU;

use faer::Mat;
use lehr_model::distribution::{Distribution, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::dense::{inverse, log_determinant, quadratic_form};
use lehr_table::Table;

use super::{Data, Form, ROWS, bind, refusal, theta, value};

fn levels(count: usize) -> Vec<String> {
    (0..count).map(|k| k.to_string()).collect()
}

/// y ~ N(Σ zₖ u_gk, 0.8²), u ~ N(0, spread²), with one standard deviation for all.
fn grouped(data: &Data, codes: &[u32], z: &[f64], groups: usize) -> Bound {
    let (rows, width) = (codes.len(), z.len() / codes.len());
    let table = Table::new()
        .with_number("y", data.y[..rows].to_vec())
        .and_then(|t| t.with_matrix("z", rows, width, z.to_vec()))
        .and_then(|t| t.with_category("g", codes.to_vec(), levels(groups)))
        .unwrap();
    let model = Model::new(move |m| {
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let u = m.sample("u", Normal::new(0.0, spread).expand([groups, width]));
        m.rows(|row| {
            let centre = (u.at(row.index("g")) * row.matrix("z")).sum_axis(1);
            row.observe("y", Normal::new(centre, 0.8));
        });
    });
    model.bind(&table).unwrap()
}

/// The collapsed density of [`grouped`] less the prior of the standard deviation, compared with
/// dense algebra on all rows.
fn agrees(codes: &[u32], z: &[f64], groups: usize) {
    let data = Data::new();
    let (rows, width) = (codes.len(), z.len() / codes.len());
    let log_spread: f64 = -0.3;
    let found = value(&grouped(&data, codes, z, groups), &[log_spread]);
    let spread = log_spread.exp();
    let prior = (2.0 / TAU.sqrt()).ln() - 0.5 * spread * spread + log_spread;
    let matrix = Mat::from_fn(rows, rows, |i, j| {
        let alike = codes[i] == codes[j];
        let both = (0..width).map(|k| z[i * width + k] * z[j * width + k]);
        let shared = if alike { both.sum::<f64>() } else { 0.0 };
        spread * spread * shared + if i == j { 0.64 } else { 0.0 }
    });
    let y = Mat::from_fn(rows, 1, |i, _| data.y[i]);
    let expected = -0.5
        * (quadratic_form(&inverse(&matrix), &y)
            + log_determinant(&matrix)
            + rows as f64 * TAU.ln())
        + prior;
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
}

#[test]
fn a_group_for_each_row_and_one_group_in_all_are_dense_algebra() {
    let ones = vec![1.0; 40];
    let each: Vec<u32> = (0..40).collect();
    agrees(&each, &ones, 40);
    agrees(&[0; 40], &ones, 2);
}

#[test]
fn three_effects_of_a_group_some_without_rows_are_dense_algebra() {
    let data = Data::new();
    let codes: Vec<u32> = (0..ROWS).map(|n| (n * n % 7) as u32).collect();
    let z: Vec<f64> = (0..ROWS)
        .flat_map(|n| [1.0, data.x[n], data.offset[n]])
        .collect();
    agrees(&codes, &z, 9);
}

/// The table with levels of b that have no row.
fn with_empty(data: &Data, count: usize) -> Table {
    let mut table = data.table();
    let column = lehr_table::Column::Category {
        codes: data.b.clone(),
        levels: levels(count).into(),
    };
    table.replace("b", column).unwrap();
    table
}

/// y ~ (1 | a) + (1 | b) with `count` levels of b.
fn crossed(data: &Data, count: usize) -> Bound {
    let model = Model::new(move |m| {
        let level = m.sample("level", Normal::new(0.0, 1.5));
        let sd_a = m.sample("sd_a", HalfNormal::new(1.0));
        let a = m.sample("a", Normal::new(0.0, sd_a).expand([7]));
        let sd_b = m.sample("sd_b", HalfNormal::new(1.0));
        let b = m.sample("b", Normal::new(0.0, 1.0).expand([count]));
        m.rows(|row| {
            let own = a.at(row.index("a")) + sd_b * b.at(row.index("b"));
            row.weight("w");
            row.observe("y", Normal::new(level + own + row.offset("o"), 0.9));
        });
    });
    model.bind(&with_empty(data, count)).unwrap()
}

#[test]
fn whichever_factor_is_eliminated_first_and_whatever_levels_are_empty_the_density_is_one() {
    let data = Data::new();
    let theta = [-0.4, 0.2];
    let (few, many) = (crossed(&data, 4), crossed(&data, 30));
    let first = |bound: &Bound| {
        let marginal = crate::marginal::MarginalDensity::new(bound).unwrap();
        marginal.model.blocks[0].name.clone()
    };
    assert_eq!((first(&few).as_str(), first(&many).as_str()), ("a", "b"));
    let (one, other) = (value(&few, &theta), value(&many, &theta));
    assert!((one - other).abs() < 1e-9, "{one} {other}");
}

#[test]
fn groups_by_other_numbers_are_the_same_groups() {
    let data = Data::new();
    for form in [Form::Standard, Form::Effect] {
        let plain = value(&bind(form, &data), &theta(form));
        let mut renamed = Data::new();
        renamed.a = data.a.iter().map(|code| (code * 3 + 2) % 7).collect();
        renamed.b = data.b.iter().map(|code| 3 - code).collect();
        let other = value(&bind(form, &renamed), &theta(form));
        assert!((plain - other).abs() < 1e-10, "{plain} {other}");
    }
}

/// Rows that read two groups of one site with `count` levels.
fn two_of_one(data: &Data, count: usize) -> Bound {
    let column = |codes: Vec<u32>| lehr_table::Column::Category {
        codes,
        levels: levels(count).into(),
    };
    let mut table = data.table();
    table.replace("b", column(data.b.clone())).unwrap();
    let second = data.b.iter().map(|code| 3 - code).collect();
    table.insert("c", column(second)).unwrap();
    let model = Model::new(move |m| {
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([count]));
        m.rows(|row| {
            let both = effect.at(row.index("b")) + effect.at(row.index("c"));
            row.observe("y", Normal::new(both, 1.0));
        });
    });
    model.bind(&table).unwrap()
}

#[test]
fn rows_of_two_groups_of_one_site_and_learned_numbers_are_refused() {
    let data = Data::new();
    let why = refusal(&two_of_one(&data, 600)).unwrap();
    assert!(
        why.starts_with("the rows read the 600 numbers of \"effect\" neither by group"),
        "{why}"
    );
    // With few levels they can be treated as coefficients of columns.
    assert_eq!(refusal(&two_of_one(&data, 4)), None);
    assert_eq!(refusal(&two_of_one(&data, 70)), None);
    let learned = Model::new(|m| {
        let spread = m.param("spread", 1.0, lehr_density::Support::Positive);
        let effect = m.sample("effect", Normal::new(0.0, spread).expand([4]));
        m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("b")), 1.0)));
    });
    let why = refusal(&learned.bind(&data.table()).unwrap()).unwrap();
    assert_eq!(why, "\"spread\" is learned, not random");
}
