//! The event shape of an array: at most four dimensions, copied freely, broadcast as in `NumPy`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::length::{AxisLength, ROWS};

/// The most dimensions an event may have.
pub const MAX_RANK: usize = 4;

/// The most numbers that an array of a graph, or all arrays of a plan together, may hold: 8 TiB of
/// them. Up to here no product of lengths overflows, and no size is mistaken for a symbolic one.
pub const MAX_SIZE: usize = ROWS - 1;

/// An event shape. Lanes are not part of it.
///
/// A length may be symbolic, `a + b·rows` ([`crate::ROWS`]), while a program is written for any
/// number of rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<usize>", into = "Vec<usize>")]
pub struct Shape {
    rank: u8,
    dims: [usize; MAX_RANK],
}

impl Shape {
    /// The shape of a single number.
    pub const SCALAR: Shape = Shape {
        rank: 0,
        dims: [1; MAX_RANK],
    };

    /// A shape with these dimensions.
    ///
    /// # Panics
    /// With more than [`MAX_RANK`] dimensions.
    pub fn new(dims: &[usize]) -> Shape {
        assert!(
            dims.len() <= MAX_RANK,
            "a shape has at most {MAX_RANK} dimensions, found {dims:?}"
        );
        let mut shape = Shape::SCALAR;
        shape.rank = dims.len() as u8;
        shape.dims[..dims.len()].copy_from_slice(dims);
        shape
    }

    /// The dimensions, outermost first.
    pub fn dims(&self) -> &[usize] {
        &self.dims[..usize::from(self.rank)]
    }

    /// How many dimensions there are.
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    /// How many numbers the event holds; the largest number there is where they are more.
    pub fn size(&self) -> usize {
        (self.dims().iter()).fold(1, |size, &length| size.saturating_mul(length))
    }

    /// The error if one row of the shape has more than [`MAX_SIZE`] numbers, with the requested and
    /// the allowed size. Axes of length zero count as one, because loops run over the others.
    pub(crate) fn excess(&self) -> Option<String> {
        let lengths = self
            .dims()
            .iter()
            .map(|&length| AxisLength(length).resolve(1).max(1));
        let size = lengths.clone().fold(1, usize::saturating_mul);
        (size > MAX_SIZE).then(|| {
            let asked: f64 = lengths.map(|length| length as f64).product();
            let most = MAX_SIZE as f64;
            format!(
                "shape {self} asks for {asked:.1e} numbers, and an array has at most {most:.1e}"
            )
        })
    }

    /// True if a length is symbolic.
    pub fn is_symbolic(&self) -> bool {
        self.dims()
            .iter()
            .any(|&length| AxisLength(length).is_symbolic())
    }

    /// The shape for a real number of rows.
    pub(crate) fn resolve(&self, rows: usize) -> Shape {
        let mut shape = *self;
        for length in &mut shape.dims[..usize::from(self.rank)] {
            *length = AxisLength(*length).resolve(rows);
        }
        shape
    }

    /// True for a single number without dimensions.
    pub fn is_scalar(&self) -> bool {
        self.rank == 0
    }

    /// The shape both operands broadcast to, or `None` if they do not fit.
    pub fn broadcast(self, other: Shape) -> Option<Shape> {
        let rank = self.rank().max(other.rank());
        let mut dims = [1; MAX_RANK];
        for (axis, dim) in dims[..rank].iter_mut().enumerate() {
            let [own, more] = [self, other].map(|shape| shape.aligned_axis(axis, rank));
            *dim = match (own, more) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                _ => return None,
            };
        }
        Some(Shape::new(&dims[..rank]))
    }

    /// The dimension at `axis` after ones are prepended up to `rank` dimensions.
    pub(crate) fn aligned_axis(&self, axis: usize, rank: usize) -> usize {
        let missing = rank - self.rank();
        axis.checked_sub(missing)
            .map_or(1, |axis| self.dims()[axis])
    }

    /// The same shape with one dimension replaced.
    pub(crate) fn with_dim(&self, axis: usize, length: usize) -> Shape {
        let mut shape = *self;
        shape.dims[axis] = length;
        shape
    }

    /// The same shape without the axes `first..first + count`.
    pub(crate) fn without_axes(&self, first: usize, count: usize) -> Shape {
        let dims = self.dims();
        let kept: Vec<usize> = [&dims[..first], &dims[first + count..]].concat();
        Shape::new(&kept)
    }

    /// The product of the dimensions before `axis`.
    pub(crate) fn outer_size(&self, axis: usize) -> usize {
        self.dims()[..axis].iter().product()
    }

    /// The product of the dimensions from `axis` on.
    pub(crate) fn inner_size(&self, axis: usize) -> usize {
        self.dims()[axis..].iter().product()
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths = self.dims().iter().map(|&length| AxisLength(length));
        f.debug_list().entries(lengths).finish()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(dims: [usize; N]) -> Shape {
        Shape::new(&dims)
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Shape {
        Shape::new(dims)
    }
}

impl TryFrom<Vec<usize>> for Shape {
    type Error = String;

    fn try_from(dims: Vec<usize>) -> Result<Shape, String> {
        if dims.len() > MAX_RANK {
            let rank = dims.len();
            return Err(format!(
                "a shape has at most {MAX_RANK} dimensions, found {rank}"
            ));
        }
        let shape = Shape::new(&dims);
        shape.excess().map_or(Ok(shape), Err)
    }
}

impl From<Shape> for Vec<usize> {
    fn from(shape: Shape) -> Vec<usize> {
        shape.dims().to_vec()
    }
}

impl From<()> for Shape {
    fn from((): ()) -> Shape {
        Shape::SCALAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_follows_numpy() {
        let a = Shape::from([3, 1]);
        let b = Shape::from([4]);
        assert_eq!(a.broadcast(b), Some(Shape::from([3, 4])));
        assert_eq!(Shape::SCALAR.broadcast(b), Some(b));
        assert_eq!(Shape::from([3]).broadcast(b), None);
    }

    #[test]
    fn a_scalar_holds_one_number() {
        assert_eq!(Shape::SCALAR.size(), 1);
        assert_eq!(Shape::from([0, 3]).size(), 0);
    }

    #[test]
    fn a_shape_of_too_many_numbers_is_not_read_back() {
        let read = |dims: &[usize]| Shape::try_from(dims.to_vec());
        assert!(read(&[1 << 20, 1 << 19]).is_ok());
        assert!(read(&[ROWS, 1 << 30, 2]).is_ok(), "of any number of rows");
        for dims in [
            &[1 << 20, 1 << 20][..],
            &[0, usize::MAX, 2],
            &[usize::MAX; 4],
        ] {
            let message = read(dims).unwrap_err();
            assert!(message.contains("an array has at most 1.1e12"), "{message}");
        }
    }
}
