// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// rowGroup identifies the deltas of one column, which have the same operands.
type rowGroup struct{ report, table, configuration string }

// operands names the two configurations of a delta.
type operands struct{ minuend, subtrahend string }

// checkGroup finds the operands of a column by its words, or else those that explain most of its
// numbers.
func (d *auditor) checkGroup(deltas []Row) []Finding {
	pairs := d.pairs(deltas)
	pair, known := pairByWords(deltas[0].Configuration, pairs)
	if !known {
		pair, known = d.pairByNumbers(deltas, pairs)
	}
	var findings []Finding
	for _, delta := range deltas {
		if !known {
			findings = append(findings, Finding{Delta: delta, Outcome: Unchecked, Note: "fewer than two configurations have measured values"})
			continue
		}
		findings = append(findings, d.checkPair(delta, pair))
	}
	return findings
}

func (d *auditor) checkPair(delta Row, pair operands) Finding {
	candidates := d.candidates(delta)
	minuend, hasMinuend := findRow(candidates, pair.minuend)
	subtrahend, hasSubtrahend := findRow(candidates, pair.subtrahend)
	if !hasMinuend || !hasSubtrahend {
		missing := pair.minuend
		if hasMinuend {
			missing = pair.subtrahend
		}
		return Finding{Delta: delta, Outcome: Unchecked, Note: fmt.Sprintf("no measured value of %q", missing)}
	}
	found := d.check(delta, minuend, subtrahend)
	found.Note = cmp.Or(found.Note, d.note(found, candidates))
	return found
}

func findRow(rows []Row, configuration string) (Row, bool) {
	i := slices.IndexFunc(rows, func(row Row) bool { return row.Configuration == configuration })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

// note describes the error, in a sentence.
func (d *auditor) note(found Finding, candidates []Row) string {
	switch found.Outcome {
	case Sign:
		return "the sign is reversed"
	case Base:
		return fmt.Sprintf("percent of %q, not of %q", found.Minuend.Configuration, found.Subtrahend.Configuration)
	case SignAndBase:
		return fmt.Sprintf("percent of %q, not of %q, and the sign is reversed", found.Minuend.Configuration, found.Subtrahend.Configuration)
	case Digit:
		return "the last digit does not follow from the printed numbers"
	case Cut:
		return "the digits were cut off, not rounded"
	case Coarse:
		return "the numbers next to it have too few digits to verify it"
	case Size:
		for _, a := range candidates {
			for _, b := range candidates {
				if a.Configuration != b.Configuration && d.check(found.Delta, a, b).Outcome == Follows {
					return fmt.Sprintf("would follow from %q minus %q", a.Configuration, b.Configuration)
				}
			}
		}
		if math.IsInf(found.Expected, 0) {
			return fmt.Sprintf("%q is 0, so a percentage of it is undefined", found.Subtrahend.Configuration)
		}
		return "it does not follow from any two numbers next to it"
	default:
		return ""
	}
}

// pairs returns all ordered pairs of configurations measured for any of the deltas.
func (d *auditor) pairs(deltas []Row) []operands {
	var names []string
	for _, delta := range deltas {
		for _, row := range d.candidates(delta) {
			if !slices.Contains(names, row.Configuration) {
				names = append(names, row.Configuration)
			}
		}
	}
	var pairs []operands
	for _, a := range names {
		for _, b := range names {
			if a != b {
				pairs = append(pairs, operands{a, b})
			}
		}
	}
	return pairs
}

var (
	between = regexp.MustCompile(`(?i)\s+(?:minus|less|vs\.?|versus|against|compared (?:to|with)|−|-)\s+`)
	word    = regexp.MustCompile(`[\pL\pN#][\pL\pN#./-]*`)
)

// pairByWords parses "A minus B", where either side may omit words that both share, as in "x, two
// parts minus one part".
func pairByWords(configuration string, pairs []operands) (operands, bool) {
	parts := between.Split(configuration, -1)
	if len(parts) != 2 {
		return operands{}, false
	}
	left, right := words(parts[0]), words(parts[1])
	best, second, chosen := -1, -1, operands{}
	for _, pair := range pairs {
		score := fitness(words(pair.minuend), words(pair.subtrahend), left, right)
		if score > best {
			best, second, chosen = score, best, pair
		} else if score > second {
			second = score
		}
	}
	return chosen, best > 0 && best > second
}

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, found := range word.FindAllString(strings.ToLower(text), -1) {
		set[strings.TrimRight(found, ".-/")] = true
	}
	return set
}

// fitness scores how well two names match the words left and right of the minus.
// Distinguishing words must be on their side; common words may be anywhere. It is -1 if one
// side is not named.
func fitness(a, b, left, right map[string]bool) int {
	score, namedA, namedB := 0, 0, 0
	for w := range a {
		switch {
		case b[w]:
			score += boolToInt(left[w] || right[w])
		case left[w] && right[w]:
		case left[w]:
			namedA++
		default:
			score -= 1 + boolToInt(right[w])
		}
	}
	for w := range b {
		switch {
		case a[w], left[w] && right[w]:
		case right[w]:
			namedB++
		default:
			score -= 1 + boolToInt(left[w])
		}
	}
	if namedA == 0 || namedB == 0 {
		return -1
	}
	return score + namedA + namedB
}

func boolToInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// pairByNumbers returns the pair that explains most of a column's deltas. A pair with an error
// explains less than one without.
func (d *auditor) pairByNumbers(deltas []Row, pairs []operands) (operands, bool) {
	worth := map[Outcome]int{Follows: 6, Adjusted: 6, Rounding: 5, Digit: 5, Cut: 5, Coarse: 4, Base: 3, SignAndBase: 1, Sign: 2}
	best, chosen := -1, operands{}
	for _, pair := range pairs {
		score := 0
		for _, delta := range deltas {
			score += worth[d.checkPair(delta, pair).Outcome]
		}
		if score > best {
			best, chosen = score, pair
		}
	}
	return chosen, best >= 0
}
