// SPDX-License-Identifier: Apache-2.0

package k6options_test

import (
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/load/k6options"
)

// A script's length and number of users are never negative.
func FuzzRead(f *testing.F) {
	for _, tc := range executionCases(f) {
		f.Add(tc.File, tc.Script, strings.Join(tc.Arguments, " "), tc.Env["K6_STAGES"])
	}
	for _, source := range []string{
		"export const options = {scenarios: {a: {executor: 'constant-vus', duration: `${__ENV.D || '30s'}`, startTime: '1m'}}}",
		`export let options = {stages: [{duration: '5m', target: 10}, {duration: 1e3, target: 0}]}`,
		`const d = {duration: '1h'}; export const options = {...d, ...d}`,
		`export const options = {duration: '-9999999h', vus: -1e300, iterations: 1e19}`,
		"import k6, { group as g } from 'k6'; export default async function* () { class A extends B { #x = 1; static { g('a', f) } get y() { return this?.#x } } label: for await (const [a, ...{b}] of c) g(`a${b}`, async () => { await import('x') }) }",
		"import * as k6 from 'k6'; export { k6 as default }; switch (a) { case /x/g: k6.group('a') ; default: try { throw new.target } catch { delete a?.[b] } finally { tag`x${{tags: {step: 'A', ...s}}}` } }",
		`export const options = {stages: [{duration: '365d'}, {duration: '2562047h'}]}`,
	} {
		f.Add("main.ts", source, "-u 1", "1s:1")
	}
	f.Fuzz(func(t *testing.T, name, source, arguments, stages string) {
		run := k6options.Run{
			Script: &k6options.Script{Name: name, Text: source}, Arguments: strings.Fields(arguments), Env: map[string]string{"D": "10s", "K6_STAGES": stages},
		}
		for _, names := range []k6options.Names{k6options.Groups(run), k6options.Tags(run, "step")} {
			if !slices.IsSorted(names.Known) {
				t.Fatalf("names %q", names.Known)
			}
		}
		execution, err := k6options.Read(run)
		if err != nil {
			return
		}
		if length, err := execution.Length(); err == nil && length < 0 {
			t.Fatalf("a length of %s", length)
		}
		if users, err := execution.Users(); err == nil && users < 0 {
			t.Fatalf("%d users", users)
		}
	})
}
