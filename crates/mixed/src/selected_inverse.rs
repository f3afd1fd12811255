//! The selected inverse: covariances of the effects, for the entries that moments and variances need.

use lehr_numeric::dense::blocked::parallel_dot;
use lehr_numeric::dense::small;

use crate::conjugate_gradient::ProjectedVector;
use crate::cross_products::Effects;
use crate::schur::{SchurFactor, SecondMoments};
use crate::tolerance::is_wide;

impl SchurFactor {
    /// The second moments of the effects around 0; requires the inverse of S.
    pub(crate) fn moments(&self, mean: &Effects) -> SecondMoments {
        let rest = self.order.rest;
        let entry = |i: usize, j: usize| {
            if let Some(iterative) = &self.iterative {
                return iterative.entry(self.probes(), i, j) + mean.others[i] * mean.others[j];
            }
            let (low, high) = (i.min(j), i.max(j));
            self.inverse[low * rest + high] + mean.others[i] * mean.others[j]
        };
        let mut blocks = vec![self.own_moment(mean)];
        for (width, range) in self.order.ranges() {
            let mut sum = vec![0.0; if range.is_empty() { 0 } else { width * width }];
            for at in range.step_by(width) {
                for (k, entry_sum) in sum.iter_mut().enumerate() {
                    *entry_sum += entry(at + k / width, at + k % width);
                }
            }
            blocks.push(sum);
        }
        SecondMoments(blocks)
    }

    /// sₙ² = aₙᵀΛ⁻¹aₙ of each sorted row; requires the inverse of S. With y = L_g⁻¹z and W =
    /// S⁻¹V_gᵀ, sₙ² = yᵀ(1 + V_g W)y − 2 yᵀWᵀr + rᵀS⁻¹r.
    pub(crate) fn variances(&self) -> Vec<f64> {
        let order = &*self.order;
        let mut found = Vec::with_capacity(order.rows.len());
        let width = order.width;
        let mut solved: Vec<f64> = Vec::new();
        let mut inner = vec![0.0; width * width];
        let mut y = vec![0.0; width];
        for group in 0..order.groups() {
            let (columns, rows) = (order.columns_of(group), order.rows_of(group));
            let count = columns.len();
            if is_wide(width) {
                let start = found.len();
                found.extend(rows.map(|row| self.rest_variance(columns, order.others_of(row))));
                self.add_wide_variances(group, &mut found[start..]);
                continue;
            }
            let lines = self.lines(group);
            self.solve_lines(columns, lines, &mut solved);
            for (k, entry) in inner.iter_mut().enumerate() {
                let (a, b) = (k / width, k % width);
                let form = small::dot(&lines[a * count..][..count], &solved[b * count..][..count]);
                *entry = form + f64::from(u8::from(a == b));
            }
            let factor = self.own_factor(group);
            for row in rows {
                y.copy_from_slice(order.own_of(row));
                small::solve_lower(factor, &mut y);
                let (r, at) = order.others_of(row);
                let mut sum =
                    small::quadratic_form(&inner, &y) + self.rest_variance(columns, (r, at));
                for (a, ya) in y.iter().enumerate() {
                    let line = &solved[a * count..][..count];
                    let met = r.iter().zip(at).map(|(r, at)| r * line[*at as usize]);
                    sum -= 2.0 * ya * met.sum::<f64>();
                }
                found.push(sum.max(0.0));
            }
        }
        found
    }

    /// rᵀS⁻¹r of a row that reads R at these places among some columns, the last of which are the
    /// last of R.
    fn rest_variance(&self, columns: &[u32], (r, at): (&[f64], &[u32])) -> f64 {
        let rest = self.order.rest;
        let split = r.len() - self.order.tail;
        let mut sum = 0.0;
        for (i, (ri, pi)) in r.iter().zip(at).enumerate() {
            let column = columns[*pi as usize] as usize;
            let inverse = &self.inverse[column * rest..][..rest];
            let others = (i + 1..split).map(|k| r[k] * inverse[columns[at[k] as usize] as usize]);
            let own = (i + 1).max(split);
            let last = parallel_dot(&inverse[rest - (r.len() - own)..], &r[own..]);
            sum += ri * (ri * inverse[column] + 2.0 * (others.sum::<f64>() + last));
        }
        sum
    }

    /// S⁻¹ restricted to some columns, times lines over the same columns.
    pub(crate) fn solve_lines(&self, columns: &[u32], lines: &[f64], into: &mut Vec<f64>) {
        let count = columns.len();
        let rest = self.order.rest;
        into.clear();
        into.resize(lines.len(), 0.0);
        for (j, column) in columns.iter().enumerate() {
            let inverse = &self.inverse[*column as usize * rest..][..rest];
            for (line, into) in lines.chunks_exact(count).zip(into.chunks_exact_mut(count)) {
                let (vj, mut sum) = (line[j], inverse[*column as usize] * line[j]);
                let below = columns[j + 1..].iter().enumerate();
                for (i, other) in below {
                    let entry = inverse[*other as usize];
                    into[j + 1 + i] += entry * vj;
                    sum += entry * line[j + 1 + i];
                }
                into[j] += sum;
            }
        }
    }

    /// Σ_g u_g u_gᵀ + L_g⁻ᵀ(1 + V_g S⁻¹V_gᵀ)L_g⁻¹ over the groups of A.
    fn own_moment(&self, mean: &Effects) -> Vec<f64> {
        let width = self.order.width;
        let square = width * width;
        let mut sum = vec![0.0; square];
        let mut spread = vec![0.0; square];
        for (group, own) in mean.own.chunks_exact(width).enumerate() {
            self.group_covariance(group, &mut spread);
            for (k, entry) in sum.iter_mut().enumerate() {
                *entry += spread[k] + own[k / width] * own[k % width];
            }
        }
        sum
    }

    /// The covariance of one group of A.
    pub(crate) fn group_covariance(&self, group: usize, into: &mut [f64]) {
        let width = self.order.width;
        if is_wide(width) && self.iterative.is_none() {
            into.copy_from_slice(&self.wide_spread(group).covariance);
            return;
        }
        let (columns, lines) = (self.order.columns_of(group), self.lines(group));
        let count = columns.len();
        for a in 0..width {
            for b in 0..=a {
                let (va, vb) = (&lines[a * count..][..count], &lines[b * count..][..count]);
                let form = match self.iterative {
                    None => self.form(columns, va, vb),
                    Some(_) => self.iterative_form(columns, va, vb),
                };
                into[a * width + b] = form + f64::from(u8::from(a == b));
                into[b * width + a] = into[a * width + b];
            }
        }
        let factor = self.own_factor(group);
        for row in into.chunks_exact_mut(width) {
            small::solve_lower_transposed(factor, row);
        }
        small::solve_columns_transposed(factor, into);
    }

    /// aᵀS⁻¹b for two sparse vectors of the same columns.
    fn form(&self, columns: &[u32], a: &[f64], b: &[f64]) -> f64 {
        let rest = self.order.rest;
        let mut sum = 0.0;
        for (j, column) in columns.iter().enumerate() {
            let inverse = &self.inverse[*column as usize * rest..][..rest];
            let below = columns[j + 1..].iter().enumerate();
            let both = below.map(|(i, other)| {
                inverse[*other as usize] * (a[j + 1 + i] * b[j] + a[j] * b[j + 1 + i])
            });
            sum += inverse[*column as usize] * a[j] * b[j] + both.sum::<f64>();
        }
        sum
    }

    /// The same by probes.
    fn iterative_form(&self, columns: &[u32], a: &[f64], b: &[f64]) -> f64 {
        let common = self.order.n_common();
        let (Some(iterative), Some(split)) = (&self.iterative, columns.len().checked_sub(common))
        else {
            return 0.0;
        };
        let side = |v| {
            let (own, shared): (&[f64], &[f64]) = <[f64]>::split_at(v, split);
            ProjectedVector {
                columns: &columns[..split],
                own,
                shared,
            }
        };
        iterative.form(self.probes(), side(a), side(b))
    }
}
