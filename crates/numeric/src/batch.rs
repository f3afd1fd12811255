//! Mini-batches without replacement by reshuffled epochs, each computed from its number alone.

use crate::stream::Stream;

/// Rows of every training step: each epoch is a fresh random order of all rows, cut into batches.
///
/// No order is ever stored: [`Permutation`] gives any place of any epoch directly, so memory does
/// not grow with the rows and step 10⁶ of a resumed fit needs none of the steps before it.  If the
/// batch size does not divide the rows, the remainder at the end of an epoch is left out. Since the
/// order is random, every row is equally likely in every batch, and (rows/size)·Σ over a batch
/// stays unbiased.
#[derive(Clone, Debug)]
pub struct Epochs {
    rows: u64,
    size: usize,
    seed: u64,
    purpose: String,
    open: Option<Epoch>,
}

/// The random orders of one epoch.
#[derive(Clone, Debug)]
struct Epoch {
    number: u64,
    order: Permutation,
    /// The place where the rows, seen as a ring, are cut into pieces, and the order of the pieces.
    cut: u64,
    pieces: Permutation,
}

/// The reasons why batches cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The size is zero or above the number of rows.
    #[error(
        "batch: expected between 1 and {rows} rows, found {size}\n  hint: a batch is drawn without replacement"
    )]
    Size {
        /// Rows of the table.
        rows: u64,
        /// Rows asked for.
        size: usize,
    },
    /// The table has more rows than 32-bit row numbers allow.
    #[error(
        "batch: expected at most 4294967296 rows, found {rows}\n  hint: split the table or thin it"
    )]
    Rows {
        /// Rows of the table.
        rows: u64,
    },
}

impl Epochs {
    /// Batches of `size` out of `rows`; another `purpose` gives independent batches.
    pub fn new(rows: u64, size: usize, seed: u64, purpose: &str) -> Result<Self, BatchError> {
        if size == 0 || size as u64 > rows {
            return Err(BatchError::Size { rows, size });
        }
        if rows > 1 << 32 {
            return Err(BatchError::Rows { rows });
        }
        Ok(Self {
            rows,
            size,
            seed,
            purpose: purpose.to_owned(),
            open: None,
        })
    }

    /// Steps from one reshuffling to the next.
    pub fn steps_per_epoch(&self) -> u64 {
        self.rows / self.size as u64
    }

    /// Fills `out` with the rows of a step, all different.
    ///
    /// # Panics
    /// If `out` is not as long as the batch.
    pub fn fill_batch(&mut self, step: u64, out: &mut [u32]) {
        assert_eq!(out.len(), self.size, "room for one batch");
        let (size, steps) = (self.size as u64, self.steps_per_epoch());
        let epoch = self.epoch_at(step / steps);
        epoch.order.fill_places(step % steps * size, out);
    }

    /// The first of the consecutive rows of a step, for a table that is already in random order.
    /// Each epoch cuts the rows, seen as a ring, at another random place and takes the pieces in
    /// random order. Every row is equally likely in every batch.
    pub fn consecutive_start(&mut self, step: u64) -> u64 {
        let (size, steps, rows) = (self.size as u64, self.steps_per_epoch(), self.rows);
        let epoch = self.epoch_at(step / steps);
        let piece = u64::from(epoch.pieces.at(step % steps));
        (epoch.cut + piece * size) % rows
    }

    /// An epoch by its number alone. The last one is cached, since most steps stay within it.
    fn epoch_at(&mut self, number: u64) -> &Epoch {
        if self.open.as_ref().is_none_or(|open| open.number != number) {
            let mut stream = Stream::new(self.seed, &self.purpose, number);
            self.open = Some(Epoch {
                number,
                order: Permutation::new(self.rows, &mut stream),
                cut: stream.below(self.rows),
                pieces: Permutation::new(self.steps_per_epoch(), &mut stream),
            });
        }
        self.open.as_ref().expect("opened above")
    }
}

/// A random order of `0..count` held in a few words: the row at any place can be computed directly.
///
/// Generalised Feistel network on a grid of about √count × √count with modular addition and a walk
/// back into range (Black & Rogaway 2002). Each round is a shear of the grid, so the whole is a
/// bijection whatever the keys; the grid exceeds `count` by less than one side, so walks are rare.
/// On tiny grids a network reaches some orders more often than others, so up to
/// [`Permutation::LISTED`] rows are shuffled explicitly.
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    height: u64,
    width: u64,
    keys: [u64; ROUNDS],
    listed: [u8; Permutation::LISTED as usize],
}

const ROUNDS: usize = 6;
/// Rows computed side by side: their rounds are independent.
const ABREAST: usize = 4;

impl Permutation {
    /// Up to this many rows the order is an exact Fisher–Yates shuffle.
    pub const LISTED: u64 = 256;

    /// An order keyed by the next draws of a stream.
    ///
    /// # Panics
    /// If `count` is zero or exceeds 2³².
    pub fn new(count: u64, stream: &mut Stream) -> Self {
        assert!(
            (1..=1 << 32).contains(&count),
            "rows are numbered by 32 bits"
        );
        let height = (count as f64).sqrt().ceil() as u64;
        let mut order = Self {
            count,
            height,
            width: count.div_ceil(height),
            keys: [0; ROUNDS],
            listed: std::array::from_fn(|row| row as u8),
        };
        if count <= Self::LISTED {
            stream.shuffle(&mut order.listed[..count as usize]);
        } else {
            stream.fill_bits(&mut order.keys);
        }
        order
    }

    /// The row at a place below `count`.
    ///
    /// # Panics
    /// If the place is outside.
    pub fn at(&self, place: u64) -> u32 {
        let mut row = [0];
        self.fill_places(place, &mut row);
        row[0]
    }

    /// The rows at consecutive places from `start`.
    ///
    /// # Panics
    /// If they end beyond `count`.
    pub fn fill_places(&self, start: u64, out: &mut [u32]) {
        assert!(
            start + out.len() as u64 <= self.count,
            "places end at {}",
            self.count
        );
        if self.count <= Self::LISTED {
            let listed = &self.listed[start as usize..];
            out.iter_mut()
                .zip(listed)
                .for_each(|(row, &at)| *row = u32::from(at));
            return;
        }
        let (mut upper, mut lower) = (start / self.width, start % self.width);
        for rows in out.chunks_mut(ABREAST) {
            let mut uppers = [upper; ABREAST];
            let mut lowers = [lower; ABREAST];
            for lane in 1..=ABREAST {
                lower += 1;
                if lower == self.width {
                    (upper, lower) = (upper + 1, 0);
                }
                if lane < ABREAST {
                    (uppers[lane], lowers[lane]) = (upper, lower);
                }
            }
            self.mix_halves(&mut uppers, &mut lowers);
            for (lane, row) in rows.iter_mut().enumerate() {
                *row = self.walk_cycle(uppers[lane], lowers[lane]);
            }
        }
    }

    /// One pass of the network, on several places.
    #[inline]
    fn mix_halves<const LANES: usize>(&self, upper: &mut [u64; LANES], lower: &mut [u64; LANES]) {
        for pair in self.keys.chunks_exact(2) {
            for lane in 0..LANES {
                upper[lane] = shear_half(upper[lane], lower[lane], pair[0], self.height);
            }
            for lane in 0..LANES {
                lower[lane] = shear_half(lower[lane], upper[lane], pair[1], self.width);
            }
        }
    }

    /// Applies the network until the result is inside. The start is inside, so the walk returns
    /// there.
    #[inline]
    fn walk_cycle(&self, upper: u64, lower: u64) -> u32 {
        let (mut upper, mut lower) = ([upper], [lower]);
        loop {
            let row = upper[0] * self.width + lower[0];
            if row < self.count {
                return row as u32;
            }
            self.mix_halves(&mut upper, &mut lower);
        }
    }
}

/// moved + hash(by) modulo `side`.
#[inline]
fn shear_half(moved: u64, by: u64, key: u64, side: u64) -> u64 {
    let mut hash = (by ^ key).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    let shift = ((u128::from(hash) * u128::from(side)) >> 64) as u64;
    let sum = moved + shift;
    if sum >= side { sum - side } else { sum }
}

#[cfg(test)]
mod tests;
