//! Cases about fits: predictions, scores, leave-one-out, effects, checks, comparisons, and the data
//! of a report.

use anyhow::Result;
use serde_json::Value;

use super::json::record;
use super::{Case, Shell};

const EVENTS: &str = "fit 'hit ~ x1 + color + (1 | site)' plain.csv --family bernoulli --method collapse --draws 400 \
                      --seed 7 -o fit.lehr";
const COUNTS: &str = "fit 'count ~ x1 + s(day, k = 6)' plain.csv --family poisson --method full-rank --iterations 60 \
                      --draws 400 --seed 7 -o fit.lehr";
const LINE: &str =
    "fit 'y ~ x1 + color' plain.csv --method full-rank --draws 400 --seed 7 -o fit.lehr";

/// Commands by topic. Each starts with a fit.
const QUESTIONS: &[(&str, &[&str])] = &[
    (
        "predictions",
        &[
            EVENTS,
            "summary fit.lehr --groups",
            "predict fit.lehr new.csv -o predicted.csv --only --responses 2 --seed 2",
            "predict fit.lehr new.csv -o population.csv --only --level population --parameter predictor",
            "predict fit.lehr new.parquet -o joined.csv --draws 20 --missing drop",
            "draws fit.lehr -o even.csv --groups",
        ],
    ),
    (
        "predictions of counts",
        &[
            COUNTS,
            "predict fit.lehr new.csv -o predicted.csv --only --responses 2 --quantiles 10,90 --seed 2",
            "evaluate fit.lehr new.csv",
        ],
    ),
    (
        "leaving out",
        &[
            EVENTS,
            "loo fit.lehr plain.csv -o left.csv",
            "loo fit.lehr plain.csv --subsample 60",
            "loo fit.lehr plain.csv --refit 1",
            "loo fit.lehr plain.csv --folds 2",
        ],
    ),
    (
        "leaving out of a line",
        &[
            LINE,
            "loo fit.lehr plain.csv -o left.csv",
            "loo fit.lehr plain.csv --folds 3 --folds-by site",
        ],
    ),
    (
        "effects",
        &[
            EVENTS,
            "effects fit.lehr x1",
            "effects fit.lehr x1 plain.csv --points 3",
            "effects fit.lehr color plain.csv --contrast 'red - blue' --by size",
            "effects fit.lehr color --scale odds",
        ],
    ),
    (
        "effects of counts",
        &[
            COUNTS,
            "effects fit.lehr day",
            "effects fit.lehr x1 plain.csv --scale link --draws 100",
        ],
    ),
    (
        "checks",
        &[
            LINE,
            "check fit.lehr",
            "check fit.lehr plain.csv --against nuts",
            "check fit.lehr --simulate plain.csv --simulations 4 --simulation-iterations 50",
        ],
    ),
    (
        "comparison of methods",
        &[
            "compare 'hit ~ x1 + color' plain.csv --family bernoulli --methods mf,full-rank,nuts --test new.csv \
           --iterations 50 --draws 200",
        ],
    ),
    (
        "comparison of fits",
        &[
            EVENTS,
            "fit 'hit ~ x1' plain.csv --family bernoulli --method full-rank --draws 400 --seed 7 -o line.lehr",
            "compare fit.lehr line.lehr plain.csv",
        ],
    ),
    (
        "priors",
        &[
            "priors 'y ~ x1 + (1 | site)' plain.csv --predictive --draws 200 --seed 8",
            "fit 'y ~ x1 + (1 | site)' plain.csv --prior 'x1 ~ normal(0, 1)' --prior-only --draws 200 -o prior.lehr",
            "predict prior.lehr new.csv -o predicted.csv --only --draws 50",
        ],
    ),
    (
        "columns read as categories",
        &[
            "fit 'y ~ step + x1' plain.csv --categorical step --method full-rank --draws 200 --seed 7 -o fit.lehr",
            "predict fit.lehr new.csv -o predicted.csv --categorical step --missing drop --draws 50",
            "effects fit.lehr step --contrast '1 - 0'",
        ],
    ),
    (
        "latents of rows",
        &[
            "fit 'count ~ x1' plain.csv --family poisson_lognormal --method full-rank --iterations 40 --draws 200 \
             --seed 7 -o fit.lehr",
            "draws fit.lehr plain.csv -o draws.csv --locals 3,17",
            "loo fit.lehr plain.csv",
        ],
    ),
    (
        "one of several responses",
        &[
            "fit 'mvbind(y, hit) ~ x1 + (1 |p| site)' plain.csv --family gaussian,bernoulli --method collapse \
             --draws 200 --seed 7 -o fit.lehr",
            "effects fit.lehr x1 --response hit",
            "evaluate fit.lehr new.csv --response y",
            "loo fit.lehr plain.csv",
        ],
    ),
];

/// Every topic, and the data of reports.
pub(super) fn cases() -> Vec<Case> {
    let case = |(name, lines): &(&str, &[&str])| {
        let lines = lines.iter().map(ToString::to_string).collect();
        Case::lines(format!("answer/{name}"), lines)
    };
    let questions = QUESTIONS.iter().map(case);
    let reports = [
        Case::program("answer/report", |shell| report(shell, EVENTS)),
        Case::program("answer/report of counts", |shell| report(shell, COUNTS)),
        Case::program("answer/report of chains", |shell| {
            report(
                shell,
                "fit 'y ~ x1 + (1 | site)' plain.csv --method nuts --chains 2 --warm-up 100 --draws 200 -o fit.lehr",
            )
        }),
    ];
    questions.chain(reports).collect()
}

/// Records the data of a report of a fit that was saved and loaded.
fn report(shell: &mut Shell, fit: &str) -> Result<()> {
    shell.run(fit)?;
    let saved = lehr::load(shell.path("fit.lehr"))?;
    let data: Value = serde_json::to_value(saved.report())?;
    let name = shell.name("report");
    record(&mut shell.transcript, &name, &data);
    Ok(())
}
