//! Where a formula names a column, and what for.

use crate::error::{FormulaError, Span};
use crate::expression::Expr;
use crate::spelling::suggestion;
use crate::syntax::Node;

/// A column named in a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnUse {
    /// The column.
    pub name: String,
    /// Where; the place of `.` for the columns it stands for.
    pub span: Span,
    /// What for.
    pub role: ColumnRole,
}

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// The response as it stands.
    Response,
    /// Inside a function that makes the response.
    NumericResponse,
    /// The number of trials.
    Trials,
    /// The failures beside the successes.
    Failures,
    /// Row weights.
    Weights,
    /// Standard errors of the response.
    Errors,
    /// What says which responses are known by bounds only.
    Censoring,
    /// A bound of the response.
    Limit,
    /// A covariate whose true value is not known.
    Latent,
    /// The spread of its errors.
    Spread,
    /// An offset.
    Offset,
    /// A factor of a term as it stands.
    Term,
    /// `C(...)`.
    Categorical,
    /// Inside arithmetic, `poly`, `scale`, `center`, `bs`, `ns`, `s` or `gp`.
    Number,
    /// A grouping.
    Group,
    /// What a smooth function is multiplied by, or varies by.
    By,
    /// In a term that is taken away.
    Removed,
}

impl ColumnUse {
    /// Refuses a column that is not among `names`.
    pub(crate) fn check_known<S: AsRef<str>>(&self, names: &[S]) -> Result<(), FormulaError> {
        let Self { name, span, .. } = self;
        if names.iter().any(|known| known.as_ref() == name) {
            return Ok(());
        }
        let message = format!("no column \"{name}\" in the table");
        let is_intercept = |name: &str| name.eq_ignore_ascii_case("intercept");
        let is_other = || names.iter().any(|known| is_intercept(known.as_ref()));
        let hint = match self.role {
            _ if !is_intercept(name) || is_other() => suggestion(name, "the table", names),
            ColumnRole::Removed => "write - 1 to leave out the intercept".into(),
            _ => "the intercept is there unless 0 or - 1 leaves it out: y ~ x, or y ~ 1".into(),
        };
        Err(FormulaError::new(*span, message).hint(hint))
    }

    /// Refuses text where numbers are computed with.
    pub(crate) fn check_kind(&self, is_text: &dyn Fn(&str) -> bool) -> Result<(), FormulaError> {
        let wanted = match self.role {
            ColumnRole::NumericResponse | ColumnRole::Number => "arithmetic",
            ColumnRole::Trials => "trials(...)",
            ColumnRole::Failures => "cbind(...)",
            ColumnRole::Weights => "weights(...)",
            ColumnRole::Errors => "se(...)",
            ColumnRole::Limit => "a limit",
            ColumnRole::Latent => "me(...) or mi(...)",
            ColumnRole::Spread => "a standard deviation",
            ColumnRole::Offset => "offset(...)",
            ColumnRole::Response
            | ColumnRole::Censoring
            | ColumnRole::Term
            | ColumnRole::Categorical
            | ColumnRole::Group
            | ColumnRole::By
            | ColumnRole::Removed => return Ok(()),
        };
        if !is_text(&self.name) {
            return Ok(());
        }
        let message = format!(
            "{wanted} needs numbers, but column \"{}\" holds text",
            self.name
        );
        Err(FormulaError::new(self.span, message).hint("text columns stand alone, as in y ~ color"))
    }

    /// Whether `.` leaves the column out because it is spoken for.
    pub(crate) fn is_claimed(&self) -> bool {
        matches!(
            self.role,
            ColumnRole::Response
                | ColumnRole::NumericResponse
                | ColumnRole::Trials
                | ColumnRole::Failures
                | ColumnRole::Weights
                | ColumnRole::Errors
                | ColumnRole::Censoring
                | ColumnRole::Limit
                | ColumnRole::Latent
                | ColumnRole::Spread
                | ColumnRole::Offset
                | ColumnRole::Group
        )
    }
}

/// Tells where and how a column is used.
pub(crate) type UseListener<'a> = dyn FnMut(&str, Span, ColumnRole) + 'a;

/// Arithmetic that reads at least one column and nothing of the table as a whole.
pub(crate) fn read_numbers(node: &Node, used: &mut UseListener<'_>) -> Result<Expr, FormulaError> {
    let expr = read_term(node, used)?;
    match expr.unlearnt() {
        None => Ok(expr),
        Some((standard, inner)) => {
            let message = format!(
                "{} cannot stand here",
                Expr::Standard(standard, inner.clone().into())
            );
            Err(FormulaError::new(node.span, message)
                .hint("center and scale belong into terms on the right of ~"))
        }
    }
}

/// Arithmetic that reads at least one column.
pub(crate) fn read_term(node: &Node, used: &mut UseListener<'_>) -> Result<Expr, FormulaError> {
    let expr = Expr::read(node, &mut |name, span| used(name, span, ColumnRole::Number))?;
    if expr.columns().is_empty() {
        return Err(FormulaError::new(node.span, "this names no column")
            .hint("a constant is what the intercept is for"));
    }
    Ok(expr)
}
