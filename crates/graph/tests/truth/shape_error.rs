//! Shapes that do not fit: the message names the operation and the shapes, at the caller's line.

use std::cell::Cell;
use std::panic::{Location, catch_unwind, set_hook, take_hook};

use lehr_graph::{Expr, Graph, Indices};

/// Inputs of every small shape.
struct Arrays<'g> {
    graph: &'g Graph,
    number: Expr<'g>,
    three: Expr<'g>,
    four: Expr<'g>,
    wide: Expr<'g>,
    square: Expr<'g>,
    two: Indices<'g>,
}

impl<'g> Arrays<'g> {
    fn new(graph: &'g Graph) -> Arrays<'g> {
        Arrays {
            graph,
            number: graph.input("number", ()),
            three: graph.input("three", [3]),
            four: graph.input("four", [4]),
            wide: graph.input("wide", [2, 5]),
            square: graph.input("square", [4, 4]),
            two: graph.index_input("two", 2),
        }
    }
}

type Build = for<'g> fn(&Arrays<'g>) -> (Expr<'g>, u32);

/// A mistake with its line: operation, the shapes named in the message, program.
macro_rules! mistake {
    ($operation:literal $shapes:tt $a:ident => $wrong:expr) => {
        (
            $operation,
            &$shapes as &[&str],
            (|$a| ($wrong, Location::caller().line())) as Build,
        )
    };
}

type Mistake = (&'static str, &'static [&'static str], Build);

fn elementwise() -> Vec<Mistake> {
    vec![
        mistake! { "add" ["[3]", "[4]"] a => a.three + a.four },
        mistake! { "sub" ["[3]", "[2, 5]"] a => a.three - a.wide },
        mistake! { "mul" ["[4]", "[3]"] a => a.four * a.three },
        mistake! { "div" ["[4, 4]", "[2, 5]"] a => a.square / a.wide },
        mistake! { "pow" ["[3]", "[4]"] a => a.three.pow(a.four) },
        mistake! { "min" ["[3]", "[4]"] a => a.three.min(a.four) },
        mistake! { "max" ["[3]", "[4]"] a => a.three.max(a.four) },
        mistake! { "less" ["[3]", "[4]"] a => a.three.less(a.four) },
        mistake! { "less_equal" ["[3]", "[4]"] a => a.three.less_equal(a.four) },
        mistake! { "equal" ["[3]", "[4]"] a => a.three.equal(a.four) },
        mistake! { "select" ["[]", "[3]", "[4]"] a => a.number.select(a.three, a.four) },
    ]
}

fn structural() -> Vec<Mistake> {
    vec![
        mistake! { "broadcast" ["[3]", "[3, 4]"] a => a.three.broadcast([3, 4]) },
        mistake! { "reshape" ["[4, 4]", "[3, 5]"] a => a.square.reshape([3, 5]) },
        mistake! { "transpose" ["[3]"] a => a.three.transpose() },
        mistake! { "slice" ["[2, 5]", "axis 2"] a => a.wide.slice(2, 0..1) },
        mistake! { "slice" ["[2, 5]", "4..6"] a => a.wide.slice(1, 4..6) },
        mistake! { "slice" ["[]"] a => a.number.entry(0) },
        mistake! { "concat" ["[3]", "[2, 5]"] a => a.graph.concat(&[a.three, a.wide], 0) },
        mistake! { "concat" ["none"] a => a.graph.concat(&[], 0) },
        mistake! { "stack" ["[3]", "[4]"] a => a.graph.stack(&[a.three, a.four]) },
        mistake! { "stack" ["none"] a => a.graph.stack(&[]) },
        mistake! { "stack" ["[1, 1, 1, 3]"] a => a.graph.stack(&[a.three.reshape([1, 1, 1, 3])]) },
        mistake! { "sum" ["2..3", "[2, 5]"] a => a.wide.sum_axis(2) },
        mistake! { "max" ["1..2", "[3]"] a => a.three.max_axis(1) },
        mistake! { "log_sum_exp" ["axis 7", "[2, 5]"] a => a.wide.log_sum_exp(7) },
        mistake! { "cumulative_sum" ["scalar"] a => a.number.cumulative_sum() },
        mistake! { "at" ["scalar"] a => a.number.at(a.two) },
        mistake! { "scatter_add" ["[3]", "2 indices"] a => a.three.scatter_add(a.two, 9) },
    ]
}

fn linear() -> Vec<Mistake> {
    vec![
        mistake! { "dot" ["[2, 5]", "[4, 4]"] a => a.wide.dot(a.square) },
        mistake! { "dot" ["[3]", "[4]"] a => a.three.dot(a.four) },
        mistake! { "dot" ["[]", "[4]"] a => a.number.dot(a.four) },
        mistake! { "cholesky" ["[2, 5]"] a => a.wide.cholesky() },
        mistake! { "solve" ["[2, 5]"] a => a.wide.solve_lower(a.three) },
        mistake! { "solve" ["[4, 4]", "[3]"] a => a.square.solve_lower(a.three) },
        mistake! { "solve" ["[4, 4]", "[2, 5]"] a => a.square.solve_lower_transposed(a.wide) },
        mistake! { "solve" ["[4, 4]", "[2, 5]"] a => a.square.solve_lower_right(a.wide) },
        mistake! { "solve" ["[4, 4]", "[2, 5]"] a => a.square.solve_lower_transposed_right(a.wide) },
        mistake! { "tril" ["[3]"] a => a.three.tril(0) },
        mistake! { "diagonal" ["[2, 5]"] a => a.wide.diagonal() },
        mistake! { "diagonal_matrix" ["[2, 5]"] a => a.wide.diagonal_matrix() },
        mistake! { "diagonal" ["[2, 5]"] a => a.wide.log_determinant_of_factor() },
    ]
}

fn mistakes() -> Vec<Mistake> {
    [elementwise(), structural(), linear()].concat()
}

#[test]
fn a_collecting_graph_reports_each_mistake_once_at_its_line() {
    for (operation, shapes, wrong) in mistakes() {
        let graph = Graph::collecting_errors();
        let (stand_in, line) = wrong(&Arrays::new(&graph));
        let errors = graph.errors();
        assert_eq!(errors.len(), 1, "{operation} {shapes:?}: {errors:?}");
        let error = &errors[0];
        assert!(
            error.message.starts_with(&format!("{operation}: ")),
            "{error}"
        );
        for shape in shapes {
            assert!(
                error.message.contains(shape),
                "{error} does not name {shape}"
            );
        }
        assert_eq!(error.location.file(), file!(), "{error}");
        assert_eq!(error.location.line(), line, "{error}");
        assert!(error.to_string().starts_with(&error.location.to_string()));
        assert!(
            stand_in.as_number().is_some_and(f64::is_nan),
            "{operation} goes on with NaN"
        );
    }
}

thread_local! {
    /// The line of the last expected panic of this thread.
    static PANICKED: Cell<Option<u32>> = const { Cell::new(None) };
    static EXPECTING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `wrong` on a new graph; returns the message of its panic and the line that it names.
fn panic_of(wrong: Build) -> (String, u32) {
    EXPECTING.set(true);
    let payload = catch_unwind(|| {
        wrong(&Arrays::new(&Graph::new()));
    });
    EXPECTING.set(false);
    let message = payload.expect_err("the shapes do not fit");
    let message = message.downcast::<String>().expect("a formatted message");
    (*message, PANICKED.take().expect("the hook saw the panic"))
}

#[test]
fn a_plain_graph_panics_with_the_same_message_at_the_same_line() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if EXPECTING.get() {
            PANICKED.set(info.location().map(Location::line));
        } else {
            before(info);
        }
    }));
    for (_, _, wrong) in mistakes() {
        let graph = Graph::collecting_errors();
        wrong(&Arrays::new(&graph));
        let expected = graph.errors()[0].clone();
        let found = panic_of(wrong);
        assert_eq!(found, (expected.message, expected.location.line()));
    }
}

#[test]
fn a_mistake_inside_a_longer_program_is_found_and_the_rest_goes_on() {
    let graph = Graph::collecting_errors();
    let (x, y) = (graph.input("x", [3]), graph.input("y", [4]));
    let value = (x.exp() * y).sum() + x.sum();
    let gradient = graph.grad(value, &[x])[0];
    assert_eq!(graph.errors().len(), 1);
    assert_eq!(gradient.shape(), x.shape());
}
