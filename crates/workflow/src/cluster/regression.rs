//! A regression on a table that is divided among other processes.

use std::sync::Arc;
use std::time::Instant;

use lehr_density::{Density, WeightedModel};
use lehr_infer::fit::Fit;
use lehr_learn::LearnError;
use lehr_model::Bound;
use lehr_numeric::stream::Stream;
use lehr_regression::{Regression, Specification};
use lehr_table::Field;

use super::partition::joined;
use super::store::WorkersStore;
use super::table::WorkerTable;
use super::task::{PartitionTask, RowCount, Sample, decoded, encoded, places_in_parts};
use super::{Tasks, Workers};
use crate::bound::BoundRegression;
use crate::error::Error;
use crate::part::refuse_ordered_terms;
use crate::saved_fit::SavedFit;

/// The smallest size of a sample: fewer rows would estimate the error of an expansion too poorly.
const FEWEST: usize = 4096;

/// A regression whose scales and levels are still to be learned from the rows of the workers.
pub struct ClusterDraft<'a> {
    /// The formula, family and priors.
    pub specification: &'a Specification,
    /// The columns of the table.
    pub fields: Vec<Field>,
    /// The number of rows that are drawn at random for the local sample.
    pub sample: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The time at which reading began.
    pub clock: Instant,
}

/// A regression with a local sample of its rows; all rows are with the workers.
pub struct ClusterRegression {
    base: BoundRegression,
    density: WeightedModel<Bound>,
}

impl ClusterDraft<'_> {
    /// Learns levels and scales from all rows, and draws a sample of them.
    ///
    /// # Errors
    /// If the table does not suit the formula, a cluster cannot fit the model, or a worker cannot
    /// answer.
    pub fn learn(self, workers: Arc<dyn Workers>) -> Result<ClusterRegression, Error> {
        let terms = self.specification.only_terms();
        let terms = terms.ok_or_else(|| {
            LearnError::column(
                "cluster",
                "a formula of one response",
                "several responses",
                "fit them on one machine, or one by one",
            )
        })?;
        refuse_ordered_terms(terms)?;
        let table = WorkerTable {
            workers: &*workers,
            names: self.fields.iter().map(|field| field.name.clone()).collect(),
            fields: self.fields.clone(),
        };
        let regression = self.specification.learn(&table)?;
        let bound = workers.bind(&encoded(&regression));
        bound.map_err(LearnError::Read)?;
        let counts: Vec<RowCount> =
            answers(&*workers, Tasks::Same(&encoded(&PartitionTask::Count)))?;
        let dropped = counts.iter().map(|count| count.dropped).sum::<u64>() as usize;
        let rows: Vec<u64> = counts.iter().map(|count| count.rows).collect();
        let bound = self.sampled(&regression, &rows, &*workers)?;
        refuse_locals(&bound)?;
        let total = rows.iter().sum::<u64>() as usize;
        let (here, partitions) = (bound.n_rows(), workers.partitions());
        let words = format!("on a cluster, {partitions} partitions; a sample of {here} here");
        let density =
            WeightedModel::of_sample(bound.clone(), total, Arc::new(WorkersStore(workers)));
        let own = (regression, bound);
        Ok(ClusterRegression {
            base: BoundRegression {
                dropped_rows: dropped,
                ..BoundRegression::of_one(self.specification, own, words, self.clock)
            },
            density,
        })
    }

    /// The model on a uniform sample of the rows, in random order.
    fn sampled(
        &self,
        regression: &Regression,
        rows: &[u64],
        workers: &dyn Workers,
    ) -> Result<Bound, Error> {
        let total: u64 = rows.iter().sum();
        if total == 0 {
            return Err(LearnError::NoRows.into());
        }
        let wanted = (self.sample.max(FEWEST) as u64).min(total) as usize;
        let chosen = Stream::new(self.seed, "cluster sample", 0).distinct(total, wanted);
        let places = places_in_parts(&chosen, rows.iter().copied()).into_iter();
        let tasks = places.map(|own| encoded(&PartitionTask::Sample(own)));
        let tasks: Vec<Vec<u8>> = tasks.collect();
        let parts: Vec<Sample> = answers(workers, Tasks::Each(&tasks))?;
        let parts: Vec<Sample> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let mut places: Vec<usize> = (0..wanted).collect();
        Stream::new(self.seed, "cluster order", 0).shuffle(&mut places);
        let data = joined(&parts, &places);
        Ok(regression.program()?.bind_source(Arc::new(data)))
    }
}

fn answers<T: serde::de::DeserializeOwned>(
    workers: &dyn Workers,
    tasks: Tasks<'_>,
) -> Result<Vec<T>, LearnError> {
    let answers = workers.answer(tasks).map_err(LearnError::Read)?;
    answers.iter().map(|bytes| decoded(bytes)).collect()
}

fn refuse_locals(bound: &Bound) -> Result<(), LearnError> {
    if bound.locals().is_none() {
        return Ok(());
    }
    Err(LearnError::column(
        "family",
        "one without a latent for every row",
        "one with such latents, which a cluster does not integrate out",
        "use negbinomial or beta_binomial for counts that vary more, or fit on one machine",
    ))
}

impl ClusterRegression {
    /// The model without its rows.
    pub fn regression(&self) -> &Regression {
        let regression = self.base.subject.regression();
        regression.expect("a cluster fits one response")
    }

    /// The model bound to the sample, with the store of all rows.
    pub fn density(&self) -> &WeightedModel<Bound> {
        &self.density
    }

    /// Fits by one method.
    ///
    /// # Errors
    /// If the method cannot work with rows that are elsewhere, a worker cannot answer, or the fit
    /// fails.
    pub fn fit(&self, fit: Fit<'_>) -> Result<SavedFit, Error> {
        self.base.fit_density(fit, &self.density)
    }
}
