//! Passes over all rows: blocks, machines, stops, and the order in which results are merged.

use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_rows::store::memory::MemoryStore;
use lehr_rows::watch::Wish;
use lehr_rows::{
    AnyJob, AnyPartial, Argument, BlockFold, Column, ColumnKind, Columns, Cut, LocalRows,
    MachinePool, PassControl, PassPosition, Role, RowBlock, RowData, RowJob, RowProgram, RowStore,
    RowsError, Values, decoded, encoded, fold, fold_watched, merge_next,
};

const ROWS: usize = 20_000;

/// Σ xₙ^a over the rows for an exponent a of 1 or 2.
struct Power {
    columns: Columns,
    exponent: f64,
    cut: Cut,
    /// The number of machines that were made.
    made: AtomicUsize,
}

impl Power {
    fn new(exponent: f64, cut: Cut) -> Power {
        Power {
            columns: columns(),
            exponent,
            cut,
            made: AtomicUsize::new(0),
        }
    }
}

fn columns() -> Columns {
    Columns(vec![Column {
        name: "x".into(),
        kind: ColumnKind::Number { width: None },
        role: Role::Covariate,
    }])
}

/// A table of numbers whose sum depends on the order.
fn table(rows: usize) -> RowData {
    let values: Vec<f64> = (0..rows).map(|k| (0.7 * k as f64).sin()).collect();
    RowData::new(
        rows,
        vec![Values::Numbers {
            width: 1,
            values: values.into(),
        }],
    )
}

impl RowJob for Power {
    const NAME: &'static str = "power";

    type Partial = f64;
    type Machine = RowProgram;

    fn cut(&self) -> Cut {
        self.cut
    }

    fn machine(&self, rows: usize) -> RowProgram {
        self.made.fetch_add(1, Ordering::Relaxed);
        let sizes = [Argument::Shared(1)];
        RowProgram::new(&self.columns, (1, rows), &sizes, &|inputs, rows| {
            let x = rows.numbers("x").expect("a column");
            let share = inputs[0].sum() - 1.0;
            vec![(x * (x * share + (share * -1.0 + 1.0))).sum()]
        })
    }

    fn empty(&self) -> f64 {
        -0.0
    }

    fn add_block(&self, machine: &mut RowProgram, block: &RowBlock<'_>, into: &mut f64) {
        block.place(machine);
        *into += machine.run(&[&[self.exponent]]).output(0)[0];
    }

    fn merge(&self, into: &mut f64, next: f64) {
        *into += next;
    }

    fn message(&self) -> Vec<u8> {
        encoded(&self.exponent)
    }
}

fn expected(power: i32) -> f64 {
    (0..ROWS).map(|k| (0.7 * k as f64).sin().powi(power)).sum()
}

#[test]
fn a_job_comes_to_the_same_however_rows_are_cut() {
    let (columns, data) = (columns(), table(ROWS));
    let store = MemoryStore::new(LocalRows::new(&columns, &data));
    for power in [1, 2] {
        for cut in [Cut::Whole, Cut::AtMost(1000), Cut::AtMost(999)] {
            let job = Power::new(f64::from(power), cut);
            let found = fold(&store, &job).unwrap();
            assert!((found - expected(power)).abs() < 1e-9, "{cut:?}: {found}");
            assert_eq!(fold(&store, &job).unwrap().to_bits(), found.to_bits());
        }
    }
}

#[test]
fn machines_are_kept_from_pass_to_pass_and_serve_other_arguments() {
    let (columns, data) = (columns(), table(ROWS));
    let store = MemoryStore::new(LocalRows::new(&columns, &data));
    let first = Power::new(1.0, Cut::AtMost(999));
    fold(&store, &first).unwrap();
    // One machine for whole blocks and one for the last rows.
    assert_eq!(first.made.load(Ordering::Relaxed), 2);
    let second = Power::new(2.0, Cut::AtMost(999));
    let found = fold(&store, &second).unwrap();
    assert!((found - expected(2)).abs() < 1e-9);
    assert_eq!(second.made.load(Ordering::Relaxed), 0);
}

#[test]
fn a_pass_that_was_stopped_goes_on_to_the_same_bits() {
    let (columns, data) = (columns(), table(ROWS));
    let store = MemoryStore::new(LocalRows::new(&columns, &data));
    let job = Power::new(1.0, Cut::AtMost(3000));
    let whole = fold(&store, &job).unwrap();
    let mut state = None;
    let control = PassControl {
        resume: None,
        look: &mut |next, partial: &f64| {
            state = Some(PassPosition {
                next,
                partial: *partial,
            });
            if next >= 9000 {
                Wish::Stop
            } else {
                Wish::Continue
            }
        },
    };
    assert_eq!(fold_watched(&store, &job, control), Err(RowsError::Stopped));
    let resume = state.clone();
    assert_eq!(resume.as_ref().map(|passed| passed.next), Some(9000));
    let mut seen = Vec::new();
    let control = PassControl {
        resume,
        look: &mut |next, _: &f64| {
            seen.push(next);
            Wish::Continue
        },
    };
    let found = fold_watched(&store, &job, control).unwrap();
    assert_eq!(found.to_bits(), whole.to_bits());
    assert_eq!(seen, [12_000, 15_000, 18_000, 20_000]);
}

#[test]
fn rows_that_pass_by_in_blocks_need_few_machines() {
    let job = Power::new(2.0, Cut::Whole);
    let mut pool = MachinePool::default();
    let mut passing = BlockFold::new(&job, &mut pool);
    let data: Vec<RowData> = [5000, 4097, 4095].map(table).into();
    for block in &data {
        passing.add_block(block);
    }
    let found = passing.finish().expect("some rows");
    let found: f64 = *found.downcast().unwrap();
    let expected: f64 = [5000, 4097, 4095]
        .iter()
        .flat_map(|rows| (0..*rows).map(|k| (0.7 * f64::from(k)).sin().powi(2)))
        .sum();
    assert!((found - expected).abs() < 1e-9);
    // The powers of 2 up to 4096.
    assert_eq!(job.made.load(Ordering::Relaxed), 13);
    assert!(BlockFold::new(&job, &mut pool).finish().is_none());
}

#[test]
fn results_are_merged_in_the_order_of_the_parts_and_survive_a_message() {
    let job = Power::new(1.0, Cut::Whole);
    let any: &dyn AnyJob = &job;
    let mut all: Option<AnyPartial> = None;
    for value in [1e16, 1.0, -1e16, 1.0] {
        let told = any.encode(&(Box::new(value) as AnyPartial));
        merge_next(any, &mut all, any.decode(&told).unwrap());
    }
    let all: f64 = *all.unwrap().downcast().unwrap();
    assert_eq!(all, ((1e16 + 1.0) - 1e16) + 1.0);
    assert_eq!(decoded::<f64>(&RowJob::message(&job)), Ok(1.0));
    let error = any.decode(&[1, 2]).err().unwrap();
    assert!(error.to_string().contains("other bytes"), "{error}");
}

#[test]
fn a_store_says_where_its_rows_are() {
    let (columns, data) = (columns(), table(3));
    let store = MemoryStore::new(LocalRows::new(&columns, &data));
    assert_eq!((&store as &dyn RowStore).place(), "in this process");
}
