# SPDX-License-Identifier: Apache-2.0
"""Change points that Apache Otava finds in series, read from and written to JSON."""
import json
import sys

from otava.analysis import compute_change_points

asked = json.load(sys.stdin)
found = [compute_change_points(series, max_pvalue=asked["p"])[0] for series in asked["series"]]
json.dump([[int(change.index) for change in changes] for changes in found], sys.stdout)
