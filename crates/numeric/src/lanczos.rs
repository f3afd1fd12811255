//! Lanczos iterations of several vectors at once with a symmetric matrix.

use crate::stream::Stream;
use faer::{Mat, Side};

/// Vectors that are processed together.
pub const LANES: usize = 8;
/// One number of each vector.
pub type LaneMoments = [f64; LANES];
/// Lanczos steps for ln |S|, and the first number of steps for draws.
pub const STEPS: usize = 8;

/// Hutchinson probes: random signs or other vectors whose outer products average to the identity.
pub struct Probes {
    /// By coordinate; the last few lanes may be 0.
    pub lanes: Vec<Vec<LaneMoments>>,
    /// How many of them are nonzero.
    pub count: usize,
    /// Lanczos steps from each.
    pub steps: usize,
}

impl Probes {
    /// Eight vectors of random signs.
    pub fn random_signs(size: usize) -> Probes {
        let mut random = Stream::new(0, "probes", 0);
        let mut sign = || if random.uniform() < 0.5 { -1.0 } else { 1.0 };
        let vectors = (0..size).map(|_| std::array::from_fn(|_| sign()));
        Probes {
            lanes: vec![vectors.collect()],
            count: LANES,
            steps: STEPS,
        }
    }
}

/// Vectors of zeros.
pub fn zero(size: usize) -> Vec<LaneMoments> {
    vec![[0.0; LANES]; size]
}

/// The inner products of two sets of vectors, one per lane.
#[inline]
pub fn dot_lanes(a: &[LaneMoments], b: &[LaneMoments]) -> LaneMoments {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        let terms = a.iter().zip(b).map(|(a, b)| a * b);
        sums.iter_mut().zip(terms).for_each(|(sum, t)| *sum += t);
    }
    sums
}

/// The vectors divided by their lengths; 0 for vectors of length 0.
fn scale_to_unit(vectors: &[LaneMoments], length: &LaneMoments) -> Vec<LaneMoments> {
    let scale = length.map(|length| if length > 0.0 { length.recip() } else { 0.0 });
    let scaled = |v: &LaneMoments| std::array::from_fn(|lane| v[lane] * scale[lane]);
    vectors.iter().map(scaled).collect()
}

/// a += share b, lane by lane.
#[inline]
pub fn add(a: &mut [LaneMoments], share: &LaneMoments, b: &[LaneMoments]) {
    for (a, b) in a.iter_mut().zip(b) {
        let terms = share.iter().zip(b).map(|(s, b)| s * b);
        a.iter_mut().zip(terms).for_each(|(a, t)| *a += t);
    }
}

/// Adds `share` times one number of each lane.
#[inline]
pub fn add_scaled(into: &mut LaneMoments, share: f64, x: &LaneMoments) {
    let pairs = into.iter_mut().zip(x);
    pairs.for_each(|(into, x)| *into += share * x);
}

/// The Krylov space of every lane: an orthonormal basis, and the tridiagonal matrix of S in it.
pub struct Krylov {
    basis: Vec<Vec<LaneMoments>>,
    diagonal: Vec<LaneMoments>,
    beside: Vec<LaneMoments>,
    length: LaneMoments,
}

impl Krylov {
    /// `steps` Lanczos steps from a start, with full reorthogonalisation; `apply` multiplies by the
    /// matrix.
    pub fn new(
        start: &[LaneMoments],
        steps: usize,
        apply: impl Fn(&[LaneMoments], &mut [LaneMoments]),
    ) -> Krylov {
        const NOTHING: f64 = 1e-10;
        let length = dot_lanes(start, start).map(f64::sqrt);
        let steps = steps.min(start.len());
        let mut found = Krylov {
            basis: vec![scale_to_unit(start, &length)],
            diagonal: Vec::new(),
            beside: Vec::new(),
            length,
        };
        for step in 0..steps {
            let mut next = zero(start.len());
            apply(&found.basis[step], &mut next);
            let mut own = [0.0; LANES];
            for before in &found.basis {
                // The inner product with the last vector, which is the newest.
                own = dot_lanes(before, &next);
                add(&mut next, &own.map(|along| -along), before);
            }
            let left = dot_lanes(&next, &next).map(f64::sqrt);
            let left = left.map(|length| if length > NOTHING { length } else { 0.0 });
            found.diagonal.push(own);
            found.beside.push(left);
            if step + 1 < steps {
                found.basis.push(scale_to_unit(&next, &left));
            }
        }
        found
    }

    /// The eigenvalues and eigenvectors (column-major) of a lane's tridiagonal matrix.
    fn eigen_decomposition(&self, lane: usize) -> (Vec<f64>, Mat<f64>) {
        let steps = self.diagonal.len();
        // An exhausted Krylov space ends here.
        let end = (0..steps).find(|k| self.beside[*k][lane] == 0.0);
        let size = end.map_or(steps, |end| end + 1);
        let matrix = Mat::from_fn(size, size, |i, j| match i.abs_diff(j) {
            0 => self.diagonal[i][lane],
            1 => self.beside[i.min(j)][lane],
            _ => 0.0,
        });
        let eigen = matrix.self_adjoint_eigen(Side::Lower);
        let eigen = eigen.expect("a symmetric matrix has its eigenvalues");
        let values = (0..size).map(|k| eigen.S()[k]).collect();
        (values, eigen.U().to_owned())
    }

    /// zᵀ ln(S) z
    pub fn log_form(&self, lane: usize) -> Option<f64> {
        let (values, vectors) = self.eigen_decomposition(lane);
        let is_positive = values.iter().all(|value| *value > 0.0);
        let terms = values.iter().enumerate();
        let terms = terms.map(|(k, value)| vectors[(0, k)].powi(2) * value.ln());
        let sum: f64 = terms.sum();
        is_positive.then_some(self.length[lane].powi(2) * sum)
    }

    /// S^(−½)z of every lane, and the relative length of the last step's contribution, the largest
    /// over lanes; `None` unless S is positive definite.
    pub fn inverse_roots(&self) -> Option<(Vec<LaneMoments>, f64)> {
        let mut found = zero(self.basis[0].len());
        let mut last: f64 = 0.0;
        let mut shares = vec![[0.0; LANES]; self.basis.len()];
        for lane in (0..LANES).filter(|lane| self.length[*lane] > 0.0) {
            let (values, vectors) = self.eigen_decomposition(lane);
            if values.iter().any(|value| *value <= 0.0) {
                return None;
            }
            for (j, share) in shares.iter_mut().enumerate().take(values.len()) {
                let terms = values.iter().enumerate();
                let terms =
                    terms.map(|(k, value)| vectors[(j, k)] * vectors[(0, k)] / value.sqrt());
                share[lane] = self.length[lane] * terms.sum::<f64>();
            }
            if values.len() == self.basis.len() {
                last = last.max(shares[values.len() - 1][lane].abs() / self.length[lane]);
            }
        }
        for (share, vector) in shares.iter().zip(&self.basis) {
            add(&mut found, share, vector);
        }
        Some((found, last))
    }
}
