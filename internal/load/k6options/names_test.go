// SPDX-License-Identifier: Apache-2.0

package k6options_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/load/k6options"
	"perflab.dev/perflab/internal/testing/expect"
)

func run(text string) k6options.Run {
	return k6options.Run{Script: &k6options.Script{Name: "main.ts", Text: text}, Env: map[string]string{"STEP": "Pay"}}
}

// Groups are found however a script calls them, and unknown ones make the result incomplete.
func TestGroups(t *testing.T) {
	const from = "import { group, check } from 'k6';\nimport http from 'k6/http';\n"
	for name, test := range map[string]struct {
		script, want string
		incomplete   bool
	}{
		"in a function":              {script: from + "export default function () { group('Log in', () => { http.get('a'); }); group(\"Pay\", function () {}); }", want: "Log in|Pay"},
		"twice":                      {script: from + "export default function () { group('A', f); } export function other() { group('A', f); }", want: "A"},
		"in each other":              {script: from + "export default () => { group('A', () => { group('B', () => { group('C', f); }); }); }", want: "A|B|C"},
		"with a value":               {script: from + "export default () => { const token = group('A', f); if (token) { for (;;) { group(`B`, f); } } }", want: "A|B"},
		"by a constant":              {script: from + "const name = 'A' + 'b'; export default () => group(name, f);", want: "Ab"},
		"by a variable":              {script: from + "export default () => group(__ENV.STEP, f);", want: "Pay"},
		"by a template":              {script: from + "export default () => group(`Step ${1 + 1}`, f);", want: "Step 2"},
		"under another name":         {script: "import { group as step } from 'k6'; export default () => step('A', f);", want: "A"},
		"of the module":              {script: "import k6 from 'k6'; export default () => k6.group('A', f);", want: "A"},
		"of all that is in it":       {script: "import * as k6 from 'k6'; export default () => { k6.sleep(1); k6.group('A', f); }", want: "A"},
		"in a class":                 {script: from + "class Shop { buy() { group('A', f); } } export default () => new Shop().buy();", want: "A"},
		"TypeScript":                 {script: from + "const name: string = 'A'; export default (): void => { group(name as string, f); }", want: "A"},
		"none":                       {script: from + "export default function () { http.get('a'); }"},
		"none, of another's group":   {script: "import http from 'k6/http'; export default () => { api.group('A'); }"},
		"none, in a comment":         {script: from + "// group('A', f)\nexport default () => { /* group('B', f) */ }"},
		"none, and no imports":       {script: "export default function () {}"},
		"of what is not known":       {script: from + "function step(name, does) { group(name, does); } export default () => { step('A', f); group('B', f); }", want: "B", incomplete: true},
		"of a loop":                  {script: from + "for (const name of ['A', 'B']) { group(name, f); }", incomplete: true},
		"called by another function": {script: from + "const step = group; export default () => step('A', f);", incomplete: true},
		"of the module, elsewhere":   {script: "import k6 from 'k6'; const { group } = k6; const g = k6.group; export default () => g('A', f);", incomplete: true},
		"in another file":            {script: from + "import { buy } from './shop.js'; export default () => { buy(); group('A', f); }", want: "A", incomplete: true},
		"in a file imported whole":   {script: from + "import './shop.js'; export default () => group('A', f);", want: "A", incomplete: true},
		"in what is required":        {script: "const { group } = require('k6'); export default () => group('A', f);", incomplete: true},
		"in what is passed on":       {script: from + "export { default } from './shop.js';", incomplete: true},
		"no script":                  {script: "export default function (", incomplete: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := k6options.Groups(run(test.script))
			expect.Equal(t, test.want, strings.Join(got.Known, "|"), "names")
			expect.Equal(t, !test.incomplete, got.Complete, "all are known")
		})
	}
	expect.Equal(t, false, k6options.Groups(k6options.Run{}).Complete, "of a script that is not at hand")
}

func TestTags(t *testing.T) {
	for name, test := range map[string]struct {
		script, want string
		incomplete   bool
	}{
		"of requests":        {script: "http.get('a', {tags: {step: 'A'}}); http.post('b', null, {tags: {'step': 'B'}});", want: "A|B"},
		"of a scenario":      {script: "export const options = {scenarios: {a: {tags: {step: 'A'}}}};", want: "A"},
		"none":               {script: "http.get('a', {tags: {name: 'A'}});"},
		"computed":           {script: "http.get('a', {tags: {step: name()}}); http.get('b', {tags: {step: 'B'}});", want: "B", incomplete: true},
		"set by k6's module": {script: "exec.vu.tags['step'] = 'A';", incomplete: true},
		"set by name":        {script: "exec.vu.tags.step = 'A';", incomplete: true},
		"in short":           {script: "const step = 'A'; http.get('a', {tags: {step}});", incomplete: true},
		"in another file":    {script: "import './shop.js'; http.get('a', {tags: {step: 'A'}});", want: "A", incomplete: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := k6options.Tags(run(test.script), "step")
			expect.Equal(t, test.want, strings.Join(got.Known, "|"), "names")
			expect.Equal(t, !test.incomplete, got.Complete, "all are known")
		})
	}
}

// A script can't keep the reader busy, though each computed name needs a full search.
func TestGroupsOfManyComputedNames(t *testing.T) {
	many := "import { group } from 'k6';\nconst name = 'A';\n" + strings.Repeat("group(name, f);\n", 300)
	expect.Equal(t, k6options.Names{Known: []string{"A"}}, k6options.Groups(run(many)))
	few := strings.Replace(many, strings.Repeat("group(name, f);\n", 200), strings.Repeat("group('A', f);\n", 2000), 1)
	expect.Equal(t, k6options.Names{Known: []string{"A"}, Complete: true}, k6options.Groups(run(few)))
}

// Nested functions are searched once each, up to a limit.
func TestGroupsOfDeepScripts(t *testing.T) {
	nested := strings.Repeat("(() => { const f = ", 100) + "group('A', f)" + strings.Repeat("; })()", 100)
	expect.Equal(t, k6options.Names{Known: []string{"A"}, Complete: true}, k6options.Groups(run("import { group } from 'k6';\n"+nested)))
	arrays := strings.Repeat("[", 4000) + strings.Repeat("]", 4000)
	expect.Equal(t, false, k6options.Groups(run("const a = "+arrays+";")).Complete, "all are known of what is too deep")
}
