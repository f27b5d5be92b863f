// SPDX-License-Identifier: Apache-2.0

package k6options_test

import (
	"testing"

	"perflab.dev/perflab/internal/k6options"
)

// A script's length is never negative, whatever the script is.
func FuzzLength(f *testing.F) {
	for _, source := range []string{
		`export const options = {duration: '2m', vus: 1}`,
		"export const options = {scenarios: {a: {executor: 'constant-vus', duration: `${__ENV.D || '30s'}`, startTime: '1m'}}}",
		`export let options = {stages: [{duration: '5m', target: 10}, {duration: 1e3, target: 0}]}`,
		`const d = {duration: '1h'}; export const options = {...d, ...d}`,
		`export const options = {iterations: 5}`,
		`export const options = {duration: '-9999999h'}`,
		`export const options = {duration: -1e300}`,
		`export const options = {stages: [{duration: '365d'}, {duration: '2562047h'}]}`,
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if length, err := k6options.Length(source, map[string]string{"D": "10s"}); err == nil && length < 0 {
			t.Fatalf("a length of %s", length)
		}
	})
}
