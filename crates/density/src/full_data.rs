//! Sums over all rows, wherever they are stored: the queries and the interface that answers them.

use serde::{Deserialize, Serialize};

/// A sum over all rows. It is plain data, so its meaning is the same in every process that has the
/// model: the program that [`Density::origin`](crate::Density::origin) stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Query {
    /// log p(yₙ | z, xₙ) of one z per lane. Arguments: z of every lane, θ.
    LogLikelihood {
        /// How many z there are.
        lanes: usize,
    },
    /// log p(yₙ | z, xₙ) and its slopes in z and in θ. Arguments: z, θ.
    Slopes,
    /// The Hessian of log p(yₙ | z, xₙ) in z times one direction per lane. Arguments: z, θ, the
    /// direction of every lane.
    HessianProducts {
        /// How many directions there are.
        lanes: usize,
    },
    /// The R factor of a QR reduction of Gaussian rows, row-major, and the sum of their weights. No
    /// arguments. Factors of several partitions are combined by further reflections rather than
    /// added.
    Triangle,
    /// Group sums: sums of products of the coefficients of random effects in Gaussian rows.
    /// Arguments: how rows read the effects, in the encoding of `lehr_infer`. Pairs of groups are
    /// numbered and listed, and added by their numbers.
    GroupSums,
}

/// A callback that receives the values of a query's functions on one partition.
pub type Take<'a> = dyn FnMut(Vec<Vec<f64>>) + Send + 'a;

/// A service that sums over all rows, wherever they are stored.
///
/// Rows are divided into partitions that do not depend on which worker computes them, and their
/// sums are added in the order of the partitions. The same query thus has the same answer, bit for
/// bit.
pub trait FullData {
    /// The values of a query's functions on every partition in order, one array per function.
    ///
    /// If rows cannot be reached there is no answer, and a caller could do nothing about it. The
    /// call then unwinds with [`RowsLost`], which the code that started the fit catches.
    fn each(&self, query: Query, arguments: &[&[f64]]) -> Vec<Vec<Vec<f64>>>;

    /// Passes on the values of a query's functions on every partition, in order. An implementation
    /// may keep only a few of them at a time.
    fn in_order(&self, query: Query, arguments: &[&[f64]], take: &mut Take<'_>) {
        self.each(query, arguments).into_iter().for_each(take);
    }

    /// The place where the rows are stored, as a clause.
    fn place(&self) -> &'static str {
        "on a cluster"
    }

    /// The sums of a query's functions at these arguments, one array per function. A function that
    /// depends on no lane has one value for all of them.
    fn sum(&self, query: Query, arguments: &[&[f64]]) -> Vec<Vec<f64>> {
        let mut parts = self.each(query, arguments).into_iter();
        let mut sums = parts.next().unwrap_or_default();
        for part in parts {
            for (sum, part) in sums.iter_mut().zip(&part) {
                sum.iter_mut().zip(part).for_each(|(sum, one)| *sum += one);
            }
        }
        sums
    }
}

/// The reason why remote rows cannot be reached, for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsLost(
    /// The message: where, what was expected, what was found.
    pub String,
);

impl RowsLost {
    /// Ends the fit by unwinding. Nothing is printed on the way, because this is not a broken
    /// invariant.
    pub fn unwind(self) -> ! {
        std::panic::resume_unwind(Box::new(self))
    }

    /// Runs some work and returns the loss if one ended it.
    ///
    /// # Errors
    /// If rows could not be reached. Other panics propagate.
    pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, RowsLost> {
        // The changes of the interrupted work are dropped with it.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.map_err(|payload| match payload.downcast::<RowsLost>() {
            Ok(lost) => *lost,
            Err(other) => std::panic::resume_unwind(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Parts(Vec<Vec<Vec<f64>>>);

    impl FullData for Parts {
        fn each(&self, _: Query, _: &[&[f64]]) -> Vec<Vec<Vec<f64>>> {
            self.0.clone()
        }
    }

    #[test]
    fn partitions_are_added_in_their_order() {
        let values = [1e16, 1.0, -1e16, 1.0];
        let parts = values.map(|value| vec![vec![value], vec![2.0, value]]);
        let sums = Parts(parts.to_vec()).sum(Query::Slopes, &[]);
        let in_order = ((1e16 + 1.0) - 1e16) + 1.0;
        assert_eq!(sums, [vec![in_order], vec![8.0, in_order]]);
    }

    #[test]
    fn rows_that_are_lost_end_the_work_in_words() {
        let lost = RowsLost("part-3.parquet: cannot open".into());
        let found = RowsLost::caught(|| -> u8 { lost.clone().unwind() });
        assert_eq!(found, Err(lost));
        assert_eq!(RowsLost::caught(|| 7), Ok(7));
    }
}
