// SPDX-License-Identifier: Apache-2.0

package report

// PageScripts are those of the HTML page.
func PageScripts() []string {
	var texts []string
	for _, script := range pageScripts {
		texts = append(texts, string(script))
	}
	return texts
}

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
