//! Derivatives in every learned quantity against central differences with frozen noise.

use lehr_density::Density;
use lehr_infer::annealed::{AnnealedGuide, Drive, Momentum};
use lehr_infer::guide::{LearnedBlocks, all_blocks};
use lehr_infer::objective::weigh;
use lehr_infer::program::{Program, compile};
use lehr_infer::surrogate::SurrogateKind;

use crate::fixture::{bases, chain, difference, value};
use crate::{all_rows, build, kind, rich, some_mode, stir};

/// The bound of two frozen chains, and its gradient in every block.
fn bound(density: &dyn Density, guide: &AnnealedGuide, learned: &LearnedBlocks) -> Program {
    let program = compile(density, learned, (2, 4), |context| {
        let weighed = weigh(context, guide, &all_rows());
        let bound = weighed.log_weight.mean_lanes();
        let inputs: Vec<_> = learned
            .blocks()
            .iter()
            .map(|b| context.learned(b))
            .collect();
        let mut outputs = vec![bound];
        outputs.extend(context.graph().grad(bound, &inputs));
        outputs
    });
    let mut program = program.unwrap();
    program.fill(density.source(), 9);
    program
}

/// The derivative of elu has a kink at zero, where finite differences are wrong: biases keep the
/// units of a network on either side of it.
fn away_from_kinks(learned: &mut LearnedBlocks) {
    for name in ["surrogate_bias_1", "surrogate_bias_2"] {
        for (unit, place) in learned.range_of(name).into_iter().flatten().enumerate() {
            learned.values[place] += if unit % 2 == 0 { 1.5 } else { -1.5 };
        }
    }
}

/// The largest error of a block's gradient relative to its largest entry, over all blocks.
fn worst(density: &dyn Density, guide: &AnnealedGuide) -> (f64, String) {
    let mut learned = LearnedBlocks::new(all_blocks(density, guide));
    stir(&mut learned);
    away_from_kinks(&mut learned);
    let mut program = bound(density, guide, &learned);
    value(&mut program, &learned.values);
    let count = learned.blocks().len();
    let gradients: Vec<Vec<f64>> = (1..=count).map(|k| program.output(k).to_vec()).collect();
    let mut worst = (0.0, String::new());
    for (block, gradient) in gradients.iter().enumerate() {
        let largest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        let name = learned.blocks()[block].name.clone();
        assert!(largest > 1e-9, "{name} does not matter");
        for (place, exact) in learned.range(block).zip(gradient) {
            let found = difference(&mut program, &mut learned.values, place);
            let error = (found - exact).abs() / largest;
            if error > worst.0 {
                worst = (error, format!("{name}: {found} for {exact}"));
            }
        }
    }
    worst
}

fn assert_exact(kind: SurrogateKind) {
    let density = rich(11);
    let mode = some_mode(&density);
    let surrogate = build(&density, kind, 4, Some(&mode));
    for base in bases() {
        for momentum in [Momentum::Diagonal, Momentum::Whitened] {
            let guide = chain(base.clone(), momentum, Drive::Surrogate(surrogate.clone()));
            let (error, place) = worst(&density, &guide);
            assert!(
                error < 1e-7,
                "{kind} {base:?} {momentum:?} {place} ({error:e})"
            );
        }
    }
}

#[test]
fn random_rows_have_exact_gradients() {
    assert_exact(SurrogateKind::RANDOM);
    assert_exact(kind("rand±"));
}

#[test]
fn coresets_have_exact_gradients() {
    assert_exact(kind("cs-init"));
    assert_exact(kind("cs-init±"));
    assert_exact(kind("cs-fix"));
}

#[test]
fn centroids_have_exact_gradients() {
    assert_exact(kind("km-init±"));
    assert_exact(kind("km-fix±"));
}

#[test]
fn a_network_has_exact_gradients() {
    assert_exact(SurrogateKind::NETWORK);
}

#[test]
fn taylor_has_exact_gradients() {
    assert_exact(SurrogateKind::TAYLOR);
}
