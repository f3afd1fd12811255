//! Layouts: places, names, starts, draws by name, and reading back.

use lehr_density::{Layout, Site, Support};
use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};

fn layout() -> Layout {
    Layout::new(vec![
        Site::new("weight", [2], Support::Real),
        Site::new("scale", (), Support::Positive).with_start(&[0.5]),
        Site::new("L", [2, 2], Support::CholeskyCorrelation(2)),
        Site::new("mix", [2, 3], Support::Simplex(3)),
    ])
    .unwrap()
}

#[test]
fn sites_take_consecutive_places() {
    let layout = layout();
    assert_eq!(layout.size(), 2 + 1 + 1 + 4);
    assert_eq!(layout.range(2), 3..4);
    assert_eq!(layout.site_of(5).unwrap().name, "mix");
    assert_eq!(layout.start()[2], 0.5_f64.ln());
    let names = layout.entry_names();
    assert_eq!(names[..4], ["weight[0]", "weight[1]", "scale", "L[0,0]"]);
    assert_eq!(names.last().unwrap(), "mix[1,2]");
}

#[test]
fn draws_come_by_name_and_go_back() {
    let layout = layout();
    let flat: Vec<f64> = (0..16).map(|k| (f64::from(k) * 0.9).sin()).collect();
    let sites = layout.constrain_values(&flat);
    assert_eq!(sites[1].values, [flat[2].exp(), flat[10].exp()]);
    for (place, site) in layout.sites().iter().enumerate() {
        let (range, size) = (layout.range(place), site.shape().size());
        for (draw, values) in sites[place].values.chunks_exact(size).enumerate() {
            let back = site.support.unconstrain_values(values).unwrap();
            for (u, v) in flat[draw * 8..][range.clone()].iter().zip(&back) {
                assert!((u - v).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn the_log_jacobian_is_the_sum_over_sites() {
    let layout = layout();
    let graph = Graph::new();
    let flat = graph.input("z", [8]);
    let sites = layout.constrain(flat);
    let mut parts = graph.scalar(0.0);
    for (k, site) in layout.sites().iter().enumerate() {
        let free = site.support.free_shape(site.shape()).unwrap();
        let part = site
            .support
            .constrain_values(flat.slice(0, layout.range(k)).reshape(free));
        parts = parts + part.log_jacobian.sum();
    }
    let z = [0.3, -0.2, 0.7, 1.1, -0.4, 0.2, 0.9, -1.3];
    let found = evaluate(
        &[sites.log_jacobian, parts],
        &InputValues::new().with(flat, &z),
        1,
    );
    assert!((found[0][0] - found[1][0]).abs() < 1e-12);
    assert!(found[0][0] != 0.0);
}

#[test]
fn rows_of_sites_are_sites_of_rows() {
    let layout = layout();
    let graph = Graph::new();
    let input = graph.input("w", [2, 8]);
    let z: Vec<f64> = (0..16).map(|k| (f64::from(k) * 0.9).sin()).collect();
    let rows = layout.constrain_rows(input);
    assert_eq!(rows.log_jacobian.shape(), [2].into());
    let mut outputs = rows.values.clone();
    outputs.push(rows.log_jacobian);
    let found = evaluate(&outputs, &InputValues::new().with(input, &z), 1);
    for (site, values) in layout.constrain_values(&z).iter().zip(&found) {
        assert_eq!(site.values, *values, "{}", site.name);
    }
}

#[test]
fn mistakes_in_a_layout_are_named() {
    let refuse = |sites| Layout::new(sites).unwrap_err().to_string();
    assert_eq!(
        refuse(vec![
            Site::new("a", (), Support::Real),
            Site::new("a", [2], Support::Real)
        ]),
        "site \"a\": names must differ, found it twice\n  hint: rename one of the two"
    );
    assert_eq!(
        refuse(vec![Site::new("p", [4], Support::Simplex(3))]),
        "site \"p\": a simplex of 3: expected a shape that ends in [3], found [4]"
    );
    assert_eq!(
        refuse(vec![
            Site::new("s", (), Support::Positive).with_start(&[0.0])
        ]),
        "site \"s\": positive: expected values strictly inside, found 0"
    );
    assert_eq!(
        refuse(vec![
            Site::new("s", [2], Support::Positive).with_start(&[1.0])
        ]),
        "site \"s\": expected 2 values, found 1"
    );
}

#[test]
fn a_layout_reads_back_equal_and_is_checked_again() {
    let text = serde_json::to_string(&layout()).unwrap();
    let back: Layout = serde_json::from_str(&text).unwrap();
    assert_eq!(back, layout());
    let damaged = text.replace("\"weight\"", "\"scale\"");
    assert!(serde_json::from_str::<Layout>(&damaged).is_err());
}

#[test]
fn an_empty_layout_is_a_flat_vector_of_nothing() {
    let layout = Layout::default();
    let graph = Graph::new();
    let sites = layout.constrain(graph.input("theta", [0]));
    assert_eq!(sites.log_jacobian.as_number(), Some(0.0));
    assert!(layout.constrain_values(&[]).is_empty());
}

#[test]
fn sizes_are_checked_before_memory_is_taken() {
    let refused = |dims: Vec<usize>| {
        let site = Site {
            dims,
            ..Site::new("vast", (), Support::Real)
        };
        Layout::new(vec![site]).unwrap_err().to_string()
    };
    let message = refused(vec![1 << 30, 1 << 26]);
    assert!(message.starts_with("site \"vast\": "), "{message}");
    assert!(message.contains("has at most 1.1e12"), "{message}");
    assert!(refused(vec![1 << 50]).contains("expected at most 1099511627775 numbers"));
    assert!(refused(vec![2; 5]).contains("at most 4 dimensions"));
    let half = |name: &str| Site::new(name, [1 << 39], Support::Real);
    assert!(Layout::new(vec![half("a"), half("b"), half("c")]).is_err());
    // Four terabytes, none of which are allocated.
    assert_eq!(Layout::new(vec![half("a")]).unwrap().size(), 1 << 39);
}
