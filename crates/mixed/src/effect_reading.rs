//! A description of how rows read their effects: sites, columns, and the change of coefficients with
//! the hyperparameters. It has no data of rows, and is sent to workers.

use lehr_density::Density;
use lehr_rows::{RowsError, decoded};
use serde::{Deserialize, Serialize};

use crate::effect_structure::EffectStructure;

/// The way in which rows read their effects, without data of any row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EffectReading {
    /// In the order of [`EffectStructure`].
    pub(crate) blocks: Vec<BlockReading>,
    /// The places of the common effects in z.
    pub(crate) common: Vec<usize>,
    /// The standard deviation of the response at the reference.
    pub(crate) noise: f64,
}

/// The way in which rows read the effects of one block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BlockReading {
    pub(crate) site: usize,
    /// The column with the group of each row; `None` if all rows are one group.
    pub(crate) column: Option<usize>,
    pub(crate) groups: usize,
    pub(crate) width: usize,
    /// T at the moved hyperparameters: empty for the identity, else the diagonal or the full
    /// matrix, row-major.
    pub(crate) map: Vec<f64>,
}

impl EffectReading {
    /// The reading of a model's rows, with T of every block at moved hyperparameters.
    pub(crate) fn of(
        model: &EffectStructure<'_>,
        maps: Vec<Vec<f64>>,
        noise: f64,
    ) -> EffectReading {
        let blocks = (model.blocks.iter().zip(maps)).map(|(block, map)| BlockReading {
            site: block.site,
            column: block.column,
            groups: block.groups,
            width: block.width,
            map,
        });
        EffectReading {
            blocks: blocks.collect(),
            common: model.common.places.clone(),
            noise,
        }
    }

    /// Read back, of the same model.
    ///
    /// # Errors
    /// If the message is damaged or about another model.
    pub(crate) fn read(density: &dyn Density, message: &[u8]) -> Result<EffectReading, RowsError> {
        let reading: EffectReading = decoded(message)?;
        let latents = density.latents();
        let is_of = |own: &BlockReading| {
            let columns = density.columns().len();
            let maps = [0, own.width, own.width * own.width];
            own.site < latents.sites().len()
                && own.column.is_none_or(|column| column < columns)
                && own.groups * own.width == latents.range(own.site).len()
                && maps.contains(&own.map.len())
        };
        let common = reading.common.iter();
        if reading.blocks.iter().all(is_of) && common.max().is_none_or(|k| *k < latents.size()) {
            return Ok(reading);
        }
        Err(RowsError::Lost(
            "rows: expected a message about the effects of this model, found one of another\n  hint: give workers \
             the model of the fit"
                .into(),
        ))
    }

    /// How many coefficients a row has.
    pub(crate) fn entries(&self) -> usize {
        let blocks = self.blocks.iter().map(|block| block.width);
        blocks.sum::<usize>() + self.common.len()
    }
}
