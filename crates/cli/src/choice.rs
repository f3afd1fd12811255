//! The choices of a fit on the command line, and the fit they make.

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use lehr::infer::annealed::Momentum;
use lehr::infer::fit::{Fit, Start};
use lehr::infer::guide::{Base, FullRank, LowRank, MeanField};
use lehr::infer::method::Method;
use lehr::infer::surrogate::SurrogateKind;
use lehr::infer::train::Iterations;

/// The Gaussian below a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BaseName {
    /// Independent latents
    MeanField,
    /// All correlations
    FullRank,
    /// A few directions of correlation
    LowRank,
}

impl BaseName {
    /// The Gaussian itself.
    pub(crate) fn base(self) -> Base {
        match self {
            BaseName::MeanField => Base::MeanField(MeanField::default()),
            BaseName::FullRank => Base::FullRank(FullRank::default()),
            BaseName::LowRank => Base::LowRank(LowRank::default()),
        }
    }
}

/// Where training starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StartName {
    /// The model's own start
    Zero,
    /// The mode of the posterior
    Map,
    /// The mode and the curvature there
    Laplace,
    /// The best Gaussian by integrals over each row's linear predictor
    Quadrature,
    /// The best independent Gaussian for a fixed set of draws
    Variational,
}

/// The coordinates of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MomentumName {
    /// The latents' own
    Diagonal,
    /// Those in which the base is standard normal
    Whitened,
}

/// Everything about a fit but its method and seed; what is not given is chosen and reported.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Fitting")]
pub(crate) struct Choice {
    /// The Gaussian below a chain
    #[arg(long, value_enum)]
    pub(crate) base: Option<BaseName>,
    /// What drives the chain of sl-dais (see lehr methods)
    #[arg(long, value_name = "NAME")]
    pub(crate) surrogate: Option<String>,
    /// Rows of the surrogate
    #[arg(long, value_name = "N")]
    pub(crate) surrogate_rows: Option<usize>,
    /// Leapfrog steps of the chain
    #[arg(long, value_name = "K")]
    pub(crate) chain_steps: Option<usize>,
    /// Rows that score a training step
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<usize>,
    /// Draws per training step
    #[arg(long, value_name = "N")]
    pub(crate) lanes: Option<usize>,
    /// Training steps: a number, or auto to stop when the bound is level
    #[arg(long, value_name = "auto|N", default_value = "auto")]
    pub(crate) iterations: String,
    /// Where training starts
    #[arg(long, value_enum)]
    pub(crate) start: Option<StartName>,
    /// The coordinates of the chain
    #[arg(long, value_enum)]
    pub(crate) momentum: Option<MomentumName>,
    /// Fresh draws that the result is judged and summarised by
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub(crate) draws: usize,
    /// Where all randomness comes from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

impl Choice {
    /// The fit by a method. What belongs to a chain is refused for a method without one.
    pub(crate) fn fit(&self, method: Method) -> Result<Fit> {
        let mut fit = Fit::new(method).with_seed(self.seed);
        fit.base = self.base.map(BaseName::base);
        fit.chain_steps = self.chain_steps;
        fit.surrogate = self.surrogate()?;
        fit.surrogate_rows = self.surrogate_rows;
        fit.batch = self.batch;
        fit.draws = self.draws;
        fit.train.iterations = self.iterations(fit.train.iterations)?;
        fit.train.lanes = self.lanes()?.unwrap_or(fit.train.lanes);
        if let Some(start) = self.start {
            fit.start = match start {
                StartName::Zero => Start::Zero,
                StartName::Map => Start::Map,
                StartName::Laplace => Start::Laplace,
                StartName::Quadrature => Start::Quadrature,
                StartName::Variational => Start::Variational,
            };
        }
        if let Some(momentum) = self.momentum {
            fit.momentum = match momentum {
                MomentumName::Diagonal => Momentum::Diagonal,
                MomentumName::Whitened => Momentum::Whitened,
            };
        }
        Ok(fit)
    }

    /// The fit by one of several methods: each takes of the choices what concerns it.
    pub(crate) fn fit_of_many(&self, method: Method) -> Result<Fit> {
        let mut own = self.clone();
        if !method.is_annealed() {
            own.chain_steps = None;
        }
        if method != Method::SlDais {
            own.surrogate = None;
            own.surrogate_rows = None;
        }
        own.fit(method)
    }

    fn surrogate(&self) -> Result<Option<SurrogateKind>> {
        let name = self.surrogate.as_deref();
        Ok(name.map(str::parse::<SurrogateKind>).transpose()?)
    }

    fn lanes(&self) -> Result<Option<usize>> {
        match self.lanes {
            Some(0) => Err(anyhow!(
                "--lanes: expected at least one draw per step, found 0"
            )),
            lanes => Ok(lanes),
        }
    }

    fn iterations(&self, usual: Iterations) -> Result<Iterations> {
        let wrong = || {
            anyhow!(
                "--iterations: expected auto or a number of steps, found {:?}\n  hint: auto stops when the bound is level",
                self.iterations
            )
        };
        match self.iterations.as_str() {
            "auto" => Ok(usual),
            text => match text.parse() {
                Ok(count) if count > 0 => Ok(Iterations::Fixed(count)),
                _ => Err(wrong()),
            },
        }
    }
}

/// The methods of a list such as `mf,full-rank,sl-dais`.
pub(crate) fn methods(names: &[String]) -> Result<Vec<Method>> {
    names.iter().map(|name| method(name)).collect()
}

/// The method of that name.
pub(crate) fn method(name: &str) -> Result<Method> {
    let found = name.trim().parse::<Method>();
    found.map_err(|error| anyhow!("{error}\n  hint: lehr methods says when to choose which"))
}
