//! Covariance functions as values: a kernel with its scale and lengthscales.

use lehr_graph::{Expr, Graph};

use super::kernel::Kernel;
use crate::distribution::Value;

/// The covariance of a random function between any two places: s² times the correlation of a
/// kernel at their distance in lengthscales.
#[derive(Clone, Debug)]
pub struct CovarianceFunction<'g> {
    kernel: Kernel,
    scale: Value<'g>,
    lengthscales: Value<'g>,
}

/// A covariance by the name of its kernel.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name<'g>(CovarianceFunction<'g>);

        impl<'g> $name<'g> {
            /// With the standard deviation of the function and a lengthscale for each column, or one
            /// for all.
            pub fn new(scale: impl Into<Value<'g>>, lengthscales: impl Into<Value<'g>>) -> Self {
                $name(CovarianceFunction::new(Kernel::$name, scale, lengthscales))
            }
        }

        impl<'g> From<$name<'g>> for CovarianceFunction<'g> {
            fn from(own: $name<'g>) -> CovarianceFunction<'g> {
                own.0
            }
        }
    )+};
}

kernels! {
    /// s² exp(−½d²): functions with all derivatives.
    Rbf;
    /// s² (1 + √3 d) e^{−√3 d}: functions with one derivative.
    Matern32;
    /// s² (1 + √5 d + 5d²/3) e^{−√5 d}: functions with two derivatives.
    Matern52;
}

impl<'g> CovarianceFunction<'g> {
    /// The covariance of this kernel.
    pub fn new(
        kernel: Kernel,
        scale: impl Into<Value<'g>>,
        lengthscales: impl Into<Value<'g>>,
    ) -> CovarianceFunction<'g> {
        CovarianceFunction {
            kernel,
            scale: scale.into(),
            lengthscales: lengthscales.into(),
        }
    }

    /// s², the variance at every place.
    pub fn variance(&self, graph: &'g Graph) -> Expr<'g> {
        self.scale.on_graph(graph).square()
    }

    /// The covariance of each row of `x` `[n, d]` with each row of `z` `[m, d]`, `[n, m]`.
    ///
    /// |x − z|² = |x|² + |z|² − 2 x·z takes one product. Rounding may make it negative, which
    /// counts as 0.
    pub fn between(&self, x: Expr<'g>, z: Expr<'g>) -> Expr<'g> {
        let graph = z.graph();
        let shrink = self.lengthscales.on_graph(graph).recip();
        let (x, z) = (x * shrink, z * shrink);
        let inner = x.dot(z.transpose());
        let [of_x, of_z] = [x, z].map(|place| place.square().sum_axis(1));
        let rows = x.shape().dims()[0];
        let apart = of_x.reshape([rows, 1]) + of_z - inner * 2.0;
        self.kernel.correlations(apart.max(graph.scalar(0.0))) * self.variance(graph)
    }
}
