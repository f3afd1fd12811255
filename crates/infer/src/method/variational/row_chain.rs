//! Annealed chains driven by the table's own rows: the common code of `dais`, `ns-dais` and
//! `ns2-dais`, which differ in the rows.

use std::marker::PhantomData;
use std::sync::Arc;

use lehr_density::Density;

use crate::annealed::Drive;
use crate::bytes::{decoded, encoded};
use crate::error::FitError;
use crate::estimate::Choices;
use crate::guide::Guide;
use crate::method::{
    ChainSettings, ChainShape, GuideInputs, GuideParts, MethodInfo, Sampler, VariationalMethod,
    VariationalSettings, restore_guide,
};
use crate::setting::Setting;

/// The rows of the table that drive a chain.
pub trait RowDrive: Clone + Send + Sync + 'static {
    /// The row of the method.
    const INFO: &'static MethodInfo;
    /// The default number of draws per training step.
    const LANES: usize = 4;
    /// The default K.
    const STEPS: usize = 8;

    /// The drive with mini-batches of this size.
    fn drive(batch: usize) -> Drive;
}

/// Annealed leapfrog steps on rows of the table.
#[derive(Clone)]
pub struct RowChain<R> {
    /// The chain.
    pub chain: ChainSettings,
    /// The settings common to all variational methods.
    pub variational: VariationalSettings,
    rows: PhantomData<R>,
}

impl<R: RowDrive> Default for RowChain<R> {
    fn default() -> RowChain<R> {
        RowChain {
            chain: ChainSettings::default(),
            variational: VariationalSettings::new(R::LANES, 2e-3),
            rows: PhantomData,
        }
    }
}

impl<R: RowDrive> VariationalMethod for RowChain<R> {
    fn info(&self) -> &'static MethodInfo {
        R::INFO
    }

    fn shared(&self) -> (&VariationalSettings, Option<&ChainSettings>) {
        (&self.variational, Some(&self.chain))
    }

    fn shared_mut(&mut self) -> (&mut VariationalSettings, Option<&mut ChainSettings>) {
        (&mut self.variational, Some(&mut self.chain))
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let mut settings = self.chain.settings();
        settings.extend(self.variational.settings());
        settings
    }

    fn has_layers(&self) -> bool {
        true
    }

    fn names_rows(&self) -> bool {
        !matches!(R::drive(1), Drive::FullData)
    }

    fn guide(
        &self,
        ground: &GuideInputs<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        let shape = self.chain.shape(ground.base.clone(), R::STEPS, choices);
        let bytes = encoded(&(&shape, ground.batch));
        let guide = Arc::new(shape.on(R::drive(ground.batch)));
        Ok(GuideParts::new(guide, bytes))
    }
}

/// Restores a fit by such a chain.
pub(crate) fn restore<R: RowDrive>(bytes: &[u8]) -> Result<Box<dyn Sampler>, FitError> {
    restore_guide(bytes, guide::<R>)
}

fn guide<R: RowDrive>(bytes: &[u8], _: &dyn Density) -> Result<Box<dyn Guide>, FitError> {
    let (shape, batch): (ChainShape, usize) = decoded(bytes)?;
    Ok(Box::new(shape.on(R::drive(batch))))
}
