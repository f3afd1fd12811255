//! Recorded expressions as readable algebra.

use super::number::format_number;
use super::{RecordedProgram, RecordedStep};
use crate::length::AxisLength;
use crate::primitive::matmul::Read;
use crate::primitive::{Binary, Op, Unary};

/// Longer texts are replaced by an ellipsis.
const LONGEST: usize = 240;
/// Numbers of a constant array that are shown.
const SHOWN: usize = 4;

/// The precedence of an expression, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Comparison,
    Sum,
    Product,
    Power,
    Atom,
}

/// The text of one step, with its parts where it is a sum or a product.
#[derive(Clone, Debug)]
struct Phrase {
    level: Precedence,
    text: String,
    terms: Vec<Summand>,
    factors: Vec<String>,
    divisors: Vec<String>,
}

/// A summand. Products come first, then look-ups, names and numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Summand {
    rank: Rank,
    sign: Sign,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn times(self, other: Sign) -> Sign {
        if self == other {
            Sign::Plus
        } else {
            Sign::Minus
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Matrix,
    LookUp,
    Other,
    Name,
    Number,
}

impl RecordedProgram {
    /// An output as algebra over the names of inputs. The outputs at `named`, other than this
    /// one, are written as their names where they occur.
    pub fn format_output(&self, output: usize, named: &[usize]) -> String {
        let last = self.0.outputs[output].step as usize;
        let needed = self.needed_steps(&[last]);
        let mut texts: Vec<Option<Phrase>> = vec![None; needed.len()];
        for place in (0..needed.len()).filter(|&place| needed[place]) {
            let mut others = named
                .iter()
                .map(|&k| &self.0.outputs[k])
                .filter(|_| place != last);
            let name = others.find(|output| output.step as usize == place);
            let text = match name {
                Some(output) => Phrase::atom(output.name.clone()),
                None => self.step_text(&self.0.steps[place], &texts),
            };
            texts[place] = Some(text.cut());
        }
        texts[last].take().expect("needed").text
    }

    fn step_text(&self, step: &RecordedStep, done: &[Option<Phrase>]) -> Phrase {
        let of = |k: usize| done[step.operands[k] as usize].as_ref().expect("earlier");
        match &step.op {
            Op::Scalar(bits) => Phrase::atom(format_number(f64::from_bits(*bits))),
            Op::Constant(place) => Phrase::atom(format_array(&self.0.constants[*place as usize])),
            Op::Input(place) | Op::IndexInput(place) => {
                Phrase::atom(self.0.inputs[*place as usize].name.clone())
            }
            Op::Unary(op) => unary_phrase(*op, of(0)),
            Op::Binary(op) => binary_phrase(*op, of(0), of(1)),
            Op::Select => Phrase::call("select", &[of(0), of(1), of(2)]),
            // Operations that only move or mark numbers are not shown.
            Op::Broadcast | Op::Reshape | Op::StopGradient | Op::Anchor => of(0).clone(),
            Op::Transpose => Phrase::atom(format!("{}ᵀ", of(0).inside(Precedence::Atom))),
            Op::Slice { axis, start } => {
                let length = step.shape.dims()[*axis];
                let (array, before) = (of(0).inside(Precedence::Atom), ".., ".repeat(*axis));
                Phrase::atom(format!("{array}[{before}{}]", format_range(*start, length)))
            }
            Op::Concat { .. } => {
                let parts = (0..step.operands.len()).map(|k| of(k).text.as_str());
                Phrase::atom(format!("[{}]", parts.collect::<Vec<_>>().join(", ")))
            }
            Op::Reduce { by, first, count } => {
                let rank = self.0.steps[step.operands[0] as usize].shape.rank();
                let axes = match (rank - count, count) {
                    (0, _) => String::new(),
                    (_, 1) => format!(", axis {first}"),
                    _ => format!(", axes {first}..{}", first + count),
                };
                Phrase::atom(format!("{}({}{axes})", by.name(), of(0).text))
            }
            Op::Gather => {
                let array = of(0).inside(Precedence::Atom);
                Phrase::atom(format!("{array}[{}]", of(1).text))
            }
            Op::MatMul(op) => {
                let side = |text: &Phrase, read: Read| match read {
                    Read::Plain => text.inside(Precedence::Power),
                    Read::Transposed => format!("{}ᵀ", text.inside(Precedence::Atom)),
                };
                let text = format!("{} · {}", side(of(0), op.a), side(of(1), op.b));
                Phrase::new(Precedence::Product, text)
            }
            op => {
                let operands: Vec<&Phrase> = (0..step.operands.len()).map(of).collect();
                Phrase::call(&function_name(op), &operands)
            }
        }
    }
}

/// The name of an operation in one word.
fn function_name(op: &Op) -> String {
    match op {
        Op::Pad { .. } => "pad".into(),
        Op::CumulativeSum(_) => "cumulative_sum".into(),
        Op::Solve(_) => "solve".into(),
        Op::Tril(_) => "tril".into(),
        _ => op.name().replace(' ', "_"),
    }
}

fn unary_phrase(op: Unary, x: &Phrase) -> Phrase {
    match op {
        Unary::Neg => Phrase::sum(x.terms(Sign::Minus)),
        Unary::Square => {
            let text = format!("{}²", x.inside(Precedence::Atom));
            Phrase::new(Precedence::Power, text)
        }
        Unary::Recip => Phrase::product(vec![], vec![x.inside(Precedence::Power)]),
        Unary::Polygamma(0) => Phrase::call("digamma", &[x]),
        _ => Phrase::call(&op.name().replace(' ', "_"), &[x]),
    }
}

fn binary_phrase(op: Binary, x: &Phrase, y: &Phrase) -> Phrase {
    let infix = |sign: &str, level: Precedence| {
        let (left, right) = (x.inside(Precedence::Sum), y.inside(Precedence::Sum));
        Phrase::new(level, format!("{left} {sign} {right}"))
    };
    match op {
        Binary::Add => Phrase::sum([x.terms(Sign::Plus), y.terms(Sign::Plus)].concat()),
        Binary::Sub => Phrase::sum([x.terms(Sign::Plus), y.terms(Sign::Minus)].concat()),
        Binary::Mul => {
            let (mut factors, mut divisors) = x.product_parts();
            let (more, others) = y.product_parts();
            factors.extend(more);
            divisors.extend(others);
            Phrase::product(factors, divisors)
        }
        Binary::Div => {
            let (factors, mut divisors) = x.product_parts();
            divisors.push(y.inside(Precedence::Power));
            Phrase::product(factors, divisors)
        }
        Binary::Pow => {
            let [base, exponent] = [x, y].map(|operand| operand.inside(Precedence::Atom));
            Phrase::new(Precedence::Power, format!("{base}^{exponent}"))
        }
        Binary::Min | Binary::Max | Binary::GammaLogBelow | Binary::GammaLogAbove => {
            Phrase::call(op.name(), &[x, y])
        }
        Binary::Less => infix("<", Precedence::Comparison),
        Binary::LessEqual => infix("≤", Precedence::Comparison),
        Binary::Equal => infix("=", Precedence::Comparison),
    }
}

fn format_array(values: &[f64]) -> String {
    let shown = values.iter().take(SHOWN).copied().map(format_number);
    let shown: Vec<String> = shown.collect();
    let more = if values.len() > SHOWN { ", …" } else { "" };
    format!("[{}{more}]", shown.join(", "))
}

fn format_range(start: usize, length: usize) -> String {
    match length {
        1 => AxisLength(start).to_string(),
        _ => format!("{}..{}", AxisLength(start), AxisLength(start + length)),
    }
}

impl Phrase {
    fn new(level: Precedence, text: String) -> Phrase {
        Phrase {
            level,
            text,
            terms: Vec::new(),
            factors: Vec::new(),
            divisors: Vec::new(),
        }
    }

    fn atom(text: String) -> Phrase {
        Phrase::new(Precedence::Atom, text)
    }

    fn call(name: &str, operands: &[&Phrase]) -> Phrase {
        let operands: Vec<&str> = operands.iter().map(|x| x.text.as_str()).collect();
        Phrase::atom(format!("{name}({})", operands.join(", ")))
    }

    /// Summands in an order that does not depend on how the sum was written.
    fn sum(mut terms: Vec<Summand>) -> Phrase {
        terms.sort();
        let mut text = String::new();
        for term in &terms {
            text += match (text.as_str(), term.sign) {
                ("", Sign::Minus) => "-",
                ("", Sign::Plus) => "",
                (_, Sign::Minus) => " - ",
                (_, Sign::Plus) => " + ",
            };
            text += &term.text;
        }
        Phrase {
            terms,
            ..Phrase::new(Precedence::Sum, text)
        }
    }

    /// Factors in an order that does not depend on how the product was written, numbers first.
    fn product(mut factors: Vec<String>, mut divisors: Vec<String>) -> Phrase {
        factors.sort_by_cached_key(|factor| (factor.parse::<f64>().is_err(), factor.clone()));
        divisors.sort();
        let mut text = match factors[..] {
            [] => "1".to_owned(),
            _ => factors.join(" * "),
        };
        for divisor in &divisors {
            text += " / ";
            text += divisor;
        }
        Phrase {
            factors,
            divisors,
            ..Phrase::new(Precedence::Product, text)
        }
    }

    /// The text, with parentheses if its precedence is below `level`.
    fn inside(&self, level: Precedence) -> String {
        if self.level >= level {
            return self.text.clone();
        }
        format!("({})", self.text)
    }

    fn rank(&self) -> Rank {
        match self.level {
            Precedence::Product if self.text.contains('·') => Rank::Matrix,
            Precedence::Atom if self.text.ends_with(']') && !self.text.starts_with('[') => {
                Rank::LookUp
            }
            Precedence::Atom if self.text.parse::<f64>().is_ok() => Rank::Number,
            Precedence::Atom if !self.text.ends_with(')') => Rank::Name,
            _ => Rank::Other,
        }
    }

    /// The summands, each times `sign`.
    fn terms(&self, sign: Sign) -> Vec<Summand> {
        if self.terms.is_empty() {
            let rank = self.rank();
            let negated = self.text.strip_prefix('-').filter(|_| rank == Rank::Number);
            let own = negated.map_or(Sign::Plus, |_| Sign::Minus);
            return vec![Summand {
                rank,
                sign: sign.times(own),
                text: negated.map_or_else(|| self.inside(Precedence::Product), str::to_owned),
            }];
        }
        let mut terms = self.terms.clone();
        for term in &mut terms {
            term.sign = term.sign.times(sign);
        }
        terms
    }

    fn product_parts(&self) -> (Vec<String>, Vec<String>) {
        if self.factors.is_empty() && self.divisors.is_empty() {
            return (vec![self.inside(Precedence::Power)], Vec::new());
        }
        (self.factors.clone(), self.divisors.clone())
    }

    /// The text, or an ellipsis if it is long.
    fn cut(self) -> Phrase {
        if self.text.len() > LONGEST {
            return Phrase::atom("…".into());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, Graph, ROWS};

    fn text<'g>(graph: &'g Graph, output: Expr<'g>) -> String {
        RecordedProgram::from_outputs(graph, &[("output", output)]).format_output(0, &[])
    }

    #[test]
    fn sums_and_products_read_as_they_are_written_on_paper() {
        let graph = Graph::new();
        let (x, w) = (graph.input("x", [ROWS, 2]), graph.input("w", [2]));
        let (b, s) = (graph.input("b", ()), graph.input("s", ()));
        let (e, g) = (graph.input("e", [5]), graph.index_input("g", ROWS));
        let expected = "2 * (x · w + e[g] + b - 1.5)";
        assert_eq!(text(&graph, (x.dot(w) + b + e.at(g) - 1.5) * 2.0), expected);
        assert_eq!(
            text(&graph, (e.at(g) - 1.5 + (b + x.dot(w))) * 2.0),
            expected
        );
        assert_eq!(text(&graph, (b / s).square() * s), "(b / s)² * s");
        assert_eq!(text(&graph, -(b * s.exp())), "-b * exp(s)");
        assert_eq!(text(&graph, w.slice(0, 1..2)), "w[1]");
        assert_eq!(text(&graph, (x * w).sum_axis(1)), "sum(w * x, axis 1)");
    }

    #[test]
    fn outputs_with_names_stand_for_themselves() {
        let graph = Graph::new();
        let (raw, scale) = (graph.input("raw", [3]), graph.input("scale", ()));
        let effect = raw * scale;
        let outputs = [("effect", effect), ("more", effect + effect.exp())];
        let recording = RecordedProgram::from_outputs(&graph, &outputs);
        assert_eq!(recording.format_output(0, &[0]), "raw * scale");
        assert_eq!(recording.format_output(1, &[0]), "exp(effect) + effect");
    }
}
