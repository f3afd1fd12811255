//! Joint priors of all fixed effects, for many columns of which few matter.
//!
//! They are on standardised coefficients: b times the standard deviation of its column, in units of
//! the response's standard deviation (families with a link: in units of 1).

use lehr_graph::Expr;
use lehr_model::Tracer;
use lehr_model::distribution::{Beta, Dirichlet, Distribution, Horseshoe, Normal};

use crate::law::{Kind, Law};

/// The site of standard normals, one per coefficient.
const DIRECTION: &str = "weight.direction";
/// The site of the horseshoe's scales, one per coefficient.
const LOCAL: &str = "weight.local";
/// The site of the horseshoe's common scale.
const GLOBAL: &str = "weight.global";
/// The site of the share of the variance that the columns explain.
const EXPLAINED: &str = "weight.R2";
/// The site of each column's part of that share.
const SHARE: &str = "weight.share";

/// The variance of which a share is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Total {
    /// The response's own variance, which is 1 in the model: the columns have R².
    Response,
    /// That of a predictor with noise of variance 1: the columns have R²/(1 − R²).
    Noise,
}

/// One prior for `count` coefficients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shrinkage<'a> {
    law: &'a Law,
    count: usize,
    total: Total,
}

impl<'a> Shrinkage<'a> {
    /// The joint prior of these laws, if they have one.
    pub(crate) fn of(laws: &'a [Law], total: Total) -> Option<Shrinkage<'a>> {
        let law = laws.first().filter(|law| law.kind.is_joint())?;
        let count = laws.len();
        Some(Shrinkage { law, count, total })
    }

    fn horseshoe<'g>(&self) -> Horseshoe<'g> {
        let a = self.law.arguments();
        Horseshoe::new([self.count], a[0]).with_slab(a[1])
    }

    /// The coefficients, from separate sites.
    pub(crate) fn sample<'g>(&self, m: &Tracer<'g>) -> Expr<'g> {
        if self.law.kind == Kind::Horseshoe {
            let prior = self.horseshoe();
            let direction = m.sample(DIRECTION, prior.direction());
            let local = m.sample(LOCAL, prior.local());
            let global = m.sample(GLOBAL, prior.global());
            return prior.coefficients(direction, local, global);
        }
        let [mean, precision, concentration] = *self.law.arguments() else {
            unreachable!("r2d2 has three arguments")
        };
        let direction = m.sample(DIRECTION, Normal::new(0.0, 1.0).expand([self.count]));
        let beta = Beta::new(mean * precision, (1.0 - mean) * precision);
        let explained = m.sample(EXPLAINED, beta);
        let variance = match self.total {
            Total::Response => explained,
            Total::Noise => explained / (-explained + 1.0),
        };
        // A single column has the whole share.
        if self.count == 1 {
            return direction * variance.sqrt();
        }
        let share = m.sample(SHARE, Dirichlet::new(vec![concentration; self.count]));
        direction * (share * variance).sqrt()
    }

    /// The coefficients of each draw; `entry` has the draws of one number of a site.
    pub(crate) fn coefficients(&self, entry: &dyn Fn(&str, usize) -> Vec<f64>) -> Vec<Vec<f64>> {
        let draws = |place: usize| {
            let directions = entry(DIRECTION, place).into_iter();
            let pairs = directions.zip(self.scales(entry, place));
            pairs.map(|(direction, scale)| direction * scale).collect()
        };
        (0..self.count).map(draws).collect()
    }

    /// The scale of one coefficient's standard normal in each draw.
    fn scales(&self, entry: &dyn Fn(&str, usize) -> Vec<f64>, place: usize) -> Vec<f64> {
        if self.law.kind == Kind::Horseshoe {
            let slab = self.law.arguments()[1];
            let pairs = entry(LOCAL, place).into_iter().zip(entry(GLOBAL, 0));
            let scales = pairs.map(|(local, global)| local * global);
            let one = |scale: f64| scale / (1.0 + (scale / slab).powi(2)).sqrt();
            return scales.map(one).collect();
        }
        let explained = entry(EXPLAINED, 0);
        let share = match self.count {
            1 => vec![1.0; explained.len()],
            _ => entry(SHARE, place),
        };
        let one = |(explained, share): (&f64, f64)| match self.total {
            Total::Response => (explained * share).sqrt(),
            Total::Noise => (explained / (1.0 - explained) * share).sqrt(),
        };
        explained.iter().zip(share).map(one).collect()
    }

    /// The site of the parameter that all coefficients share.
    pub(crate) fn common_site(&self) -> &'static str {
        match self.law.kind {
            Kind::Horseshoe => GLOBAL,
            _ => EXPLAINED,
        }
    }
}
