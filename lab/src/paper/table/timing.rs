//! Figures 3 and 4: the cost of a training step, and its dependence on sizes.

use lehr_infer::train::Iterations;
use lehr_report::{Axis, Chart, Law, Lines, Mark, Series};

use crate::paper::answer::{Answer, Section};
use crate::paper::dataset::{Dataset, Origin};
use crate::paper::entry::{self, count, figures, fixed};
use crate::paper::error::PaperError;
use crate::paper::job::{BATCH, Gaussian, Job, Recipe};
use crate::paper::labelled::Labelled;
use crate::paper::problem::Problem;
use crate::paper::published::{RANKED, ranks_of};
use crate::paper::runner::{Runner, Watcher};
use crate::paper::setting::Settings;

const NAME: &str = "timing";
/// Steps of a first run, which determines the length of the others.
const PROBE: u64 = 32;
/// The number of runs, of which the fastest counts, since other work on the machine only adds time.
const RUNS: usize = 3;
/// Rows against which time is plotted, as multiples of the usual number.
const ROW_SHARES: [f64; 4] = [0.0625, 0.25, 1.0, 4.0];
const CHAIN_STEPS: [usize; 4] = [2, 4, 8, 16];
const SIZES: [usize; 3] = [64, 256, 1024];

/// The size that a section varies.
struct Study {
    heading: &'static str,
    axis: &'static str,
    places: Vec<usize>,
    jobs: Vec<Job>,
    vary: fn(Job, usize) -> Job,
}

/// The table.
pub(crate) fn run(settings: &Settings, watcher: &mut dyn Watcher) -> Result<Answer, PaperError> {
    let rows = usual_rows(settings);
    let mut runner = Runner::new(settings, NAME, watcher)?;
    let studies = studies();
    let single: usize = studies.iter().map(|s| s.places.len() * s.jobs.len()).sum();
    runner.expect(2 * (methods().len() + single + ROW_SHARES.len() * row_jobs().len()));
    let usual = problem(rows)?;
    let mut sections = vec![published(&mut runner, &usual)?];
    sections.push(by_rows(&mut runner, rows)?);
    for study in &studies {
        sections.push(by_setting(&mut runner, &usual, study)?);
    }
    let findings = findings(&sections);
    let answer = Answer {
        table: NAME,
        title: "Figures 3 and 4: time per training step".into(),
        protocol: protocol(settings, rows),
        findings,
        sections,
        ..Answer::default()
    };
    answer.written(settings)
}

fn usual_rows(settings: &Settings) -> usize {
    match settings.origin {
        Origin::StandIn { rows } => rows.min(settings.train_rows),
        Origin::Folder(_) => settings.train_rows,
    }
}

fn protocol(settings: &Settings, rows: usize) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    vec![
        format!(
            "Logistic regression on {} generated rows with the 54 features of CovType-Fir: time \
             does not depend on the values. B = N_surr = {BATCH}, K = 8 where nothing else is \
             said.",
            count(rows as u64)
        ),
        "Paper's recipe: one draw per step, `rand`, momentum in the latents' own coordinates. \
         Ours: the defaults, with 8 draws per step for Gaussians and 4 for chains, control \
         variate, `taylor`, whitened momentum; a step of ours does that much more work."
            .into(),
        format!(
            "Milliseconds of a whole training step, Adam and drawing the batch included: the \
             fastest of {RUNS} runs of about {:.1} s. This machine has {threads} cores, which \
             other work may share; the published times are of 24 cores.",
            settings.timing_seconds
        ),
    ]
}

fn problem(rows: usize) -> Result<Problem, PaperError> {
    let train = Origin::StandIn { rows }.read(Dataset::CovTypeFir)?;
    let none = Labelled {
        width: train.width,
        x: Vec::new(),
        y: Vec::new(),
    };
    Problem::new(train, none)
}

fn methods() -> Vec<Job> {
    use Gaussian::{FullRank, MeanField};
    vec![
        Job::gaussian("mean-field"),
        Job::gaussian("full-rank"),
        Job::gaussian("low-rank"),
        Job::chain("ns-dais", MeanField, 8),
        Job::chain("sl-dais", MeanField, 8),
        Job::chain("ns-dais", FullRank, 8),
        Job::chain("sl-dais", FullRank, 8),
        Job::chain("ns2-dais", MeanField, 8),
        Job::chain("dais", MeanField, 2),
    ]
}

fn row_jobs() -> Vec<Job> {
    use Gaussian::MeanField;
    vec![
        Job::gaussian("mean-field"),
        Job::chain("sl-dais", MeanField, 8),
        Job::chain("ns-dais", MeanField, 8),
        Job::chain("dais", MeanField, 2),
    ]
}

fn studies() -> Vec<Study> {
    use Gaussian::{FullRank, MeanField};
    let chain = |method, base| Job::chain(method, base, 8);
    let subsampled = vec![
        chain("sl-dais", MeanField),
        chain("sl-dais", FullRank),
        chain("ns-dais", MeanField),
    ];
    let by_batch = vec![
        Job::gaussian("mean-field"),
        chain("sl-dais", MeanField),
        chain("ns-dais", MeanField),
    ];
    vec![
        Study {
            heading: "Against K",
            axis: "leapfrog steps K",
            places: CHAIN_STEPS.to_vec(),
            jobs: subsampled,
            vary: |job, chain_steps| Job { chain_steps, ..job },
        },
        Study {
            heading: "Against the surrogate's rows",
            axis: "N_surr",
            places: SIZES.to_vec(),
            jobs: vec![chain("sl-dais", MeanField), chain("sl-dais", FullRank)],
            vary: |job, surrogate_rows| Job {
                surrogate_rows,
                ..job
            },
        },
        Study {
            heading: "Against the batch",
            axis: "B",
            places: SIZES.to_vec(),
            jobs: by_batch,
            vary: |job, batch| Job { batch, ..job },
        },
    ]
}

/// Milliseconds per step of a job, from the store or measured.
fn measured(
    runner: &mut Runner<'_>,
    problem: &Problem,
    (job, recipe): (Job, Recipe),
) -> Result<f64, PaperError> {
    let settings = runner.settings;
    let key = format!(
        "rows={} {} {} seconds={}",
        problem.train_rows,
        job.key(),
        recipe.name(),
        settings.timing_seconds
    );
    runner.value(&key, || {
        let probe = once(problem, (job, recipe), settings, PROBE)?;
        let steps = (1e3 * settings.timing_seconds / probe).clamp(PROBE as f64, 1e5) as u64;
        let mut best = probe;
        let runs = if settings.timing_seconds > 0.0 {
            RUNS
        } else {
            0
        };
        for _ in 0..runs {
            best = best.min(once(problem, (job, recipe), settings, steps)?);
        }
        Ok(best)
    })
}

fn once(
    problem: &Problem,
    (job, recipe): (Job, Recipe),
    settings: &Settings,
    steps: u64,
) -> Result<f64, PaperError> {
    let mut fit = job.fit(recipe, settings, problem.train_rows);
    if let Some(method) = fit.method.variational_mut() {
        method.common_mut().train.iterations = Iterations::Fixed(steps);
    }
    let posterior = fit.draws(25).run(&problem.density);
    let posterior = posterior.map_err(|source| PaperError::Fit {
        cell: job.label(),
        source: Box::new(source),
    })?;
    Ok(1e3 * posterior.seconds.train / steps as f64)
}

/// Figure 3 and the times of Table 2.
fn published(runner: &mut Runner<'_>, problem: &Problem) -> Result<Section, PaperError> {
    let mut section = Section::new(
        format!(
            "Every method on {} rows, milliseconds per step",
            count(problem.train_rows as u64)
        ),
        &[
            "method",
            "published",
            "paper's recipe",
            "times faster",
            "ours",
        ],
    );
    for job in methods() {
        let label = job.label();
        let published = ranks_of(&label).map(|row| row.milliseconds);
        let recipe = measured(runner, problem, (job, Recipe::Paper))?;
        let ours = measured(runner, problem, (job, Recipe::Ours))?;
        section.rows.push(vec![
            label,
            fixed(published, 1),
            figures(Some(recipe)),
            fixed(published.map(|published| published / recipe), 0),
            figures(Some(ours)),
        ]);
    }
    let flow = RANKED.iter().find(|row| row.method == "Flow");
    let flow = fixed(flow.map(|row| row.milliseconds), 1);
    let none = || entry::NONE.to_owned();
    section
        .rows
        .push(vec!["Flow".into(), flow, none(), none(), none()]);
    Ok(section)
}

fn by_rows(runner: &mut Runner<'_>, usual: usize) -> Result<Section, PaperError> {
    let jobs = row_jobs();
    let mut section = study_section("Against the rows of the table", "rows", &jobs);
    let mut points = vec![Vec::new(); 2 * jobs.len()];
    for share in ROW_SHARES {
        let problem = problem((share * usual as f64) as usize)?;
        let mut row = vec![count(problem.train_rows as u64)];
        for (place, &job) in jobs.iter().enumerate() {
            for (which, recipe) in Recipe::ALL.into_iter().enumerate() {
                let time = measured(runner, &problem, (job, recipe))?;
                points[2 * place + which].push((problem.train_rows as f64, time));
                row.push(figures(Some(time)));
            }
        }
        section.rows.push(row);
    }
    section
        .charts
        .push(Chart::Lines(chart("rows N", &jobs, &points)));
    Ok(section)
}

fn by_setting(
    runner: &mut Runner<'_>,
    problem: &Problem,
    study: &Study,
) -> Result<Section, PaperError> {
    let mut section = study_section(study.heading, study.axis, &study.jobs);
    let mut points = vec![Vec::new(); 2 * study.jobs.len()];
    for &place in &study.places {
        let mut row = vec![place.to_string()];
        for (index, &job) in study.jobs.iter().enumerate() {
            let job = (study.vary)(job, place);
            for (which, recipe) in Recipe::ALL.into_iter().enumerate() {
                let time = measured(runner, problem, (job, recipe))?;
                points[2 * index + which].push((place as f64, time));
                row.push(figures(Some(time)));
            }
        }
        section.rows.push(row);
    }
    section
        .charts
        .push(Chart::Lines(chart(study.axis, &study.jobs, &points)));
    Ok(section)
}

/// The name of a job whose setting is varied.
fn family(job: &Job) -> String {
    let label = job.label();
    label.split(' ').next().unwrap_or_default().to_owned()
}

fn study_section(heading: &str, axis: &str, jobs: &[Job]) -> Section {
    let head: Vec<String> = std::iter::once(axis.to_owned())
        .chain(jobs.iter().flat_map(|job| {
            Recipe::ALL.map(|recipe| format!("{}, {}", family(job), recipe.name()))
        }))
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    Section::new(format!("{heading}, milliseconds per step"), &head)
}

fn chart(axis: &str, jobs: &[Job], points: &[Vec<(f64, f64)>]) -> Lines {
    let names = jobs.iter().flat_map(|job| {
        Recipe::ALL.map(|recipe| (format!("{}, {}", family(job), recipe.name()), recipe))
    });
    let series = names.zip(points).map(|((name, recipe), points)| Series {
        name,
        marks: points
            .iter()
            .map(|&(x, y)| Mark { x, y, error: 0.0 })
            .collect(),
        dashed: recipe == Recipe::Paper,
    });
    let named = |name: &str| Axis {
        name: name.into(),
        law: Law::Logarithmic,
    };
    Lines {
        title: format!("Time per step against {axis}"),
        x: named(axis),
        y: named("milliseconds per step"),
        series: series.collect(),
    }
}

/// The growth of time with rows, from the section that varies them.
fn findings(sections: &[Section]) -> Vec<String> {
    let Some(rows) = sections.get(1).map(|section| &section.rows) else {
        return Vec::new();
    };
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Vec::new();
    };
    let ratio = |column: usize| {
        let number = |row: &Vec<String>| row[column].parse::<f64>().unwrap_or(f64::NAN);
        number(last) / number(first)
    };
    vec![format!(
        "From {} to {} rows a step of SL-DAIS takes {:.2} times as long, one of DAIS {:.0} times (paper's recipe).",
        first[0],
        last[0],
        ratio(3),
        ratio(7)
    )]
}
