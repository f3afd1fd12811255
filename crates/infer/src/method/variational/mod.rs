//! Methods that train a guide: the loop that all of them share, and one file for each.

mod check;
pub(crate) mod dais;
mod fit;
mod flow;
pub(crate) mod full_rank;
mod gaussian;
pub(crate) mod iaf;
pub(crate) mod low_rank;
pub(crate) mod mean_field;
mod row_chain;
mod sampler;
pub(crate) mod semi_dais;
pub(crate) mod sl_dais;

pub use dais::{AllRows, Dais};
pub(crate) use flow::restore_flow;
pub use flow::{FlowMethod, NamedFlow};
pub use full_rank::FullRank;
pub use gaussian::{GaussianMethod, NamedGaussian};
pub use iaf::Iaf;
pub use low_rank::LowRank;
pub use mean_field::MeanField;
pub(crate) use row_chain::restore;
pub use row_chain::{RowChain, RowDrive};
pub use sampler::{ReadGuide, restore_gaussian, restore_guide};
pub use semi_dais::{LatentGuide, SemiDais};
pub use sl_dais::SlDais;

use lehr_density::{Density, Nodes};

use super::{Method, MethodInfo, VariationalMethod, VariationalSettings};
use crate::error::FitError;
use crate::posterior::Posterior;
use crate::run::Run;
use crate::setting::Setting;

impl<T: VariationalMethod> Method for T {
    fn info(&self) -> &'static MethodInfo {
        VariationalMethod::info(self)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        VariationalMethod::settings(self)
    }

    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        fit::fit(self, density, run)
    }

    fn condenses(&self, _: &dyn Density) -> bool {
        let VariationalSettings { batch, control, .. } = self.common();
        batch.is_none() && control.is_none() && !self.names_rows()
    }

    fn most_locals(&self) -> usize {
        if self.scores_rows() {
            Nodes::MOST_LOCALS
        } else {
            Nodes::MOST_EXACT
        }
    }

    fn variational(&self) -> Option<&dyn VariationalMethod> {
        Some(self)
    }

    fn variational_mut(&mut self) -> Option<&mut dyn VariationalMethod> {
        Some(self)
    }
}
