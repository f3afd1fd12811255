"""Log densities are those of SciPy."""

import numpy as np
import pytest
import scipy.special as special
import scipy.stats as stats

import lehr
from lehr import _lehr, dist

RANDOM = np.random.default_rng(5)


def positive(low=0.2, high=4.0):
    return RANDOM.uniform(low, high)


def real():
    return RANDOM.normal()


def negative_binomial(mean, r):
    return stats.nbinom(r, r / (r + mean))


def ordered(predictor, cuts):
    above = np.concatenate([[1.0], special.expit(predictor - cuts), [0.0]])
    return above[:-1] - above[1:]


def half_student(df, scale):
    def logpdf(x):
        return np.log(2) + stats.t(df, scale=scale).logpdf(x)

    return logpdf


def gated(base, gate):
    p = special.expit(gate)

    def logpmf(x):
        return np.log(p * (x == 0) + (1 - p) * base.pmf(x))

    return logpmf


def hurdled(base, gate):
    p = special.expit(gate)

    def logpmf(x):
        above = (1 - p) * base.pmf(x) / base.sf(0)
        return np.log(np.where(x == 0, p, above))

    return logpmf


def weibull(mean, shape):
    return stats.weibull_min(shape, scale=mean / special.gamma(1 + 1 / shape))


def between(law, high):
    return lambda x: np.log(law.cdf(high) - law.cdf(x))


def cut(law, low, high):
    return lambda x: law.logpdf(x) - np.log(law.cdf(high) - law.cdf(low))


def generalized_poisson(mean, dispersion):
    rate = mean * (1 - dispersion)

    def logpmf(k):
        total = rate + dispersion * k
        return np.log(rate) + (k - 1) * np.log(total) - total - special.gammaln(k + 1)

    return logpmf


def kept(law, high):
    return lambda x: law.logpmf(x) - law.logcdf(high)


# A distribution of random parameters, its log density by SciPy, and where to compare them.
def cases():
    a, b, s, r, m, g = positive(), positive(), positive(), positive(), real(), real()
    p = RANDOM.uniform(0.05, 0.95)
    x, above, unit = RANDOM.normal(size=7), RANDOM.gamma(2.0, size=7), RANDOM.uniform(0.01, 0.99, 7)
    angles = RANDOM.uniform(-np.pi, np.pi, 7)
    counts, coins = RANDOM.integers(0, 9, 7), RANDOM.integers(0, 2, 7)
    logits, cuts = RANDOM.normal(size=4), np.sort(RANDOM.normal(size=3))
    logit, log_rate = special.logit(p), dist.Poisson(log_rate=m)
    log_normal = stats.lognorm(s, scale=np.exp(m))
    by_probit = np.diff(stats.norm.cdf(np.concatenate([[-np.inf], cuts - m, [np.inf]])))
    by_mean, by_log = dist.NegativeBinomial(s, r), dist.NegativeBinomial(log_mean=m, dispersion=r)
    return [
        (dist.Normal(m, s), stats.norm(m, s).logpdf, x),
        (dist.Cauchy(m, s), stats.cauchy(m, s).logpdf, x),
        (dist.Laplace(m, s), stats.laplace(m, s).logpdf, x),
        (dist.StudentT(a, m, s), stats.t(a, m, s).logpdf, x),
        (dist.HalfNormal(s), stats.halfnorm(scale=s).logpdf, above),
        (dist.HalfCauchy(s), stats.halfcauchy(scale=s).logpdf, above),
        (dist.HalfStudentT(a, s), half_student(a, s), above),
        (dist.Exponential(r), stats.expon(scale=1 / r).logpdf, above),
        (dist.Gamma(a, r), stats.gamma(a, scale=1 / r).logpdf, above),
        (dist.Gamma(a, mean=s), stats.gamma(a, scale=s / a).logpdf, above),
        (dist.Gamma(a, log_mean=m), stats.gamma(a, scale=np.exp(m) / a).logpdf, above),
        (dist.InverseGamma(a, s), stats.invgamma(a, scale=s).logpdf, above),
        (dist.LogNormal(m, s), stats.lognorm(s, scale=np.exp(m)).logpdf, above),
        (dist.Beta(a, b), stats.beta(a, b).logpdf, unit),
        (dist.Beta(mean=p, precision=s), stats.beta(p * s, (1 - p) * s).logpdf, unit),
        (dist.Beta(logit_mean=logit, precision=s), stats.beta(p * s, (1 - p) * s).logpdf, unit),
        (dist.Uniform(-1.0, 3.0), stats.uniform(-1, 4).logpdf, unit),
        (dist.Flat(), np.zeros_like, unit),
        (dist.Bernoulli(probs=p), stats.bernoulli(p).logpmf, coins),
        (dist.Bernoulli(logits=logit), stats.bernoulli(p).logpmf, coins),
        (dist.Binomial(9, logit), stats.binom(9, p).logpmf, counts),
        (dist.BetaBinomial(9, logit, s), stats.betabinom(9, p * s, (1 - p) * s).logpmf, counts),
        (dist.VonMises(m, s), stats.vonmises(s, loc=m).logpdf, angles),
        (dist.Weibull(m, a), weibull(np.exp(m), a).logpdf, above),
        (dist.InverseGaussian(m, s), stats.invgauss(np.exp(m) / s, scale=s).logpdf, above),
        (dist.Hurdle(dist.Poisson(s), g), hurdled(stats.poisson(s), g), counts),
        (dist.Hurdle(log_rate, g), hurdled(stats.poisson(np.exp(m)), g), counts),
        (dist.Hurdle(by_mean, g), hurdled(negative_binomial(s, r), g), counts),
        (dist.Hurdle(by_log, g), hurdled(negative_binomial(np.exp(m), r), g), counts),
        (dist.Poisson(s), stats.poisson(s).logpmf, counts),
        (log_rate, stats.poisson(np.exp(m)).logpmf, counts),
        (by_mean, negative_binomial(s, r).logpmf, counts),
        (by_log, negative_binomial(np.exp(m), r).logpmf, counts),
        (dist.Categorical(logits), lambda k: special.log_softmax(logits)[k], coins),
        (dist.OrderedLogistic(m, cuts), lambda k: np.log(ordered(m, cuts))[k], coins),
        (dist.OrderedProbit(m, cuts), lambda k: np.log(by_probit)[k], coins),
        (dist.Censored(dist.Normal(m, s), 1), stats.norm(m, s).logsf, x),
        (dist.Censored(dist.LogNormal(m, s), -1), stats.lognorm(s, scale=np.exp(m)).logcdf, above),
        (
            dist.Censored(dist.Exponential(r), 2, 20.0),
            between(stats.expon(scale=1 / r), 20.0),
            above,
        ),
        (dist.Censored(dist.Weibull(m, a), 1), weibull(np.exp(m), a).logsf, above),
        (dist.Censored(dist.Poisson(s), 1), stats.poisson(s).logsf, counts),
        (dist.Censored(log_rate, -1), stats.poisson(np.exp(m)).logcdf, counts),
        (dist.Truncated(dist.Normal(m, s), -9.0, 9.0), cut(stats.norm(m, s), -9.0, 9.0), x),
        (dist.Truncated(dist.Poisson(s), high=9), kept(stats.poisson(s), 9), counts),
        (dist.Truncated(log_rate, high=9), kept(stats.poisson(np.exp(m)), 9), counts),
        (dist.Truncated(dist.Exponential(r), 0, 40), cut(stats.expon(scale=1 / r), 0, 40), above),
        (dist.Truncated(dist.LogNormal(m, s), 0, 40), cut(log_normal, 0, 40), above),
        (dist.Truncated(dist.Weibull(m, a), 0, 40), cut(weibull(np.exp(m), a), 0, 40), above),
        (dist.GeneralizedPoisson(m, p), generalized_poisson(np.exp(m), p), counts),
        (dist.ZeroInflated(dist.Poisson(s), g), gated(stats.poisson(s), g), counts),
        (dist.ZeroInflated(log_rate, g), gated(stats.poisson(np.exp(m)), g), counts),
        (dist.ZeroInflated(dist.Binomial(9, logit), g), gated(stats.binom(9, p), g), counts),
        (dist.ZeroInflated(by_mean, g), gated(negative_binomial(s, r), g), counts),
        (dist.ZeroInflated(by_log, g), gated(negative_binomial(np.exp(m), r), g), counts),
    ]


@pytest.mark.parametrize("repeat", range(5))
def test_log_densities_are_those_of_scipy(repeat):
    for law, expected, x in cases():
        found = law.log_prob(x)
        assert np.allclose(found, expected(x), rtol=1e-9, atol=1e-9), law


def test_log_densities_of_vectors_and_matrices():
    factor = np.array([[1.0, 0.0], [0.4, 0.8]])
    x = np.array([0.3, -0.7])
    normal = stats.multivariate_normal([1.0, 2.0], factor @ factor.T)
    found = dist.MultivariateNormal([1.0, 2.0], factor).log_prob(x)
    assert np.isclose(found, normal.logpdf(x))
    alpha, simplex = np.array([0.5, 2.0, 1.5]), np.array([0.2, 0.5, 0.3])
    found = dist.Dirichlet(alpha).log_prob(simplex)
    assert np.isclose(found, stats.dirichlet(alpha).logpdf(simplex))
    # Of two rows the only free entry is ρ, whose density is ∝ (1 − ρ²)^(η − 1).
    correlation = np.array([[1.0, 0.0], [0.6, 0.8]])
    eta = 2.0
    beta = stats.beta(eta, eta)
    expected = beta.logpdf((0.6 + 1) / 2) - np.log(2)
    assert np.isclose(dist.LkjCholesky(2, eta).log_prob(correlation), expected)


def test_noise_of_a_location_is_integrated_out():
    f = np.linspace(-12.0, 12.0, 24001)
    weight = stats.norm(0.4, 1.3).pdf(f) * (f[1] - f[0])
    found = dist.NoisyStudentT(4.0, 0.4, 0.5, 1.69).log_prob(2.0)
    expected = np.log(np.sum(weight * stats.t(4.0, f, 0.5).pdf(2.0)))
    assert np.isclose(found, expected, atol=1e-4)
    found = dist.NoisyBernoulli(0.4, 1.69).log_prob(1.0)
    assert np.isclose(found, np.log(np.sum(weight * special.expit(f))), atol=1e-5)


def test_every_distribution_of_the_engine_is_here():
    written = {(law._name, frozenset(law._parameters)) for law, _, _ in cases()}
    aside = {"MultivariateNormal", "Dirichlet", "LkjCholesky", "NoisyBernoulli", "NoisyStudentT"}
    for name, parameters in _lehr.distributions():
        assert name in aside or (name, frozenset(parameters)) in written, name


def test_copies_and_mistakes():
    many = dist.Normal(0.0, 1.0).expand([3])
    assert many.log_prob(np.zeros(3)).shape == (3,)
    with pytest.raises(lehr.LehrError, match="one of logits, probs, found 2"):
        dist.Bernoulli(logits=0.0, probs=0.5)
    with pytest.raises(lehr.LehrError, match="scale must be positive, found -1"):
        dist.Normal(0.0, -1.0).log_prob(0.0)
