//! A pass over Parquet files beside reading the same columns alone, in processor seconds and in turns.
//!
//! ```text
//! cargo run --release --example pass_speed -- 'y ~ x1 + x2' bernoulli folder
//! ```

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use lehr::density::Query;
use lehr::regression::{BoundRegression, FileTable, Specification, Streaming};
use lehr::table::{Part, ReadOptions, TableFiles};

/// Turns, of which the fastest counts.
const TURNS: usize = 3;

/// Seconds that the processors have spent on this process.
fn spent() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(") ").next().unwrap_or_default();
    let ticks = |place: usize| -> f64 {
        let field = after.split(' ').nth(place);
        field.and_then(|one| one.parse().ok()).unwrap_or(f64::NAN)
    };
    (ticks(11) + ticks(12)) / 100.0
}

/// Decodes all rows on all processors, and does nothing with them.
fn read(parts: &[Part], options: &ReadOptions) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let files = TableFiles::of_part(part).expect("the file is there");
            let scanned = files.scan(options, &mut |_, _| Ok(()));
            scanned.expect("the file is whole");
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [formula, family, path] = &arguments[..] else {
        return Err("expected a formula, a family and a folder".into());
    };
    let files = TableFiles::open(&[path])?;
    let fields = files.schema(&ReadOptions::default())?;
    let names: Vec<String> = fields.into_iter().map(|field| field.name).collect();
    let specification = Specification::parse(formula, &names)?.with_family(family.parse()?);
    let columns = specification.columns().into_iter().map(str::to_owned);
    let options = ReadOptions {
        columns: Some(columns.collect()),
        ..ReadOptions::default()
    };
    let table = FileTable::new(&files, &options, &())?;
    let streaming = Streaming {
        memory: 0,
        methods: &[],
        sample: Streaming::SAMPLE,
        clock: Instant::now(),
    };
    let (began, clock) = (spent(), Instant::now());
    let found = BoundRegression::streamed(&specification, &table, &streaming)?;
    println!(
        "learn      {:8.2} s of processors, {:.2} s",
        spent() - began,
        clock.elapsed().as_secs_f64()
    );
    let found = found.ok_or("the model cannot be streamed")?;
    let (density, parts) = (found.density(), files.parts(1 << 18)?);
    let rows = density.elsewhere().ok_or("no rows elsewhere")?;
    let size = density.latents().size();
    let mut best = [f64::INFINITY; 4];
    for turn in 0..TURNS {
        // Other arguments in every turn: what was asked before is known.
        let z = vec![0.01 * (turn + 1) as f64; size];
        let many = vec![0.01 * (turn + 1) as f64; 16 * size];
        let lanes = size.min(16);
        let work: [&dyn Fn(); 4] = [
            &|| read(&parts, &options),
            &|| drop(rows.sum(Query::Slopes, &[&z, &[]])),
            &|| {
                drop(rows.sum(
                    Query::HessianProducts { lanes },
                    &[&z, &[], &many[..lanes * size]],
                ))
            },
            &|| drop(rows.sum(Query::LogLikelihood { lanes: 16 }, &[&many, &[]])),
        ];
        for (best, work) in best.iter_mut().zip(work) {
            let began = spent();
            work();
            *best = best.min(spent() - began);
        }
    }
    let total = density.total_rows() as f64;
    for (name, seconds) in ["read alone", "slopes", "curvature", "16 draws"]
        .iter()
        .zip(best)
    {
        let share = 100.0 * best[0] / seconds;
        println!(
            "{name:10} {seconds:8.2} s, {:6.1} ns a row, {share:.0} % of the speed of reading",
            1e9 * seconds / total
        );
    }
    Ok(())
}
