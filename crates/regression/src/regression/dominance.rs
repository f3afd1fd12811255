//! Detects coefficients for which the prior is more informative than the data.

use lehr_learn::list_names;
use lehr_report::Coefficient;

use crate::learned_regression::Regression;

/// The least ratio of posterior to prior standard deviation that is reported.
const SHARE: f64 = 0.7;

impl Regression {
    /// A note on coefficients whose posterior is nearly as wide as their prior.
    pub fn dominated(&self, coefficients: &[Coefficient]) -> Option<String> {
        let laws = self.population.columns.iter().zip(&self.model_plan.weights);
        let is_dominated = |name: &str, deviation: f64| {
            let found = coefficients.iter().find(|one| one.name == name);
            found.is_some_and(|one| one.best_summary().sd > SHARE * deviation)
        };
        let names = laws.filter_map(|(column, law)| {
            let deviation = law.deviation()? * self.model_plan.unit / column.scale;
            is_dominated(&column.name, deviation).then(|| column.name.clone())
        });
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| {
            format!(
                "{}: the prior says more than the data, whose posterior is nearly as wide",
                list_names(&names)
            )
        })
    }
}
