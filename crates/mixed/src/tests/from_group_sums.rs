//! Sums over rows that are streamed against sums over rows in memory.

use std::sync::Arc;

use lehr_density::{Density, RowSet, WeightedModel, rows_here};
use lehr_model::distribution::{Distribution, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::lanczos::Probes;
use lehr_numeric::stream::Stream;
use lehr_rows::{
    AnyControl, AnyJob, AnyPartial, BlockFold, MachinePool, RowStore, RowsError, merge_next,
};
use lehr_table::Table;

use super::large::unit_probes;
use super::{Data, Form, ROWS, bind, theta};
use crate::effect_structure::EffectStructure;
use crate::group_integral::Accuracy;
use crate::group_sums::GroupSumsJob;
use crate::marginal::{LONG, MarginalDensity};
use crate::warm_start::WarmStart;

/// The value, the gradient, the effects and their standard deviations.
fn look(marginal: &MarginalDensity<'_>, theta: &[f64]) -> Vec<f64> {
    let mut work = marginal.workspace();
    let at = marginal.evaluate(theta, &WarmStart::default(), Accuracy::Slope, &mut work);
    let at = at.unwrap();
    let mut found = vec![at.value];
    found.extend_from_slice(&at.mean.own);
    found.extend_from_slice(&at.mean.others);
    found.extend(marginal.gradient_at(&at, &mut work).unwrap());
    found
}

fn same(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let close = 1e-10 * (1.0 + expected.abs());
        assert!((found - expected).abs() < close, "{found} {expected}");
    }
}

#[test]
fn tallies_are_sums_over_the_rows() {
    for form in [Form::Standard, Form::Effect] {
        let bound = bind(form, &Data::new());
        let at = theta(form);
        for probes in [None, Some(unit_probes as fn(usize) -> Probes)] {
            let rows = MarginalDensity::with_rows(&bound, false, probes).unwrap();
            let from_group_sums =
                MarginalDensity::from_group_sums(EffectStructure::read(&bound).unwrap(), probes)
                    .unwrap();
            same(&look(&from_group_sums, &at), &look(&rows, &at));
        }
    }
}

/// Rows in three parts of different lengths.
struct Shards(Vec<Bound>);

impl RowStore for Shards {
    fn fold(&self, job: &dyn AnyJob, _: &mut AnyControl<'_>) -> Result<AnyPartial, RowsError> {
        let mut all = None;
        for own in &self.0 {
            let job = GroupSumsJob::read(own, &job.message())?;
            let mut pool = MachinePool::default();
            let mut passing = BlockFold::new(&job, &mut pool);
            passing.add_block(own.source());
            merge_next(&job, &mut all, passing.finish().expect("some rows"));
        }
        Ok(all.expect("some parts"))
    }
}

fn shards(form: Form, data: &Data) -> Shards {
    let part = |rows: std::ops::Range<usize>| bind(form, &data.at(&rows.collect::<Vec<usize>>()));
    Shards(vec![part(0..11), part(11..40), part(40..ROWS)])
}

#[test]
fn three_shards_are_one_table() {
    for form in [Form::Standard, Form::Effect] {
        let data = Data::new();
        let bound = bind(form, &data);
        // The rows in memory need not include every group.
        let here = bind(form, &data.at(&(0..30).collect::<Vec<usize>>()));
        let elsewhere = WeightedModel::of_sample(here, ROWS, Arc::new(shards(form, &data)));
        let at = theta(form);
        let gathered = MarginalDensity::new(&elsewhere).unwrap();
        let expected = MarginalDensity::with_rows(&bound, false, None).unwrap();
        same(&look(&gathered, &at), &look(&expected, &at));
    }
}

/// Groups in which rows after a limit read the next group, or have another standard deviation.
fn irregular_rows(rows: usize, last: f64, odd: Odd) -> Bound {
    let mut y = vec![0.0; rows];
    Stream::new(8, "collapse", 0).fill_normal(&mut y);
    let codes = |first: usize| (0..rows).map(|row| ((row + first) % 5) as u32).collect();
    let levels = || (0..5).map(|level| level.to_string()).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_number("x", (0..rows).map(|row| row as f64).collect()))
        .and_then(|t| t.with_category("g", codes(0), levels()))
        .and_then(|t| t.with_category("h", codes(1), levels()))
        .unwrap();
    let model = Model::new(move |m| {
        let sd = m.sample("sd", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(0.0, 1.0).expand([5]));
        let noise = m.sample("noise", HalfNormal::new(1.0));
        m.rows(|row| {
            let own = effect.at(row.index("g"));
            let is_last = m.graph().scalar(last).less(row.number("x"));
            let mean = match odd {
                Odd::Group => is_last.select(effect.at(row.index("h")), own) * sd,
                Odd::GroupCovariance => own * (sd + is_last * sd.square()),
            };
            row.observe("y", Normal::new(mean, noise));
        });
    });
    model.bind(&table).unwrap()
}

#[derive(Clone, Copy)]
enum Odd {
    Group,
    GroupCovariance,
}

#[test]
fn one_row_that_reads_otherwise_is_found() {
    for odd in [Odd::Group, Odd::GroupCovariance] {
        for (last, count) in [(98.5, 1), (96.5, 3)] {
            let part = Shards(vec![irregular_rows(100, last, odd)]);
            let here = irregular_rows(50, 98.5, odd);
            let elsewhere = WeightedModel::of_sample(here, 100, Arc::new(part));
            let words = MarginalDensity::new(&elsewhere).err().unwrap().to_string();
            let expected = format!("{count} rows read their effects otherwise");
            assert!(words.contains(&expected), "{words}");
        }
        let fine = Shards(vec![irregular_rows(100, 100.0, odd)]);
        let elsewhere =
            WeightedModel::of_sample(irregular_rows(50, 100.0, odd), 100, Arc::new(fine));
        assert!(MarginalDensity::new(&elsewhere).is_ok());
    }
}

/// Two factors that put all rows except for one into the same groups.
fn nearly_alike(odd: Option<usize>) -> Bound {
    let rows = LONG + 100;
    let mut y = vec![0.0; rows];
    Stream::new(9, "collapse", 0).fill_normal(&mut y);
    let own: Vec<u32> = (0..rows).map(|row| (row % 5) as u32).collect();
    let mut other = own.clone();
    if let Some(row) = odd {
        other[row] = (other[row] + 1) % 5;
    }
    let levels = || (0..5).map(|level| level.to_string()).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_number("x", (0..rows).map(|row| row as f64).collect()))
        .and_then(|t| t.with_category("g", own, levels()))
        .and_then(|t| t.with_category("h", other, levels()))
        .unwrap();
    let model = Model::new(|m| {
        let sd = m.sample("sd", HalfNormal::new(1.0).expand([2]));
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let own = m.sample("own", Normal::new(0.0, sd.slice(0, 0..1).sum()).expand([5]));
        let other = m.sample(
            "other",
            Normal::new(0.0, sd.slice(0, 1..2).sum()).expand([5]),
        );
        let noise = m.sample("noise", HalfNormal::new(1.0));
        m.rows(|row| {
            let effects = own.at(row.index("g")) + other.at(row.index("h"));
            row.observe("y", Normal::new(effects + slope * row.number("x"), noise));
        });
    });
    model.bind(&table).unwrap()
}

#[test]
fn where_some_rows_do_not_tell_how_all_are_read_all_are_looked_at() {
    let alike = nearly_alike(None);
    let x = alike.columns().iter().position(|column| column.name == "x");
    let mut unseen = [0.0];
    let last = RowSet::Range(LONG + 50..LONG + 51);
    rows_here(&alike)
        .batch_order()
        .copy_numbers(x.unwrap(), &last, &mut unseen);
    let bound = nearly_alike(Some(unseen[0] as usize));
    let some = EffectStructure::read_sample(&bound, Some(LONG)).unwrap();
    assert!(MarginalDensity::from_group_sums(some, None).is_err());
    let at = [-0.4, 0.3, -0.2];
    let expected = MarginalDensity::with_rows(&bound, false, None).unwrap();
    same(
        &look(&MarginalDensity::new(&bound).unwrap(), &at),
        &look(&expected, &at),
    );
}
