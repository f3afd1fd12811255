//! Five methods on a logistic regression of the size of the Higgs table.
//!
//! ```text
//! cargo run --release --example higgs                       # generated data of that shape
//! cargo run --release --example higgs -- 5000               # fewer generated rows
//! cargo run --release --example higgs -- higgs.parquet      # a table with features and a column `y`
//! cargo run --release --example higgs -- covtype.parquet 1,6  # labels 1 and 6 against the rest
//! ```

use std::error::Error;
use std::path::PathBuf;

use lehr::numeric::stream::Stream;
use lehr::prelude::*;
use lehr::table::{Column, Moment, ReadOptions, TableFiles};

const ROWS: usize = 50_000;
const FEATURES: usize = 28;

/// Correlated features and labels from a known logistic model.
fn generated(rows: usize) -> Result<Table, Box<dyn Error>> {
    let mut stream = Stream::new(7, "higgs", 0);
    let weights: Vec<f64> = (0..FEATURES).map(|_| 0.3 * stream.normal()).collect();
    let mut x = vec![0.0; rows * FEATURES];
    stream.fill_normal(&mut x);
    let mut y = Vec::with_capacity(rows);
    for row in x.chunks_exact_mut(FEATURES) {
        for j in 1..FEATURES {
            row[j] = 0.6 * row[j - 1] + 0.8 * row[j];
        }
        let logit: f64 = row.iter().zip(&weights).map(|(x, w)| x * w).sum();
        y.push(f64::from(stream.uniform() < 1.0 / (1.0 + (-logit).exp())));
    }
    let table = Table::new().with_matrix("x", rows, FEATURES, x)?;
    Ok(table.with_number("y", y)?)
}

/// Standardised numbers; constant columns are only centred.
fn standardised(values: &[f64]) -> Vec<f64> {
    let mut moment = Moment::default();
    moment.push_all(values);
    let (mean, scale) = (moment.mean(), moment.scale());
    let unit = if scale > 0.0 { scale } else { 1.0 };
    values.iter().map(|value| (value - mean) / unit).collect()
}

/// The first rows of a table with standardised features; `y` is whether the label is one of
/// `positive`.
fn read(path: &str, positive: &[f64]) -> Result<Table, Box<dyn Error>> {
    let source = TableFiles::open_inputs(&[PathBuf::from(path)])?;
    let table = source
        .read_table(&ReadOptions::default(), &mut |_| {})?
        .head(ROWS);
    let y = table
        .number("y")?
        .iter()
        .map(|label| f64::from(positive.contains(label)))
        .collect();
    let names = table.names().iter().map(String::as_str);
    let features: Vec<&str> = names.filter(|name| *name != "y").collect();
    let mut standard = table.clone();
    for name in &features {
        let values = standardised(table.number(name)?);
        standard.replace(name, Column::Number(values))?;
    }
    let Column::Matrix { width, values } = standard.gather_columns(&features)? else {
        return Err("gathered columns are a matrix".into());
    };
    let table = Table::new().with_matrix("x", table.n_rows(), width, values)?;
    Ok(table.with_number("y", y)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let positive: Vec<f64> = match arguments.get(1) {
        Some(list) => list.split(',').map(str::parse).collect::<Result<_, _>>()?,
        None => vec![1.0],
    };
    let table = match arguments.first().map(|first| (first, first.parse())) {
        None => generated(ROWS)?,
        Some((_, Ok(rows))) => generated(rows)?,
        Some((path, Err(_))) => read(path, &positive)?,
    };
    let (width, _) = table.matrix("x")?;
    println!("{} rows, {width} features", table.n_rows());
    let model = Model::new(move |m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([width]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight) + level;
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    let density = model.bind(&table)?;
    println!(
        "method           bound             evidence          k̂     steps  converged  start  train  all"
    );
    for method in ["mean-field", "full-rank", "dais", "ns-dais", "sl-dais"] {
        let mut fit = Fit::named(method)?;
        if method == "dais" {
            // Every step reads all rows, so the chain is short and the steps are few.
            fit = fit.set("chain-steps", "2")?.set("iterations", "500")?;
        }
        let p = fit.run(&density)?;
        let evidence = p.evidence.as_ref().expect("a bound of every guide");
        let bound = p.bound().expect("a bound of every guide");
        // Nearly equal weights have no tail.
        let shape = p.pareto_shape().map_or("–".into(), |k| format!("{k:.2}"));
        let training = p.training().expect("training of every guide");
        let s = p.seconds;
        println!(
            "{:12} {:11.3} ± {:.3} {:11.3} ± {:.3} {:>6} {:8} {:9} {:7.2} {:6.2} {:6.2}",
            method,
            bound.mean,
            bound.error,
            evidence.estimate.mean,
            evidence.estimate.error,
            shape,
            training.iterations,
            training.converged,
            s.start,
            s.train,
            s.start + s.compile + s.train + s.evaluate
        );
    }
    Ok(())
}
