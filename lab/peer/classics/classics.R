# Twelve classic analyses by R: `Rscript classics.R NAME FOLDER` writes FOLDER/NAME.csv, the data, and
# FOLDER/NAME.reference.csv: names as lehr has them, estimates, standard errors, seconds.

suppressPackageStartupMessages({ library(lme4); library(mgcv) })

# Fixed effects of a merMod or a gam under the names that lehr gives them.
fixed <- function(fit, names) {
  table <- summary(fit)
  table <- if (inherits(fit, "gam")) table$p.table else coef(table)
  data.frame(name = names, estimate = table[, 1], se = table[, 2])
}

# Spreads and correlations have no standard errors in lme4.
spread <- function(name, estimate) data.frame(name = name, estimate = estimate, se = NA)

deviation <- function(fit, group, effect = "(Intercept)") attr(VarCorr(fit)[[group]], "stddev")[[effect]]

analyses <- list(
  sleepstudy = list(
    data = function() lme4::sleepstudy,
    fit = function(d) {
      m <- lmer(Reaction ~ Days + (Days | Subject), d)
      rbind(fixed(m, c("Intercept", "Days")),
            spread("sd(Subject, Intercept)", deviation(m, "Subject")),
            spread("sd(Subject, Days)", deviation(m, "Subject", "Days")),
            spread("sigma", sigma(m)))
    }),
  cbpp = list(
    data = function() lme4::cbpp,
    fit = function(d) {
      m <- glmer(cbind(incidence, size - incidence) ~ factor(period) + (1 | herd), d, binomial, nAGQ = 9)
      rbind(fixed(m, c("Intercept", "period[2]", "period[3]", "period[4]")),
            spread("sd(herd)", deviation(m, "herd")))
    }),
  salamanders = list(
    data = function() {
      set.seed(1)
      d <- expand.grid(visit = 1:14, site = sprintf("s%02d", 1:46))
      d$mined <- ifelse(as.integer(d$site) <= 23, "yes", "no")
      d$cover <- round(rnorm(46), 3)[as.integer(d$site)]
      effect <- rnorm(46, 0, 0.6)[as.integer(d$site)]
      mean <- exp(0.9 - 1.6 * (d$mined == "yes") + 0.3 * d$cover + effect)
      d$count <- rnbinom(nrow(d), mu = mean, size = 1.2)
      d
    },
    fit = function(d) {
      m <- suppressWarnings(glmer.nb(count ~ mined + cover + (1 | site), d))
      rbind(fixed(m, c("Intercept", "mined[yes]", "cover")),
            spread("sd(site)", deviation(m, "site")),
            spread("shape", getME(m, "glmer.nb.theta")))
    }),
  schools = list(
    data = function() data.frame(
      school = LETTERS[1:8],
      effect = c(28, 8, -3, 7, -1, 1, 18, 12),
      error = c(15, 10, 16, 11, 9, 11, 10, 18)),
    fit = function(d) {
      m <- metafor::rma(effect, sei = error, data = d, method = "REML")
      rbind(data.frame(name = "Intercept", estimate = m$beta[1], se = m$se),
            spread("sd(school)", sqrt(m$tau2)))
    }),
  epilepsy = list(
    data = function() {
      d <- MASS::epil
      data.frame(y = d$y, lbase = d$lbase, trt = d$trt, lage = d$lage, v4 = d$V4,
                 subject = paste0("p", d$subject))
    },
    fit = function(d) {
      m <- glmer(y ~ lbase * trt + lage + v4 + (1 | subject), d, poisson)
      rbind(fixed(m, c("Intercept", "lbase", "trt[progabide]", "lage", "v4", "lbase:trt[progabide]")),
            spread("sd(subject)", deviation(m, "subject")))
    }),
  insteval = list(
    data = function() lme4::InstEval[c("y", "service", "s", "d")],
    fit = function(d) {
      m <- lmer(y ~ factor(service) + (1 | s) + (1 | d), d)
      rbind(fixed(m, c("Intercept", "service[1]")),
            spread("sd(s)", deviation(m, "s")), spread("sd(d)", deviation(m, "d")),
            spread("sigma", sigma(m)))
    }),
  radon = list(
    data = function() {
      set.seed(2)
      homes <- rpois(85, 9) + 2
      county <- rep(seq_along(homes), homes)
      uranium <- round(rnorm(85, 0, 0.4), 3)
      effect <- 0.25 * matrix(rnorm(170), 85) %*% chol(matrix(c(1, -0.3, -0.3, 1), 2))
      floor <- rbinom(length(county), 1, 0.17)
      mean <- 1.5 + 0.7 * uranium[county] + effect[county, 1] + (-0.65 + effect[county, 2]) * floor
      data.frame(log_radon = round(rnorm(length(county), mean, 0.75), 4), floor = floor,
                 uranium = uranium[county], county = sprintf("c%02d", county))
    },
    fit = function(d) {
      m <- lmer(log_radon ~ floor + uranium + (1 + floor | county), d)
      rbind(fixed(m, c("Intercept", "floor", "uranium")),
            spread("sd(county, Intercept)", deviation(m, "county")),
            spread("sd(county, floor)", deviation(m, "county", "floor")),
            spread("sigma", sigma(m)))
    }),
  inhaler = list(
    data = function() {
      set.seed(3)
      d <- expand.grid(period = c(-0.5, 0.5), subject = sprintf("p%03d", 1:286))
      order <- rep(c(1, -1), length.out = 286)[as.integer(d$subject)]
      d$treat <- order * d$period
      d$carry <- ifelse(d$period > 0, order, 0)
      latent <- -0.9 * d$treat + 0.2 * d$period - 0.2 * d$carry +
        rnorm(286)[as.integer(d$subject)] + rlogis(nrow(d))
      d$rating <- 1 + (latent > 1) + (latent > 3.5) + (latent > 5)
      d
    },
    fit = function(d) {
      # Thresholds and a normal effect of subjects: mgcv's ordered categories.
      d$subject <- factor(d$subject)
      m <- gam(rating ~ treat + period + carry + s(subject, bs = "re"), ocat(R = 4), d, method = "REML")
      found <- summary(m)$p.table[-1, ]
      rbind(data.frame(name = c("treat", "period", "carry"), estimate = found[, 1], se = found[, 2]),
            spread("sd(subject)", suppressWarnings(gam.vcomp(m))[[1]]))
    }),
  vaccine = list(
    data = function() {
      d <- metafor::escalc("RR", ai = tpos, bi = tneg, ci = cpos, di = cneg, data = metadat::dat.bcg)
      data.frame(trial = paste0("t", d$trial), effect = as.numeric(d$yi), error = sqrt(d$vi),
                 latitude = d$ablat)
    },
    fit = function(d) {
      m <- metafor::rma(effect, sei = error, mods = ~ latitude, data = d, method = "REML")
      rbind(data.frame(name = c("Intercept", "latitude"), estimate = m$beta[, 1], se = m$se),
            spread("sd(trial)", sqrt(m$tau2)))
    }),
  motorcycle = list(
    data = function() MASS::mcycle,
    fit = function(d) {
      m <- gam(accel ~ s(times, k = 20), data = d, method = "REML")
      found <- predict(m, d, se.fit = TRUE)
      rbind(data.frame(name = paste0("curve ", seq_len(nrow(d))), estimate = found$fit, se = found$se.fit),
            spread("sigma", sqrt(m$sig2)))
    }),
  articles = list(
    data = function() { data("bioChemists", package = "pscl", envir = environment()); bioChemists },
    fit = function(d) {
      m <- pscl::zeroinfl(art ~ fem + mar + kid5 + phd + ment | ment, d, dist = "negbin")
      count <- summary(m)$coefficients$count
      zero <- summary(m)$coefficients$zero
      rbind(data.frame(name = c("Intercept", "fem[Women]", "mar[Single]", "kid5", "phd", "ment"),
                       estimate = count[1:6, 1] * c(1, 1, 1, 1, 1, 1), se = count[1:6, 2]),
            data.frame(name = c("gate.Intercept", "gate.ment"), estimate = zero[, 1], se = zero[, 2]),
            spread("shape", m$theta))
    }),
  yields = list(
    data = function() {
      set.seed(4)
      temperature <- round(runif(250, 200, 440), 1)
      batch <- sample(c("a", "b", "c"), 250, TRUE)
      mean <- plogis(-5.4 + 0.011 * temperature + c(a = 0, b = 0.6, c = -0.4)[batch])
      data.frame(yield = round(rbeta(250, mean * 60, (1 - mean) * 60), 6), temperature, batch)
    },
    fit = function(d) {
      m <- gam(yield ~ temperature + batch, betar(), d, method = "REML")
      rbind(fixed(m, c("Intercept", "temperature", "batch[b]", "batch[c]")),
            spread("precision", m$family$getTheta(TRUE)))
    }))

arguments <- commandArgs(trailingOnly = TRUE)
one <- analyses[[arguments[1]]]
d <- as.data.frame(one$data())
write.csv(d, file.path(arguments[2], paste0(arguments[1], ".csv")), row.names = FALSE, quote = FALSE)
d <- read.csv(file.path(arguments[2], paste0(arguments[1], ".csv")), stringsAsFactors = TRUE)
seconds <- system.time(found <- suppressMessages(one$fit(d)))[["elapsed"]]
found$seconds <- seconds
write.csv(found, file.path(arguments[2], paste0(arguments[1], ".reference.csv")), row.names = FALSE)
