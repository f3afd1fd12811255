//! Smooth functions of columns: `gp(day)`, `gp(lon, lat, k = 400)`, `gp(hour, period = 24)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::column_use::{ColumnRole, UseListener, read_numbers};
use crate::error::{FormulaError, Span};
use crate::expression::{ColumnExpr, only_argument};
use crate::option::{read_period, read_whole};
use crate::spelling::{suggestion, unknown_option};
use crate::syntax::{NodeKind, SyntaxNode, parse_call, quote_name};

/// Advice in place of a bad `k`.
const USUAL: &str = "leave it out for the usual number";

/// The name of the call in a formula.
pub(super) const NAME: &str = "gp";

/// The arguments that have names.
const OPTIONS: [&str; 5] = ["k", "kernel", "by", "period", "how"];

/// The endings of the parameters that can have a prior.
const PARAMETERS: [&str; 2] = [".lengthscale", ".scale"];

/// Most latent variables that one function can have.
const MOST: f64 = 10_000.0;

/// A function of columns with a Gaussian-process prior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmoothTerm {
    /// The arguments of the function; never empty.
    pub inputs: Vec<ColumnExpr>,
    /// The kernel of the Gaussian process.
    pub kernel: KernelName,
    /// The column that multiplies the function, or for each of whose levels there is a function.
    pub by: Option<ByVariable>,
    /// The period of a periodic function, in the unit of the input.
    pub period: Option<f64>,
    /// The number of latent variables of one function, if it was given.
    pub k: Option<usize>,
    /// The kind of the latent variables, if it was given.
    pub how: Option<GpApproximation>,
}

/// The kind of the latent variables of a smooth function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpApproximation {
    /// Weights of fixed basis functions; for one or two columns.
    Basis,
    /// Values at inducing points, which are learned.
    Inducing,
}

/// A covariance function by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelName {
    /// exp(−½d²): functions with all derivatives.
    #[default]
    Rbf,
    /// (1 + √3 d) e^{−√3 d}: functions with one derivative.
    Matern32,
    /// (1 + √5 d + 5d²/3) e^{−√5 d}: functions with two derivatives.
    Matern52,
}

/// The column that a smooth function depends on besides its inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ByVariable {
    /// A column of numbers, which multiply the function.
    Column(String),
    /// `C(site)`, or a column that holds text: each level has a function of its own.
    Levels(String),
}

impl KernelName {
    /// Every kernel.
    pub const ALL: [KernelName; 3] = [KernelName::Rbf, KernelName::Matern32, KernelName::Matern52];

    /// The name of the kernel in a formula.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rbf => "rbf",
            Self::Matern32 => "matern32",
            Self::Matern52 => "matern52",
        }
    }
}

impl GpApproximation {
    const ALL: [GpApproximation; 2] = [GpApproximation::Basis, GpApproximation::Inducing];

    fn name(self) -> &'static str {
        match self {
            Self::Basis => "basis",
            Self::Inducing => "inducing",
        }
    }
}

impl ByVariable {
    /// The column.
    pub fn column(&self) -> &str {
        match self {
            Self::Column(name) | Self::Levels(name) => name,
        }
    }

    /// A text column has levels even without `C(...)`.
    pub(super) fn resolve_text(&mut self, is_text: &dyn Fn(&str) -> bool) {
        if let Self::Column(name) = self
            && is_text(name)
        {
            *self = Self::Levels(name.clone());
        }
    }
}

impl SmoothTerm {
    /// Reads the arguments of a call.
    pub(super) fn read_call(
        span: Span,
        arguments: &[SyntaxNode],
        used: &mut UseListener<'_>,
    ) -> Result<Self, FormulaError> {
        let mut term = Self {
            inputs: Vec::new(),
            kernel: KernelName::default(),
            by: None,
            period: None,
            k: None,
            how: None,
        };
        let mut named: Vec<&str> = Vec::new();
        for argument in arguments {
            let NodeKind::Named(name, value) = &argument.kind else {
                term.read_input(argument, used)?;
                continue;
            };
            if named.contains(&name.as_str()) {
                return Err(FormulaError::given_twice(argument.span, name));
            }
            named.push(name);
            term.read_option(name, argument.span, value, used)?;
        }
        term.check_options(span)?;
        Ok(term)
    }

    fn read_input(
        &mut self,
        node: &SyntaxNode,
        used: &mut UseListener<'_>,
    ) -> Result<(), FormulaError> {
        let input = read_numbers(node, used)?;
        if self.inputs.contains(&input) {
            return Err(FormulaError::given_twice(node.span, input));
        }
        self.inputs.push(input);
        Ok(())
    }

    fn read_option(
        &mut self,
        name: &str,
        span: Span,
        value: &SyntaxNode,
        used: &mut UseListener<'_>,
    ) -> Result<(), FormulaError> {
        match name {
            "k" => self.k = Some(read_whole(name, value, 2.0..=MOST, USUAL)?),
            "kernel" => self.kernel = read_kernel(value)?,
            "by" => self.by = Some(read_by(value, used)?),
            "period" => self.period = Some(read_period(value, "gp(hour, period = 24)")?),
            "how" => self.how = Some(read_approximation(value)?),
            _ => return Err(unknown_option(NAME, name, span, &OPTIONS)),
        }
        Ok(())
    }

    fn check_options(&self, span: Span) -> Result<(), FormulaError> {
        let error = |message: &str| FormulaError::new(span, message);
        let count = self.inputs.len();
        if count == 0 {
            return Err(error("gp(...) names no column").with_hint("name one, as in gp(x)"));
        }
        if self.period.is_some() && count > 1 {
            return Err(error("a periodic function has one column")
                .with_hint("write gp(hour, period = 24) + gp(x)"));
        }
        if self.how == Some(GpApproximation::Basis) && count > 2 {
            let message = format!("a basis is of one or two columns, found {count}");
            return Err(error(&message).with_hint("leave how = basis out for inducing points"));
        }
        if self.is_induced() && (self.period.is_some() || self.by.is_some()) {
            return Err(
                error("a function by inducing points has neither period nor by")
                    .with_hint("use functions of one or two columns with how = basis for those"),
            );
        }
        Ok(())
    }

    /// Whether the latent variables are values at inducing points: if that was requested, or with
    /// more than two columns.
    pub fn is_induced(&self) -> bool {
        match self.how {
            Some(how) => how == GpApproximation::Inducing,
            None => self.inputs.len() > 2,
        }
    }

    /// The name of the function, with which the names of its parameters begin: `gp(day)`, `gp(day,
    /// by = site)`.
    pub fn term_label(&self) -> String {
        let by = self
            .by
            .as_ref()
            .map(|by| quote_name(by.column()).into_owned());
        self.write_call(by, &[])
    }

    /// The columns it reads, in order, with repeats.
    pub fn column_names(&self) -> Vec<&str> {
        let inputs = self.inputs.iter().flat_map(ColumnExpr::column_names);
        inputs
            .chain(self.by.iter().map(ByVariable::column))
            .collect()
    }

    /// A text column has a function for each of its levels.
    pub(super) fn resolve_text(&mut self, is_text: &dyn Fn(&str) -> bool) {
        if let Some(by) = &mut self.by {
            by.resolve_text(is_text);
        }
    }

    fn write_call(&self, by: Option<String>, more: &[String]) -> String {
        let inputs = self.inputs.iter().map(ToString::to_string);
        let by = by.map(|by| format!("by = {by}"));
        let period = self.period.map(|period| format!("period = {period}"));
        let all = inputs.chain(by).chain(period).chain(more.iter().cloned());
        format!("{NAME}({})", all.collect::<Vec<String>>().join(", "))
    }
}

impl fmt::Display for ByVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => f.write_str(&quote_name(name)),
            Self::Levels(name) => write!(f, "C({})", quote_name(name)),
        }
    }
}

impl fmt::Display for SmoothTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let k = self.k.map(|k| format!("k = {k}"));
        let kernel = (self.kernel != KernelName::default())
            .then(|| format!("kernel = {}", self.kernel.name()));
        let how = self.how.map(|how| format!("how = {}", how.name()));
        let more: Vec<String> = k.into_iter().chain(kernel).chain(how).collect();
        f.write_str(&self.write_call(self.by.as_ref().map(ByVariable::to_string), &more))
    }
}

fn read_kernel(node: &SyntaxNode) -> Result<KernelName, FormulaError> {
    let names = KernelName::ALL.map(KernelName::name);
    let NodeKind::Name(name) = &node.without_parens().kind else {
        return Err(FormulaError::new(node.span, "a kernel is a name")
            .with_hint(format!("one of {}", names.join(", "))));
    };
    let found = KernelName::ALL.into_iter().find(|one| one.name() == name);
    found.ok_or_else(|| {
        let message = format!("no kernel \"{name}\"");
        FormulaError::new(node.span, message).with_hint(suggestion(name, NAME, &names))
    })
}

fn read_approximation(node: &SyntaxNode) -> Result<GpApproximation, FormulaError> {
    let found = match &node.without_parens().kind {
        NodeKind::Name(name) => GpApproximation::ALL
            .into_iter()
            .find(|one| one.name() == name),
        _ => None,
    };
    found.ok_or_else(|| {
        FormulaError::new(node.span, "how takes basis or inducing").with_hint(
            "basis: weights of fixed functions; inducing: values at points that are learned",
        )
    })
}

/// Reads the value of `by =`.
pub(super) fn read_by(
    node: &SyntaxNode,
    used: &mut UseListener<'_>,
) -> Result<ByVariable, FormulaError> {
    let wrong = |span| {
        FormulaError::new(span, "by takes the name of a column")
            .with_hint("write by = x for a multiple, by = C(g) for a function per level")
    };
    match &node.without_parens().kind {
        NodeKind::Name(name) => {
            used(name, node.span, ColumnRole::By);
            Ok(ByVariable::Column(name.clone()))
        }
        NodeKind::Call(function, arguments) if function == "C" => {
            let argument = only_argument("C", arguments, node.span)?;
            let NodeKind::Name(name) = &argument.without_parens().kind else {
                return Err(wrong(argument.span));
            };
            used(name, argument.span, ColumnRole::By);
            Ok(ByVariable::Levels(name.clone()))
        }
        _ => Err(wrong(node.span)),
    }
}

/// The parameter of a smooth function that a text names, `gp(day).lengthscale`; `None` if it
/// names something else.
pub(crate) fn parse_parameter(text: &str) -> Result<Option<String>, FormulaError> {
    let Some((call, parameter)) = parse_call(text, &[NAME], &PARAMETERS)? else {
        return Ok(None);
    };
    let term = SmoothTerm::read_call(call.span, &call.arguments, &mut |_, _, _| {})?;
    let label = term.term_label();
    if parameter.is_empty() {
        let message = format!("{label} has the parameters scale and lengthscale");
        let hint = format!("write {label}.lengthscale ~ ... or {label}.scale ~ ...");
        return Err(FormulaError::new(call.span, message).with_hint(hint));
    }
    Ok(Some(label + parameter))
}
