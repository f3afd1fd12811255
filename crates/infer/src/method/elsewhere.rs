//! The methods that can fit rows stored elsewhere.

use lehr_density::Density;

use crate::error::FitError;
use crate::method::MethodInfo;
use crate::start::is_plain;
use lehr_mixed::has_random_effects;

/// Methods that compute the mode, its curvature and their weights from all rows, and use the sample
/// only for the remainder of an expansion at the mode. All others would fit the sample.
pub const METHODS: &[&str] = &[
    "auto",
    "mean-field",
    "full-rank",
    "low-rank",
    "sl-dais",
    "surrogate-hmc",
    "collapse",
];

/// Methods that evaluate all rows at every step, and use the sample only for their start: for
/// workers that hold the rows in memory. A reader of files would have to read them for every step.
pub const BY_STEPS: &[&str] = &["nuts"];

/// Methods that compute random effects from sums over the rows.
pub const COLLAPSING: &[&str] = &["auto", "collapse"];

/// Whether those can fit a model whose rows are stored elsewhere.
pub fn collapses(density: &dyn Density) -> bool {
    density.elsewhere().is_some() && has_random_effects(density)
}

/// Refuses methods, and models, that cannot work with rows stored elsewhere.
///
/// # Errors
/// If this is such a method, or the mode of the model is unsuitable for an expansion.
pub(crate) fn check(method: &MethodInfo, density: &dyn Density) -> Result<(), FitError> {
    let refuse = |problem: String, hint: String| {
        Err(FitError::Setting {
            method: method.name,
            problem,
            hint,
        })
    };
    let Some(rows) = density.elsewhere() else {
        return Ok(());
    };
    let (total, place) = (density.total_rows(), rows.place());
    if BY_STEPS.contains(&method.name) {
        return Ok(());
    }
    if !METHODS.contains(&method.name) {
        let problem = format!("expected rows in this process, found {total} {place}");
        let hint = format!(
            "there, use one of {}",
            [METHODS, BY_STEPS].concat().join(", ")
        );
        return refuse(problem, hint);
    }
    let collapses = COLLAPSING.contains(&method.name) && collapses(density);
    if !is_plain(density) && !collapses {
        let problem = format!(
            "expected a model whose rows read linear predictors and no spread among the latents for \
             the {total} rows {place}, found another"
        );
        let hint = "effects by group are fitted by collapse where the response is gaussian (by any method \
                    where there are at most 512 latents), else on a cluster by nuts";
        return refuse(problem, hint.into());
    }
    Ok(())
}
