//! The automatic choice of method: the first method, the conditions for another one, and the
//! result.

use lehr_infer::fit::Fit;
use lehr_infer::judge::Level;
use lehr_infer::method::Auto;
use lehr_infer::observer::Observer;
use lehr_infer::posterior::Posterior;

use crate::diagnostic::events;
use crate::run;

/// Records the remarks.
#[derive(Default)]
struct Notes(Vec<String>);

impl Observer for Notes {
    fn remark(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
}

fn tried(posterior: &Posterior) -> Vec<&str> {
    let attempts = posterior.origin.attempts.iter();
    attempts.map(|one| one.method.as_str()).collect()
}

#[test]
fn a_posterior_near_a_gaussian_needs_one_attempt() {
    let density = events(4000, 0.5);
    let mut notes = Notes::default();
    let posterior = run(Fit::default().seed(1).observer(&mut notes), &density);
    assert_eq!(tried(&posterior), ["full-rank"]);
    assert_eq!(posterior.method(), "full-rank");
    assert_eq!(posterior.verdict().level, Level::Reliable);
    assert_eq!(notes.0.len(), 1);
    assert!(
        notes.0[0].starts_with("auto: full-rank, "),
        "{notes:?}",
        notes = notes.0
    );
    assert_eq!(posterior.draw_more(&density, 10, 2).unwrap().len(), 30);
}

#[test]
fn more_is_tried_while_the_verdict_is_not_reliable_and_the_best_is_kept() {
    let density = events(40, 1.2);
    let without = run(
        Fit::new(Auto {
            budget: 0.0,
            ..Auto::default()
        })
        .seed(1),
        &density,
    );
    assert_eq!(tried(&without).len(), 1);
    let with = run(Fit::default().seed(1), &density);
    let levels: Vec<Level> = (with.origin.attempts.iter())
        .filter_map(|one| one.level)
        .collect();
    assert_eq!(Some(&with.verdict().level), levels.iter().min());
    assert!(
        levels[..levels.len() - 1]
            .iter()
            .all(|one| *one != Level::Reliable)
    );
    assert!(with.verdict().level <= without.verdict().level);
}
