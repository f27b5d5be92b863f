// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/inference/stats"
)

// shownElsewhere: by a table's caption, the section's beginning or the row itself.
var shownElsewhere = []string{"exploratory:", "not calibrated:", "inconclusive: about", "descriptive only:", string(stats.WarningNoInterval)}

// footnotes number sentences, so that a row refers to them in a few characters.
type footnotes struct{ list []string }

func (n *footnotes) numbersFor(warnings []string) string {
	var numbers []string
	for _, warning := range warnings {
		if slices.ContainsFunc(shownElsewhere, func(beginning string) bool { return strings.HasPrefix(warning, beginning) }) {
			continue
		}
		sentence := capitalize(warning) + "."
		at := slices.Index(n.list, sentence)
		if at < 0 {
			at = len(n.list)
			n.list = append(n.list, sentence)
		}
		numbers = append(numbers, strconv.Itoa(at+1))
	}
	return strings.Join(numbers, ", ")
}
