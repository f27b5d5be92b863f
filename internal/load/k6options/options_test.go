// SPDX-License-Identifier: Apache-2.0

package k6options_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/load/k6options"
)

func script(text string) *k6options.Script { return &k6options.Script{Name: "main.js", Text: text} }

// length of a script without arguments.
func length(text string) (time.Duration, error) {
	execution, err := k6options.Read(k6options.Run{Script: script(text)})
	if err != nil {
		return 0, err
	}
	return execution.Length()
}

func TestReadReportsUnknownOptions(t *testing.T) {
	cases := map[string]struct {
		source string
		is     error
		says   string
	}{
		"users alone":          {`export const options = {vus: 3};`, k6options.ErrIterations, ""},
		"one scenario of two":  {`export const options = {scenarios: {a: {executor: 'constant-vus', duration: '2m'}, b: {executor: 'shared-iterations', iterations: 9}}};`, k6options.ErrIterations, ""},
		"no options":           {``, k6options.ErrNone, ""},
		"not exported":         {`const options = {duration: '2m'};`, k6options.ErrNone, ""},
		"a call":               {`export const options = {duration: length()};`, k6options.ErrComputed, "options.duration is computed"},
		"an imported value":    {"import {stages} from './stages.js';\nexport const options = {stages};", k6options.ErrComputed, "options.stages is computed"},
		"an imported whole":    {"export {options} from './options.js';", k6options.ErrComputed, "options is computed"},
		"whatever there is":    {"export * from './options.js';", k6options.ErrComputed, "options is computed"},
		"taken apart":          {"export const {options} = shapes;", k6options.ErrComputed, "options is computed"},
		"as CommonJS":          {"exports.options = {duration: '2m'};", k6options.ErrComputed, "options is computed"},
		"a file":               {`export const options = JSON.parse(open('./options.json'));`, k6options.ErrComputed, "options is computed"},
		"changed later":        {"export const options = {duration: '2m'};\nif (__ENV.LONG) { options.duration = '2h'; }", k6options.ErrComputed, ""},
		"more stages later":    {"const stages = [{duration: '2m'}];\nstages.push({duration: '1h'});\nexport const options = {stages};", k6options.ErrComputed, ""},
		"in a circle":          {"const a = b;\nconst b = a;\nexport const options = {duration: a};", k6options.ErrComputed, ""},
		"computed scenarios":   {`export const options = {scenarios: shapes()};`, k6options.ErrComputed, "options.scenarios is computed"},
		"a computed scenario":  {`export const options = {scenarios: {a: shape()}};`, k6options.ErrComputed, "options.scenarios.a is computed"},
		"a computed executor":  {`export const options = {scenarios: {a: {executor: pick(), duration: '2m'}}};`, k6options.ErrComputed, "options.scenarios.a.executor"},
		"a computed stage":     {`export const options = {stages: [{duration: '2m', target: 1}, more()]};`, k6options.ErrComputed, "options.stages[1]"},
		"a duration in words":  {`export const options = {duration: 'soon'};`, nil, `options.duration: "soon" is not a duration`},
		"longer than a year":   {`export const options = {duration: 1e300};`, nil, `options.duration: "1e+300" is not a duration of at most a year`},
		"that in words":        {`export const options = {duration: '365d2562047h'};`, nil, `"365d2562047h" is not a duration of at most a year`},
		"years of stages":      {`export const options = {stages: [{duration: '300d', target: 1}, {duration: '300d', target: 1}]};`, nil, "the stages of options together take longer than a year"},
		"a misspelt executor":  {`export const options = {scenarios: {a: {executor: 'constant', duration: '2m'}}};`, nil, `options.scenarios.a.executor is "constant": write one that k6 2.2 supports (constant-arrival-rate, constant-vus, per-vu-iterations,`},
		"no executor":          {`export const options = {scenarios: {a: {duration: '2m'}}};`, nil, `options.scenarios.a.executor is "": write one`},
		"more than there can":  {strings.Repeat("//\n", 1<<19), k6options.ErrSource, "more than"},
		"a source map is left": {"export const options = {vus: 1};\n//# sourceMappingURL=/no/such/file.map", k6options.ErrIterations, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := length(tc.source + "\nexport default function () {}")
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s, %v; want %v, %q", got, err, tc.is, tc.says)
			}
		})
	}
}

// An unknown value does not matter if a later source overrides it.
func TestReadKeepsUnknownValues(t *testing.T) {
	hidden := func(names ...string) map[string]bool {
		all := map[string]bool{}
		for _, name := range names {
			all[name] = true
		}
		return all
	}
	computed := script("export const options = pick();\nexport default function () {}")
	cases := map[string]struct {
		run    k6options.Run
		length time.Duration
		// err is the error of the execution or its length; noUsers: the users are unknown.
		err     error
		users   int64
		noUsers bool
	}{
		"no script, time in arguments":      {run: k6options.Run{Arguments: []string{"-d5m"}}, length: 5 * time.Minute, noUsers: true},
		"no script, both in arguments":      {run: k6options.Run{Arguments: []string{"-d5m", "-u3"}}, length: 5 * time.Minute, users: 3},
		"no script, users in arguments":     {run: k6options.Run{Arguments: []string{"-u3"}}, err: k6options.ErrAbsent},
		"computed, both in arguments":       {run: k6options.Run{Script: computed, Arguments: []string{"-d5m", "-u3"}}, length: 5 * time.Minute, users: 3},
		"computed, users in arguments":      {run: k6options.Run{Script: computed, Arguments: []string{"-u3"}}, err: k6options.ErrComputed},
		"a hidden duration":                 {run: k6options.Run{Script: script("export default function () {}"), Hidden: hidden("K6_DURATION")}, err: k6options.ErrComputed, users: 1},
		"hidden users":                      {run: k6options.Run{Script: script("export const options = {duration: '5m'}; export default function () {}"), Hidden: hidden("K6_VUS")}, length: 5 * time.Minute, noUsers: true},
		"hidden users, others in arguments": {run: k6options.Run{Script: script("export const options = {duration: '5m'}; export default function () {}"), Hidden: hidden("K6_VUS"), Arguments: []string{"-u3"}}, length: 5 * time.Minute, users: 3},
		"a hidden variable of the script":   {run: k6options.Run{Script: script("export const options = {vus: 2, duration: __ENV.A || '5m'}; export default function () {}"), Hidden: hidden("A")}, err: k6options.ErrComputed, users: 2},
		"a file of options":                 {run: k6options.Run{Script: script("export default function () {}"), Arguments: []string{"-c", "options.json"}}, err: errAny},
		"a file below a script":             {run: k6options.Run{Script: script("export const options = {duration: '5m'}; export default function () {}"), Arguments: []string{"-c", "options.json"}}, length: 5 * time.Minute, noUsers: true},
		"another k6, users and scenarios":   {run: k6options.Run{Script: script("export const options = {scenarios: {a: {executor: 'constant-vus', duration: '5m'}}}; export default function () {}"), Arguments: []string{"-u3"}, OtherVersion: true}, err: errAny},
		"another k6, a flag of its own":     {run: k6options.Run{Arguments: []string{"--colour", "red", "-d5m"}, OtherVersion: true}, length: 5 * time.Minute, noUsers: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			execution, err := k6options.Read(tc.run)
			var length time.Duration
			if err == nil || errors.Is(err, k6options.ErrComputed) && tc.users > 0 {
				length, err = execution.Length()
			}
			if length != tc.length || (err == nil) != (tc.err == nil) || !errors.Is(tc.err, errAny) && !errors.Is(err, tc.err) {
				t.Errorf("%s (%v), want %s (%v)", length, err, tc.length, tc.err)
			}
			if users, err := execution.Users(); tc.err == nil && (users != tc.users || (err != nil) != tc.noUsers) {
				t.Errorf("%d users (%v), want %d", users, err, tc.users)
			}
		})
	}
}

var errAny = errors.New("whatever it is")

func TestFlagsMatchK6Parsing(t *testing.T) {
	got := map[string]string{}
	for _, flag := range k6options.Flags([]string{"--vus", "3", "-ojson", "-pd5m", "--no-summary", "--tag=a=b", "-s", "30s:1,1m:2"}) {
		got[flag.Name] = flag.Value
	}
	want := map[string]string{"vus": "3", "out": "json", "paused": "true", "duration": "5m", "no-summary": "", "tag": "a=b", "stage": "30s:1,1m:2"}
	for name, value := range want {
		if given, found := got[name]; !found || given != value {
			t.Errorf("%s is %q (%t), want %q", name, given, found, value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("found %v", got)
	}
}
