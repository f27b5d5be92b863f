// SPDX-License-Identifier: Apache-2.0

package section

import "perflab.dev/perflab/internal/inference/comparison"

// ChartNames are the names of the charts of all kinds.
func (r *Record) ChartNames() []string {
	var names []string
	for _, kind := range chartKinds {
		for _, scenario := range r.scenarios {
			for _, one := range kind.charts(r, scenario) {
				names = append(names, one.Name)
			}
		}
	}
	return names
}

// Centers are the centers of the arms' runs, compared as ratios, as a page formats them.
func Centers(arms ...[]float64) []string {
	var all []*values
	for _, numbers := range arms {
		all = append(all, &values{numbers: numbers, scale: comparison.Ratio, confidence: 0.95})
	}
	setPlaces(all, fewestPlaces(all))
	var written []string
	for _, one := range all {
		written = append(written, one.text())
	}
	return written
}
