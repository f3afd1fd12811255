//! The ways of examining the rows of a density.

use lehr_numeric::lanczos::Probes;

/// The way in which a density's rows are examined.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sight {
    /// By sums, if the response is normal.
    Exact,
    /// Row by row, for any response.
    #[cfg(test)]
    ByRow,
    /// By sums, without a factor of the Schur complement, in all directions.
    #[cfg(test)]
    ConjugateGradient,
    /// The same with random probes.
    #[cfg(test)]
    Probed,
}

impl Sight {
    pub(crate) fn has_sums(self) -> bool {
        match self {
            #[cfg(test)]
            Sight::ByRow => false,
            _ => true,
        }
    }

    pub(crate) fn is_loose(self) -> bool {
        match self {
            #[cfg(test)]
            Sight::ConjugateGradient | Sight::Probed => true,
            _ => false,
        }
    }

    pub(crate) fn probes(self, size: usize) -> Probes {
        match self {
            #[cfg(test)]
            Sight::ConjugateGradient => exact(size),
            _ => Probes::random_signs(size),
        }
    }
}

/// Every unit direction in turn, so that results are exact.
#[cfg(test)]
fn exact(size: usize) -> Probes {
    use lehr_numeric::lanczos::{LANES, LaneMoments};

    let unit = |first: usize| -> Vec<LaneMoments> {
        let entry = |k: usize, lane: usize| {
            let own = k == first * LANES + lane;
            if own { (size as f64).sqrt() } else { 0.0 }
        };
        let row = |k: usize| std::array::from_fn(|lane| entry(k, lane));
        (0..size).map(row).collect()
    };
    Probes {
        lanes: (0..size.div_ceil(LANES)).map(unit).collect(),
        count: size,
        steps: size,
    }
}
