//! The Python module, which only converts between Python objects and the Rust facade.

#![expect(
    clippy::needless_pass_by_value,
    reason = "PyO3 hands over what it has extracted"
)]

mod after;
mod arviz;
mod check;
mod cluster;
mod command;
mod error;
mod fit;
mod fitting;
mod leaving;
mod part;
mod record;
mod request;
mod source;
mod watch;

use pyo3::prelude::*;

/// The internals of `python/lehr`, which users do not import.
#[pymodule]
mod _lehr {
    #[pymodule_export]
    use super::after::{best, compare_left_out, compared_report, effects, loo};
    #[pymodule_export]
    use super::check::{against, check, simulate};
    #[pymodule_export]
    use super::cluster::{Partition, fit_cluster};
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::error::{Interrupted, LehrError};
    #[pymodule_export]
    use super::fit::PyFit;
    #[pymodule_export]
    use super::fitting::{fit, priors};
    #[pymodule_export]
    use super::leaving::{
        compare_parts, glance_part, leave_out_part, loo_parts, parts_to_leave_out,
    };
    #[pymodule_export]
    use super::part::parts;
    #[pymodule_export]
    use super::record::{BoundModel, Recorder, Value, distributions, log_density, record};
    #[pymodule_export]
    use super::request::{families, methods, needed};
    #[pymodule_export]
    use super::source::PySource;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
