//! Generated numbers that look like a multilevel logistic regression and its fits.

use lehr_report::{
    AxisKind, CalibrationBin, Choice, Coefficient, Comparison, CountBin, Draws, EffectCurve,
    EffectPoint, Estimate, FittedFunction, FunctionCurve, FunctionShape, FunctionSurface,
    GroupEffects, Level, Name, PredictiveCheck, Prior, ReportData, Residual, Seconds, Summary,
    TracePoint, Verdict,
};

/// A small generator of uniform and normal numbers, the same on every machine.
pub(crate) struct Noise(u64);

impl Noise {
    /// Starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number between 0 and 1 (`SplitMix64`).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A standard normal number (Box–Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

const NAMES: [(&str, f64, f64); 12] = [
    ("Intercept", -1.214, 0.112),
    ("service[yes]", -0.083, 0.031),
    ("dose", 0.642, 0.048),
    ("dose:age", -0.171, 0.039),
    ("age", 0.294, 0.044),
    ("weight", 0.018, 0.027),
    ("I(weight^2)", -0.102, 0.020),
    ("treatment[standard of care]", 0.227, 0.061),
    ("sd(site)", 0.513, 0.036),
    ("sd(patient)", 0.325, 0.021),
    ("sd(patient, dose)", 0.147, 0.029),
    ("cor(patient, Intercept, dose)", -0.382, 0.121),
];

/// A complete report, so that every section has content.
pub(crate) fn demo() -> ReportData {
    let mut noise = Noise::new(2026);
    ReportData {
        levels: Vec::new(),
        notes: vec!["recovered: true counts as 1".into()],
        title: "Recovery ~ dose × age, by site and patient".into(),
        method: "sl-dais".into(),
        verdict: verdict(),
        model: model(),
        priors: priors(),
        n_rows: Some(73_421),
        n_latents: Some(3_058),
        coefficients: coefficients(),
        explained: vec![
            Coefficient::new("R2 conditional", Summary::normal_summary(0.52, 0.02)),
            Coefficient::new("R2 marginal", Summary::normal_summary(0.31, 0.02)),
            Coefficient::new("ICC(site)", Summary::normal_summary(0.27, 0.03)),
        ],
        groups: groups(&mut noise),
        effects: effects(),
        functions: vec![curve(), surface()],
        bound: Some(Estimate {
            mean: -41_873.62,
            se: 0.84,
        }),
        evidence: Some(Estimate {
            mean: -41_869.1,
            se: 1.3,
        }),
        pareto_k: Some(0.58),
        pareto_k_limit: Some(0.67),
        effective_sample_size: Some(1834.0),
        iterations: 12_000,
        converged: Some(true),
        seconds: Some(Seconds {
            read: 0.41,
            start: 1.22,
            compile: 0.038,
            train: 38.4,
            evaluate: 4.7,
        }),
        choices: choices(),
        trace: trace(&mut noise),
        chains: None,
        draws: Some(draws(&mut noise, 4000)),
        predictive: Some(predictive(&mut noise)),
        calibration: calibration(&mut noise),
        rootogram: rootogram(),
        residuals: residuals(&mut noise),
        comparison: comparison(),
        seed: Some(1),
        version: "0.1.0".into(),
        date: "2026-11-15 21:04 UTC".into(),
    }
}

fn verdict() -> Verdict {
    Verdict {
        level: Level::Corrected,
        sentence: "The fit alone is slightly too narrow (Pareto k = 0.58); importance weights \
                   repair it, and the corrected numbers below may be used."
            .into(),
        advice: vec![
            "--chain-steps 16 would bring k below 0.5 and take about twice as long".into(),
        ],
    }
}

fn model() -> String {
    "recovered ~ 1 + service + dose * age + weight + I(weight^2) + \
            treatment\n            \
            + (1 | site) + (1 + dose | patient)\n\
            \n\
            family  bernoulli, logit link\n\
            rows    73,421\n\
            levels  site 2,972 · patient 24"
        .into()
}

fn priors() -> Vec<Prior> {
    let prior = |(name, distribution, origin): (&str, &str, &str)| Prior {
        name: name.into(),
        distribution: distribution.into(),
        origin: origin.into(),
    };
    [
        ("Intercept", "student_t(3, 0, 2.5)", "default"),
        ("service, dose, age, treatment", "normal(0, 2.5)", "default"),
        ("weight", "normal(0, 1)", "given"),
        ("sd(site), sd(patient)", "half_normal(1)", "default"),
        ("cor(patient)", "lkj(2)", "default"),
    ]
    .map(prior)
    .to_vec()
}

fn coefficients() -> Vec<Coefficient> {
    let one = |(name, mean, sd): &(&str, f64, f64)| Coefficient {
        corrected: Some(Summary::normal_summary(*mean, *sd)),
        ..Coefficient::new(*name, Summary::normal_summary(mean + 0.2 * sd, 0.8 * sd))
    };
    NAMES.iter().map(one).collect()
}

fn groups(noise: &mut Noise) -> Vec<GroupEffects> {
    let mut effects = |prefix: &str, levels: usize, sd: f64| -> Vec<Coefficient> {
        let one = |level| {
            let own = 0.06 + 0.2 * noise.uniform();
            let summary = Summary::normal_summary(sd * noise.normal(), own);
            Coefficient::new(format!("{prefix}[{level}]"), summary)
        };
        (1..=levels).map(one).collect()
    };
    let (sites, patients) = (effects("site", 2972, 0.51), effects("patient", 24, 0.33));
    let group = |group: &str, effects| GroupEffects {
        all: None,
        group: group.into(),
        term: "Intercept".into(),
        class: None,
        effects,
    };
    vec![group("site", sites), group("patient", patients)]
}

fn choices() -> Vec<Choice> {
    let choice = |(key, value): (&str, &str)| Choice {
        key: key.into(),
        value: value.into(),
    };
    [
        ("base", "mean-field"),
        ("surrogate", "random rows, learned weights"),
        ("surrogate rows", "256"),
        ("chain steps", "8"),
        ("batch", "512 rows"),
        ("learning rate", "0.005, cosine to 0.0005"),
        ("missing", "12 rows dropped"),
    ]
    .map(choice)
    .to_vec()
}

fn trace(noise: &mut Noise) -> Vec<TracePoint> {
    let point = |index: u64| {
        let iteration = index * 10;
        let age = iteration as f64;
        let value = -41_870.0 - 900.0 * (-age / 1500.0).exp() - 60_000.0 * (-age / 90.0).exp();
        TracePoint {
            iteration,
            value: value + (18.0 + 60.0 * (-age / 1200.0).exp()) * noise.normal(),
        }
    };
    (1..=1200).map(point).collect()
}

/// Correlated draws of the coefficients.
pub(crate) fn draws(noise: &mut Noise, rows: usize) -> Draws {
    let mut row = || {
        let z: Vec<f64> = (0..NAMES.len()).map(|_| noise.normal()).collect();
        let mixed = |index: usize| match index {
            1 => -0.85 * z[0] + 0.53 * z[1],
            4 => 0.7 * z[3] + 0.71 * z[4],
            6 => -0.78 * z[5] + 0.63 * z[6],
            10 => 0.55 * z[9] + 0.84 * z[10],
            _ => z[index],
        };
        let value = |(index, name): (usize, &(&str, f64, f64))| name.1 + name.2 * mixed(index);
        NAMES.iter().enumerate().map(value).collect::<Vec<f64>>()
    };
    let values = (0..rows).flat_map(|_| row());
    Draws {
        values: values.collect(),
        names: NAMES.iter().map(|name| named(name.0)).collect(),
    }
}

fn predictive(noise: &mut Noise) -> PredictiveCheck {
    let mut sample = |skew: f64, rows: usize| -> Vec<f64> {
        let one = |_| {
            let z = noise.normal();
            50.0 + 9.0 * z + skew * z * z
        };
        (0..rows).map(one).collect()
    };
    PredictiveCheck::Samples {
        observed: sample(1.4, 4000),
        replicated: (0..40).map(|_| sample(0.8, 1500)).collect(),
    }
}

fn calibration(noise: &mut Noise) -> Vec<CalibrationBin> {
    let bin = |index: u32| {
        let predicted = (f64::from(index) + 0.5) / 12.0;
        let count = 900.0 * (-(predicted - 0.35).powi(2) / 0.09).exp() + 25.0;
        let half = 1.64 * (predicted * (1.0 - predicted) / count).sqrt();
        let observed = (predicted + 0.5 * half * noise.normal()).clamp(0.0, 1.0);
        CalibrationBin {
            predicted,
            observed,
            count: count as u64,
            low: (observed - half).max(0.0),
            high: (observed + half).min(1.0),
        }
    };
    (0..12).map(bin).collect()
}

fn rootogram() -> Vec<CountBin> {
    let mut share = (-3.2_f64).exp();
    let bin = |value: u64| {
        if value > 0 {
            share *= 3.2 / value as f64;
        }
        let expected = 5000.0 * share;
        let bend = 1.0 + 0.25 * (-(value as f64)).exp() - 0.05 * ((value as f64) / 2.0).sin();
        let reach = 1.64 * expected.sqrt();
        CountBin {
            value,
            observed: (expected * bend).round(),
            expected,
            interval: Some([(expected - reach).max(0.0), expected + reach]),
        }
    };
    (0..=12).map(bin).collect()
}

fn residuals(noise: &mut Noise) -> Vec<Residual> {
    let one = |_| {
        let fitted = 50.0 + 6.0 * noise.normal();
        Residual {
            fitted,
            residual: 3.0 * noise.normal(),
        }
    };
    (0..3000).map(one).collect()
}

fn comparison() -> Vec<Comparison> {
    let rows = [
        ("mean-field", -41_951.2, 0.9, 9.8, -0.5712, 0.94),
        ("full-rank", -41_911.5, 1.1, 26.1, -0.5698, 0.81),
        ("ns-dais", -41_902.7, 1.4, 33.0, -0.5694, 0.74),
        ("sl-dais", -41_873.6, 0.8, 38.4, -0.5689, 0.58),
    ];
    let row = |(method, bound, se, seconds, test, k): (&str, f64, f64, f64, f64, f64)| Comparison {
        method: method.into(),
        bound,
        se,
        seconds,
        test_log_likelihood: Some(test),
        pareto_k: Some(k),
    };
    rows.map(row).to_vec()
}

/// Only the name with a level has an axis.
fn named(text: &str) -> Name {
    match text {
        "service[yes]" => Name::new(text, "service").at_label(AxisKind::Level, "yes"),
        _ => text.into(),
    }
}

/// An effect curve over numbers and points for levels.
fn effects() -> Vec<EffectCurve> {
    let point = |name: String, value: Option<f64>, mean: f64| EffectPoint {
        name,
        value,
        mean,
        low: mean - 0.04,
        high: mean + 0.05,
    };
    let ages = (20..=60).map(f64::from).map(|age| {
        let mean = 1.0 / (1.0 + (-0.1 * (age - 40.0)).exp());
        point(format!("age = {age}"), Some(age), mean)
    });
    let shifts = [("day", 0.3), ("late", 0.42), ("night", 0.61)];
    let shifts = shifts.map(|(name, mean)| point(format!("shift = {name}"), None, mean));
    let curve = |variable: &str, numeric: bool, points: Vec<EffectPoint>| EffectCurve {
        variable: variable.into(),
        response: "the probability of an accident".into(),
        numeric,
        points,
    };
    vec![
        curve("age", true, ages.collect()),
        curve("shift", false, shifts.to_vec()),
    ]
}

/// A function of one column.
fn curve() -> FittedFunction {
    let x: Vec<f64> = (0..61).map(|k| 20.0 + f64::from(k)).collect();
    let mean: Vec<f64> = x.iter().map(|x| (x / 12.0).sin() * 0.4).collect();
    let moved = |by: f64| {
        let width = |x: &f64| by * (0.05 + ((x - 50.0) / 120.0).powi(2));
        let ends = mean.iter().zip(&x).map(|(mean, x)| mean + width(x));
        ends.collect()
    };
    function(
        &["age"],
        FunctionShape::Curve(FunctionCurve {
            low: moved(-1.0),
            high: moved(1.0),
            places: x
                .iter()
                .map(|x| 50.0 + (x - 50.0).powi(3) / 900.0)
                .collect(),
            mean,
            x,
        }),
    )
}

/// A function of two columns.
fn surface() -> FittedFunction {
    let side: Vec<f64> = (0..25).map(|k| f64::from(k) / 24.0).collect();
    let pairs = side.iter().flat_map(|y| side.iter().map(move |x| (*x, *y)));
    let pairs: Vec<(f64, f64)> = pairs.collect();
    function(
        &["east", "north"],
        FunctionShape::Surface(FunctionSurface {
            mean: (pairs.iter())
                .map(|(x, y)| (5.0 * x).sin() * (4.0 * y).cos())
                .collect(),
            sd: pairs
                .iter()
                .map(|(x, y)| 0.1 + 0.2 * (x - y).powi(2))
                .collect(),
            places: pairs.iter().step_by(7).map(|(x, y)| [*x, *y]).collect(),
            x: side.clone(),
            y: side,
        }),
    )
}

fn function(inputs: &[&str], shape: FunctionShape) -> FittedFunction {
    FittedFunction {
        name: format!("gp({})", inputs.join(", ")),
        inputs: inputs.iter().map(ToString::to_string).collect(),
        multiplier: None,
        level: None,
        class: None,
        shape,
    }
}
