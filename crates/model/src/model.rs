//! A model: a function that names its sites.

use std::fmt;
use std::sync::Arc;

use crate::tracer::Tracer;

type Program = dyn for<'g> Fn(&Tracer<'g>) + Send + Sync;

/// A model program, not yet bound to a table.
///
/// The function is run whenever an expression of the model is needed: once when it is bound,
/// once for the prior, once for each set of rows. It must name the same sites every time.
#[derive(Clone)]
pub struct Model {
    program: Arc<Program>,
}

impl Model {
    /// A model from its program. Captured values are moved in.
    pub fn new<F>(program: F) -> Model
    where
        F: for<'g> Fn(&Tracer<'g>) + Send + Sync + 'static,
    {
        Model {
            program: Arc::new(program),
        }
    }

    pub(crate) fn run(&self, tracer: &Tracer<'_>) {
        (self.program)(tracer);
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Model")
    }
}
