// SPDX-License-Identifier: Apache-2.0

package prose

import "strings"

// Closest returns the closest of the sorted names; empty if none is close. Two letters may
// differ, and fewer in a short name.
func Closest(written string, names []string) string {
	closest, least := "", min(2, len(written)/4)+1
	for _, name := range names {
		if apart := distance(strings.ToLower(written), strings.ToLower(name), least); apart < least {
			closest, least = name, apart
		}
	}
	return closest
}

// distance returns the Levenshtein distance of two texts, up to a bound.
func distance(a, b string, bound int) int {
	if len(a)-len(b) >= bound || len(b)-len(a) >= bound {
		return bound
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
