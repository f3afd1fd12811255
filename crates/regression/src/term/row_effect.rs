//! An effect of every row, `(1 | row())`: a normal latent that shifts the row's predictor.

use lehr_formula::BY_ROW;
use lehr_graph::Expr;
use lehr_model::distribution::Normal;
use lehr_model::{Row, Tracer};

use crate::coefficient::Reporter;
use crate::column_name::ROW_EFFECT;
use crate::family::{Family, Link};
use crate::law::{Domain, Kind, Law, sample};
use crate::learn::error::LearnError;
use crate::model_plan::{Blueprint, BlueprintBuilder};
use crate::named_draws::{Draws, NamedDraws};
use crate::prior::Parameter;

/// The site and the name of its spread.
pub(crate) fn row_spread() -> String {
    format!("sd({BY_ROW})")
}

impl BlueprintBuilder<'_> {
    /// The spread of rows' effects, which can have a prior.
    pub(crate) fn row_parameter(&self) -> Option<Parameter> {
        let is_there = self.parts.by_row;
        is_there.then(|| Parameter::named(&row_spread(), Domain::Positive))
    }

    /// The prior of the spread of rows' effects: that of any group.
    pub(crate) fn row_law(&mut self) -> Result<Option<Law>, LearnError> {
        if !self.parts.by_row {
            return Ok(None);
        }
        self.check_by_row()?;
        let (unit, name) = (self.parts.anchor.unit, row_spread());
        let usual = match self.parts.family.link() {
            Link::Identity => 1.0,
            _ => 2.0,
        };
        let default = Law::new(Kind::HalfNormal, &[usual * unit]);
        Ok(Some(self.choose(
            std::slice::from_ref(&name),
            &name,
            &default,
            unit,
        )))
    }

    /// Refuses effects of rows that no data could tell from the response's own noise.
    fn check_by_row(&self) -> Result<(), LearnError> {
        let family = self.parts.family;
        let wrong = |found: String, hint: &str| {
            Err(LearnError::Column {
                at: format!("(1 | {BY_ROW})"),
                expected: "a family whose rows tell their own effects from other noise".into(),
                found,
                hint: hint.into(),
            })
        };
        if let Some(smooth) = self.parts.induced {
            let found = format!(
                "{}, whose inducing points have noise in each row",
                smooth.label
            );
            return wrong(
                found,
                "add functions of one or two columns instead, as in gp(x1) + gp(x2, x3)",
            );
        }
        match family {
            Family::Gaussian if self.parts.has_errors => Ok(()),
            Family::Gaussian | Family::LogNormal => wrong(
                format!("{family}, where only the sum of its variance and sigma² is known"),
                "leave the term out: sigma is the spread of rows already",
            ),
            Family::Bernoulli | Family::Categorical | Family::Ordinal | Family::OrdinalProbit => {
                wrong(
                    format!("{family}, where a row of one outcome says nothing of a spread"),
                    "leave the term out, or write (1 | group) for groups of several rows",
                )
            }
            Family::PoissonLogNormal | Family::BinomialLogitNormal => wrong(
                format!("{family}, which has such an effect already"),
                "leave the term out; its spread is called sigma there",
            ),
            _ => Ok(()),
        }
    }
}

impl Blueprint {
    /// The spread of rows' effects on the scale of the predictor.
    pub(crate) fn row_spread_site<'g>(&self, m: &Tracer<'g>) -> Option<Expr<'g>> {
        let law = self.row_spread.as_ref()?;
        let spread = sample(m, &row_spread(), std::slice::from_ref(law), &[]);
        Some(spread * self.unit)
    }
}

/// The predictor with each row's own effect.
pub(crate) fn shifted<'g>(row: &Row<'_, 'g>, at: Expr<'g>, spread: Option<Expr<'g>>) -> Expr<'g> {
    spread.map_or(at, |spread| {
        at + row.local(ROW_EFFECT, Normal::new(0.0, spread))
    })
}

impl Reporter<'_> {
    /// `sd(row())`.
    pub(crate) fn row_spread(&self, draws: &Draws<'_>, found: &mut Vec<NamedDraws>) {
        if self.blueprint.row_spread.is_none() {
            return;
        }
        let site = row_spread();
        let values = draws.entry(&site, 0);
        found.push(NamedDraws {
            values: values.iter().map(|value| value * self.unit()).collect(),
            name: site.into(),
        });
    }
}
