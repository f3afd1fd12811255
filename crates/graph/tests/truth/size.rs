//! Sizes beyond the limit are refused with the requested and the allowed size.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lehr_graph::{Fusion, Graph, MAX_SIZE, Plan, PlanOptions, ROWS, RecordedProgram};

/// The message with which `build` is refused.
fn refusal(build: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(build)).expect_err("a refusal");
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .expect("a sentence")
}

#[test]
fn an_array_of_too_many_numbers_is_refused() {
    let side = 1 << 21;
    let asked = "asks for 4.4e12 numbers, and an array has at most 1.1e12";
    let outer = refusal(|| {
        let graph = Graph::new();
        let x = graph.input("x", [side]);
        let _ = x.outer(x.exp());
    });
    assert!(outer.contains(asked), "{outer}");
    let broadcast = refusal(|| {
        let graph = Graph::new();
        let _ = graph.input("x", [1, side]).broadcast([side, side]);
    });
    assert!(broadcast.contains(asked), "{broadcast}");
    let wrapped = refusal(|| {
        let graph = Graph::new();
        let x = graph.input("x", [1, 1, 1, 1]);
        let _ = x.broadcast([1 << 39; 4]).sum();
    });
    assert!(wrapped.contains("an array has at most"), "{wrapped}");
}

#[test]
fn a_collecting_graph_names_the_line_that_asked_for_too_much() {
    let graph = Graph::collecting_errors();
    let x = graph.input("x", [1 << 21]);
    let (_, line) = (x.diagonal_matrix(), line!());
    let errors = graph.errors();
    let [error] = &errors[..] else {
        panic!("one mistake: {errors:?}");
    };
    assert!(
        error
            .message
            .starts_with("diagonal matrix: shape [2097152, 2097152]")
    );
    assert!(error.location.file().ends_with("size.rs"), "{error}");
    assert_eq!(error.location.line(), line);
}

#[test]
fn a_plan_of_too_many_numbers_is_refused() {
    let graph = Graph::new();
    let many = graph.input("x", [MAX_SIZE / 2]).exp();
    let message = refusal(|| drop(Plan::new(&[many + 1.0, many], 1)));
    assert!(
        message.contains("all its arrays have at most 1.1e12"),
        "{message}"
    );
    let laned = graph.laned_input("y", [1 << 20]).exp();
    for lanes in [1 << 24, 1 << 45, usize::MAX] {
        let message = refusal(|| drop(Plan::new(&[laned], lanes)));
        assert!(message.contains("a plan asks for"), "{message}");
    }
}

#[test]
fn memory_that_is_not_there_is_a_sentence() {
    let graph = Graph::new();
    let plan = Plan::new(&[graph.input("x", [1 << 39]).exp()], 1);
    let message = refusal(|| drop(plan.workspace()));
    assert!(
        message.starts_with("there is no memory for an array of"),
        "{message}"
    );
}

#[test]
fn a_block_of_more_rows_than_there_are_is_one_block() {
    let graph = Graph::new();
    let x = graph.laned_input("x", [5000, 3]);
    let outputs = [x.exp().sum_axis(0), (x.square() + x).sum()];
    let values: Vec<f64> = (0..30_000).map(|k| f64::from(k) * 1e-4).collect();
    let run = |row_block: usize| {
        let options = PlanOptions {
            row_block,
            fusion: Fusion::On,
            ..PlanOptions::lanes(2)
        };
        let plan = Plan::with_options(&outputs, &options);
        let mut workspace = plan.workspace();
        workspace.set(plan.input(x).unwrap(), &values);
        plan.run(&mut workspace);
        [workspace.output(0).to_vec(), workspace.output(1).to_vec()]
    };
    let whole = run(5000);
    for block in [1 << 30, 1 << 63, usize::MAX] {
        assert_eq!(run(block), whole, "blocks of {block}");
    }
    let message = refusal(|| {
        run(0);
    });
    assert_eq!(message, "a block of rows needs at least one row");
}

#[test]
fn arrays_of_two_graphs_do_not_mix() {
    let (a, b) = (Graph::new(), Graph::new());
    let (x, y) = (a.input("x", [2]), b.input("y", [2]));
    let far = (0..8).fold(y, |far, _| far.exp());
    let mixed: [Box<dyn FnOnce() + '_>; 6] = [
        Box::new(|| drop(Plan::new(&[x, far], 1))),
        Box::new(|| {
            let _ = a.replace(x.exp(), x, far);
        }),
        Box::new(|| drop(a.grad(x.exp().sum(), &[y]))),
        Box::new(|| drop(a.jvp(&[x.exp()], &[x], &[far]))),
        Box::new(|| drop(RecordedProgram::from_outputs(&a, &[("far", far)]))),
        Box::new(|| {
            let _ = x * far;
        }),
    ];
    for (place, mix) in mixed.into_iter().enumerate() {
        let message = refusal(mix);
        assert!(
            message.contains("belongs to another graph"),
            "{place}: {message}"
        );
    }
}

#[test]
fn a_recording_is_replayed_for_as_many_rows_as_fit() {
    let graph = Graph::new();
    let wide = graph.input("x", [1]).exp().broadcast([ROWS, 1 << 30]);
    let recording = RecordedProgram::from_outputs(&graph, &[("wide", wide)]);
    let bytes = postcard::to_stdvec(&recording).unwrap();
    let again: RecordedProgram = postcard::from_bytes(&bytes).unwrap();
    let replay = |rows: usize| {
        let graph = Graph::new();
        let x = graph.input("x", [1]);
        let _ = again.replay(&graph, &[0], &|_| x, rows);
    };
    replay(1 << 9);
    let message = refusal(|| replay(1 << 20));
    assert!(message.contains("an array has at most 1.1e12"), "{message}");
}
