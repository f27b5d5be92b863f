// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/inference/comparison"
)

// shownElsewhere are warnings in a table's caption, the section's beginning or the row itself.
var shownElsewhere = []comparison.Code{
	comparison.CodeExploratory, comparison.CodeTwinDiffers, comparison.CodeMoreBlocks,
	comparison.CodeTooFewBlocks, comparison.CodeBeforeFirstAnalysis, comparison.CodeNoInterval,
}

// footnotes numbers sentences, so that a row refers to them in a few characters.
type footnotes struct{ list []string }

func (n *footnotes) numbersFor(warnings []comparison.Warning) string {
	var numbers []string
	for _, message := range comparison.Messages(warnings, shownElsewhere...) {
		sentence := capitalize(message) + "."
		at := slices.Index(n.list, sentence)
		if at < 0 {
			at = len(n.list)
			n.list = append(n.list, sentence)
		}
		numbers = append(numbers, strconv.Itoa(at+1))
	}
	return strings.Join(numbers, ", ")
}
