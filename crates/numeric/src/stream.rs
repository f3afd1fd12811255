//! Random streams named by (seed, purpose, step), the same bits on every machine.

use std::collections::HashSet;
use std::sync::LazyLock;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Infallible, Rng, SeedableRng, TryRng};

use crate::order::{shuffle_items, uniform_below};

/// A random stream that is a function of its name alone.  `seed` and `purpose` make the key of a
/// `ChaCha8` generator and `step` its nonce, so streams of different names are independent, and any
/// step is available without drawing those before it. Normals use `libm` and no fused arithmetic:
/// the same name gives the same bits everywhere.
#[derive(Clone, Debug)]
pub struct Stream {
    random: ChaCha8Rng,
}

impl Stream {
    /// The stream of one purpose at one step.
    pub fn new(seed: u64, purpose: &str, step: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&fingerprint(purpose).to_le_bytes());
        // The first letters are part of the key itself, so short purposes cannot collide.
        for (place, letter) in key[16..].iter_mut().zip(purpose.bytes()) {
            *place = letter;
        }
        let mut random = ChaCha8Rng::from_seed(key);
        random.set_stream(step);
        Self { random }
    }

    /// Fills with independent standard normals. Filling in pieces equals filling at once.
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        let ziggurat: &Ziggurat = &ZIGGURAT;
        for value in out {
            *value = ziggurat.draw_normal(&mut self.random);
        }
    }

    /// One standard normal, the next of [`Stream::fill_normal`].
    pub fn normal(&mut self) -> f64 {
        ZIGGURAT.draw_normal(&mut self.random)
    }

    /// Fills with independent uniforms on `[0, 1)`, multiples of 2⁻⁵³.
    pub fn fill_uniform(&mut self, out: &mut [f64]) {
        for value in out {
            *value = unit_interval(self.random.next_u64());
        }
    }

    /// One uniform on `[0, 1)`, the next of [`Stream::fill_uniform`].
    pub fn uniform(&mut self) -> f64 {
        unit_interval(self.random.next_u64())
    }

    /// Fills with independent uniform bits.
    pub fn fill_bits(&mut self, out: &mut [u64]) {
        for bits in out {
            *bits = self.random.next_u64();
        }
    }

    /// A uniform integer below `bound`.
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        uniform_below(&mut self.random, bound)
    }

    /// Puts the items into a uniformly random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        shuffle_items(&mut self.random, items);
    }

    /// `wanted` distinct integers below `total`, or all of them, every subset equally likely, in
    /// increasing order. The memory does not grow with `total`.
    pub fn distinct(&mut self, total: u64, wanted: usize) -> Vec<u64> {
        if wanted as u64 >= total {
            return (0..total).collect();
        }
        let mut found = HashSet::with_capacity(wanted);
        while found.len() < wanted {
            found.insert(self.below(total));
        }
        let mut chosen: Vec<u64> = found.into_iter().collect();
        chosen.sort_unstable();
        chosen
    }

    /// Fills `out` with distinct integers below `count`, every subset equally likely, in increasing
    /// order. Nothing is allocated.
    ///
    /// # Panics
    /// If `out` is longer than `count`.
    pub fn choose_without_replacement(&mut self, count: u64, out: &mut [u32]) {
        let wanted = out.len() as u64;
        assert!(wanted <= count, "{wanted} of {count} without replacement");
        assert!(count <= 1 << 32, "rows are numbered by 32 bits");
        // The walk costs a draw per integer; Floyd's algorithm costs a draw and a shift per wanted
        // one.
        if count <= 12 * wanted + wanted * wanted / 80 {
            self.choose_dense(count, out);
        } else {
            self.choose_sparse(count, out);
        }
    }

    /// Walks over the integers and keeps each with probability wanted/left (Knuth's algorithm S).
    fn choose_dense(&mut self, count: u64, out: &mut [u32]) {
        let (mut left, mut filled) = (count, 0);
        while filled < out.len() {
            if self.below(left) < (out.len() - filled) as u64 {
                out[filled] = (count - left) as u32;
                filled += 1;
            }
            left -= 1;
        }
    }

    /// Floyd's algorithm: a repeated draw is replaced by the newest integer, which is larger
    /// than all before it.
    fn choose_sparse(&mut self, count: u64, out: &mut [u32]) {
        let wanted = out.len();
        for filled in 0..wanted {
            let newest = count - (wanted - filled) as u64;
            let drawn = self.below(newest + 1) as u32;
            match out[..filled].binary_search(&drawn) {
                Ok(_) => out[filled] = newest as u32,
                Err(place) => {
                    out.copy_within(place..filled, place + 1);
                    out[place] = drawn;
                }
            }
        }
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.random.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.random.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.random.try_fill_bytes(bytes)
    }
}

/// FNV-1a of a name.
fn fingerprint(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, letter| {
        (hash ^ u64::from(letter)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// Layers of equal area under the normal density (Marsaglia & Tsang 2000).
struct Ziggurat {
    /// `edge[i]` bounds layer i; layer 0 holds the tail, `edge[LAYERS]` is zero.
    edge: [f64; LAYERS + 1],
    /// exp(−edge²/2).
    density: [f64; LAYERS + 1],
}

const LAYERS: usize = 256;
/// The start of the tail, and the area of every layer, for 256 layers.
const TAIL: f64 = 3.654_152_885_361_009;
const AREA: f64 = 0.004_928_673_233_974_655;

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(Ziggurat::new);

impl Ziggurat {
    fn new() -> Self {
        let height = |x: f64| libm::exp(-0.5 * x * x);
        let mut edge = [0.0; LAYERS + 1];
        edge[0] = AREA / height(TAIL);
        edge[1] = TAIL;
        for layer in 2..LAYERS {
            let top = AREA / edge[layer - 1] + height(edge[layer - 1]);
            edge[layer] = (-2.0 * libm::log(top)).sqrt();
        }
        Self {
            edge,
            density: edge.map(height),
        }
    }

    #[inline]
    fn draw_normal(&self, random: &mut ChaCha8Rng) -> f64 {
        let bits = random.next_u64();
        let layer = (bits & 0xff) as usize;
        // The upper 53 bits as an odd multiple of 2⁻⁵³ on (−1, 1): symmetric, and never zero.
        let signed = ((bits as i64) >> 11 << 1 | 1) as f64 * (1.0 / (1_u64 << 53) as f64);
        let x = signed * self.edge[layer];
        if x.abs() < self.edge[layer + 1] {
            return x;
        }
        self.draw_edge(random, layer, x)
    }

    /// The one draw in seventy that falls outside its layer's inner box.
    #[cold]
    fn draw_edge(&self, random: &mut ChaCha8Rng, layer: usize, x: f64) -> f64 {
        if layer == 0 {
            return draw_tail(random).copysign(x);
        }
        let (low, high) = (self.density[layer], self.density[layer + 1]);
        let height = low + (high - low) * unit_interval(random.next_u64());
        if height < libm::exp(-0.5 * x * x) {
            return x;
        }
        self.draw_normal(random)
    }
}

/// A normal beyond the last layer (Marsaglia 1964).
fn draw_tail(random: &mut ChaCha8Rng) -> f64 {
    loop {
        // 1 − u lies in (0, 1], so the logarithms are finite.
        let x = -libm::log(1.0 - unit_interval(random.next_u64())) / TAIL;
        let y = -libm::log(1.0 - unit_interval(random.next_u64()));
        if 2.0 * y >= x * x {
            return TAIL + x;
        }
    }
}

#[cfg(test)]
mod tests;
