//! Lists of distinct terms and the operators on them.

use std::collections::HashSet;

use crate::factor::Term;

/// Most terms a formula may expand to.
pub(super) const MAX_TERMS: usize = 20_000;

/// Most products formed by one operator: `(a + b + ...)^9` is refused before it is computed.
const MAX_PRODUCTS: usize = 1_000_000;

/// Terms in the order they appeared, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct TermList {
    terms: Vec<Term>,
    keys: HashSet<Vec<String>>,
}

/// More terms than [`MAX_TERMS`].
#[derive(Debug)]
pub(super) struct TermLimitExceeded;

impl TermList {
    pub(super) fn from_terms(terms: impl IntoIterator<Item = Term>) -> Self {
        let mut list = Self::default();
        list.extend(terms);
        list
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    fn insert_term(&mut self, term: Term) {
        if self.keys.insert(term.sort_key()) {
            self.terms.push(term);
        }
    }

    pub(super) fn extend(&mut self, terms: impl IntoIterator<Item = Term>) {
        for term in terms {
            self.insert_term(term);
        }
    }

    pub(super) fn remove_terms(&mut self, other: &Self) {
        self.terms
            .retain(|term| !other.keys.contains(&term.sort_key()));
        self.keys.retain(|key| !other.keys.contains(key));
    }

    /// `a:b`: every term of the one times every term of the other.
    pub(super) fn interaction(&self, other: &Self) -> Result<Self, TermLimitExceeded> {
        if self.len().saturating_mul(other.len()) > MAX_PRODUCTS {
            return Err(TermLimitExceeded);
        }
        let mut list = Self::default();
        for left in &self.terms {
            for right in &other.terms {
                list.insert_term(left.interaction_with(right));
            }
            if list.len() > MAX_TERMS {
                return Err(TermLimitExceeded);
            }
        }
        Ok(list)
    }

    /// `a*b`: both, and their interaction.
    pub(super) fn crossing(self, other: Self) -> Result<Self, TermLimitExceeded> {
        let products = self.interaction(&other)?;
        let mut list = self;
        list.extend(other.terms);
        list.extend(products.terms);
        Ok(list)
    }

    /// `a/b`: the left, and the right within all of the left.
    pub(super) fn nesting(self, other: &Self) -> Result<Self, TermLimitExceeded> {
        let terms = self.terms.iter();
        let whole = terms.fold(Term::default(), |whole, term| whole.interaction_with(term));
        let inner = Self::from_terms([whole]).interaction(other)?;
        let mut list = self;
        list.extend(inner.terms);
        Ok(list)
    }

    /// `(a + b)^n`: all products of up to n of them.
    pub(super) fn power(self, exponent: usize) -> Result<Self, TermLimitExceeded> {
        let mut list = self.clone();
        for _ in 1..exponent {
            let before = list.len();
            let products = list.interaction(&self)?;
            list.extend(products.terms);
            if list.len() == before {
                break;
            }
        }
        Ok(list)
    }

    /// In R's order: by the number of factors, then by appearance.
    pub(super) fn into_sorted(mut self) -> Vec<Term> {
        self.terms.sort_by_key(|term| term.factors.len());
        self.terms
    }

    pub(super) fn into_terms(self) -> Vec<Term> {
        self.terms
    }
}
