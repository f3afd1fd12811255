//! A model: a function that names its sites.

use std::fmt;
use std::sync::Arc;

use crate::tracer::Tracer;

type Writer = dyn for<'g> Fn(&Tracer<'g>) + Send + Sync;

/// A model as a function that names its sites, not yet recorded.  The function runs once, when the
/// model is recorded ([`Model::record`], [`Model::bind`]); everything else uses the recorded
/// [`crate::Program`].
#[derive(Clone)]
pub struct Model {
    write: Arc<Writer>,
}

impl Model {
    /// A model from the function that writes it. Captured values are moved in.
    pub fn new<F>(write: F) -> Model
    where
        F: for<'g> Fn(&Tracer<'g>) + Send + Sync + 'static,
    {
        Model {
            write: Arc::new(write),
        }
    }

    pub(crate) fn run_program(&self, tracer: &Tracer<'_>) {
        (self.write)(tracer);
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Model")
    }
}
