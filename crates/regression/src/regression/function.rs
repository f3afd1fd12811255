//! The fitted smooth functions of a regression.

use lehr_density::SiteValue;
use lehr_learn::Spline;
use lehr_report::FittedFunction;

use crate::coefficient::induced_function::InducedDraws;
use crate::coefficient::smooth_function::FunctionDraws;
use crate::coefficient::spline_function::SplineDraws;
use crate::learned_regression::Regression;
use crate::option::Groups;

impl Regression {
    /// Whether the formula has functions that are plotted.
    pub fn has_functions(&self) -> bool {
        self.has_smooths() || !self.splines.is_empty() || self.induced.is_some()
    }

    /// Whether the formula has smooth functions with lengthscales.
    pub fn has_smooths(&self) -> bool {
        !self.smooths.is_empty()
    }

    /// The rows whose inputs of Gaussian processes are stored, in words.
    pub fn kept_places(&self) -> Option<String> {
        let smooths = self.smooths.iter().chain(&self.induced);
        let smooths = smooths.map(|smooth| smooth.places[0].len());
        let splines = self.splines.iter().map(|spline| spline.places.len());
        let most = smooths.chain(splines).max()?;
        Some(format!(
            "where up to {most} rows lie on the smooth functions"
        ))
    }

    /// The fitted functions on the scale of the linear predictor, from draws of the sites and the
    /// values of learned parameters.
    pub fn functions(&self, sites: &[SiteValue], learned: &[SiteValue]) -> Vec<FittedFunction> {
        let model_plan = &self.model_plan;
        let mut found = Vec::new();
        for (place, head) in model_plan.heads.iter().enumerate() {
            let class =
                (model_plan.heads.len() > 1).then(|| self.outcome.classes[place + 1].as_str());
            for (smooth, plan) in self.smooths.iter().zip(&model_plan.smooths) {
                let draws = FunctionDraws::new(smooth, plan, model_plan.unit, sites, head);
                found.extend(draws.functions(class));
            }
            for (spline, plan) in self.splines.iter().zip(&model_plan.splines) {
                let draws = SplineDraws {
                    spline,
                    plan,
                    unit: plan.of.as_ref().map_or(model_plan.unit, |_| 1.0),
                    head,
                    line: self.line(spline, sites, head),
                };
                found.push(draws.function(sites, class));
            }
        }
        if let Some((smooth, plan)) = self.induced.as_ref().zip(model_plan.induced.as_ref()) {
            let function = InducedDraws {
                unit: model_plan.unit,
                draws: sites,
                learned,
                smooth,
                plan,
            };
            found.extend(function.function());
        }
        found
    }

    /// The slope of a smooth's line in each draw, and the mean of its column.
    fn line(&self, spline: &Spline, sites: &[SiteValue], head: &str) -> (Vec<f64>, f64) {
        let Some(line) = &spline.line else {
            return (Vec::new(), 0.0);
        };
        let name = format!("{line}{head}");
        let slopes = (self.coefficients(sites, Groups::Leave).into_iter())
            .find(|draws| draws.name.to_string() == name);
        (
            slopes.map_or_else(Vec::new, |draws| draws.values),
            spline.centre(),
        )
    }

    /// Notes on Gaussian processes whose lengthscales the draws do not determine.
    pub fn stray_lengthscales(&self, sites: &[SiteValue]) -> Vec<String> {
        let mut found = Vec::new();
        for (smooth, plan) in self.smooths.iter().zip(&self.model_plan.smooths) {
            for head in &self.model_plan.heads {
                found.extend(plan.strays(smooth, &plan.lengthscale_draws(sites, head)));
            }
        }
        found
    }
}
