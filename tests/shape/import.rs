//! The declarations, imports and paths of a file.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::slice::Iter;

use crate::token::{Token, shipped};

/// The segments of a path, as of `crate::a::B`.
pub(crate) type Segments = Vec<String>;

/// One name that a `use` brings in.
#[derive(Debug, PartialEq)]
pub(crate) struct Import {
    pub(crate) path: Segments,
    /// Its name in the file, `*` if all names are brought in.
    pub(crate) name: String,
}

/// A file as other modules see it.
#[derive(Default)]
pub(crate) struct Declarations {
    /// The modules that lie in files of their own.
    pub(crate) children: Vec<String>,
    /// The items that are written here, outside of functions and inline modules.
    pub(crate) items: BTreeSet<String>,
    /// The imports outside of functions and inline modules.
    pub(crate) imports: Vec<Import>,
    /// All paths, those of imports included.
    pub(crate) paths: Vec<Segments>,
}

/// The words before the name of an item.
const ITEMS: &[&str] = &[
    "struct", "enum", "union", "trait", "fn", "const", "static", "type",
];

impl Declarations {
    pub(crate) fn read(text: &str) -> Declarations {
        let tokens = shipped(text);
        let mut reader = DeclarationReader::default();
        let mut at = 0;
        while at < tokens.len() {
            at += reader.read(&tokens[at..]);
        }
        reader.found
    }
}

/// Reads token by token and keeps track of the depth.
#[derive(Default)]
struct DeclarationReader {
    depth: usize,
    /// The depths of the enclosing inline modules.
    inline: Vec<usize>,
    found: Declarations,
}

impl DeclarationReader {
    /// Reads the construct at the start of the tokens and returns the number of its tokens.
    fn read(&mut self, tokens: &[Token<'_>]) -> usize {
        let next = tokens.get(1).map_or("", |token| token.text);
        match tokens[0].text {
            "{" => self.depth += 1,
            "}" => self.close(),
            "mod" => return self.module(tokens),
            "use" if next != "<" => return self.import(tokens),
            word if ITEMS.contains(&word) && self.depth == 0 => {
                self.found.items.insert(next.to_string());
            }
            _ if tokens[0].is_word() && next == "::" => return self.path(tokens),
            _ => {}
        }
        1
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.inline.last() == Some(&self.depth) {
            self.inline.pop();
        }
    }

    /// `mod name;` or the head of `mod name { … }`.
    fn module(&mut self, tokens: &[Token<'_>]) -> usize {
        match tokens.get(2).map(|token| token.text) {
            Some(";") => self.found.children.push(tokens[1].text.to_string()),
            Some("{") => self.inline.push(self.depth),
            _ => {}
        }
        2
    }

    /// A `use` up to its semicolon.
    fn import(&mut self, tokens: &[Token<'_>]) -> usize {
        let end = tokens.iter().take_while(|token| token.text != ";").count();
        let mut imports = Vec::new();
        tree(&mut tokens[1..end].iter().peekable(), &[], &mut imports);
        for mut import in imports {
            import.path = self.in_file(import.path);
            self.found.paths.push(import.path.clone());
            if self.depth == 0 {
                self.found.imports.push(import);
            }
        }
        end
    }

    /// A path in a body, a signature or a macro.
    fn path(&mut self, tokens: &[Token<'_>]) -> usize {
        let pairs = tokens[1..].chunks(2);
        let further = pairs
            .take_while(|pair| pair[0].text == "::" && pair.get(1).is_some_and(Token::is_word));
        let further: Vec<&str> = further.map(|pair| pair[1].text).collect();
        let length = 1 + 2 * further.len();
        let path = [tokens[0].text].into_iter().chain(further);
        let path = self.in_file(path.map(str::to_string).collect());
        self.found.paths.push(path);
        length
    }

    /// A path in inline modules as the file itself would write it.
    fn in_file(&self, path: Segments) -> Segments {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let inside = ups.min(self.inline.len());
        if inside == 0 {
            return path;
        }
        let here = (inside == ups).then(|| "self".to_string());
        here.into_iter()
            .chain(path.into_iter().skip(inside))
            .collect()
    }
}

/// The imports of one branch of a `use`: `a::{b, c::d as e}` is a::b and a::c::d.
fn tree(tokens: &mut Peekable<Iter<'_, Token<'_>>>, prefix: &[String], found: &mut Vec<Import>) {
    let mut path = prefix.to_vec();
    let mut name = None;
    while let Some(token) = tokens.next_if(|token| !matches!(token.text, "," | "}")) {
        match token.text {
            "{" => return branches(tokens, &path, found),
            "as" => name = tokens.next().map(|token| token.text.to_string()),
            "*" => name = Some("*".to_string()),
            "self" if !path.is_empty() => {}
            // A leading `::` names another crate, and so does an empty segment here.
            "::" if path.is_empty() => path.push(String::new()),
            "::" => {}
            word => path.push(word.to_string()),
        }
    }
    let name = name.or_else(|| path.last().cloned());
    found.extend(name.map(|name| Import { path, name }));
}

/// The branches of a `use` in braces, the first of which is open.
fn branches(
    tokens: &mut Peekable<Iter<'_, Token<'_>>>,
    prefix: &[String],
    found: &mut Vec<Import>,
) {
    while tokens.peek().is_some_and(|token| token.text != "}") {
        tree(tokens, prefix, found);
        tokens.next_if(|token| token.text == ",");
    }
    tokens.next();
}

fn written(paths: &[Segments]) -> Vec<String> {
    paths.iter().map(|path| path.join("::")).collect()
}

#[test]
fn a_tree_of_imports_is_read_branch_by_branch() {
    let text = "pub(crate) use crate::a::{self, b::{c, d as e}, f::*};\nuse ::g::h;";
    let read = Declarations::read(text);
    let paths = [
        "crate::a",
        "crate::a::b::c",
        "crate::a::b::d",
        "crate::a::f",
        "::g::h",
    ];
    assert_eq!(written(&read.paths), paths);
    let names: Vec<&str> = read.imports.iter().map(|import| &import.name[..]).collect();
    assert_eq!(names, ["a", "c", "e", "*", "h"]);
}

#[test]
fn paths_in_bodies_and_types_are_read() {
    let text = "fn a<T: Fn() -> super::B>() -> impl C + use<T> {
        let d = crate::e::F::<u8>::new(self::g::h());
        use crate::i::j;
        d as <u8 as k::L>::M
    }";
    let read = Declarations::read(text);
    let paths = [
        "super::B",
        "crate::e::F",
        "self::g::h",
        "crate::i::j",
        "k::L",
    ];
    assert_eq!(written(&read.paths), paths);
    assert!(read.imports.is_empty());
    assert!(read.items.contains("a") && read.items.len() == 1);
}

#[test]
fn inline_modules_see_the_file_as_super() {
    let text = "mod a; pub mod b { use super::c; fn d() { super::super::e() } }
        use super::f;
        struct G;";
    let read = Declarations::read(text);
    assert_eq!(written(&read.paths), ["self::c", "super::e", "super::f"]);
    assert_eq!(read.children, ["a"]);
    assert_eq!(read.imports.len(), 1);
    assert!(read.items.contains("G") && read.items.len() == 1);
}
