// SPDX-License-Identifier: Apache-2.0

package report

// Drawn are the names of all charts in the table, wherever they go.
func (r *Report) Drawn() []string {
	var names []string
	for _, kind := range chartKinds {
		for _, scenario := range r.record.scenarios {
			for _, one := range kind.drawn(r.record, scenario) {
				names = append(names, one.Name+".svg")
			}
		}
	}
	return names
}
