//! Nanoseconds of the parts that run at every training step.

use std::hint::black_box;
use std::time::Instant;

use lehr_numeric::adam::{Adam, AdamSettings};
use lehr_numeric::batch::Epochs;
use lehr_numeric::stream::Stream;

/// Prints the median over rounds of the time of one item.
fn report(name: &str, items: usize, mut run: impl FnMut(u64)) {
    let mut times: Vec<f64> = (0..201)
        .map(|round| {
            let start = Instant::now();
            run(round);
            start.elapsed().as_secs_f64() * 1e9 / items as f64
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    println!("{name:<44} {:8.2} ns, fastest {:8.2}", times[100], times[0]);
}

fn main() {
    let mut normals = vec![0.0; 10_000];
    report("normal, of 10000", 10_000, |round| {
        Stream::new(1, "bench", round).fill_normal(black_box(&mut normals));
    });
    report("uniform, of 10000", 10_000, |round| {
        Stream::new(1, "bench", round).fill_uniform(black_box(&mut normals));
    });
    report("a new stream and its first normal", 1, |round| {
        black_box(Stream::new(1, "bench", round).normal());
    });
    for rows in [50_000, 10_000_000, 1_000_000_000] {
        let mut epochs = Epochs::new(rows, 256, 1, "rows").expect("a batch below the rows");
        let mut batch = vec![0; 256];
        report(
            &format!("row of a batch of 256 from {rows}"),
            256,
            |round| {
                epochs.fill_batch(round, black_box(&mut batch));
            },
        );
    }
    let mut adam = Adam::new(2000, AdamSettings::default());
    let (mut parameters, gradient) = (vec![0.0; 2000], vec![0.1; 2000]);
    report("parameter of an Adam step of 2000", 2000, |_| {
        adam.ascend(1e-3, black_box(&mut parameters), black_box(&gradient));
    });
}
