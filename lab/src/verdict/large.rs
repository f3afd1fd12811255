//! Posteriors on tables too long for chains, each with the same posterior on a few rows of counts.

use lehr_model::distribution::{Binomial, Distribution, HalfNormal, Normal};
use lehr_model::{Bound, Model, Tracer};
use lehr_table::Table;

use super::problem::{Problem, Source, Truth, logistic, with};

/// The frequency of a row with these covariates, and of its successes.
struct Cell {
    x: f64,
    level: u32,
    trials: usize,
    successes: usize,
}

/// One row for each trial, or one for each cell.
fn table(cells: &[Cell], one_each: bool) -> Table {
    let (mut x, mut y, mut n, mut level) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        let rows = if one_each { cell.trials } else { 1 };
        for row in 0..rows {
            x.push(cell.x);
            level.push(cell.level);
            y.push(if one_each {
                f64::from(u8::from(row < cell.successes))
            } else {
                cell.successes as f64
            });
            n.push(if one_each { 1.0 } else { cell.trials as f64 });
        }
    }
    let count = level.iter().max().map_or(1, |most| most + 1);
    let levels = (0..count).map(|k| format!("l{k}")).collect();
    let table = with(with(with(Table::new(), "x", x), "y", y), "n", n);
    table
        .with_category("level", level, levels)
        .expect("a column")
}

fn large(name: &str, cells: &[Cell], write: fn(&Tracer<'_>)) -> Problem {
    let bind = |one_each: bool| -> Bound {
        let table = table(cells, one_each);
        Model::new(write).bind(&table).expect("a model")
    };
    Problem {
        name: name.to_owned(),
        kind: "large",
        density: bind(true),
        truth: Truth::Twin(Box::new(bind(false))),
    }
}

fn straight(m: &Tracer<'_>) {
    let intercept = m.sample("intercept", Normal::new(0.0, 5.0));
    let slope = m.sample("slope", Normal::new(0.0, 10.0));
    m.rows(|row| {
        let at = intercept + slope * row.number("x");
        row.observe("y", Binomial::with_logit(row.number("n"), at));
    });
}

fn levels(m: &Tracer<'_>) {
    let intercept = m.sample("intercept", Normal::new(0.0, 5.0));
    let spread = m.sample("spread", HalfNormal::new(1.0));
    let raw = m.sample("raw", Normal::new(0.0, 1.0).expand([m.levels("level")]));
    m.rows(|row| {
        let at = intercept + spread * raw.at(row.index("level"));
        row.observe("y", Binomial::with_logit(row.number("n"), at));
    });
}

/// The square of a latent: both signs explain the rows equally well.
fn squared(m: &Tracer<'_>) {
    let intercept = m.sample("intercept", Normal::new(0.0, 5.0));
    let root = m.sample("root", Normal::new(PULL, 1.0));
    m.rows(|row| {
        let at = intercept + root.square() * row.number("x");
        row.observe("y", Binomial::with_logit(row.number("n"), at));
    });
}

/// The prior mean of the root.
const PULL: f64 = 0.3;

/// The square of a latent, whose sign the rows do not determine: odds of a quarter and three
/// quarters one step from the middle make the square ln 3.
fn square(cells: &[Cell]) -> Problem {
    let root = 3.0_f64.ln().sqrt();
    let right = logistic(2.0 * PULL * root);
    let (mean, sd) = (
        (2.0 * right - 1.0) * root,
        2.0 * root * (right * (1.0 - right)).sqrt(),
    );
    let known = vec![("root".to_owned(), mean, sd)];
    Problem {
        truth: Truth::Known(known),
        ..large("large, a square", cells, squared)
    }
}

fn cell(x: f64, trials: usize, successes: usize) -> Cell {
    Cell {
        x,
        level: 0,
        trials,
        successes,
    }
}

/// Groups of the long table, some of them without a success.
fn rare_groups(rows: usize, count: usize) -> Vec<Cell> {
    let mut source = Source::new(77);
    let group = |level: usize| {
        let rate = logistic(-6.0 + 0.8 * source.0.normal());
        let trials = rows / count;
        Cell {
            x: 0.0,
            level: level as u32,
            trials,
            successes: (source.count(rate * trials as f64) as usize).min(trials),
        }
    };
    (0..count).map(group).collect()
}

/// All of them, with about this many rows each.
pub fn large_problems(rows: usize) -> Vec<Problem> {
    let third = rows / 3;
    let rare_level = [cell(0.0, rows - 10, rows / 3), cell(1.0, 10, 10)];
    let separated = [-1.0, -0.5, 0.5, 1.0].map(|x: f64| {
        let trials = rows / 4;
        cell(x, trials, if x > 0.0 { trials } else { 0 })
    });
    let rare_events = [
        cell(-1.0, third, 0),
        cell(0.0, third, 1),
        cell(1.0, third, 3),
    ];
    let even = [
        cell(-1.0, third, third / 4),
        cell(0.0, third, third / 2),
        cell(1.0, third, 3 * third / 4),
    ];
    vec![
        large("large, a rare level always 1", &rare_level, straight),
        large("large, separated", &separated, straight),
        large("large, rare events", &rare_events, straight),
        large("large, ordinary", &even, straight),
        square(&even),
        large(
            "large, rare events in 40 groups",
            &rare_groups(rows, 40),
            levels,
        ),
    ]
}
