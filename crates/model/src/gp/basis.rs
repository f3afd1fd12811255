//! The Hilbert-space basis: a Gaussian process as a sum of sines with random weights.
//!
//! Riutort-Mayol, Bürkner, Andersen, Solin & Vehtari (2023). On [−L, L] per column
//!
//! ```text
//! f(x) = Σⱼ √G(ωⱼ) φⱼ(x) βⱼ                   β ~ N(0, 1)
//! φⱼ(x) = Π_d L_d^{−½} sin(ω_{jd}(x_d + L_d))   ω_{jd} = π j_d/(2L_d)
//! ```
//!
//! where G is the spectral density of the kernel. Lengthscales and places are in units of the
//! half range S of each column, so that L is the factor c of the paper: c multiplies the *half*
//! range (brms multiplies the whole).

use std::f64::consts::PI;

use lehr_graph::{Expr, Graph};
use serde::{Deserialize, Serialize};

use super::kernel::Kernel;

/// The least ln √G in units of the scale: functions of size e⁻⁶⁰ have no visible effect. √G of high
/// frequencies decreases like e^(−¼ℓ²ω²), which underflows to 0 for a long lengthscale and then has
/// no logarithm.
const LEAST: f64 = -60.0;

/// The basis functions whose weighted sum is the smooth function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpBasis {
    kernel: Kernel,
    axes: Vec<BasisAxis>,
}

/// One column of a basis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BasisAxis {
    /// The middle of the fitted places.
    pub centre: f64,
    /// Half their range, in which lengthscales are measured; half the period of a circle.
    pub unit: f64,
    /// How far the basis reaches from the centre in units; `None` on a circle.
    pub boundary: Option<f64>,
    /// The number of functions; on a circle the number of harmonics, of two functions each.
    pub count: usize,
}

impl BasisAxis {
    /// The axis of places from `low` to `high`, for lengthscales from `least` to `most` in units of
    /// half that range: c = 1 + reach·ℓ_max, m = density·c/ℓ_min.
    pub fn on_interval(
        kernel: Kernel,
        [low, high]: [f64; 2],
        [least, most]: [f64; 2],
    ) -> BasisAxis {
        let boundary = 1.0 + kernel.correlation_reach() * most;
        BasisAxis {
            centre: low.midpoint(high),
            unit: 0.5 * (high - low),
            boundary: Some(boundary),
            count: (kernel.spectral_density() * boundary / least)
                .ceil()
                .max(1.0) as usize,
        }
    }

    /// The axis of a periodic function, for lengthscales from `least` half periods on.
    pub fn on_circle(kernel: Kernel, period: f64, least: f64) -> BasisAxis {
        BasisAxis {
            centre: 0.0,
            unit: 0.5 * period,
            boundary: None,
            count: (0.5 * kernel.spectral_density() / least).ceil().max(1.0) as usize,
        }
    }

    /// The lengthscales, in units, for which the basis has its stated accuracy.
    pub fn covered_interval(&self, kernel: Kernel) -> [f64; 2] {
        let (density, count) = (kernel.spectral_density(), self.count as f64);
        match self.boundary {
            Some(boundary) => {
                let most = (boundary - 1.0) / kernel.correlation_reach();
                [density * boundary / count, most]
            }
            None => [0.5 * density / count, f64::INFINITY],
        }
    }

    /// A place in units from the centre.
    pub fn place_on_axis(&self, x: f64) -> f64 {
        (x - self.centre) / self.unit
    }

    /// How many functions it has.
    pub fn width(&self) -> usize {
        match self.boundary {
            Some(_) => self.count,
            None => 2 * self.count,
        }
    }

    /// The frequency of each function, per unit.
    fn frequencies(&self) -> Vec<f64> {
        let harmonics = 1..=self.count;
        match self.boundary {
            Some(boundary) => harmonics
                .map(|j| PI * j as f64 / (2.0 * boundary))
                .collect(),
            None => harmonics.flat_map(|j| [PI * j as f64; 2]).collect(),
        }
    }

    /// The functions at a place. The sines follow from a rotation, at a cost of two products each.
    fn basis_values(&self, x: f64, values: &mut [f64]) {
        let at = self.place_on_axis(x);
        let (angle, size) = match self.boundary {
            Some(boundary) => (0.5 * PI * (at / boundary + 1.0), boundary.sqrt().recip()),
            None => (PI * at, 1.0),
        };
        let (sine, cosine) = angle.sin_cos();
        let (mut s, mut c) = (0.0, size);
        let each = if self.boundary.is_some() { 1 } else { 2 };
        for own in values.chunks_exact_mut(each) {
            (s, c) = (s * cosine + c * sine, c * cosine - s * sine);
            own[0] = s;
            if let [_, second] = own {
                *second = c;
            }
        }
    }
}

impl GpBasis {
    /// The basis of one or two columns.
    ///
    /// # Panics
    /// Without axes.
    pub fn new(kernel: Kernel, axes: Vec<BasisAxis>) -> GpBasis {
        assert!(!axes.is_empty(), "a function of at least one column");
        GpBasis { kernel, axes }
    }

    /// The columns.
    pub fn axes(&self) -> &[BasisAxis] {
        &self.axes
    }

    /// The covariance function.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// How many functions it has.
    pub fn width(&self) -> usize {
        self.axes.iter().map(BasisAxis::width).product()
    }

    /// The functions in each row of the columns, row-major; those of the last column vary fastest.
    ///
    /// # Panics
    /// Unless there is a column of the same length for each axis.
    pub fn features(&self, columns: &[Vec<f64>]) -> Vec<f64> {
        assert_eq!(columns.len(), self.axes.len(), "a column for each axis");
        let (rows, width) = (columns[0].len(), self.width());
        let mut features = vec![1.0; rows * width];
        let axes = self.axes.iter();
        let mut own: Vec<Vec<f64>> = axes.map(|axis| vec![0.0; axis.width()]).collect();
        for (row, out) in features.chunks_exact_mut(width).enumerate() {
            let mut stride = width;
            for ((axis, column), values) in self.axes.iter().zip(columns).zip(&mut own) {
                axis.basis_values(column[row], values);
                stride /= axis.width();
                for (place, feature) in out.iter_mut().enumerate() {
                    *feature *= values[place / stride % values.len()];
                }
            }
        }
        features
    }

    /// √G of each function, `[k]`, at a scale and lengthscales `[d]` in units of the axes.
    pub fn amplitudes<'g>(&self, scale: Expr<'g>, lengthscales: Expr<'g>) -> Expr<'g> {
        self.log_amplitudes(scale, lengthscales).exp()
    }

    /// ln √G of each function, `[k]`.  On a circle the spectrum is normalised: the kernel is
    /// wrapped around the circle without its constant, which the intercept represents, and the
    /// scale is the standard deviation of the function.
    pub fn log_amplitudes<'g>(&self, scale: Expr<'g>, lengthscales: Expr<'g>) -> Expr<'g> {
        let (graph, columns) = (scale.graph(), self.axes.len());
        let lengthscales = lengthscales.reshape([columns]);
        let q = self.squared_frequencies(graph).dot(lengthscales.square());
        let log = self.kernel.log_spectrum(q, columns);
        let is_circle = self.axes.iter().any(|axis| axis.boundary.is_none());
        let size = if is_circle {
            // Each harmonic has a sine and a cosine, whose squares add up to 1.
            2_f64.ln() - log.log_sum_exp(0)
        } else {
            lengthscales.ln().sum()
        };
        ((log + size) * 0.5).max(graph.scalar(LEAST)) + scale.ln()
    }

    /// The squared frequency of each function in each column, `[k, d]`.
    fn squared_frequencies<'g>(&self, graph: &'g Graph) -> Expr<'g> {
        let (width, columns) = (self.width(), self.axes.len());
        let mut squares = vec![0.0; width * columns];
        let mut stride = width;
        for (place, axis) in self.axes.iter().enumerate() {
            let own = axis.frequencies();
            stride /= own.len();
            for row in 0..width {
                squares[row * columns + place] = own[row / stride % own.len()].powi(2);
            }
        }
        graph.constant([width, columns], &squares)
    }
}
