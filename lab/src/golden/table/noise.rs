//! Random numbers from which rows are generated.

use lehr_numeric::stream::Stream;

/// The source of the random numbers.
pub(super) struct Noise {
    stream: Stream,
    pub(super) rows: usize,
}

impl Noise {
    pub(super) fn new(seed: u64, rows: usize) -> Noise {
        Noise {
            stream: Stream::new(seed, "golden table", 0),
            rows,
        }
    }

    pub(super) fn normal(&mut self) -> Vec<f64> {
        (0..self.rows).map(|_| self.stream.normal()).collect()
    }

    pub(super) fn uniform(&mut self, low: f64, high: f64) -> Vec<f64> {
        let stream = &mut self.stream;
        let one = |_| low + (high - low) * stream.uniform();
        (0..self.rows).map(one).collect()
    }

    pub(super) fn below(&mut self, bound: u64) -> Vec<usize> {
        let stream = &mut self.stream;
        (0..self.rows)
            .map(|_| stream.below(bound) as usize)
            .collect()
    }

    /// Counts of these means.
    pub(super) fn poisson(&mut self, means: &[f64]) -> Vec<f64> {
        let stream = &mut self.stream;
        let one = |mean: &f64| {
            let (mut count, mut product) = (0.0, stream.uniform());
            while product > (-mean).exp() {
                product *= stream.uniform();
                count += 1.0;
            }
            count
        };
        means.iter().map(one).collect()
    }

    /// Events of these log odds.
    pub(super) fn events(&mut self, logits: &[f64]) -> Vec<f64> {
        let stream = &mut self.stream;
        let one = |logit: &f64| f64::from(u8::from(stream.uniform() < logistic(*logit)));
        logits.iter().map(one).collect()
    }
}

/// The probability of these log odds.
pub(super) fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}
