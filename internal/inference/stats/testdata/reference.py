# SPDX-License-Identifier: Apache-2.0
"""Reference values for the tests of package stats, from packages written by
others: numpy 2.3.4, scipy 1.16.3, statsmodels 0.14.5, pandas 2.3.3.

    pip install numpy==2.3.4 scipy==1.16.3 statsmodels==0.14.5 pandas==2.3.3
    python reference.py > reference.json
"""

import json
import sys

import numpy as np
import pandas as pd
import scipy
import statsmodels
import statsmodels.formula.api as smf
from scipy import optimize, stats
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

random = np.random.default_rng(20)


def cells(arms, blocks, missing=()):
    """Values as runs give them: arm and block effects, skewed noise."""
    out = []
    block = random.normal(0, 0.05, blocks)
    for a in range(arms):
        for b in range(blocks):
            if (a, b) not in missing:
                value = 400 * np.exp(0.03 * a + block[b] + random.gumbel(0, 0.03))
                out.append({"arm": a, "block": b, "value": float(value)})
    return out


def block_model(name, rows):
    """Ordinary least squares on logarithms with an indicator for each arm and block."""
    frame = pd.DataFrame(rows)
    frame["y"] = np.log(frame["value"])
    fitted = smf.ols("y ~ C(arm) + C(block)", frame).fit()
    effects = []
    for arm in sorted(frame["arm"].unique())[1:]:
        term = f"C(arm)[T.{arm}]"
        l95, h95 = fitted.conf_int(0.05).loc[term]
        l90, h90 = fitted.conf_int(0.10).loc[term]
        effects.append({
            "arm": int(arm), "value": fitted.params[term], "error": fitted.bse[term], "p": fitted.pvalues[term],
            "low95": l95, "high95": h95, "low90": l90, "high90": h90,
        })
    return {"name": name, "cells": rows, "degrees": int(fitted.df_resid),
            "deviation": float(np.sqrt(fitted.mse_resid)), "effects": effects}


def paired(rows):
    frame = pd.DataFrame(rows).pivot(index="block", columns="arm", values="value")
    d = np.log(frame[1]) - np.log(frame[0])
    test = stats.ttest_rel(np.log(frame[1]), np.log(frame[0]))
    low, high = np.log(0.95), np.log(1.05)
    tost = ttost_paired(np.log(frame[1]).to_numpy(), np.log(frame[0]).to_numpy(), low, high)
    interval = test.confidence_interval(0.95)
    return {"cells": rows, "t": test.statistic, "p": test.pvalue, "low95": interval.low, "high95": interval.high,
            "tost": tost[0], "mean": float(d.mean())}


def sign_flip(differences):
    """All sign patterns, counted by scipy."""
    found = stats.permutation_test((np.array(differences),), lambda x, axis: np.abs(np.sum(x, axis=axis)),
                                   permutation_type="samples", n_resamples=np.inf, alternative="greater", vectorized=True)
    return {"differences": list(map(float, differences)), "p": float(found.pvalue)}


def factorial():
    """A 2 x 3 matrix: main effects and interactions as differences of marginal means."""
    rows = []
    levels = [(f, g) for f in range(2) for g in range(3)]
    for a, (f, g) in enumerate(levels):
        for b in range(6):
            rows.append({"arm": a, "block": b, "f": f, "g": g,
                         "value": float(np.exp(0.1 * f + 0.05 * g + 0.07 * f * (g == 2) + random.normal(0, 0.03) + 0.02 * b))})
    frame = pd.DataFrame(rows)
    frame["y"] = np.log(frame["value"])
    fitted = smf.ols("y ~ C(f) * C(g) + C(block)", frame).fit()
    names = list(fitted.params.index)

    def contrast(weights):
        row = np.zeros(len(names))
        for term, weight in weights.items():
            row[names.index(term)] = weight
        test = fitted.t_test(row)
        low, high = test.conf_int(0.05)[0]
        return {"value": float(test.effect[0]), "low95": float(low), "high95": float(high), "p": float(test.pvalue)}

    third = 1 / 3
    f1, g1, g2 = "C(f)[T.1]", "C(g)[T.1]", "C(g)[T.2]"
    f1g1, f1g2 = "C(f)[T.1]:C(g)[T.1]", "C(f)[T.1]:C(g)[T.2]"
    return {
        "cells": [{k: r[k] for k in ("arm", "block", "value")} for r in rows], "levels": [list(l) for l in levels],
        "main": [contrast({f1: 1, f1g1: third, f1g2: third}), contrast({g1: 1, f1g1: 0.5}), contrast({g2: 1, f1g2: 0.5})],
        "interactions": [contrast({f1g1: 1}), contrast({f1g2: 1})],
    }


def background():
    """Difference in differences: the arm's coefficient on the log ratio of loaded to alone."""
    alone, loaded = cells(3, 7), []
    for row in alone:
        loaded.append({**row, "value": row["value"] * float(np.exp(0.2 + 0.05 * row["arm"] + random.normal(0, 0.02)))})
    frame = pd.DataFrame(alone)
    frame["y"] = np.log(pd.DataFrame(loaded)["value"]) - np.log(frame["value"])
    fitted = smf.ols("y ~ C(arm) + C(block)", frame).fit()
    base = DescrStatsW(frame[frame["arm"] == 0]["y"])
    low, high = base.tconfint_mean(0.05)
    return {"alone": alone, "loaded": loaded,
            "reference": {"value": float(base.mean), "low95": float(low), "high95": float(high)},
            "effects": [{"value": fitted.params[f"C(arm)[T.{a}]"], "p": fitted.pvalues[f"C(arm)[T.{a}]"]} for a in (1, 2)]}


def carry_over():
    """Position in the block as a further factor, by the comparison of two models. Some runs are missing."""
    random.poisson(20, 15), random.poisson(17, 11)  # Once samples of their own; without, all that follows would be drawn anew.
    rows = []
    for b in range(7):
        for position, a in enumerate(random.permutation(4)):
            if (a, b) not in {(1, 2), (3, 5)}:
                value = 400 * np.exp(0.02 * a + 0.01 * b + 0.02 * (position == 0) + random.normal(0, 0.02))
                rows.append({"arm": int(a), "block": b, "position": position, "value": float(value)})
    frame = pd.DataFrame(rows)
    frame["y"] = np.log(frame["value"])
    without = smf.ols("y ~ C(arm) + C(block)", frame).fit()
    table = anova_lm(without, smf.ols("y ~ C(arm) + C(block) + C(position)", frame).fit())
    return {"cells": [{k: r[k] for k in ("arm", "block", "value")} for r in rows], "levels": [r["position"] for r in rows],
            "f": float(table["F"][1]), "p": float(table["Pr(>F)"][1]), "between": int(table["df_diff"][1]), "within": int(table["df_resid"][1])}


def slope():
    x = np.arange(12.0)
    y = 5 + 0.3 * x + random.normal(0, 1, 12)
    found = stats.linregress(x, y)
    half = stats.t.ppf(0.975, 10) * found.stderr
    return {"x": x.tolist(), "y": y.tolist(), "value": found.slope, "error": found.stderr, "p": found.pvalue,
            "low95": found.slope - half, "high95": found.slope + half}


def families():
    out = []
    for p in ([0.01, 0.04, 0.03, 0.005], [0.2, 0.001, 0.8, 0.049, 0.049, 0.011], random.uniform(0, 0.2, 25).tolist()):
        out.append({"p": p, "holm": multipletests(p, method="holm")[1].tolist(),
                    "benjaminiHochberg": multipletests(p, method="fdr_bh")[1].tolist()})
    return out


def power():
    """The paired t test: an effect in deviations of one run is 1/sqrt(2) in deviations of a difference."""
    out = []
    for blocks in (13, 15, 20, 30):
        for effect in (0.5, 1.0, 1.5):
            value = TTestPower().power(effect / np.sqrt(2), blocks, 0.05)
            out.append({"blocks": blocks, "effect": effect, "power": float(value)})
    return out


def independent():
    """Welch's t test of two samples. Intervals and p are those at whole degrees of freedom, rounded down."""
    out = []
    for first, second in ((random.normal(6, 0.02, 8), random.normal(6.03, 0.05, 12)), (random.normal(6, 0.04, 6), random.normal(6, 0.04, 6))):
        found = stats.ttest_ind(second, first, equal_var=False)
        value = float(second.mean() - first.mean())
        error, degrees = value / float(found.statistic), int(found.df)
        half = stats.t.ppf(0.975, degrees) * error
        out.append({"first": first.tolist(), "second": second.tolist(), "value": value, "error": error, "welchP": float(found.pvalue),
                    "degrees": degrees, "p": float(2 * stats.t.sf(abs(found.statistic), degrees)), "low95": float(value - half), "high95": float(value + half)})
    return out


def looks(first, last, alpha):
    """Boundaries of a normal statistic after each block that spend alpha t^2, from the joint distribution by Genz' integration."""
    share = np.arange(first, last + 1) / last
    joint = np.sqrt(np.minimum.outer(share, share) / np.maximum.outer(share, share))
    found = [float(stats.norm.isf(alpha * share[0] ** 2 / 2))]
    for k in range(2, len(share) + 1):
        normal = stats.multivariate_normal(cov=joint[:k, :k], seed=1, maxpts=2000000, abseps=1e-8, releps=1e-8)

        def surplus(boundary):
            upper = np.array([*found, boundary])
            return 1 - normal.cdf(upper, lower_limit=-upper) - alpha * share[k - 1] ** 2

        found.append(float(optimize.brentq(surplus, 0.5, 7, xtol=1e-5)))
    return {"first": first, "last": last, "alpha": alpha, "boundaries": found}


# Durations of imports of 100,000 records one after the other, in seconds, for
# three settings of the JVM's heap, as published in 2023. 8, 11 and 12 of them,
# with one of three times the length.
imports = [
    [3171, 3196, 3210, 3338, 3285, 3325, 3283, 3301],
    [3910, 3183, 3276, 3267, 3499, 3369, 3488, 3527, 3580, 3799, 5949],
    [3942, 3479, 3514, 3551, 3817, 3787, 9987, 3323, 3370, 3420, 3358, 3392],
]
published = [{"arm": a, "block": b, "value": float(v)} for a, durations in enumerate(imports) for b, v in enumerate(durations)]

twelve, tied = cells(4, 12), [1.0, -1.0, 2.0, 3.0, 3.0, -0.5, 4.0]
holes = {(1, 0), (2, 3), (0, 5), (3, 5), (2, 7), (1, 7)}
json.dump({
    "packages": {"numpy": np.__version__, "scipy": scipy.__version__, "statsmodels": statsmodels.__version__,
                 "pandas": pd.__version__, "python": sys.version.split()[0]},
    "blockModels": [block_model("complete", twelve), block_model("two arms", cells(2, 6)),
                    block_model("missing runs", cells(4, 8, holes)), block_model("eight arms in three blocks", cells(8, 3)),
                    block_model("published imports", published)],
    "paired": paired(cells(2, 9)),
    "signFlips": [sign_flip(tied), sign_flip(random.normal(0.5, 1, 6)), sign_flip(random.normal(0.5, 1, 13)),
                  sign_flip(random.standard_t(3, 20) + 0.7)],
    "factorial": factorial(), "background": background(), "slope": slope(), "families": families(),
    "power": power(), "carryOver": carry_over(), "independent": independent(), "looks": [looks(6, 10, 0.05), looks(1, 5, 0.05), looks(6, 9, 0.1), looks(3, 6, 0.0125)],
}, sys.stdout, indent=1)
print()
