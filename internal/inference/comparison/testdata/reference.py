# SPDX-License-Identifier: Apache-2.0
"""What other packages make of runs.csv, for the tests of package comparison:
numpy 2.3.4, scipy 1.16.3, statsmodels 0.14.5, pandas 2.3.3.

    pip install numpy==2.3.4 scipy==1.16.3 statsmodels==0.14.5 pandas==2.3.3
    python reference.py ../../../cmd/perflab/testdata/runs.csv > reference.json

The baseline is xmx; averages and throughput are primary, the margin is 5 %, the
confidence 95 %.
"""

import json
import re
import sys

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.multitest import multipletests

BASELINE, PRIMARY, ALPHA, MARGIN = "xmx", re.compile("average$|throughput"), 0.05, 0.05

runs = pd.read_csv(sys.argv[1])
found = []
for (scenario, metric), series in runs.groupby(["scenario", "metric"]):
    ratio = series["unit"].iloc[0] != "%" and (series["value"] > 0).all()
    series = series.assign(y=np.log(series["value"]) if ratio else series["value"])
    told = (lambda effect: 100 * np.expm1(effect)) if ratio else (lambda effect: effect)
    center = (lambda values: stats.gmean(values)) if ratio else (lambda values: np.mean(values))
    if series["y"].nunique() == 1:
        continue  # No spread: an ordinary fit divides by zero.
    fitted = smf.ols(f"y ~ C(arm, Treatment('{BASELINE}')) + C(block)", series).fit()
    wide = series.pivot(index="block", columns="arm", values="y")
    for arm in sorted(set(series["arm"]) - {BASELINE}):
        term = f"C(arm, Treatment('{BASELINE}'))[T.{arm}]"
        differences = (wide[arm] - wide[BASELINE]).dropna().to_numpy()
        flipped = stats.permutation_test((differences,), lambda x, axis: np.abs(np.sum(x, axis=axis)), permutation_type="samples",
                                         n_resamples=np.inf, alternative="greater", vectorized=True)
        equivalence = fitted.conf_int(2 * ALPHA).loc[term]
        base, own = (center(series[series["arm"] == a]["value"]) for a in (BASELINE, arm))
        margin = (np.log(1 - MARGIN), np.log(1 + MARGIN)) if ratio else (-MARGIN * abs(base), MARGIN * abs(base))
        found.append({
            "scenario": scenario, "metric": metric, "arm": arm, "scale": "ratio" if ratio else "difference",
            "blocks": len(differences), "baselineCenter": base, "armCenter": own, "delta": told(fitted.params[term]),
            "interval": lambda level, fitted=fitted, term=term: fitted.conf_int(level).loc[term], "told": told,
            "equivalenceLow": told(equivalence[0]), "equivalenceHigh": told(equivalence[1]),
            "p": fitted.pvalues[term], "permutation": flipped.pvalue, "primary": bool(PRIMARY.search(metric)),
            "within": bool(margin[0] <= equivalence[0] and equivalence[1] <= margin[1]), "sign": float(np.sign(fitted.params[term])),
        })

for primary, method in ((True, "holm"), (False, "fdr_bh")):
    family = [one for one in found if one["primary"] == primary]
    # The error shares, which show no spread, have p = 1 and count for the family.
    extra = [] if primary else [1.0, 1.0]
    adjusted = multipletests([one["p"] for one in family] + extra, method=method)[1]
    for one, own in zip(family, adjusted):
        one["adjusted"] = own
        one["level"] = ALPHA * one["p"] / own
for one in found:
    sign = -one.pop("sign") if "throughput" in one["metric"] else one.pop("sign")
    different = one["adjusted"] < ALPHA and one["permutation"] <= ALPHA
    alike, told, interval, level = (one.pop(name) for name in ("within", "told", "interval", "level"))
    low, high = (one["equivalenceLow"], one["equivalenceHigh"]) if alike else map(told, interval(level))
    if not alike and not different:
        low, high = min(low, 0), max(high, 0)
    one["low"], one["high"] = low, high
    one["verdict"] = "Equivalent" if alike else ("Worse" if sign > 0 else "Better") if different else "Inconclusive"
json.dump(found, sys.stdout, indent=1, default=float)
print()
