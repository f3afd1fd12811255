//! A multilevel logistic regression on generated data: does the fit recover the parameters that the
//! data were generated with?

use lehr::numeric::stream::Stream;
use lehr::prelude::*;

const ROWS: usize = 20_000;
const GROUPS: usize = 40;
const WEIGHTS: [f64; 4] = [1.0, -0.5, 0.25, 0.0];
const GROUP_SCALE: f64 = 0.7;

/// Rows with four covariates and a group, labels drawn from the model, and the groups' effects.
fn generate() -> Result<(Table, Vec<f64>), Box<dyn std::error::Error>> {
    let mut stream = Stream::new(1, "multilevel", 0);
    let effects: Vec<f64> = (0..GROUPS).map(|_| GROUP_SCALE * stream.normal()).collect();
    let mut x = vec![0.0; ROWS * WEIGHTS.len()];
    stream.fill_normal(&mut x);
    let groups: Vec<u32> = (0..ROWS)
        .map(|_| stream.below(GROUPS as u64) as u32)
        .collect();
    let label = |(row, group): (&[f64], &u32)| {
        let fixed: f64 = row.iter().zip(WEIGHTS).map(|(x, w)| x * w).sum();
        let logit = fixed + effects[*group as usize];
        f64::from(stream.uniform() < 1.0 / (1.0 + (-logit).exp()))
    };
    let y: Vec<f64> = x
        .chunks_exact(WEIGHTS.len())
        .zip(&groups)
        .map(label)
        .collect();
    let levels = (0..GROUPS).map(|g| format!("g{g:02}")).collect();
    let table = Table::new()
        .with_matrix("x", ROWS, WEIGHTS.len(), x)?
        .with_category("group", groups, levels)?
        .with_number("y", y)?;
    Ok((table, effects))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (table, _) = generate()?;
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([WEIGHTS.len()]));
        let scale = m.sample("group_scale", HalfNormal::new(1.0));
        let effect = m.sample(
            "group_effect",
            Normal::new(0.0, scale).expand([m.levels("group")]),
        );
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight) + effect.at(row.index("group"));
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    let density = model.bind(&table)?;
    let posterior = Fit::new(FullRank::default()).run(&density)?;
    println!("{}", posterior.verdict());
    let bound = posterior.bound().expect("a bound of every guide");
    let training = posterior.training().expect("a guide is trained");
    println!(
        "log evidence at least {:.2} ± {:.2}, after {} steps",
        bound.mean, bound.error, training.iterations
    );
    let truths = WEIGHTS.into_iter().chain([GROUP_SCALE]);
    for (summary, truth) in posterior.summaries().iter().zip(truths) {
        let off = (summary.mean - truth) / summary.sd;
        println!(
            "{:14} {:7.3} ± {:.3}   truth {truth:6.3}, {off:4.1} sd off",
            summary.name, summary.mean, summary.sd
        );
        assert!(
            off.abs() < 4.0,
            "{} is {off:.1} sd from what made the data",
            summary.name
        );
    }
    Ok(())
}
