//! Learned numbers of single rows, each updated only when its row is in a batch.

use lehr_numeric::adam::AdamSettings;
use serde::{Deserialize, Serialize};

use crate::guide::{Block, ROW_NUMBERS, RowNumbers};

/// The numbers of all rows, each with Adam's moments. A row that is not in the batch costs nothing,
/// and each row counts its own steps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OwnRows {
    width: usize,
    values: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    /// How often each row was in a batch.
    visits: Vec<u32>,
}

impl OwnRows {
    pub(crate) fn new(numbers: &RowNumbers) -> OwnRows {
        let (count, width) = (numbers.start.len(), numbers.width);
        OwnRows {
            width,
            values: numbers.start.to_vec(),
            first: vec![0.0; count],
            second: vec![0.0; count],
            visits: vec![0; count / width],
        }
    }

    /// How many numbers this many rows have.
    pub(crate) fn size_of(&self, rows: usize) -> usize {
        rows * self.width
    }

    /// Copies the numbers of these rows.
    pub(crate) fn copy(&self, rows: &[usize], into: &mut [f64]) {
        for (row, to) in rows.iter().zip(into.chunks_exact_mut(self.width)) {
            to.copy_from_slice(&self.values[row * self.width..][..self.width]);
        }
    }

    /// One step uphill for the numbers of these rows.
    pub(crate) fn ascend(&mut self, rate: f64, rows: &[usize], gradient: &[f64]) {
        let settings = AdamSettings::default();
        for (row, slopes) in rows.iter().zip(gradient.chunks_exact(self.width)) {
            self.visits[*row] += 1;
            let visits = i32::try_from(self.visits[*row]).unwrap_or(i32::MAX);
            let pace = [
                rate / (1.0 - settings.first_decay.powi(visits)),
                1.0 / (1.0 - settings.second_decay.powi(visits)),
            ];
            for (place, slope) in (row * self.width..).zip(slopes) {
                let memory = [&mut self.first[place], &mut self.second[place]];
                self.values[place] += settings.move_value(memory, *slope, pace);
            }
        }
    }

    /// The numbers as a learned block.
    pub(crate) fn block(&self) -> Block {
        let rows = self.values.len() / self.width;
        Block::new(ROW_NUMBERS, &[rows, self.width], self.values.clone())
    }
}

#[cfg(test)]
mod tests {
    use lehr_numeric::adam::Adam;

    use super::*;

    #[test]
    fn a_row_moves_by_adams_steps_of_its_own_visits() {
        let numbers = RowNumbers {
            width: 1,
            start: [0.5, -1.0, 2.0].into(),
        };
        let mut own = OwnRows::new(&numbers);
        let mut alone = Adam::new(1, AdamSettings::default());
        let mut expected = [2.0];
        for (step, slope) in [3.0, -0.5, 0.25].into_iter().enumerate() {
            own.ascend(0.1, &[2], &[slope]);
            if step == 1 {
                own.ascend(0.1, &[0], &[1.0]);
            }
            alone.ascend(0.1, &mut expected, &[slope]);
        }
        let block = own.block().start;
        assert!((block[2] - expected[0]).abs() < 1e-14);
        assert!(
            (block[0] - 0.6).abs() < 1e-8,
            "a first step is one rate long"
        );
        assert_eq!(block[1], -1.0, "a row that was never seen stays");
    }
}
