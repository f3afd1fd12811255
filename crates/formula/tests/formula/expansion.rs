//! A table of formulas and their full forms.

use lehr_formula::{EffectCorrelation, Formula, Intercept, LevelCoding, Term, effect_codings};

/// The columns that `.` stands for.
const COLUMNS: [&str; 5] = ["y", "x1", "x2", "my col", "g"];

/// A formula and its full form.
pub(crate) const EXPANSIONS: &[(&str, &str)] = &[
    // Smooth functions.
    ("y ~ gp(x)", "y ~ 1 + gp(x)"),
    ("y ~ s(x)", "y ~ 1 + x + s(x)"),
    (
        "y ~ mo(g,levels=c('lo',\"hi\")) + mo(x)",
        "y ~ 1 + mo(g, levels = c(\"lo\", \"hi\")) + mo(x)",
    ),
    (
        "y ~ z + s(log(x), bs=ps, k=20) + x",
        "y ~ 1 + z + x + log(x) + s(log(x), k = 20, bs = \"ps\")",
    ),
    (
        "y ~ 0 + s(m, period = 12, bs = \"cc\")",
        "y ~ 0 + s(m, bs = \"cc\", period = 12)",
    ),
    (
        "y ~ bs(x, 6)*g + ns(x, df=4) + bs(x, df = 3, degree = 2)",
        "y ~ 1 + bs(x, df = 6) + g + ns(x, df = 4) + bs(x, df = 3, degree = 2) + bs(x, df = 6):g",
    ),
    (
        "y ~ gp( x , k=30 ) + (1 | g) + a",
        "y ~ 1 + a + (1 | g) + gp(x, k = 30)",
    ),
    (
        "y ~ gp(a, b, kernel = matern32, by = C(g))",
        "y ~ 1 + gp(a, b, by = C(g), kernel = matern32)",
    ),
    (
        "y ~ 0 + gp(log(x), period = 2.5) + gp(log(x), by = a)",
        "y ~ 0 + gp(log(x), period = 2.5) + gp(log(x), by = a)",
    ),
    // Censoring, truncation and measurement errors.
    ("y | cens(g, upper = z) ~ x", "y | cens(g, z) ~ 1 + x"),
    (
        "log(y) | trunc(ub = log(9), lb = -2) ~ 1",
        "log(y) | trunc(lb = -2, ub = log(9)) ~ 1",
    ),
    (
        "y | se(s) + cens(`my col`) ~ 1",
        "y | se(s) + cens(`my col`) ~ 1",
    ),
    (
        "y | trunc(1) ~ me(x, sd=s/2) + a",
        "y | trunc(lb = 1) ~ 1 + a + me(x, s/2)",
    ),
    (
        "y ~ mi(x) + (1|row()) + (1 | g)",
        "y ~ 1 + (1 | g) + (1 | row()) + mi(x)",
    ),
    // Coded levels.
    ("y ~ C(x, ref = 'day')", "y ~ 1 + C(x, ref = \"day\")"),
    ("y ~ C(x, treatment)", "y ~ 1 + C(x)"),
    (
        "y ~ C(x, Sum, ref=3) + C(`my col`, contr.helmert)",
        "y ~ 1 + C(x, sum, ref = \"3\") + C(`my col`, helmert)",
    ),
    (
        "y ~ C(x, levels = c(low, \"mid dle\", -1.5), contrast = sum)*z",
        "y ~ 1 + C(x, sum, levels = c(\"low\", \"mid dle\", \"-1.5\")) + z + C(x, sum, levels = \
         c(\"low\", \"mid dle\", \"-1.5\")):z",
    ),
    (
        "y ~ C(x, ref = \"a\\\"b\")",
        "y ~ 1 + C(x, ref = \"a\\\"b\")",
    ),
    // Comparisons.
    ("y ~ I(x>3)", "y ~ 1 + I(x > 3)"),
    ("y ~ poly(x, degree = 2)", "y ~ 1 + poly(x, 2)"),
    ("y ~ (1 + x | gr(g))", "y ~ 1 + (1 + x | g)"),
    (
        "y ~ I((0 <= x)*(x + 1 != z)) + log(2 - (a == b))",
        "y ~ 1 + I((0 <= x) * (x + 1 != z)) + log(2 - (a == b))",
    ),
    // Sums and the intercept.
    ("y ~ 1", "y ~ 1"),
    ("y ~ x", "y ~ 1 + x"),
    ("y~x", "y ~ 1 + x"),
    ("y ~ 1 + x", "y ~ 1 + x"),
    ("y ~ 0 + x", "y ~ 0 + x"),
    ("y ~ x + 0", "y ~ 0 + x"),
    ("y ~ x - 1", "y ~ 0 + x"),
    ("y ~ -1 + x", "y ~ 0 + x"),
    ("y ~ x + -1", "y ~ 0 + x"),
    ("y ~ x - 0", "y ~ 1 + x"),
    ("y ~ x - 1 + 1", "y ~ 1 + x"),
    ("y ~ + x", "y ~ 1 + x"),
    ("y ~ x + z + x", "y ~ 1 + x + z"),
    ("y ~ x +\n  z", "y ~ 1 + x + z"),
    // Interactions, in R's order.
    ("y ~ a:b", "y ~ 1 + a:b"),
    ("y ~ a*b", "y ~ 1 + a + b + a:b"),
    ("y ~ a:b + c", "y ~ 1 + c + a:b"),
    ("y ~ a:b + b:a", "y ~ 1 + a:b"),
    ("y ~ x:x", "y ~ 1 + x"),
    ("y ~ a*b*c", "y ~ 1 + a + b + c + a:b + a:c + b:c + a:b:c"),
    ("y ~ a*b*c - a:b:c", "y ~ 1 + a + b + c + a:b + a:c + b:c"),
    ("y ~ a*b - a", "y ~ 1 + b + a:b"),
    ("y ~ a*(b + c)", "y ~ 1 + a + b + c + a:b + a:c"),
    ("y ~ (a + b):c", "y ~ 1 + a:c + b:c"),
    ("y ~ a + b*c", "y ~ 1 + a + b + c + b:c"),
    ("y ~ a:b*c", "y ~ 1 + c + a:b + a:b:c"),
    ("y ~ (a + b)^2", "y ~ 1 + a + b + a:b"),
    ("y ~ (a + b)**2", "y ~ 1 + a + b + a:b"),
    ("y ~ (a + b + c)^2", "y ~ 1 + a + b + c + a:b + a:c + b:c"),
    (
        "y ~ (a + b + c)^3 - a:b",
        "y ~ 1 + a + b + c + a:c + b:c + a:b:c",
    ),
    ("y ~ (a + b)^9", "y ~ 1 + a + b + a:b"),
    ("y ~ a/b", "y ~ 1 + a + a:b"),
    ("y ~ a/b/c", "y ~ 1 + a + a:b + a:b:c"),
    ("y ~ (a + b)/c", "y ~ 1 + a + b + a:b:c"),
    ("y ~ a + (b - a)", "y ~ 1 + a + b"),
    ("y ~ (a + b - 1)", "y ~ 0 + a + b"),
    ("y ~ a + b - (1 + a)", "y ~ 0 + b"),
    ("y ~ ((a))", "y ~ 1 + a"),
    // Functions.
    ("y ~ I(x^2)", "y ~ 1 + I(x^2)"),
    ("y ~ I( x ** 2 )", "y ~ 1 + I(x^2)"),
    ("y ~ I(x)", "y ~ 1 + x"),
    ("y ~ I(a+b*c)", "y ~ 1 + I(a + b * c)"),
    ("y ~ I((a+b)*c)", "y ~ 1 + I((a + b) * c)"),
    ("y ~ I(a - (b - c))", "y ~ 1 + I(a - (b - c))"),
    ("y ~ I(-x^2 + 1.50)", "y ~ 1 + I(-x^2 + 1.5)"),
    ("y ~ I((-x)^2)", "y ~ 1 + I((-x)^2)"),
    ("y ~ I(2^3^x)", "y ~ 1 + I(2^3^x)"),
    ("y ~ I((2^3)^x)", "y ~ 1 + I((2^3)^x)"),
    ("y ~ I(x^-1)", "y ~ 1 + I(x^(-1))"),
    ("y ~ I(1e-9 * x / 3)", "y ~ 1 + I(1e-9 * x/3)"),
    ("y ~ I(log(x))", "y ~ 1 + log(x)"),
    (
        "y ~ log(x) + exp(x) + log1p(x)",
        "y ~ 1 + log(x) + exp(x) + log1p(x)",
    ),
    (
        "y ~ sqrt(abs(x)) + log2(x)",
        "y ~ 1 + sqrt(abs(x)) + log2(x)",
    ),
    ("y ~ log(x + 1)", "y ~ 1 + log(x + 1)"),
    ("y ~ poly(x,3)", "y ~ 1 + poly(x, 3)"),
    ("y ~ poly(log(x), 2):z", "y ~ 1 + poly(log(x), 2):z"),
    ("y ~ scale(x) + center(z)", "y ~ 1 + scale(x) + center(z)"),
    ("y ~ C(color)*x", "y ~ 1 + C(color) + x + C(color):x"),
    ("y ~ log + I + C", "y ~ 1 + log + I + C"),
    // Names.
    ("y ~ `my col` + `x`", "y ~ 1 + `my col` + x"),
    (
        "y ~ Sepal.Length + .hidden",
        "y ~ 1 + Sepal.Length + .hidden",
    ),
    ("größe ~ 身長 + _a", "größe ~ 1 + 身長 + _a"),
    ("y ~ `a\\`b`", "y ~ 1 + `a\\`b`"),
    // Everything else in the table.
    ("y ~ .", "y ~ 1 + x1 + x2 + `my col` + g"),
    ("y ~ 0 + .", "y ~ 0 + x1 + x2 + `my col` + g"),
    ("y ~ . - x2", "y ~ 1 + x1 + `my col` + g"),
    ("y ~ . + (1 | g)", "y ~ 1 + x1 + x2 + `my col` + (1 | g)"),
    (
        "y ~ . - g + (1 | g)",
        "y ~ 1 + x1 + x2 + `my col` + (1 | g)",
    ),
    (
        "y ~ . + offset(x1) + weights(x2)",
        "y ~ 1 + `my col` + g + offset(x1) + weights(x2)",
    ),
    (
        "y | trials(x1) ~ .",
        "y | trials(x1) ~ 1 + x2 + `my col` + g",
    ),
    ("cbind(y, x1) ~ .", "cbind(y, x1) ~ 1 + x2 + `my col` + g"),
    ("log(y) ~ . - `my col` - g", "log(y) ~ 1 + x1 + x2"),
    ("y ~ (. - g - `my col`)^2", "y ~ 1 + x1 + x2 + x1:x2"),
    ("y ~ x1:.", "y ~ 1 + x1 + x1:x2 + x1:`my col` + x1:g"),
    // Responses.
    ("log(y) ~ x", "log(y) ~ 1 + x"),
    ("I(y/100) ~ x", "I(y/100) ~ 1 + x"),
    ("(y) ~ x", "y ~ 1 + x"),
    ("cbind(s, f) ~ x", "cbind(s, f) ~ 1 + x"),
    ("cbind(s, n - s) ~ x", "cbind(s, n - s) ~ 1 + x"),
    ("s | trials(n) ~ x", "s | trials(n) ~ 1 + x"),
    ("s | trials(10) ~ x", "s | trials(10) ~ 1 + x"),
    ("y | weights(w) ~ x", "y ~ 1 + x + weights(w)"),
    (
        "s | trials(n) + weights(w) ~ x",
        "s | trials(n) ~ 1 + x + weights(w)",
    ),
    ("y ~ x + weights(1/v)", "y ~ 1 + x + weights(1/v)"),
    ("y ~ offset(log(e)) + x", "y ~ 1 + x + offset(log(e))"),
    ("y ~ offset(a) + offset(b)", "y ~ 1 + offset(a) + offset(b)"),
    ("y ~ 0 + offset(a)", "y ~ 0 + offset(a)"),
    // Groups.
    ("y ~ (1 | site)", "y ~ 1 + (1 | site)"),
    ("y ~ (1|site)+x", "y ~ 1 + x + (1 | site)"),
    ("y ~ x + (1 || site)", "y ~ 1 + x + (1 | site)"),
    ("y ~ (dose | patient)", "y ~ 1 + (1 + dose | patient)"),
    ("y ~ (1 + dose | patient)", "y ~ 1 + (1 + dose | patient)"),
    ("y ~ (0 + dose | patient)", "y ~ 1 + (0 + dose | patient)"),
    ("y ~ (dose - 1 | patient)", "y ~ 1 + (0 + dose | patient)"),
    ("y ~ (dose || patient)", "y ~ 1 + (1 + dose || patient)"),
    ("y ~ (a*b | g)", "y ~ 1 + (1 + a + b + a:b | g)"),
    ("y ~ (1 | a:b)", "y ~ 1 + (1 | a:b)"),
    (
        "y ~ (1 | region/district)",
        "y ~ 1 + (1 | region) + (1 | region:district)",
    ),
    (
        "y ~ (1 | a/b/c)",
        "y ~ 1 + (1 | a) + (1 | a:b) + (1 | a:b:c)",
    ),
    (
        "y ~ (x | a*b)",
        "y ~ 1 + (1 + x | a) + (1 + x | b) + (1 + x | a:b)",
    ),
    ("y ~ (1 | g) + (0 + x | g)", "y ~ 1 + (1 | g) + (0 + x | g)"),
    (
        "y ~ (poly(x, 2) | `my col`)",
        "y ~ 1 + (1 + poly(x, 2) | `my col`)",
    ),
    ("y ~ ((1 | g))", "y ~ 1 + (1 | g)"),
    // The formula of the manual's first page.
    (
        "y ~ x1 + x2 + x1:x2 + a*b + C(color) + I(x^2) + log(x) + poly(x, 3) \
         + offset(log_exposure) + (1 | site) + (1 + dose | patient) + (1 | region/district)",
        "y ~ 1 + x1 + x2 + a + b + C(color) + I(x^2) + log(x) + poly(x, 3) + x1:x2 + a:b \
         + offset(log_exposure) + (1 | site) + (1 + dose | patient) + (1 | region) \
         + (1 | region:district)",
    ),
];

pub(crate) fn spelt_out(source: &str) -> String {
    match Formula::parse(source).and_then(|formula| formula.expand(&COLUMNS)) {
        Ok(terms) => terms.to_string(),
        Err(error) => panic!("{}", error.render(source)),
    }
}

#[test]
fn formulas_mean_what_the_table_says() {
    for (source, meaning) in EXPANSIONS {
        assert_eq!(spelt_out(source), *meaning, "{source}");
    }
}

#[test]
fn a_meaning_means_itself() {
    for (_, meaning) in EXPANSIONS {
        assert_eq!(spelt_out(meaning), *meaning);
    }
}

#[test]
fn terms_know_their_parts() {
    let source = "s | trials(n) ~ a + offset(o) + weights(w) + (0 + b || g:h) - c";
    let terms = Formula::parse(source).unwrap().expand(&COLUMNS).unwrap();
    assert_eq!(terms.intercept, Intercept::Present);
    assert_eq!(
        terms.column_names(),
        ["s", "n", "a", "b", "o", "w", "g", "h"]
    );
    let group = &terms.groups[0];
    assert_eq!(group.intercept, Intercept::Absent);
    assert_eq!(group.correlation, EffectCorrelation::Independent);
    assert_eq!(group.grouping, ["g", "h"]);
    assert_eq!(
        (group.term_label(), group.effect_names()),
        ("g:h".into(), vec!["b".into()])
    );
    let place = terms.span_of("c").unwrap();
    assert_eq!(&source[place.start..place.end], "c");
}

#[test]
fn text_columns_resolve_to_one_categorical_term() {
    let terms = Formula::parse("y ~ color + x + C(color) + x:color + (color | g)");
    let terms = terms.unwrap().expand(&COLUMNS).unwrap();
    let resolved = terms.resolve_text(&|name| name == "color").unwrap();
    assert_eq!(
        resolved.to_string(),
        "y ~ 1 + C(color) + x + x:C(color) + (1 + C(color) | g)"
    );
}

#[test]
fn two_thousand_terms_are_ordinary() {
    let names: Vec<String> = (0..2_000).map(|at| format!("x{at}")).collect();
    let source = format!("y ~ {}", names.join(" + "));
    assert_eq!(spelt_out(&source), format!("y ~ 1 + {}", names.join(" + ")));
}

/// The codings of a formula in which `a` and `b` are categorical, F for full, T for treatment.
fn codings(source: &str) -> Vec<String> {
    let terms = Formula::parse(source).unwrap().expand(&COLUMNS).unwrap();
    let terms = terms
        .resolve_text(&|name| name == "a" || name == "b")
        .unwrap();
    let letters = |term: &Term, codings: &[LevelCoding]| {
        let pairs = term.factors.iter().zip(codings);
        let pairs = pairs.filter(|(factor, _)| factor.is_categorical());
        let letters = pairs.map(|(_, coding)| match coding {
            LevelCoding::Full => 'F',
            LevelCoding::Treatment => 'T',
        });
        letters.collect::<String>()
    };
    let codings = terms.term_codings();
    assert_eq!(codings, effect_codings(terms.intercept, &terms.fixed));
    terms
        .fixed
        .iter()
        .zip(&codings)
        .map(|(term, row)| letters(term, row))
        .collect()
}

#[test]
fn levels_are_dropped_by_the_rules_of_r() {
    // From the attribute "factors" of R's terms() and the columns of model.matrix().
    assert_eq!(codings("y ~ a"), ["T"]);
    assert_eq!(codings("y ~ 0 + a"), ["F"]);
    assert_eq!(codings("y ~ 0 + a + b"), ["F", "T"]);
    assert_eq!(codings("y ~ 0 + x + a"), ["", "F"]);
    assert_eq!(codings("y ~ a*b"), ["T", "T", "TT"]);
    assert_eq!(codings("y ~ a:b"), ["FF"]);
    assert_eq!(codings("y ~ a + a:b"), ["T", "FT"]);
    assert_eq!(codings("y ~ x:a"), ["F"]);
    assert_eq!(codings("y ~ x*a"), ["", "T", "T"]);
    assert_eq!(codings("y ~ x + x:a"), ["", "T"]);
}
