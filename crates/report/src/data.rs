//! The data of a report: plain values that a caller fills.

use serde::{Deserialize, Serialize};

use crate::{ChainReport, Effect, Name};

/// Everything that a report can show. Sections with empty lists or `None` are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportData {
    /// Heading of the page, usually the formula or the name of the data.
    pub title: String,
    /// The method as the command line spells it.
    pub method: String,
    /// Whether the numbers can be trusted.
    pub verdict: Verdict,
    /// The model as text, lines kept.
    pub model: String,
    /// Every prior, also the default ones.
    pub priors: Vec<Prior>,
    /// Remarks on the data, one sentence each.
    pub notes: Vec<String>,
    /// Rows of the table.
    pub n_rows: Option<u64>,
    /// Numbers in the posterior.
    pub n_latents: Option<u64>,
    /// Population-level coefficients on the data's own scale.
    pub coefficients: Vec<Coefficient>,
    /// Shares of variance: R² with and without random effects, intraclass correlations.
    pub explained: Vec<Coefficient>,
    /// Random effects, one entry per group term.
    pub groups: Vec<GroupEffects>,
    /// The predicted response over the values of each column.
    pub effects: Vec<EffectCurve>,
    /// Smooth functions, one entry per function.
    pub functions: Vec<FittedFunction>,
    /// Evidence lower bound.
    pub bound: Option<Estimate>,
    /// Log evidence by importance sampling, or by bridge sampling if there is no bound.
    pub evidence: Option<Estimate>,
    /// Tail shape of the importance weights; above its limit they cannot be trusted.
    pub pareto_k: Option<f64>,
    /// The largest tail shape at which this number of draws can be corrected.
    pub pareto_k_limit: Option<f64>,
    /// The effective number of weighted draws.
    pub effective_sample_size: Option<f64>,
    /// Training steps taken.
    pub iterations: u64,
    /// Whether the bound stopped rising before the steps ran out.
    pub converged: Option<bool>,
    /// The time of each part of the fit.
    pub seconds: Option<Seconds>,
    /// The settings that were chosen automatically, with their values.
    pub choices: Vec<Choice>,
    /// The bound while training.
    pub trace: Vec<TracePoint>,
    /// The Markov chains whose draws these are.
    pub chains: Option<ChainReport>,
    /// Posterior draws, for the pairs of strongest correlation.
    pub draws: Option<Draws>,
    /// Data drawn from the posterior beside the data observed.
    pub predictive: Option<PredictiveCheck>,
    /// The names of the outcomes 0, 1, 2, …, if they are classes.
    pub levels: Vec<String>,
    /// Predicted against observed frequencies, for yes/no outcomes.
    pub calibration: Vec<CalibrationBin>,
    /// Observed against expected frequencies, for counts.
    pub rootogram: Vec<CountBin>,
    /// Residuals against fitted values.
    pub residuals: Vec<Residual>,
    /// The same model fitted by several methods.
    pub comparison: Vec<Comparison>,
    /// Seed of every random stream.
    pub seed: Option<u64>,
    /// Version of the program.
    pub version: String,
    /// The date of the fit in printed form.
    pub date: String,
}

/// The level of trust in a posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// No diagnostic warns.
    Reliable,
    /// The approximation is inaccurate, but importance weights correct it.
    Corrected,
    /// Some diagnostic warns.
    LookAgain,
    /// The numbers do not describe the posterior. This is the default, so that a verdict that was
    /// not filled in never reassures.
    #[default]
    DoNotTrust,
}

impl Level {
    /// The level in words.
    pub fn verdict_words(self) -> &'static str {
        match self {
            Self::Reliable => "Reliable",
            Self::Corrected => "Corrected",
            Self::LookAgain => "Look again",
            Self::DoNotTrust => "Do not trust",
        }
    }

    /// The level as programs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reliable => "reliable",
            Self::Corrected => "corrected",
            Self::LookAgain => "look-again",
            Self::DoNotTrust => "do-not-trust",
        }
    }
}

/// Whether the numbers can be trusted, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// The level of trust.
    pub level: Level,
    /// The reason in one sentence.
    pub sentence: String,
    /// Advice on next steps.
    pub advice: Vec<String>,
}

/// One prior as it was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prior {
    /// The parameter that has the prior.
    pub name: String,
    /// The distribution, e.g. `normal(0, 2.5)`.
    pub distribution: String,
    /// Its origin, e.g. `default` or `given`.
    #[serde(default)]
    pub origin: String,
}

/// Moments and quantiles of one number's posterior.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Monte Carlo standard error of the mean, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcse: Option<f64>,
    /// Standard deviation.
    pub sd: f64,
    /// 5 % quantile.
    pub q5: f64,
    /// Median.
    pub q50: f64,
    /// 95 % quantile.
    pub q95: f64,
    /// Quartiles, for the inner interval of plots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quartiles: Option<[f64; 2]>,
}

impl Summary {
    /// Whether the 90 % interval excludes zero.
    pub fn excludes_zero(&self) -> bool {
        self.q5 > 0.0 || self.q95 < 0.0
    }

    /// The summary of a normal distribution.
    pub fn normal_summary(mean: f64, sd: f64) -> Self {
        Self {
            mean,
            mcse: None,
            sd,
            q5: mean - 1.644_853_626_951_472_7 * sd,
            q50: mean,
            q95: mean + 1.644_853_626_951_472_7 * sd,
            quartiles: Some([
                mean - 0.674_489_750_196_081_7 * sd,
                mean + 0.674_489_750_196_081_7 * sd,
            ]),
        }
    }
}

/// One coefficient or group effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    /// `x1`, `color[red]`, `sd(site)`.
    pub name: String,
    /// The group and term, if it is a random effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The summary of the fit.
    #[serde(flatten)]
    pub summary: Summary,
    /// The summary with importance weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Summary>,
}

impl Coefficient {
    /// A coefficient without a correction.
    pub fn new(name: impl Into<String>, summary: Summary) -> Self {
        Self {
            name: name.into(),
            effect: None,
            summary,
            corrected: None,
        }
    }

    /// The summary to report: the corrected one if there is one.
    pub fn best_summary(&self) -> &Summary {
        self.corrected.as_ref().unwrap_or(&self.summary)
    }
}

/// The effects of one group term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupEffects {
    /// The grouping column, e.g. `site`.
    pub group: String,
    /// The effect that varies by group, e.g. `Intercept`.
    pub term: String,
    /// The class of the response, for categorical responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// One effect per level, or only the highest and the lowest if `all` summarises the others.
    pub effects: Vec<Coefficient>,
    /// A summary of all levels, if `effects` are not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<AllLevels>,
}

/// A summary of the effects of all levels of a group term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AllLevels {
    /// The posterior mean of each.
    pub means: Vec<f64>,
    /// How many have a 90 % interval that excludes zero.
    pub clear: usize,
}

/// The predicted response over the values of one column, with the others at their reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectCurve {
    /// The column.
    pub variable: String,
    /// The property of the response that is shown.
    pub response: String,
    /// Whether the column holds numbers and not levels.
    pub numeric: bool,
    /// Its values in order.
    pub points: Vec<EffectPoint>,
}

/// The response at one value of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectPoint {
    /// The value with its column: `age = 30`.
    pub name: String,
    /// The value, if it is a number.
    pub value: Option<f64>,
    /// Posterior mean.
    pub mean: f64,
    /// 5 % quantile.
    pub low: f64,
    /// 95 % quantile.
    pub high: f64,
}

/// A smooth function as it was fitted, on the scale of the linear predictor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FittedFunction {
    /// The term, e.g. `gp(day)`.
    pub name: String,
    /// The columns of its arguments.
    pub inputs: Vec<String>,
    /// The column that it is multiplied by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplier: Option<String>,
    /// The level of the function, if each level has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The class of the response, for categorical responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Its values.
    pub shape: FunctionShape,
}

/// The values of a fitted function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionShape {
    /// Of one column.
    Curve(FunctionCurve),
    /// Of two columns.
    Surface(FunctionSurface),
}

/// The values of a function of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionCurve {
    /// Places, ascending.
    pub x: Vec<f64>,
    /// The posterior mean at each.
    pub mean: Vec<f64>,
    /// The 5 % quantile at each.
    pub low: Vec<f64>,
    /// The 95 % quantile at each.
    pub high: Vec<f64>,
    /// The places of some rows.
    pub places: Vec<f64>,
}

/// The values of a function of two columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionSurface {
    /// Places of the first column, ascending.
    pub x: Vec<f64>,
    /// Places of the second.
    pub y: Vec<f64>,
    /// The posterior mean, `x` changing fastest.
    pub mean: Vec<f64>,
    /// The posterior standard deviation.
    pub sd: Vec<f64>,
    /// The places of some rows.
    pub places: Vec<[f64; 2]>,
}

/// A number known up to Monte Carlo error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub mean: f64,
    /// Its standard error.
    pub se: f64,
}

/// The time of each part of a fit, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seconds {
    /// Reading the table.
    pub read: f64,
    /// Finding a start.
    pub start: f64,
    /// Tracing, differentiating and planning.
    pub compile: f64,
    /// Training.
    pub train: f64,
    /// Final estimates.
    pub evaluate: f64,
}

impl Seconds {
    /// The parts in order, with their names.
    pub fn named_parts(&self) -> [(&'static str, f64); 5] {
        [
            ("read", self.read),
            ("start", self.start),
            ("compile", self.compile),
            ("train", self.train),
            ("evaluate", self.evaluate),
        ]
    }

    /// All parts together.
    pub fn total(&self) -> f64 {
        self.named_parts().iter().map(|part| part.1).sum()
    }
}

/// One setting and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The setting.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// The bound's estimate at one training step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// The step.
    pub iteration: u64,
    /// The estimate.
    pub value: f64,
}

/// Posterior draws, one row per draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Draws {
    /// One name per column.
    pub names: Vec<Name>,
    /// Row-major values; their number is a multiple of the number of names.
    pub values: Vec<f64>,
}

impl Draws {
    /// How many complete draws there are.
    pub fn n_draws(&self) -> usize {
        self.values.len().checked_div(self.names.len()).unwrap_or(0)
    }

    /// All draws of one number.
    pub fn column(&self, index: usize) -> impl Iterator<Item = f64> + '_ {
        let width = self.names.len().max(1);
        let rows = self.values.chunks_exact(width);
        rows.filter_map(move |row| row.get(index).copied())
    }
}

/// Outcomes drawn from the posterior, with the observed ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictiveCheck {
    /// The outcomes themselves.
    Samples {
        /// Observed outcomes or a sample of them.
        observed: Vec<f64>,
        /// One data set per posterior draw.
        replicated: Vec<Vec<f64>>,
    },
    /// Histograms over common bins.
    Binned {
        /// Bin edges, one more than bins.
        edges: Vec<f64>,
        /// Rows of each bin as observed.
        observed: Vec<f64>,
        /// Rows of each bin per posterior draw.
        replicated: Vec<Vec<f64>>,
    },
}

/// Rows of similar predicted probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// Mean predicted probability.
    pub predicted: f64,
    /// Observed frequency.
    pub observed: f64,
    /// Rows in the bin.
    pub count: u64,
    /// Lower end of the interval around the observed frequency.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How often one count was seen, and how often the posterior expects it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountBin {
    /// The count.
    pub value: u64,
    /// Rows that have it.
    pub observed: f64,
    /// Rows expected to have it.
    pub expected: f64,
    /// The 5 % and 95 % quantiles of the expected rows over draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// One row's residual.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Residual {
    /// Fitted value.
    pub fitted: f64,
    /// Observed outcome less fitted value.
    pub residual: f64,
}

/// One method's line in a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The method.
    pub method: String,
    /// Its bound on the log evidence.
    pub bound: f64,
    /// Standard error of the bound.
    pub se: f64,
    /// Time to fit.
    pub seconds: f64,
    /// Mean log likelihood of held-out rows.
    #[serde(default)]
    pub test_log_likelihood: Option<f64>,
    /// Tail shape of its importance weights.
    #[serde(default)]
    pub pareto_k: Option<f64>,
}
