// SPDX-License-Identifier: Apache-2.0

package licence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/licenseclassifier/v2/assets"
)

// certain is the minimum share of a license's text. Texts with an added clause have a
// smaller share.
const certain = 0.9

// spdx has SPDX identifiers that differ from the classifier's.
var spdx = map[string]string{"AGPL-3.0": "AGPL-3.0-only", "GPL-2.0": "GPL-2.0-only", "GPL-3.0": "GPL-3.0-only", "LGPL-3.0": "LGPL-3.0-only"}

func newClassifier() (func([]byte) []string, error) {
	classifier, err := assets.DefaultClassifier()
	if err != nil {
		return nil, fmt.Errorf("loading the licences: %w", err)
	}
	return func(text []byte) []string {
		var found []string
		for _, match := range classifier.Match(text).Matches {
			if match.MatchType == "License" && match.Confidence >= certain {
				found = append(found, identifier(match.Name))
			}
		}
		slices.Sort(found)
		return slices.Compact(found)
	}, nil
}

func identifier(name string) string {
	if known, found := spdx[name]; found {
		return known
	}
	return strings.TrimSpace(name)
}
