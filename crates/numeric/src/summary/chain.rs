//! Convergence of several chains: rank-normalised split R̂ and effective sizes.
//!
//! After Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021). A chain is a slice of draws; all
//! chains of a call are equally long. Fewer than four draws, or values that are not finite, give
//! NaN.

use super::{mean, quantile, sd, sorted};

/// R̂ of split chains: the larger of the R̂ of ranks and that of ranks of distances from the
/// median. Values below 1.01 are good.
pub fn split_rank_rhat(chains: &[&[f64]]) -> f64 {
    let Some(halves) = split_chains(chains) else {
        return f64::NAN;
    };
    let all: Vec<f64> = halves.concat();
    let median = quantile(&sorted(&all), 0.5);
    let fold = |half: &Vec<f64>| half.iter().map(|x| (x - median).abs()).collect();
    let folded: Vec<Vec<f64>> = halves.iter().map(fold).collect();
    split_rhat(&normal_scores(&halves)).max(split_rhat(&normal_scores(&folded)))
}

/// Effective number of draws for the mean of the ranks, which describes the centre of the
/// distribution.
pub fn effective_size_bulk(chains: &[&[f64]]) -> f64 {
    split_chains(chains).map_or(f64::NAN, |halves| geyer_sum(&normal_scores(&halves)))
}

/// Effective number of draws for the 5 % and 95 % quantiles, the smaller of the two.
pub fn effective_size_tail(chains: &[&[f64]]) -> f64 {
    let Some(halves) = split_chains(chains) else {
        return f64::NAN;
    };
    let all = sorted(&chains.concat());
    let below = |probability: f64| {
        let limit = quantile(&all, probability);
        let indicator = |x: &f64| f64::from(u8::from(*x <= limit));
        let chains = halves
            .iter()
            .map(|half| half.iter().map(indicator).collect());
        geyer_sum(&chains.collect::<Vec<Vec<f64>>>())
    };
    below(0.05).min(below(0.95))
}

/// Effective number of draws for the mean of the values themselves.
pub fn effective_size(chains: &[&[f64]]) -> f64 {
    split_chains(chains).map_or(f64::NAN, |halves| geyer_sum(&halves))
}

/// Monte Carlo standard error of the mean over all chains.
pub fn mean_error(chains: &[&[f64]]) -> f64 {
    sd(&chains.concat()) / effective_size(chains).sqrt()
}

/// Monte Carlo standard error of the standard deviation over all chains, relative to it.
pub fn sd_error(chains: &[&[f64]]) -> f64 {
    let centre = mean(&chains.concat());
    let square = |chain: &&[f64]| chain.iter().map(|x| (x - centre).powi(2)).collect();
    let squares: Vec<Vec<f64>> = chains.iter().map(square).collect();
    let squares: Vec<&[f64]> = squares.iter().map(Vec::as_slice).collect();
    0.5 * mean_error(&squares) / mean(&squares.concat())
}

/// Halves of every chain; the middle draw of an odd chain is left out.
///
/// # Panics
/// If the chains differ in length.
fn split_chains(chains: &[&[f64]]) -> Option<Vec<Vec<f64>>> {
    let length = chains.first()?.len();
    assert!(
        chains.iter().all(|chain| chain.len() == length),
        "chains of equal length"
    );
    let finite = chains
        .iter()
        .all(|chain| chain.iter().all(|x| x.is_finite()));
    if length < 4 || !finite {
        return None;
    }
    let half = length / 2;
    let mut halves: Vec<Vec<f64>> = chains.iter().map(|chain| chain[..half].to_vec()).collect();
    halves.extend(chains.iter().map(|chain| chain[length - half..].to_vec()));
    Some(halves)
}

/// Every value replaced by the normal quantile of its rank among all; ties share their mean rank.
fn normal_scores(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let length = chains[0].len();
    let all = chains.concat();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&a, &b| all[a].total_cmp(&all[b]));
    let mut scores = vec![0.0; all.len()];
    for tied in order.chunk_by(|&a, &b| all[a] == all[b]) {
        // Ranks count from one; the first rank of a tie follows from its position in the order.
        let first = order.partition_point(|&at| all[at] < all[tied[0]]);
        let rank = first as f64 + 0.5 * (tied.len() as f64 + 1.0);
        let score = normal_quantile((rank - 0.375) / (all.len() as f64 + 0.25));
        for &at in tied {
            scores[at] = score;
        }
    }
    scores.chunks(length).map(<[f64]>::to_vec).collect()
}

fn split_rhat(chains: &[Vec<f64>]) -> f64 {
    let draws = chains[0].len() as f64;
    let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
    let variances: Vec<f64> = chains.iter().map(|chain| sd(chain).powi(2)).collect();
    let within = mean(&variances);
    let between = draws * sd(&means).powi(2);
    ((between / within + draws - 1.0) / draws).sqrt()
}

/// Correlations of several chains at one lag.
struct LagCorrelation<'a> {
    chains: &'a [Vec<f64>],
    means: Vec<f64>,
    within: f64,
    total: f64,
}

impl<'a> LagCorrelation<'a> {
    fn new(chains: &'a [Vec<f64>]) -> Self {
        let draws = chains[0].len() as f64;
        let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
        let mut correlation = Self {
            chains,
            means,
            within: 0.0,
            total: 0.0,
        };
        let variance = correlation.autocovariance_at(0);
        correlation.within = variance * draws / (draws - 1.0);
        correlation.total = variance;
        if chains.len() > 1 {
            correlation.total += sd(&correlation.means).powi(2);
        }
        correlation
    }

    /// Autocovariance with divisor n, averaged over the chains.
    fn autocovariance_at(&self, lag: usize) -> f64 {
        let one = |(chain, mean): (&Vec<f64>, &f64)| {
            let pairs = chain.iter().zip(&chain[lag..]);
            let products = pairs.map(|(a, b)| (a - mean) * (b - mean));
            products.sum::<f64>() / chain.len() as f64
        };
        self.chains.iter().zip(&self.means).map(one).sum::<f64>() / self.chains.len() as f64
    }

    fn autocorrelation_at(&self, lag: usize) -> f64 {
        1.0 - (self.within - self.autocovariance_at(lag)) / self.total
    }
}

/// Effective size by Geyer's initial monotone sequence: sums of neighbouring correlations are added
/// while they are positive, and made nonincreasing.
fn geyer_sum(chains: &[Vec<f64>]) -> f64 {
    let draws = chains[0].len();
    let size = (chains.len() * draws) as f64;
    let (low, high) = chains
        .iter()
        .flatten()
        .fold((f64::MAX, f64::MIN), |(low, high), x| {
            (low.min(*x), high.max(*x))
        });
    if high - low < 1e-15 {
        return size;
    }
    let correlation = LagCorrelation::new(chains);
    let mut even = 1.0;
    let mut odd = correlation.autocorrelation_at(1);
    let (mut sum, mut last) = (0.0, f64::INFINITY);
    let mut lag = 1;
    while lag + 3 < draws && even + odd > 0.0 {
        last = (even + odd).min(last);
        sum += last;
        even = correlation.autocorrelation_at(lag + 1);
        odd = correlation.autocorrelation_at(lag + 2);
        lag += 2;
    }
    // The first correlation after the sequence still accounts for alternating chains.
    let time = -1.0 + 2.0 * sum + even.max(0.0);
    size / time.max(1.0 / size.log10())
}

/// Normal quantile: Acklam's rational approximation and one step of Halley's method on the
/// exact distribution function.
pub fn normal_quantile(probability: f64) -> f64 {
    if probability > 0.5 {
        return -normal_quantile(1.0 - probability);
    }
    let start = acklam_quantile(probability);
    let below = 0.5 * libm::erfc(-start * std::f64::consts::FRAC_1_SQRT_2);
    let density = (-0.5 * start * start).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let step = (below - probability) / density;
    start - step / (1.0 + 0.5 * start * step)
}

fn acklam_quantile(probability: f64) -> f64 {
    const CENTRE: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const CENTRE_BELOW: [f64; 6] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
        1.0,
    ];
    const TAIL: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const TAIL_BELOW: [f64; 5] = [
        0.007_784_695_709_041_462,
        0.322_467_129_070_039_8,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    let horner = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    if probability < 0.024_25 {
        let x = (-2.0 * probability.ln()).sqrt();
        return horner(&TAIL, x) / horner(&TAIL_BELOW, x);
    }
    let x = probability - 0.5;
    x * horner(&CENTRE, x * x) / horner(&CENTRE_BELOW, x * x)
}

#[cfg(test)]
mod tests {
    use super::{normal_quantile, sd_error};
    use crate::stream::Stream;

    #[test]
    fn the_error_of_a_standard_deviation_is_that_of_repeated_chains() {
        // Independent draws: 1/√(2n) for a Gaussian, more where tails are heavy.
        let chains = |power: i32| -> Vec<Vec<f64>> {
            let mut stream = Stream::new(5, "sd error", 0);
            let mut draws = || (0..1000).map(|_| stream.normal().powi(power)).collect();
            (0..4).map(|_| draws()).collect()
        };
        let error = |power: i32| {
            let own = chains(power);
            sd_error(&own.iter().map(Vec::as_slice).collect::<Vec<_>>())
        };
        let gaussian = 1.0 / f64::sqrt(8000.0);
        assert!((error(1) / gaussian - 1.0).abs() < 0.15, "{}", error(1));
        // x³ has a kurtosis of 46.2: √(45.2 / 4n).
        let cube = f64::sqrt(45.2 / 16000.0);
        assert!((error(3) / cube - 1.0).abs() < 0.5, "{}", error(3));
    }

    #[test]
    fn normal_quantiles_are_those_of_scipy() {
        for (probability, expected) in [
            (1e-300, -37.047_096_299_361_2),
            (1e-10, -6.361_340_902_404_056),
            (0.02, -2.053_748_910_631_823),
            (0.3, -0.524_400_512_708_040_9),
            (0.975, 1.959_963_984_540_054),
        ] {
            let found: f64 = normal_quantile(probability);
            assert!(
                (found / expected - 1.0).abs() < 1e-14,
                "{found} for {expected}"
            );
        }
        assert_eq!(normal_quantile(0.5), 0.0);
    }
}
