//! The models of tests/models as Rust writes them: their programs, and the bits of their fits.
//! `cargo run --example models` prints what the Python package must print too.

use lehr::prelude::*;

const ROWS: u32 = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = table()?;
    for (name, model) in models() {
        let bound = model.bind(&table)?;
        let fit = Fit::named("full-rank")?.set("iterations", "200")?.seed(7);
        let saved = SavedFit::of(fit.run(&bound)?)?;
        println!("== {name}\n{}\n-- {:016x}", bound.program(), bits(&saved));
    }
    for (name, formula, family) in FORMULAS {
        let fit = Fit::named("full-rank")?.set("iterations", "200")?.seed(7);
        let saved = lehr::regress(formula, &table)?
            .family(family)?
            .with(fit)
            .fit()?;
        println!("== {name}\n{formula}\n-- {:016x}", bits(&saved));
    }
    Ok(())
}

/// Formulas, which are fitted from both languages as well.
const FORMULAS: [(&str, &str, &str); 2] = [
    ("formula_multilevel", "y ~ z + (1 | site)", "gaussian"),
    ("formula_counts", "count ~ z", "poisson"),
];

/// Numbers that any language makes the same: quotients of small whole numbers.
fn table() -> Result<Table, lehr::table::TableError> {
    let share = |times: u32| (0..ROWS).map(move |i| f64::from(i * times % 101) / 64.0 - 0.75);
    let x: Vec<f64> = share(37).zip(share(53)).flat_map(|(a, b)| [a, b]).collect();
    let site: Vec<u32> = (0..ROWS).map(|i| i * 7 % 5).collect();
    let y = share(37).zip(share(71)).map(|(z, noise)| 2.0 * z + noise);
    let names = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    Table::new()
        .with_number("y", y.collect())?
        .with_number("z", share(37).collect())?
        .with_matrix("x", ROWS as usize, 2, x)?
        .with_number(
            "coin",
            (0..ROWS).map(|i| f64::from(i * 37 % 101 > 40)).collect(),
        )?
        .with_number(
            "count",
            (0..ROWS).map(|i| f64::from(i * 37 % 101 / 17)).collect(),
        )?
        .with_category("site", site, names)
}

fn models() -> Vec<(&'static str, Model)> {
    let conjugate = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        m.rows(|row| row.observe("y", Normal::new(row.number("z") * slope, 1.0)));
    });
    let multilevel = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(0.0, scale).expand([m.levels("site")]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight) + effect.at(row.index("site"));
            row.observe("coin", Bernoulli::with_logit(logit));
        });
    });
    let robust = Model::new(|m| {
        let level = m.sample("level", StudentT::new(3.0, 0.0, 2.5));
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        let scale = m.sample("scale", Exponential::new(1.0));
        m.deterministic("at_one", level + slope);
        m.rows(|row| {
            let mean = level + slope * row.number("z");
            row.observe("y", StudentT::new(4.0, mean, scale));
        });
    });
    let counts = Model::new(|m| {
        let gate = m.sample("gate", Normal::new(0.0, 1.0));
        let rate = m.group_effect("rate", m.levels("site"), 0.5);
        m.rows(|row| {
            let log_rate = rate.at(row.index("site")) + row.offset("z");
            let counts = Poisson::with_log_rate(log_rate);
            row.observe("count", ZeroInflated::with_gate_logit(counts, gate));
        });
    });
    vec![
        ("conjugate", conjugate),
        ("multilevel", multilevel),
        ("robust", robust),
        ("counts", counts),
    ]
}

/// A hash of the bits of all draws, in the order in which a fit lists them (FNV-1a by numbers).
fn bits(saved: &SavedFit) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for value in saved
        .even_draws(Groups::Leave)
        .iter()
        .flat_map(|one| &one.values)
    {
        hash = (hash ^ value.to_bits()).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}
