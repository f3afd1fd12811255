//! A regression without its rows: the constants that a table determined, and the plan of its model.

use lehr_formula::Terms;
use lehr_learn::{
    ColumnProfile, Covariate, FixedEffects, GroupingFactor, Monotonic, ResponseColumn, Smooth,
    Spline,
};
use serde::{Deserialize, Serialize};

use crate::family::Family;
use crate::model_plan::ModelPlan;
use crate::prior::PriorOrigin;
use crate::stored_response;

/// A regression without its rows: it turns tables into the columns of its model, and draws of the
/// model's sites into coefficients. Saving it keeps everything that later tables need.  Internally
/// the columns of the fixed effects have mean 0 and standard deviation 1 (without an intercept:
/// mean square 1), and the linear predictor is measured from the link of the response's mean in
/// units of its standard deviation (families with a link: in units of 1). The response itself is
/// not transformed, so log densities are those of the table. Default priors:
///
/// ```text
/// Intercept at the means of the columns   normal(link(mean(y)), 2.5 sd(y))     2.5 with a link
/// a coefficient of x                      normal(0, 2.5 sd(y)/sd(x))           2.5/sd(x) with a link
/// a level, or a column with two values    normal(0, 2.5 sd(y)) per difference  2.5 with a link
/// sigma                                   exponential(1/sd(y))
/// sd(group), by what it multiplies        half_normal(sd(y)/rms(x))            2/rms(x) with a link
/// cor(group)                              lkj(2)
/// sd(row())                               half_normal(sd(y))                   2 with a link
/// me(x).mean, me(x).sd, and of mi(x)      normal(mean(x), 2.5 sd(x)), half_normal(2 sd(x))
/// gp(x).scale                             half_normal(sd(y))                   1 with a link
/// gp(x).lengthscale                       log_normal, 95 % from 0.1 to 0.5 of the range of x;
///                                         of two columns from 0.2 to 0.5, of a period from 0.05 to 0.5
/// sd(s(x))                                half_student_t(3, 2.5 sd(y))         2.5 with a link
/// mo(x), from one of D + 1 levels to the next   normal(0, 2.5 sd(y)/D)      2.5/D with a link
/// mo(x).step                              dirichlet(1)
/// df above 1                              gamma(2, 0.1)
/// shape and precision                     inverse_gamma(0.4, 0.3)
/// gate, dispersion                        beta(1, 1)
/// a parameter's formula, `sigma ~ x`      on the scale of its link (log; gate: logit): the intercept
///                                         at the means normal(log(sd(y)), 2.5) for sigma, normal(0, 2.5)
///                                         for shape and precision, normal(0, 1.5) for gate;
///                                         a coefficient normal(0, 1/sd(x)), of a level normal(0, 1)
/// cutpoint                                dirichlet(1) of the classes' proportions at the means
/// ```
///  A user's priors are on coefficients as reported; `Intercept` is the one at which all columns
///  are 0. Only `df`, which is above 1 so that there is a mean, has its prior on the excess. With
///  several classes one prior applies to the coefficients of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    pub(crate) formula: String,
    pub(crate) terms: Terms,
    pub(crate) family: Family,
    #[serde(with = "stored_response")]
    pub(crate) outcome: ResponseColumn,
    /// The columns of the fixed effects.
    pub population: FixedEffects,
    pub(crate) groupings: Vec<GroupingFactor>,
    /// The covariate with errors or gaps.
    #[serde(default)]
    pub covariate: Option<Covariate>,
    pub(crate) smooths: Vec<Smooth>,
    pub(crate) splines: Vec<Spline>,
    pub(crate) monotonics: Vec<Monotonic>,
    /// The function by inducing points.
    pub(crate) induced: Option<Smooth>,
    pub(crate) model_plan: ModelPlan,
    /// The columns of the formulas of parameters.
    #[serde(default)]
    pub(crate) parameters: Vec<FixedEffects>,
    pub(crate) priors: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) prior_origins: Vec<PriorOrigin>,
    pub(crate) profiles: Vec<ColumnProfile>,
    pub(crate) notes: Vec<String>,
}
