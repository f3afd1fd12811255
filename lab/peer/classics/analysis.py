"""The analyses: what is written for lehr and for R, and what the model of NumPyro is made of."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Analysis:
    """One of the twelve."""

    name: str
    title: str
    formula: str
    family: str
    # The call of R that the script has, and the package.
    theirs: str
    package: str
    response: str
    # Columns that are taken as levels although they hold numbers.
    levels: tuple[str, ...] = ()
    # Groups with the effects that vary by each.
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    trials: str = ""
    errors: str = ""
    # Formulas of parameters.
    parameters: tuple[str, ...] = ()
    # The method of lehr.
    method: str = "auto"
    # Whether chains on the same model are the truth here; if not, why not.
    no_chains: str = ""


ANALYSES = [
    Analysis(
        "sleepstudy",
        "reaction times of 18 drivers without sleep",
        "Reaction ~ Days + (Days | Subject)",
        "gaussian",
        "lmer(Reaction ~ Days + (Days | Subject))",
        "lme4",
        "Reaction",
        groups={"Subject": ("Intercept", "Days")},
    ),
    Analysis(
        "cbpp",
        "a disease of cattle in 15 herds",
        "incidence | trials(size) ~ C(period) + (1 | herd)",
        "binomial",
        "glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), binomial, nAGQ = 9)",
        "lme4",
        "incidence",
        levels=("period",),
        groups={"herd": ("Intercept",)},
        trials="size",
    ),
    Analysis(
        "salamanders",
        "counts at 46 sites, generated",
        "count ~ mined + cover + (1 | site)",
        "negbinomial",
        "glmer.nb(count ~ mined + cover + (1 | site))",
        "lme4",
        "count",
        groups={"site": ("Intercept",)},
    ),
    Analysis(
        "schools",
        "eight schools",
        "effect | se(error) ~ 1 + (1 | school)",
        "gaussian",
        "rma(effect, sei = error)",
        "metafor",
        "effect",
        groups={"school": ("Intercept",)},
        errors="error",
    ),
    Analysis(
        "epilepsy",
        "seizures of 59 patients",
        "y ~ lbase * trt + lage + v4 + (1 | subject)",
        "poisson",
        "glmer(y ~ lbase * trt + lage + v4 + (1 | subject), poisson)",
        "lme4",
        "y",
        groups={"subject": ("Intercept",)},
    ),
    Analysis(
        "insteval",
        "73,421 ratings of 1,128 lecturers by 2,972 students",
        "y ~ C(service) + (1 | s) + (1 | d)",
        "gaussian",
        "lmer(y ~ service + (1 | s) + (1 | d))",
        "lme4",
        "y",
        levels=("service",),
        groups={"s": ("Intercept",), "d": ("Intercept",)},
        no_chains="4,100 effects of 73,421 rows take NUTS hours",
    ),
    Analysis(
        "radon",
        "radon in homes of 85 counties, generated",
        "log_radon ~ floor + uranium + (1 + floor | county)",
        "gaussian",
        "lmer(log_radon ~ floor + uranium + (1 + floor | county))",
        "lme4",
        "log_radon",
        groups={"county": ("Intercept", "floor")},
    ),
    Analysis(
        "inhaler",
        "ratings of 286 patients in four classes, generated",
        "rating ~ treat + period + carry + (1 | subject)",
        "ordinal",
        'gam(rating ~ treat + period + carry + s(subject, bs = "re"), ocat(R = 4))',
        "mgcv",
        "rating",
        groups={"subject": ("Intercept",)},
    ),
    Analysis(
        "vaccine",
        "13 trials of the BCG vaccine",
        "effect | se(error) ~ latitude + (1 | trial)",
        "gaussian",
        "rma(effect, sei = error, mods = ~ latitude)",
        "metafor",
        "effect",
        groups={"trial": ("Intercept",)},
        errors="error",
    ),
    Analysis(
        "motorcycle",
        "acceleration after an impact",
        "accel ~ s(times, k = 20)",
        "gaussian",
        "gam(accel ~ s(times, k = 20))",
        "mgcv",
        "accel",
        no_chains="its splines are our own; the curve is compared with that of mgcv",
    ),
    Analysis(
        "articles",
        "articles of 915 chemists, with surplus zeros",
        "art ~ fem + mar + kid5 + phd + ment",
        "zero_inflated_negbinomial",
        'zeroinfl(art ~ fem + mar + kid5 + phd + ment | ment, dist = "negbin")',
        "pscl",
        "art",
        parameters=("gate ~ ment",),
        method="nuts",
    ),
    Analysis(
        "yields",
        "shares of petrol, generated",
        "yield ~ temperature + batch",
        "beta",
        "gam(yield ~ temperature + batch, betar())",
        "mgcv",
        "yield",
    ),
]
