//! Rust code as words and signs, without comments, literals and items under `#[cfg(test)]`.

use std::ops::Range;

/// A word, or a sign of one or two characters, and where it starts in the text.
#[derive(Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    start: usize,
}

impl Token<'_> {
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(is_letter)
    }

    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The words that begin an item; a field, an arm or a variant begins with another.
const ITEMS: &[&str] = &[
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "let",
    "macro_rules",
    "mod",
    "static",
    "struct",
    "trait",
    "type",
    "unsafe",
    "use",
];

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The tokens of what is shipped.
pub(crate) fn shipped(text: &str) -> Vec<Token<'_>> {
    let mut tokens = tokens(text);
    for item in test_items(&tokens).into_iter().rev() {
        tokens.drain(item);
    }
    tokens
}

/// The text without items under `#[cfg(test)]`.
pub(crate) fn without_tests(text: &str) -> String {
    let tokens = tokens(text);
    let (mut kept, mut at) = (String::new(), 0);
    for item in test_items(&tokens) {
        kept.push_str(&text[at..tokens[item.start].start]);
        at = tokens[item.end - 1].end();
    }
    kept + &text[at..]
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut found, mut start) = (Vec::new(), 0);
    while start < text.len() {
        let rest = &text[start..];
        if let Some(length) = blank(rest) {
            start += length;
            continue;
        }
        let length = match rest.find(|letter| !is_letter(letter)) {
            None => rest.len(),
            Some(0) => sign(rest),
            Some(length) => length,
        };
        let text = &rest[..length];
        found.push(Token { text, start });
        start += length;
    }
    found
}

/// The length of the sign that a text starts with.
fn sign(rest: &str) -> usize {
    let is_pair = ["::", "->", "=>"].iter().any(|pair| rest.starts_with(pair));
    let single = rest.chars().next().map_or(0, char::len_utf8);
    if is_pair { 2 } else { single }
}

/// The length of the space, comment or literal that a text starts with.
fn blank(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    if first.is_whitespace() {
        Some(first.len_utf8())
    } else if rest.starts_with("//") {
        Some(rest.find('\n').unwrap_or(rest.len()))
    } else if rest.starts_with("/*") {
        Some(block_comment(rest))
    } else if first == '\'' {
        Some(character(rest))
    } else {
        string(rest)
    }
}

/// The length of a comment, which may hold others.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    for (at, _) in rest.match_indices(['/', '*']) {
        let pair = rest.get(at..at + 2).unwrap_or_default();
        depth += i32::from(pair == "/*") - i32::from(pair == "*/");
        if depth == 0 && pair == "*/" {
            return at + 2;
        }
    }
    rest.len()
}

/// The length of a literal character, or of the quote before a lifetime.
fn character(rest: &str) -> usize {
    let mut letters = rest.char_indices().skip(1);
    let first = letters.next().map(|(_, letter)| letter);
    match (first, letters.next()) {
        (Some('\\'), _) => rest[3..].find('\'').map_or(rest.len(), |end| end + 4),
        (Some(_), Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

/// The length of the string that a text starts with, its prefix included.
fn string(rest: &str) -> Option<usize> {
    let quoted = rest.trim_start_matches(['b', 'c', 'r']);
    let (prefix, _) = rest.split_at(rest.len() - quoted.len());
    let hashes = quoted.len() - quoted.trim_start_matches('#').len();
    let body = quoted[hashes..].strip_prefix('"')?;
    let opening = rest.len() - body.len();
    if prefix.contains('r') {
        let closing = format!("\"{}", "#".repeat(hashes));
        let end = body.find(&closing);
        return Some(end.map_or(rest.len(), |end| opening + end + closing.len()));
    }
    let mut escaped = false;
    let closing = body.find(|letter| {
        let is_end = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        is_end
    });
    (hashes == 0).then(|| closing.map_or(rest.len(), |end| opening + end + 1))
}

/// The items under `#[cfg(test)]`, as ranges of tokens.
fn test_items(tokens: &[Token<'_>]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if is_gate(&tokens[at..]) {
            let item = at..at + gated(&tokens[at..]);
            at = item.end;
            found.push(item);
        } else {
            at += 1;
        }
    }
    found
}

fn is_gate(tokens: &[Token<'_>]) -> bool {
    let begins = |words: &[&str]| {
        let texts = tokens.iter().map(|token| token.text);
        texts.take(words.len()).eq(words.iter().copied())
    };
    begins(&["#", "[", "cfg", "(", "test"]) || begins(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// The number of tokens of the attributes that come first and of what they stand before.
fn gated(tokens: &[Token<'_>]) -> usize {
    let mut at = 0;
    while tokens.get(at).is_some_and(|token| token.text == "#") {
        at += 1 + group(&tokens[at + 1..]);
    }
    at + item(&tokens[at..])
}

/// The number of tokens of an item, a field, an arm or a variant.
fn item(tokens: &[Token<'_>]) -> usize {
    let mut at = 0;
    if tokens.first().is_some_and(|token| token.text == "pub") {
        let is_narrow = tokens.get(1).is_some_and(|token| token.text == "(");
        at = if is_narrow {
            1 + group(&tokens[1..])
        } else {
            1
        };
    }
    let word = tokens.get(at).map(|token| token.text);
    let is_item = word.is_some_and(|word| ITEMS.contains(&word));
    let mut angle = 0;
    while at < tokens.len() {
        match tokens[at].text {
            ";" => return at + 1,
            "," if !is_item && angle == 0 => return at + 1,
            ")" | "]" | "}" => return at,
            "{" => return at + group(&tokens[at..]),
            "(" | "[" => at += group(&tokens[at..]) - 1,
            "<" => angle += 1,
            ">" => angle -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The number of tokens from a bracket to the one that closes it.
fn group(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

#[test]
fn comments_and_literals_are_no_tokens() {
    let text = r##"a::b // c
        /* d /* e */ f */ "g \" h" r#"i " j"# b"k" 'l' '\'' '"' '\u{6d}' &'n o -> p.q"##;
    let words: Vec<&str> = shipped(text).iter().map(|token| token.text).collect();
    assert_eq!(words, ["a", "::", "b", "&", "n", "o", "->", "p", ".", "q"]);
}

#[test]
fn items_under_test_are_left_out() {
    let text = "use a;
        #[cfg(test)]
        mod tests;
        struct B {
            #[cfg(test)]
            c: Map<(u8, u8), u8>,
            d: u8,
            #[cfg(test)]
            e: u8
        }
        #[cfg(all(test, unix))]
        #[rustfmt::skip]
        pub(super) fn f<G, H>() -> [u8; 3] { \"}\"; [1, 2, 3] }
        #[cfg(not(test))]
        fn i() {}";
    let words: Vec<&str> = shipped(text).iter().map(|token| token.text).collect();
    let kept = "use a ; struct B { d : u8 , } # [ cfg ( not ( test ) ) ] fn i ( ) { }";
    assert_eq!(words.join(" "), kept);
    let shorter = without_tests(text);
    assert!(shorter.starts_with("use a;\n        \n        struct B {\n"));
    assert!(shorter.ends_with("        \n        #[cfg(not(test))]\n        fn i() {}"));
}
