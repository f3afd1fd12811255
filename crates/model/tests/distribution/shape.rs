//! Shapes of draws, densities and parameters.

use lehr_graph::{Expr, Graph, Shape};
use lehr_model::distribution::{
    Categorical, Dirichlet, Distribution, HalfCauchy, Horseshoe, LkjCholesky, MultivariateNormal,
    Normal, OrderedLogistic, Uniform,
};

use crate::catalogue::all;
use crate::numbers;

fn shapes<'g>(distribution: &dyn Distribution<'g>, graph: &'g Graph) -> Vec<Vec<usize>> {
    let x = graph.input("x", distribution.value_shape());
    let density = distribution.log_density(x).shape();
    let parameters = distribution.named_parameters(graph);
    let all = [distribution.value_shape(), density];
    let all = all
        .into_iter()
        .chain(parameters.iter().map(|p| p.1.shape()));
    all.map(|s: Shape| s.dims().to_vec()).collect()
}

#[test]
fn expand_repeats_every_distribution() {
    let graph = Graph::new();
    for entry in all() {
        let parameters: Vec<_> = entry.usual.iter().map(|&p| graph.scalar(p)).collect();
        let base = (entry.build)(&parameters);
        let x = graph.full([4, 2], 1.0);
        let density = base.log_density(x);
        assert_eq!(density.shape(), Shape::from([4, 2]), "{}", entry.name);
    }
    let wide = Normal::new(0.0, graph.input("scale", [2])).expand([4, 2]);
    assert_eq!(shapes(&wide, &graph), [[4, 2]; 4]);
    assert_eq!(wide.mean(&graph).map(Expr::shape), Some([4, 2].into()));
    let flat = Uniform::new(0.0, 1.0).expand([3]);
    assert_eq!(shapes(&flat, &graph), [[3]; 4]);
}

#[test]
fn events_keep_their_axes_at_the_end() {
    let graph = Graph::new();
    let dirichlet = Dirichlet::new([1.0, 2.0, 3.0]).expand([5]);
    assert_eq!(
        shapes(&dirichlet, &graph),
        [vec![5, 3], vec![5], vec![5, 3]]
    );
    let normal = MultivariateNormal::new(0.0, graph.input("factor", [3, 3])).expand([5]);
    let expected = [vec![5, 3], vec![5], vec![5, 3], vec![5, 3, 3]];
    assert_eq!(shapes(&normal, &graph), expected);
    let lkj = LkjCholesky::new(3, 2.0).expand([5]);
    assert_eq!(shapes(&lkj, &graph), [vec![5, 3, 3], vec![5], vec![5]]);
}

#[test]
fn logits_per_row_and_shared_logits_agree() {
    let graph = Graph::new();
    let y = graph.constant([3], &[2.0, 0.0, 1.0]);
    let logits = [0.3, -1.0, 0.8];
    let shared = Categorical::with_logits(logits).log_density(y);
    let per_row = graph.constant([3], &logits).broadcast([3, 3]);
    let rows = Categorical::with_logits(per_row);
    assert_eq!(rows.value_shape(), Shape::from([3]));
    assert_eq!(numbers(rows.log_density(y)), numbers(shared));
}

#[test]
fn one_predictor_per_row_meets_shared_cutpoints() {
    let graph = Graph::new();
    let predictor = graph.input("predictor", [6]);
    let cutpoints = graph.input("cutpoints", [2]);
    let ordered = OrderedLogistic::new(predictor, cutpoints);
    let expected = [vec![6], vec![6], vec![6], vec![6, 2]];
    assert_eq!(shapes(&ordered, &graph), expected);
}

#[test]
fn a_horseshoe_names_its_sites_and_composes_them() {
    let graph = Graph::new();
    let horseshoe = Horseshoe::new([2], 0.1);
    assert_eq!(horseshoe.direction().value_shape(), Shape::from([2]));
    assert_eq!(horseshoe.local().value_shape(), Shape::from([2]));
    assert_eq!(horseshoe.global().value_shape(), Shape::SCALAR);
    let direction = graph.constant([2], &[1.0, -2.0]);
    let local = graph.constant([2], &[3.0, 1e8]);
    let plain = horseshoe.coefficients(direction, local, graph.scalar(0.5));
    assert_eq!(numbers(plain), [1.5, -1e8]);
    let slab = horseshoe.with_slab(2.0);
    let bounded = numbers(slab.coefficients(direction, local, graph.scalar(0.5)));
    assert!((bounded[0] - 1.5 / 1.25).abs() < 1e-14, "{bounded:?}");
    assert!((bounded[1] + 4.0).abs() < 1e-12, "{bounded:?}");
}

#[test]
fn moments_that_do_not_exist_are_not_stated() {
    let graph = Graph::new();
    let t = lehr_model::distribution::StudentT::new(1.0, 0.0, 1.0);
    assert!(t.mean(&graph).is_none() && t.variance(&graph).is_none());
    assert!(HalfCauchy::new(1.0).mean(&graph).is_none());
}
