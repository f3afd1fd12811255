//! The places where a formula names a column, and the purpose of each.

use crate::error::{FormulaError, Span};
use crate::expression::ColumnExpr;
use crate::spelling::suggestion;
use crate::syntax::SyntaxNode;

/// A column named in a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnUse {
    /// The column.
    pub name: String,
    /// The place in the text; for columns that `.` stands for, the place of `.`.
    pub span: Span,
    /// The purpose.
    pub role: ColumnRole,
}

/// The purpose for which a formula uses a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// The response itself.
    Response,
    /// An argument of a function that computes the response.
    NumericResponse,
    /// The number of trials.
    Trials,
    /// The failures beside the successes.
    Failures,
    /// Row weights.
    Weights,
    /// Standard errors of the response.
    Errors,
    /// The column of censoring states.
    Censoring,
    /// A bound of the response.
    Limit,
    /// A covariate whose true value is not known.
    Latent,
    /// The standard deviation of its errors.
    Spread,
    /// An offset.
    Offset,
    /// A factor of a term, without any computation.
    Term,
    /// `C(...)`.
    Categorical,
    /// Inside arithmetic, `poly`, `scale`, `center`, `bs`, `ns`, `s` or `gp`.
    Number,
    /// A grouping factor.
    Group,
    /// The column that multiplies a smooth function, or by whose levels it varies.
    By,
    /// Part of a term that is removed.
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
        Err(FormulaError::new(*span, message).with_hint(hint))
    }

    /// Refuses text where numbers are needed.
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
            _ => return Ok(()),
        };
        if !is_text(&self.name) {
            return Ok(());
        }
        let name = &self.name;
        let message = format!("{wanted} needs numbers, but column \"{name}\" holds text");
        Err(FormulaError::new(self.span, message)
            .with_hint("text columns stand alone, as in y ~ color"))
    }

    /// Whether `.` leaves the column out because it has another purpose.
    pub(crate) fn is_claimed(&self) -> bool {
        use ColumnRole::{By, Categorical, Number, Removed, Term};
        !matches!(self.role, Term | Categorical | Number | By | Removed)
    }
}

/// A callback that receives the name, place and purpose of each column.
pub(crate) type UseListener<'a> = dyn FnMut(&str, Span, ColumnRole) + 'a;

/// Reads arithmetic that uses at least one column and no statistic of the whole table.
pub(crate) fn read_numbers(
    node: &SyntaxNode,
    used: &mut UseListener<'_>,
) -> Result<ColumnExpr, FormulaError> {
    let expr = read_term(node, used)?;
    let Some((standard, inner)) = expr.find_unlearnt() else {
        return Ok(expr);
    };
    let found = ColumnExpr::Standard(standard, inner.clone().into());
    Err(
        FormulaError::new(node.span, format!("{found} cannot stand here"))
            .with_hint("center and scale belong into terms on the right of ~"),
    )
}

/// Reads arithmetic that uses at least one column.
pub(crate) fn read_term(
    node: &SyntaxNode,
    used: &mut UseListener<'_>,
) -> Result<ColumnExpr, FormulaError> {
    let expr = ColumnExpr::read_node(node, &mut |name, span| used(name, span, ColumnRole::Number))?;
    if expr.column_names().is_empty() {
        return Err(FormulaError::new(node.span, "this names no column")
            .with_hint("a constant is what the intercept is for"));
    }
    Ok(expr)
}
