//! Rows for functions of one, two and three numbers.

use super::Domain::{Any, Other, Positive};
use super::{Case, case, one, pair, triple};

pub(super) fn unary() -> Vec<Case> {
    vec![
        case("neg", &[Any], one, |o| -o.x[0]),
        case("abs", &[Any], one, |o| o.x[0].abs()),
        case("sign", &[Any], one, |o| o.x[0].sign()),
        case("exp", &[Any], one, |o| o.x[0].exp()),
        case("expm1", &[Any], one, |o| o.x[0].expm1()),
        case("ln", &[Positive], one, |o| o.x[0].ln()),
        case("log1p", &[Positive], one, |o| o.x[0].log1p()),
        case("sqrt", &[Positive], one, |o| o.x[0].sqrt()),
        case("recip", &[Positive], one, |o| o.x[0].recip()),
        case("square", &[Any], one, |o| o.x[0].square()),
        case("sigmoid", &[Any], one, |o| o.x[0].sigmoid()),
        case("softplus", &[Any], one, |o| o.x[0].softplus()),
        case("tanh", &[Any], one, |o| o.x[0].tanh()),
        case("elu", &[Any], one, |o| o.x[0].elu()),
        case("lgamma", &[Positive], one, |o| o.x[0].lgamma()),
        case("digamma", &[Positive], one, |o| o.x[0].digamma()),
        case("trigamma", &[Positive], one, |o| o.x[0].trigamma()),
        case("erf", &[Any], one, |o| o.x[0].erf()),
        case("erfc", &[Any], one, |o| o.x[0].erfc()),
        case("normal_log_cdf", &[Any], one, |o| o.x[0].normal_log_cdf()),
        case("inverse_mills", &[Any], one, |o| o.x[0].inverse_mills()),
        case("normal_quantile", &[Any], one, |o| {
            o.x[0].sigmoid().normal_quantile()
        }),
        case("sin", &[Any], one, |o| o.x[0].sin()),
        case("cos", &[Any], one, |o| o.x[0].cos()),
        case("atan", &[Any], one, |o| o.x[0].atan()),
        case("log_bessel_i0e", &[Any], one, |o| o.x[0].log_bessel_i0e()),
        case("bessel_ratio", &[Any], one, |o| o.x[0].bessel_ratio()),
        case("bessel_ratio_slope", &[Positive], one, |o| {
            o.x[0].bessel_ratio_slope()
        }),
        case("clip", &[Any], one, |o| o.x[0].clip(-0.5, 1.0)),
        case("a number on either side", &[Positive], one, |o| {
            (2.0 - o.x[0] * 3.0) / (1.0 + o.x[0]) + 1.0 / (o.x[0] - 9.0)
        }),
        case("pow to a number", &[Positive], one, |o| {
            let power = |p: f64| o.x[0].pow(o.graph.scalar(p));
            [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 2.7]
                .map(power)
                .into_iter()
                .reduce(|a, b| a + b)
                .expect("there are powers")
        }),
    ]
}

pub(super) fn binary() -> Vec<Case> {
    const BOTH: &[super::Domain] = &[Any, Other];
    vec![
        case("add", BOTH, pair, |o| o.x[0] + o.x[1]),
        case("sub", BOTH, pair, |o| o.x[0] - o.x[1]),
        case("mul", BOTH, pair, |o| o.x[0] * o.x[1]),
        case("div", &[Any, Positive], pair, |o| o.x[0] / o.x[1]),
        case("pow", &[Positive, Any], pair, |o| o.x[0].pow(o.x[1])),
        case("min", BOTH, pair, |o| o.x[0].min(o.x[1])),
        case("max", BOTH, pair, |o| o.x[0].max(o.x[1])),
        case("less", BOTH, pair, |o| o.x[0].less(o.x[1])),
        case("less_equal", BOTH, pair, |o| o.x[0].less_equal(o.x[1])),
        case("equal", BOTH, pair, |o| o.x[0].equal(o.x[1])),
        case("gamma_log_below", &[Any], one, |o| {
            o.graph.scalar(2.5).gamma_log_below(o.x[0])
        }),
        case("gamma_log_above", &[Any], one, |o| {
            o.graph.scalar(2.5).gamma_log_above(o.x[0])
        }),
        case("select", &[Any, Any, Any], triple, |o| {
            let condition = o.x[0].less(o.graph.scalar(0.0));
            condition.select(o.x[1].exp(), o.x[2] * o.x[0])
        }),
    ]
}
