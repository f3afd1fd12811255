//! An effect of every row, `(1 | row())`: a normal latent that shifts the row's predictor.

use lehr_formula::BY_ROW;
use lehr_graph::Expr;
use lehr_learn::{LearnError, Link, Smooth};
use lehr_model::distribution::Normal;
use lehr_model::{Row, Tracer};

use crate::column_name::ROW_EFFECT;
use crate::family::Family;
use crate::law::{Domain, Kind, Law, sample};
use crate::prior::Parameter;
use crate::prior_book::PriorBook;
use crate::term::covariate::ADD_FUNCTIONS;

/// The name of its standard deviation, and of the site.
pub(crate) fn row_spread() -> String {
    format!("sd({BY_ROW})")
}

/// The standard deviation of the rows' effects, which can have a prior.
pub(crate) fn row_parameter() -> Parameter {
    Parameter::named(&row_spread(), Domain::Positive)
}

/// The prior of the standard deviation of the rows' effects, which is that of any grouping factor.
pub(crate) fn row_law(book: &mut PriorBook<'_>) -> Result<Law, LearnError> {
    check_by_row(book)?;
    let unit = book.unit();
    let usual = match book.family.link() {
        Link::Identity => 1.0,
        _ => 2.0,
    };
    let default = Law::new(Kind::HalfNormal, &[usual * unit]);
    Ok(book.choose(&[row_spread()], &default, unit))
}

/// Refuses effects of rows that no data could distinguish from the response's own noise.
fn check_by_row(book: &PriorBook<'_>) -> Result<(), LearnError> {
    let family = book.family;
    let wrong = |found: String, hint: &str| {
        Err(LearnError::column(
            format!("(1 | {BY_ROW})"),
            "a family whose rows tell their own effects from other noise",
            found,
            hint,
        ))
    };
    if let Some(Smooth { label, .. }) = book.induced {
        let found = format!("{label}, whose inducing points have noise in each row");
        return wrong(found, ADD_FUNCTIONS);
    }
    match family {
        Family::Gaussian if book.has_errors() => Ok(()),
        Family::Gaussian | Family::LogNormal => wrong(
            format!("{family}, where only the sum of its variance and sigma² is known"),
            "leave the term out: sigma is the spread of rows already",
        ),
        Family::Bernoulli | Family::Categorical | Family::Ordinal | Family::OrdinalProbit => wrong(
            format!("{family}, where a row of one outcome says nothing of a spread"),
            "leave the term out, or write (1 | group) for groups of several rows",
        ),
        Family::PoissonLogNormal | Family::BinomialLogitNormal => wrong(
            format!("{family}, which has such an effect already"),
            "leave the term out; its spread is called sigma there",
        ),
        _ => Ok(()),
    }
}

/// The standard deviation of the rows' effects in units of the predictor.
pub(crate) fn row_spread_site<'g>(m: &Tracer<'g>, law: &Law) -> Expr<'g> {
    sample(m, &row_spread(), std::slice::from_ref(law), &[])
}

/// The predictor plus each row's own effect.
pub(crate) fn shifted<'g>(row: &Row<'_, 'g>, at: Expr<'g>, spread: Option<Expr<'g>>) -> Expr<'g> {
    spread.map_or(at, |spread| {
        at + row.local(ROW_EFFECT, Normal::new(0.0, spread))
    })
}
