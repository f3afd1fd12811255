//! Speed of the engine, printed as ratios and tables.

mod sl_dais;

use std::time::Instant;

/// Median seconds of `f` over `rounds` rounds of `calls` calls.
fn median(rounds: usize, calls: usize, mut f: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| f());
            start.elapsed().as_secs_f64() / calls as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    if std::env::var_os("BEST").is_some() {
        return times[0];
    }
    times[rounds / 2]
}

fn main() {
    for (steps, lanes) in if std::env::var_os("LANES").is_some() {
        vec![(8, 16); 4]
    } else {
        vec![(1, 1), (8, 1), (64, 1), (8, 16)]
    } {
        let size = sl_dais::Size {
            steps,
            dim: 28,
            surrogate: 256,
            batch: 256,
            lanes,
        };
        let compile = median(5, 1, || drop(sl_dais::plan(size)));
        let (plan, mut workspace) = sl_dais::plan(size);
        let run = median(60, 50, || plan.run(&mut workspace));
        println!(
            "K = {steps:2}, {lanes:2} lanes: {:8.1} µs per step, compile {:6.2} ms, {} kernels",
            run * 1e6,
            compile * 1e3,
            plan.report().n_kernels()
        );
        if std::env::var_os("REPORT").is_some() {
            println!("{}", plan.report());
        }
    }
}
