//! Simulated curves: an exponential approach to zero from below plus autoregressive noise.

use super::*;
use lehr_numeric::stream::Stream;

/// A curve with known remaining gap; the noise has unit standard deviation.
#[derive(Clone, Copy)]
struct Curve {
    depth: f64,
    time: f64,
    correlation: f64,
}

impl Curve {
    fn gap(&self, step: u64) -> f64 {
        self.depth * (-(step as f64) / self.time).exp()
    }

    /// The step at which the rule stopped, or the cap.
    fn run(&self, seed: u64, cap: u64) -> u64 {
        let mut rule = Stationary::new(StationarySettings::default());
        let mut stream = Stream::new(seed, "curve", 0);
        let mut noise = stream.normal();
        for step in 1..=cap {
            let fresh = (1.0 - self.correlation.powi(2)).sqrt();
            noise = self.correlation * noise + fresh * stream.normal();
            if rule.push(noise - self.gap(step)).trend == Trend::Stationary {
                return step;
            }
        }
        cap
    }
}

/// 95th percentile of the gap at the stop, and median and 95th percentile of its step.
fn summary(curve: Curve, cap: u64) -> (f64, u64, u64) {
    let mut steps: Vec<u64> = (0..60).map(|seed| curve.run(seed, cap)).collect();
    steps.sort_unstable();
    (curve.gap(steps[2]), steps[30], steps[57])
}

fn curve(depth: f64, time: f64, correlation: f64) -> Curve {
    Curve {
        depth,
        time,
        correlation,
    }
}

#[test]
fn a_level_objective_is_recognised_after_some_thousand_effective_steps() {
    for (correlation, median, late) in [
        (0.0, 4000, 8000),
        (0.5, 12_000, 24_000),
        (0.9, 80_000, 160_000),
    ] {
        let (_, at_median, at_late) = summary(curve(0.0, 1.0, correlation), 200_000);
        assert!(
            at_median <= median && at_late <= late,
            "{correlation}: {at_median} {at_late}"
        );
    }
}

#[test]
fn a_rising_objective_is_not_stopped_before_a_tenth_of_its_noise_is_left() {
    for correlation in [0.0, 0.5, 0.9] {
        for (depth, time) in [(1.0, 50.0), (1.0, 500.0), (10.0, 500.0), (10.0, 5000.0)] {
            let (gap, ..) = summary(curve(depth, time, correlation), 400_000);
            assert!(gap < 0.1, "{depth} {time} {correlation}: {gap}");
        }
    }
    let (gap, median, _) = summary(curve(1000.0, 2000.0, 0.3), 400_000);
    assert!(gap < 0.01, "{gap}");
    // The curve is within a tenth of the noise after 9.2 times its time constant.
    assert!(median < 70_000, "{median}");
}

#[test]
fn a_slow_rise_as_small_as_the_noise_is_mostly_followed() {
    // The worst of these cases: the first windows rise by only a few standard errors. A quarter of
    // the runs stop early, which is the price of an automatic stop.
    let slow = curve(1.0, 5000.0, 0.0);
    let mut gaps: Vec<f64> = (0..60)
        .map(|seed| slow.gap(slow.run(seed, 400_000)))
        .collect();
    gaps.sort_unstable_by(f64::total_cmp);
    assert!(
        gaps[30] < 0.01 && gaps[44] < 0.1 && gaps[59] < 0.7,
        "{gaps:?}"
    );
}

#[test]
fn a_steady_rise_of_the_noise_in_four_thousand_steps_is_never_called_level() {
    let stopped = (0..60).filter(|&seed| {
        let mut rule = Stationary::new(StationarySettings::default());
        let mut stream = Stream::new(seed, "drift", 0);
        (0..20_000).any(|step| {
            let estimate = stream.normal() + f64::from(step) / 4000.0;
            rule.push(estimate).trend == Trend::Stationary
        })
    });
    assert!(stopped.count() <= 2);
}

fn feed(rule: &mut Stationary, steps: std::ops::Range<u64>, value: impl Fn(u64, f64) -> f64) {
    for step in steps {
        rule.push(value(step, Stream::new(1, "feed", step).normal()));
    }
}

#[test]
fn a_falling_objective_is_called_falling() {
    let mut rule = Stationary::new(StationarySettings::default());
    feed(&mut rule, 0..8000, |step, noise| {
        noise - step as f64 / 2000.0
    });
    assert_eq!(rule.verdict().trend, Trend::Falling);
}

#[test]
fn a_short_history_says_nothing() {
    let mut rule = Stationary::new(StationarySettings::default());
    feed(&mut rule, 0..1500, |_, noise| noise);
    assert_eq!(rule.verdict().trend, Trend::Unknown);
}

#[test]
fn without_noise_it_stops_at_the_end_of_the_curve_and_at_once_on_a_constant() {
    let mut rule = Stationary::new(StationarySettings::default());
    let step = (1..100_000).find(|&step| {
        let estimate = -100.0 - (-f64::from(step) / 200.0).exp();
        rule.push(estimate).trend == Trend::Stationary
    });
    let gap = (-f64::from(step.unwrap()) / 200.0).exp();
    assert!(gap < 1e-9, "{gap}");
    rule.restart();
    assert_eq!(rule.count(), 0);
    feed(&mut rule, 0..1000, |_, _| -3.0);
    assert_eq!(rule.verdict().trend, Trend::Stationary);
    assert_eq!(rule.verdict().level, -3.0);
}

#[test]
fn level_and_gain_are_those_of_a_known_line() {
    let mut rule = Stationary::new(StationarySettings::default());
    feed(&mut rule, 0..8192, |step, noise| noise + step as f64 * 1e-3);
    let verdict = rule.verdict();
    let middle = (8192 - verdict.window / 2) as f64 * 1e-3;
    assert!((verdict.level - middle).abs() < 4.0 * verdict.level_error);
    assert!((verdict.gain - verdict.window as f64 * 1e-3).abs() < 4.0 * verdict.gain_error);
    let plain = 1.0 / (verdict.window as f64).sqrt();
    assert!(
        (0.6..1.7).contains(&(verdict.level_error / plain)),
        "{verdict:?}"
    );
}

#[test]
fn a_saved_history_goes_on_the_same_and_a_far_level_changes_nothing() {
    let fresh = Stationary::new(StationarySettings::default());
    let text = serde_json::to_string(&fresh).unwrap();
    assert_eq!(fresh, serde_json::from_str(&text).unwrap());
    let mut rule = Stationary::new(StationarySettings::default());
    feed(&mut rule, 0..5003, |_, noise| noise);
    let text = serde_json::to_string(&rule).unwrap();
    let mut copy: Stationary = serde_json::from_str(&text).unwrap();
    feed(&mut rule, 5003..9000, |_, noise| noise);
    feed(&mut copy, 5003..9000, |_, noise| noise);
    assert_eq!(rule, copy);
    let mut far = Stationary::new(StationarySettings::default());
    feed(&mut far, 0..9000, |_, noise| noise - 1e7);
    assert_eq!(far.verdict().trend, rule.verdict().trend);
    assert!((far.verdict().gain - rule.verdict().gain).abs() < 1e-6);
}

#[test]
fn bad_estimates_are_left_out_and_memory_stays_fixed() {
    let mut rule = Stationary::new(StationarySettings::default());
    feed(&mut rule, 0..50_000, |step, noise| {
        if step % 10 == 0 { f64::NAN } else { noise }
    });
    assert_eq!(rule.count(), 45_000);
    assert!(rule.bins.len() <= BINS && rule.bins.capacity() == BINS);
    assert_eq!(rule.verdict().trend, Trend::Stationary);
}
