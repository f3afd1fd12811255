//! How the rows of a density are looked at.

use super::krylov::Probes;

/// How a density's rows are looked at.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sight {
    /// As sums, where the response is normal.
    Exact,
    /// One by one, whatever the response.
    #[cfg(test)]
    ByRow,
    /// As sums, without a factor of what the largest block leaves, in all directions.
    #[cfg(test)]
    Loose,
    /// The same by random probes.
    #[cfg(test)]
    Probed,
}

impl Sight {
    pub(super) fn has_sums(self) -> bool {
        match self {
            #[cfg(test)]
            Sight::ByRow => false,
            _ => true,
        }
    }

    pub(super) fn is_loose(self) -> bool {
        match self {
            #[cfg(test)]
            Sight::Loose | Sight::Probed => true,
            _ => false,
        }
    }

    pub(super) fn probes(self, size: usize) -> Probes {
        match self {
            #[cfg(test)]
            Sight::Loose => Probes::exact(size),
            _ => Probes::signs(size),
        }
    }
}
