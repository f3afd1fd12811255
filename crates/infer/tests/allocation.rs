//! A running training loop allocates nothing, and its memory does not grow with the number of
//! steps.
#![expect(unsafe_code, reason = "an allocator that counts is an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use lehr_infer::fit::Fit;
use lehr_infer::method::{METHODS, MethodInfo};
use lehr_infer::observer::{Observer, Phase, Progress, Wish};
use lehr_infer::train::Iterations;
use lehr_model::distribution::{Bernoulli, Distribution, Gamma, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

/// The system's allocator, with a count of the allocations.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicIsize = AtomicIsize::new(0);

/// The number of the current fit.
static FIT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number of the fit that this thread trains.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread trains the current fit. The previous fit may still be ending, and its
/// allocations do not count for this one.
fn counts() -> bool {
    OWN.try_with(|own| own.get() != 0 && own.get() == FIT.load(Ordering::Relaxed))
        .unwrap_or(false)
}

fn count(more: usize, bytes: isize) {
    if counts() {
        COUNT.fetch_add(more, Ordering::Relaxed);
        BYTES.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, -(layout.size() as isize));
        // SAFETY: by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as isize - layout.size() as isize);
        // SAFETY: by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and bytes in use at the first and the last report of the current phase of a fit.
#[derive(Default)]
struct Looks {
    first: Option<(usize, isize)>,
    last: Option<(usize, isize)>,
    number: usize,
    grown: usize,
    trains: bool,
}

impl Looks {
    fn end(&mut self) {
        self.grown += usize::from(self.trains && self.first != self.last);
        (self.first, self.last) = (None, None);
    }
}

impl Observer for Looks {
    fn begin(&mut self, phase: Phase) {
        self.end();
        // The search for a start and the weighing of draws report progress as well, and may
        // allocate.
        self.trains = [Phase::BASE, Phase::TRAIN].contains(&phase);
    }

    fn progress(&mut self, _: &Progress) -> Wish {
        OWN.set(FIT.load(Ordering::Relaxed));
        let now = (COUNT.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
        self.first.get_or_insert(now);
        self.last = Some(now);
        self.number += usize::from(self.trains);
        Wish::Continue
    }
}

fn logistic() -> Bound {
    let rows = 600;
    let mut x = vec![0.0; rows * 4];
    let mut stream = Stream::new(1, "allocation", 0);
    stream.fill_normal(&mut x);
    let y = (0..rows).map(|n| f64::from(x[4 * n] + stream.normal() > 0.0));
    let table = Table::new()
        .with_number("y", y.collect())
        .and_then(|t| t.with_matrix("x", rows, 4, x))
        .unwrap();
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([4]));
        m.rows(|row| row.observe("y", Bernoulli::with_logit(row.matrix("x").dot(weight))));
    });
    model.bind(&table).unwrap()
}

/// Rows with a local latent each.
fn robust() -> Bound {
    let mut numbers = vec![0.0; 1200];
    Stream::new(2, "allocation", 0).fill_normal(&mut numbers);
    let table = Table::new()
        .with_number("x", numbers[..600].to_vec())
        .and_then(|t| t.with_number("y", numbers[600..].to_vec()))
        .unwrap();
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(2.0, 2.0));
            row.observe(
                "y",
                Normal::new(row.number("x") * slope, precision.sqrt().recip()),
            );
        });
    });
    model.bind(&table).unwrap()
}

/// A single test, so that no other thread allocates during the count.
#[test]
fn training_allocates_nothing_between_its_first_and_last_look() {
    let (logistic, robust) = (logistic(), robust());
    let lengths = [Iterations::Fixed(3000), Iterations::Auto { cap: 3000 }];
    for row in METHODS {
        // A step of chains over local latents takes longer, and these chains need local latents.
        let local = row.name == "semi-dais";
        let density = if local { &robust } else { &logistic };
        for iterations in &lengths[..if local { 1 } else { 2 }] {
            assert_steady(row, density, *iterations, &[]);
        }
        if local {
            assert_steady(row, density, lengths[0], &[("row-base", "own")]);
        }
    }
}

fn assert_steady(
    row: &'static MethodInfo,
    density: &Bound,
    iterations: Iterations,
    more: &[(&str, &str)],
) {
    // One thread, because those of a pool allocate their queues when they first steal work.
    let mut fit = Fit::boxed((row.new)()).draws(25).threads(1);
    let known = row.settings();
    let settings = [
        ("start", "laplace"),
        ("batch", "64"),
        ("chain-steps", "2"),
        ("surrogate-rows", "32"),
    ];
    for (name, value) in settings.iter().chain(more) {
        if known.iter().any(|one| one.name == *name) {
            fit = fit.set(name, value).unwrap();
        }
    }
    let Some(method) = fit.method.variational_mut() else {
        return;
    };
    method.common_mut().train.iterations = iterations;
    FIT.fetch_add(1, Ordering::Relaxed);
    let mut looks = Looks::default();
    fit.observer(&mut looks).run(density).unwrap();
    assert!(looks.number > 5, "{} looks", looks.number);
    looks.end();
    assert_eq!(looks.grown, 0, "{} {iterations:?}", row.name);
}
