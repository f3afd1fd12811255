//! A built surrogate stores everything that it needs of the table.

use lehr_graph::Graph;
use lehr_infer::guide::{Context, Whitening};
use lehr_infer::surrogate::{Setup, SurrogateKind, SurrogateSettings, restore};

use crate::{Likelihood, build, columns, kind, rich, some_mode, starts, stir, values};

#[test]
fn a_surrogate_comes_back_from_its_file() {
    let density = rich(12);
    let mode = some_mode(&density);
    let points = [vec![0.1, -0.4, 0.9, 0.2], vec![-0.7, 0.2, 0.3, 0.5]];
    // The same model on another table, from which nothing may be read.
    let elsewhere = rich(5);
    for kind in crate::plain_kinds() {
        let surrogate = build(&density, kind, 4, Some(&mode));
        let restored = restore(&surrogate.store(), &elsewhere).unwrap();
        assert_eq!(restored.name(), kind.name());
        assert_eq!(restored.blocks(), surrogate.blocks());
        assert_eq!(restored.contents(), surrogate.contents());
        let mut learned = starts(&density, &*surrogate);
        stir(&mut learned);
        let expected = values(&density, &*surrogate, &learned, &points);
        let found = values(&elsewhere, &*restored, &learned, &points);
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn contents_say_what_is_kept() {
    let density = Likelihood::Logistic.bind(40, 4);
    let mode = some_mode(&density);
    let contents = |kind| build(&density, kind, 6, Some(&mode)).contents();
    assert_eq!(contents(SurrogateKind::RANDOM), "6 rows of the table");
    assert_eq!(contents(kind("km-fix±")), "6 centroids, no rows");
    assert_eq!(contents(kind("km-init±")), "6 centroids, no rows");
    assert_eq!(contents(SurrogateKind::NETWORK), "no rows");
    assert_eq!(
        contents(kind("rand±")),
        "the covariates of 6 rows of the table, without their responses"
    );
    assert_eq!(
        contents(SurrogateKind::TAYLOR),
        "6 rows of the table, and slope and curvature of all rows at the mode"
    );
    assert!(contents(kind("cs-fix")).ends_with(" rows of the table"));
}

#[test]
fn centroid_files_hold_no_row_and_pair_files_no_label() {
    let density = Likelihood::Logistic.bind(40, 4);
    let (y, x) = columns(&density);
    assert!(y.contains(&1.0));
    for kind in [kind("km-fix±"), kind("km-init±")] {
        let surrogate = build(&density, kind, 6, None);
        let bytes = surrogate.store().bytes;
        for row in x.chunks_exact(3) {
            assert!(!holds(&bytes, &row[1..2]), "{kind}: {row:?}");
        }
    }
    let pair = build(&density, kind("rand±"), 40, None);
    let bytes = pair.store().bytes;
    assert!(holds(&bytes, &x[1..2]) && holds(&bytes, &[0.0; 40]) && !holds(&bytes, &y));
}

/// Whether these numbers occur consecutively among the bytes.
fn holds(bytes: &[u8], numbers: &[f64]) -> bool {
    let wanted: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.windows(wanted.len()).any(|found| found == wanted)
}

#[test]
fn a_saved_surrogate_refuses_another_model() {
    let density = Likelihood::Logistic.bind(40, 4);
    let stored = build(&density, SurrogateKind::RANDOM, 6, None).store();
    let error = restore(&stored, &rich(12)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "sl-dais: the saved surrogate has columns x, y, but the model reads w, x, u, o, y"
    );
    let mut stored = build(&density, SurrogateKind::NETWORK, 6, None).store();
    let error = restore(&stored, &rich(12)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "sl-dais: the saved surrogate is a function of 3 numbers, but the model has 4 latents"
    );
    stored.name = "oracle".into();
    let error = restore(&stored, &density).err().unwrap();
    assert!(error.to_string().contains("found \"oracle\""), "{error}");
}

/// The error of a surrogate whose stored bytes were changed.
fn refused(kind: SurrogateKind, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let density = Likelihood::Logistic.bind(40, 4);
    let mode = some_mode(&density);
    let mut stored = build(&density, kind, 6, Some(&mode)).store();
    change(&mut stored.bytes);
    restore(&stored, &density).err().unwrap().to_string()
}

#[test]
fn damaged_bytes_are_refused() {
    let damaged = "sl-dais: the parts of the saved surrogate do not fit each other\n  \
                   hint: the file is damaged";
    for kind in crate::plain_kinds() {
        assert_eq!(
            refused(kind, |bytes| bytes.truncate(bytes.len() - 1)),
            damaged
        );
        assert_eq!(refused(kind, |bytes| bytes.push(0)), damaged);
    }
    // The first number is the number of rows.
    for name in ["rand", "km-init±", "taylor"] {
        assert_eq!(refused(kind(name), |bytes| bytes[0] += 1), damaged);
    }
}

#[test]
fn the_parts_of_one_surrogate_are_not_those_of_another() {
    let density = Likelihood::Logistic.bind(40, 4);
    let mut stored = build(&density, kind("cs-fix"), 6, None).store();
    for name in ["rand", "rand±", "taylor", "nn"] {
        stored.name = name.into();
        assert!(restore(&stored, &density).is_err(), "{name}");
    }
}

#[test]
fn all_steps_of_a_chain_read_one_copy_of_the_rows() {
    let density = rich(12);
    let mode = some_mode(&density);
    for kind in crate::plain_kinds() {
        let surrogate = build(&density, kind, 4, Some(&mode));
        let graph = Graph::new();
        let context = Context::new(&graph, &density);
        let at = context.at(graph.input("z", [4]));
        let once = surrogate.log_likelihood(&context, &at);
        assert!(once.is(surrogate.log_likelihood(&context, &at)), "{kind}");
    }
}

#[test]
fn a_long_table_is_clustered_by_some_of_its_rows() {
    let density = Likelihood::Logistic.bind(40, 4);
    let centroids = |clustered_rows| {
        let settings = SurrogateSettings {
            clustered_rows,
            ..SurrogateSettings::new(kind("km-init±"), 6)
        };
        let setup = Setup {
            seed: 3,
            mode: None,
            whitening: &Whitening::Identity,
        };
        let surrogate = settings.build(&density, &setup).unwrap();
        surrogate.blocks().pop().unwrap().start
    };
    assert_eq!(centroids(40), centroids(1000));
    assert_eq!(centroids(10), centroids(10));
    assert_ne!(centroids(10), centroids(40));
    // With as many clusters as rows, the clusters are the rows themselves.
    let (_, x) = columns(&density);
    let found = centroids(6);
    let rows: Vec<&[f64]> = x.chunks_exact(3).collect();
    assert!(
        found
            .chunks_exact(3)
            .all(|centroid| rows.contains(&centroid))
    );
}

#[test]
fn a_network_starts_near_zero_and_by_its_seed() {
    let density = Likelihood::Logistic.bind(40, 4);
    let network = build(&density, SurrogateKind::NETWORK, 0, None);
    let learned = starts(&density, &*network);
    let found = values(&density, &*network, &learned, &[vec![1.0, -2.0, 0.5]]);
    assert!(found[0] != 0.0 && found[0].abs() < 0.05, "{found:?}");
}
