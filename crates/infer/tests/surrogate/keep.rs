//! What a built surrogate keeps of the table, and that it is enough.

use lehr_graph::Graph;
use lehr_infer::guide::{Context, Frame};
use lehr_infer::surrogate::{SavedSurrogate, Setup, SurrogateKind, SurrogateSettings};

use crate::{Likelihood, build, columns, rich, some_mode, starts, stir, values};

#[test]
fn a_surrogate_comes_back_from_its_file() {
    let density = rich(12);
    let mode = some_mode(&density);
    let points = [vec![0.1, -0.4, 0.9, 0.2], vec![-0.7, 0.2, 0.3, 0.5]];
    // The same model on another table: nothing may be read from it.
    let elsewhere = rich(5);
    for (kind, ..) in SurrogateKind::ALL {
        let surrogate = build(&density, kind, 4, Some(&mode));
        let text = serde_json::to_string(&surrogate.save()).unwrap();
        let saved: SavedSurrogate = serde_json::from_str(&text).unwrap();
        let restored = saved.restore(&elsewhere).unwrap();
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
    assert_eq!(contents(SurrogateKind::Random), "6 rows of the table");
    assert_eq!(contents(SurrogateKind::CentroidFix), "6 centroids, no rows");
    assert_eq!(
        contents(SurrogateKind::CentroidInit),
        "6 centroids, no rows"
    );
    assert_eq!(contents(SurrogateKind::Network), "no rows");
    assert_eq!(
        contents(SurrogateKind::RandomPair),
        "the covariates of 6 rows of the table, without their responses"
    );
    assert_eq!(
        contents(SurrogateKind::Taylor),
        "6 rows of the table, and slope and curvature of all rows at the mode"
    );
    assert!(contents(SurrogateKind::CoresetFix).ends_with(" rows of the table"));
}

#[test]
fn centroid_files_hold_no_row_and_pair_files_no_label() {
    let density = Likelihood::Logistic.bind(40, 4);
    let (y, x) = columns(&density);
    assert!(y.contains(&1.0));
    for kind in [SurrogateKind::CentroidFix, SurrogateKind::CentroidInit] {
        let surrogate = build(&density, kind, 6, None);
        let text = serde_json::to_string(&surrogate.save()).unwrap();
        for row in x.chunks_exact(3) {
            assert!(!text.contains(&row[1].to_string()), "{kind}: {row:?}");
        }
    }
    let pair = build(&density, SurrogateKind::RandomPair, 40, None);
    let text = serde_json::to_string(&pair.save()).unwrap();
    let blank = serde_json::to_string(&vec![0.0; 40]).unwrap();
    assert!(text.contains(&blank));
}

#[test]
fn a_saved_surrogate_refuses_another_model() {
    let density = Likelihood::Logistic.bind(40, 4);
    let saved = build(&density, SurrogateKind::Random, 6, None).save();
    let error = saved.restore(&rich(12)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "sl-dais: the saved surrogate has columns x, y, but the model reads w, x, u, o, y"
    );
    let saved = build(&density, SurrogateKind::Network, 6, None).save();
    let error = saved.restore(&rich(12)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "sl-dais: the saved surrogate is a function of 3 numbers, but the model has 4 latents"
    );
}

#[test]
fn damaged_files_are_refused() {
    let density = Likelihood::Logistic.bind(40, 4);
    let saved = build(&density, SurrogateKind::Random, 6, None).save();
    let text = serde_json::to_string(&saved).unwrap();
    let damaged = text.replace("\"rows\":6", "\"rows\":7");
    assert_ne!(damaged, text);
    let error = serde_json::from_str::<SavedSurrogate>(&damaged).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("expected 7 rows of every column"),
        "{error}"
    );
}

#[test]
fn saved_parts_that_do_not_fit_are_refused() {
    let density = Likelihood::Logistic.bind(40, 4);
    let mode = some_mode(&density);
    let saved = build(&density, SurrogateKind::Taylor, 6, Some(&mode)).save();
    let mut value = serde_json::to_value(&saved).unwrap();
    let slope = value["taylor"]["slope"].as_array_mut().unwrap();
    slope.pop();
    let damaged: SavedSurrogate = serde_json::from_value(value).unwrap();
    assert_eq!(
        damaged.restore(&density).err().unwrap().to_string(),
        "sl-dais: the parts of the saved surrogate do not fit each other\n  \
         hint: the file is damaged"
    );
}

#[test]
fn all_steps_of_a_chain_read_one_copy_of_the_rows() {
    let density = rich(12);
    let mode = some_mode(&density);
    for (kind, ..) in SurrogateKind::ALL {
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
            ..SurrogateSettings::new(SurrogateKind::CentroidInit, 6)
        };
        let setup = Setup {
            seed: 3,
            mode: None,
            frame: &Frame::Identity,
        };
        let surrogate = settings.build(&density, &setup).unwrap();
        surrogate.blocks().pop().unwrap().start
    };
    assert_eq!(centroids(40), centroids(1000));
    assert_eq!(centroids(10), centroids(10));
    assert_ne!(centroids(10), centroids(40));
    // As many clusters as rows are the rows themselves.
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
    let network = build(&density, SurrogateKind::Network, 0, None);
    let learned = starts(&density, &*network);
    let found = values(&density, &*network, &learned, &[vec![1.0, -2.0, 0.5]]);
    assert!(found[0] != 0.0 && found[0].abs() < 0.05, "{found:?}");
}
