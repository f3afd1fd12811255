//! Tables 3 and 4: Gaussian processes by inducing points, and a decomposition of the chain's gain.

use lehr_infer::posterior::Estimate;
use lehr_report::{Axis, Chart, Dots, Law, Mark, Series};

use crate::paper::answer::{Answer, Section};
use crate::paper::dataset::Dataset;
use crate::paper::entry::{NONE, count, difference, estimate, figures, fixed, published};
use crate::paper::error::PaperError;
use crate::paper::fitting::{BATCH, CHAIN_STEPS, Fitting, Made, Outcome, Way};
use crate::paper::labelled::Labelled;
use crate::paper::process::{Process, precipitation};
use crate::paper::published::{ProcessGain, outcome_process, robust_process};
use crate::paper::runner::{Runner, Watcher};
use crate::paper::setting::Settings;
use crate::process::Response;

/// Training and test rows of the precipitation table.
const PRECIPITATION: (usize, usize) = (8000, 2127);
/// The most test rows of the other tables.
const TEST_ROWS: usize = 20_000;

/// One of the two tables.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    title: &'static str,
    response: Response,
    /// The default M.
    points: &'static [usize],
    /// `N_surr`
    surrogate_rows: usize,
    /// η̃ of the paper's chain.
    step_size: f64,
}

const ROBUST: Kind = Kind {
    name: "robust-gp",
    title: "Table 3: robust Gaussian-process regression",
    response: Response::Robust,
    points: &[64, 128, 256],
    surrogate_rows: 256,
    step_size: 1e-4,
};

const OUTCOMES: Kind = Kind {
    name: "gp",
    title: "Table 4: Gaussian-process classification",
    response: Response::Outcome,
    points: &[128],
    surrogate_rows: 512,
    step_size: 1e-2,
};

/// Rows and a number of points.
struct Case {
    name: String,
    points: usize,
    published: Option<ProcessGain>,
    data: Labelled,
    /// The numbers of training and test rows.
    parts: (usize, usize),
}

/// Table 3.
pub(crate) fn robust(settings: &Settings, watcher: &mut dyn Watcher) -> Result<Answer, PaperError> {
    let data = precipitation(&settings.origin)?;
    let (train, test) = PRECIPITATION;
    let cases = points(settings, ROBUST).into_iter().map(|points| Case {
        name: format!("precipitation, M = {points}"),
        points,
        published: robust_process(points),
        data: data.clone(),
        parts: (train.min(settings.train_rows), test),
    });
    run(settings, watcher, ROBUST, &cases.collect::<Vec<Case>>())
}

/// Table 4.
pub(crate) fn outcomes(
    settings: &Settings,
    watcher: &mut dyn Watcher,
) -> Result<Answer, PaperError> {
    let datasets = settings.wanted(&Dataset::ALL);
    settings.origin.check(&datasets)?;
    let mut cases = Vec::new();
    for dataset in datasets {
        let data = settings.origin.read(dataset)?;
        let train = settings.train_rows.min(data.rows() * 5 / 7);
        let test = TEST_ROWS.min(data.rows() - train);
        cases.extend(points(settings, OUTCOMES).into_iter().map(|points| Case {
            name: format!("{}, M = {points}", dataset.name()),
            points,
            published: (points == OUTCOMES.points[0]).then(|| outcome_process(dataset)),
            data: data.clone(),
            parts: (train, test),
        }));
    }
    run(settings, watcher, OUTCOMES, &cases)
}

fn points(settings: &Settings, kind: Kind) -> Vec<usize> {
    match settings.points.as_slice() {
        [] => kind.points.to_vec(),
        asked => asked.to_vec(),
    }
}

fn run(
    settings: &Settings,
    watcher: &mut dyn Watcher,
    kind: Kind,
    cases: &[Case],
) -> Result<Answer, PaperError> {
    let mut runner = Runner::new(settings, kind.name, watcher)?;
    runner.expect(cases.len() * settings.fits(Way::ALL.len()));
    let (mut sections, mut findings, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for case in cases {
        let mut all = vec![Vec::new(); Way::ALL.len()];
        for seed in 0..settings.replications {
            let (train, test) = case.data.split(case.parts, seed);
            let problem = Process::new(train, test, case.points, kind.response)?;
            if seed == 0 {
                sizes.push(size(case, &problem));
            }
            for (place, outcome) in fits(&mut runner, case, &problem, (kind, seed))?
                .into_iter()
                .enumerate()
            {
                all[place].push(outcome);
            }
        }
        findings.extend(found(case, &all));
        sections.push(gains(case, &all, kind.response));
        sections.push(learned(case, &all));
    }
    let answer = Answer {
        table: kind.name,
        title: kind.title.into(),
        protocol: protocol(settings, kind, &sizes),
        findings,
        sections,
        ..Answer::default()
    };
    answer.written(settings)
}

fn size(case: &Case, problem: &Process) -> String {
    format!(
        "{}: {} train, {} test",
        case.name,
        count(problem.rows as u64),
        count(problem.test_rows() as u64)
    )
}

/// Every fit of a problem from one seed.
fn fits(
    runner: &mut Runner<'_>,
    case: &Case,
    problem: &Process,
    (kind, seed): (Kind, u64),
) -> Result<Vec<Outcome>, PaperError> {
    let settings = runner.settings;
    let what = format!(
        "{} rows={} steps={} draws={} seed={seed}",
        case.name, problem.rows, settings.iterations, settings.draws
    );
    let slug: String = what
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect();
    let fitting = Fitting {
        problem,
        settings,
        surrogate_rows: kind.surrogate_rows,
        step_size: kind.step_size,
        seed,
        kept: settings.out.join(format!("{}-{slug}.lehr", kind.name)),
    };
    let one = |way: Way| {
        let cap = match way {
            Way::NaturalChain => format!(" cap={}", settings.cap),
            _ => String::new(),
        };
        let words = format!("{}, {what}{cap}", way.label());
        runner.value(&words, || {
            fitting.made(way).map_err(|source| PaperError::Fit {
                cell: words.clone(),
                source: Box::new(source),
            })
        })
    };
    Way::ALL.into_iter().map(one).collect()
}

/// The mean over seeds, with the error over seeds, or that of a single fit.
fn mean(all: &[Outcome], of: impl Fn(&Made) -> Option<Estimate>) -> Option<Estimate> {
    let made: Vec<Estimate> = all
        .iter()
        .filter_map(|one| of(one.as_ref().ok()?))
        .collect();
    match made.as_slice() {
        [] => None,
        [one] => Some(*one),
        many => Some(Estimate::of(
            &many.iter().map(|one| one.mean).collect::<Vec<f64>>(),
        )),
    }
}

fn number(all: &[Outcome], of: impl Fn(&Made) -> Option<f64>) -> Option<f64> {
    let plain = |mean: f64| Estimate { mean, error: 0.0 };
    mean(all, |made| of(made).map(plain)).map(|found| found.mean)
}

/// The gain over the paper's Gaussian, seed by seed.
fn gain(all: &[Vec<Outcome>], place: usize, of: fn(&Made) -> Estimate) -> Option<Estimate> {
    let pairs = all[place].iter().zip(&all[0]);
    let gains = pairs.filter_map(|(one, first)| {
        let (one, first) = (one.as_ref().ok()?, first.as_ref().ok()?);
        difference(Some(of(one)), Some(of(first)))
    });
    let gains: Vec<Estimate> = gains.collect();
    match gains.as_slice() {
        [] => None,
        [one] => Some(*one),
        many => Some(Estimate::of(
            &many.iter().map(|one| one.mean).collect::<Vec<f64>>(),
        )),
    }
}

/// The gap of a fit to the evidence at its own θ.
fn left(made: &Made) -> Estimate {
    made.evidence.less(made.bound)
}

/// The gap of the best Gaussian there. Bound and evidence use the same draws, so nearly all of
/// their noise is common.
fn left_by_best(made: &Made) -> Estimate {
    Estimate {
        mean: made.evidence.mean - made.best.mean,
        error: made.evidence.error,
    }
}

fn gains(case: &Case, all: &[Vec<Outcome>], response: Response) -> Section {
    let head = [
        "fit",
        "bound",
        "gain over MVN",
        "published",
        "of it by θ",
        "left by the fit",
        "left by the best Gaussian",
        "k̂",
        "test log lik.",
        "gain per test row",
        "published",
        "accuracy",
        "steps",
        "ms/step",
        "s",
    ];
    let mut section = Section::new(&case.name, &head);
    section.words.push(
        "Gains are over the first row. \"By θ\": how much higher the log evidence is at the θ of \
         the fit than at that of the first row. \"Left\": the log evidence at the fit's θ less \
         its bound, and less that of the best full-rank Gaussian there; k̂ is of that Gaussian's \
         weights."
            .into(),
    );
    for (place, way) in Way::ALL.into_iter().enumerate() {
        section.rows.push(row(case, all, (place, way), response));
    }
    for outcome in all.iter().flatten() {
        if let Err(reason) = outcome {
            let reason = reason.lines().next().unwrap_or_default();
            section.words.push(format!("A fit failed: {reason}"));
        }
    }
    section.charts.push(Chart::Dots(chart(case, all)));
    section
}

fn row(
    case: &Case,
    all: &[Vec<Outcome>],
    (place, way): (usize, Way),
    response: Response,
) -> Vec<String> {
    let own = &all[place];
    let of_paper = case.published.filter(|_| way == Way::Chain);
    let unless_first = |text: String| if place == 0 { NONE.into() } else { text };
    let likelihood = |made: &Made| Some(made.forecast.log_likelihood);
    let forecast = difference_of(number(own, likelihood), number(&all[0], likelihood));
    let accuracy = number(own, |made| Some(made.forecast.accuracy));
    let accuracy = accuracy.filter(|_| response == Response::Outcome);
    vec![
        way.label(),
        estimate(mean(own, |made| Some(made.bound))),
        unless_first(estimate(gain(all, place, |made| made.bound))),
        published(of_paper.map(|one| one.bound)),
        unless_first(estimate(gain(all, place, |made| made.evidence))),
        estimate(mean(own, |made| Some(left(made)))),
        estimate(mean(own, |made| Some(left_by_best(made)))),
        fixed(number(own, |made| made.pareto_k), 2),
        fixed(number(own, likelihood), 4),
        unless_first(fixed(forecast, 4)),
        of_paper.map_or_else(|| NONE.into(), |one| one.forecast.into()),
        fixed(accuracy, 4),
        fixed(number(own, |made| Some(made.steps as f64)), 0),
        figures(number(own, |made| Some(made.milliseconds))),
        figures(number(own, |made| Some(made.seconds))),
    ]
}

fn difference_of(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? - b?)
}

/// θ of the first seed, and the chains' step sizes.
fn learned(case: &Case, all: &[Vec<Outcome>]) -> Section {
    let first: Vec<Option<&Made>> = all
        .iter()
        .map(|own| own.iter().find_map(|one| one.as_ref().ok()))
        .collect();
    let names: Vec<String> = (first.iter().flatten().next())
        .map(|made| made.learned.iter().map(|(name, _)| name.clone()).collect())
        .unwrap_or_default();
    let mut head = vec!["fit".to_owned()];
    head.extend(names);
    head.push("η of the chain".into());
    let rows = Way::ALL.into_iter().zip(first).filter_map(|(way, made)| {
        let made = made?;
        let mut row = vec![way.label()];
        row.extend(made.learned.iter().map(|(_, values)| {
            let shown: Vec<String> = values.iter().map(|one| figures(Some(*one))).collect();
            shown.join(", ")
        }));
        row.push(figures(made.step_size));
        Some(row)
    });
    Section {
        heading: format!("{}: what was learned", case.name),
        rows: rows.collect(),
        head,
        ..Section::default()
    }
}

fn chart(case: &Case, all: &[Vec<Outcome>]) -> Dots {
    const LEAST: f64 = 1e-3;
    let series = |name: &str, of: fn(&Made) -> Estimate| Series {
        name: name.into(),
        marks: (all.iter().enumerate())
            .map(|(place, own)| Mark {
                x: mean(own, |made| Some(of(made))).map_or(f64::NAN, |left| left.mean.max(LEAST)),
                y: place as f64,
                error: 0.0,
            })
            .collect(),
        dashed: false,
    };
    Dots {
        title: format!("{}: nats left at the fit's θ", case.name),
        axis: Axis {
            name: "nats below the log evidence at the fit's θ".into(),
            law: Law::Logarithmic,
        },
        series: vec![
            series("by the fit", left),
            series("by the best Gaussian", left_by_best),
        ],
        names: Way::ALL.map(Way::label).to_vec(),
    }
}

fn found(case: &Case, all: &[Vec<Outcome>]) -> Vec<String> {
    let gained = |place: usize, of| estimate(gain(all, place, of));
    let bound = |made: &Made| made.bound;
    let evidence = |made: &Made| made.evidence;
    let lefts: Vec<f64> = (all.iter())
        .filter_map(|own| mean(own, |made| Some(left_by_best(made))).map(|left| left.mean))
        .collect();
    let shapes = all
        .iter()
        .filter_map(|own| number(own, |made| made.pareto_k));
    let (low, high) = (lefts.iter()).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| {
        (a.min(x), b.max(x))
    });
    vec![
        format!(
            "{}: the paper's chain gains {} nats over MVN (published: {}); MVN for as many steps \
             more gains {}. The log evidence at θ rose by {} and {}.",
            case.name,
            gained(2, bound),
            published(case.published.map(|one| one.bound)),
            gained(1, bound),
            gained(2, evidence),
            gained(1, evidence),
        ),
        format!(
            "{}: at the θ of these fits the best Gaussian is between {low:.3} and {high:.3} nats \
             below the log evidence (k̂ at most {:.2}).",
            case.name,
            shapes.fold(f64::NEG_INFINITY, f64::max)
        ),
    ]
}

fn protocol(settings: &Settings, kind: Kind, sizes: &[String]) -> Vec<String> {
    let likelihood = match kind.response {
        Response::Normal => "normal with learned σ",
        Response::Robust => {
            "Student's t with learned σ and ν, integrated over the mixing variable by 33 nodes"
        }
        Response::Outcome => {
            "a logit, integrated over the scale of a mixture of probits (the paper: 16 Hermite nodes)"
        }
    };
    vec![
        format!("Data: {}. {}.", settings.origin.words(), sizes.join("; ")),
        format!(
            "Model: whitened FITC, RBF kernel with a lengthscale for each column, columns \
             standardised, points learned from the centres of k-means clusters on; {likelihood}. \
             Scale, lengthscales, points and noise are learned, not random."
        ),
        format!(
            "Paper's recipe: start at zero with scales of 0.1, one draw per step, B = {BATCH}, \
             Adam at 10⁻³, 10⁻⁴, 10⁻⁵ by thirds of {} steps; the chain has K = {CHAIN_STEPS}, \
             N_surr = {}, η̃ = {} and starts from the finished MVN, q and θ, with the same rates \
             once more. \"As many steps more\" is MVN from the same place with the same rates. \
             What is kept is the mean of the iterates of the last third.",
            count(settings.iterations),
            kind.surrogate_rows,
            kind.step_size
        ),
        format!(
            "Ours: 3,000 steps of natural gradients with B = 256 and Adam on θ, then the best \
             Gaussian on all rows at that θ; the chain goes on from there, θ included, with 4 \
             draws per step and B = {BATCH}, until the bound is level or after {} steps.",
            count(settings.cap)
        ),
        format!(
            "{} split(s) (the paper: 5 to 7); bounds and the evidence at fixed θ from {} draws \
             each, tests from at most 1,000.",
            settings.replications,
            count(settings.draws as u64)
        ),
    ]
}
