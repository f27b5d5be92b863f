// SPDX-License-Identifier: Apache-2.0

package k6options_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/k6options"
)

func TestLength(t *testing.T) {
	cases := map[string]struct {
		source string
		env    map[string]string
		want   time.Duration
	}{
		"a duration":             {source: `export const options = {vus: 5, duration: '2m'};`, want: 2 * time.Minute},
		"a number":               {source: `export let options = {duration: 90 * 1000};`, want: 90 * time.Second},
		"days":                   {source: `export var options = {duration: '1d2h'};`, want: 26 * time.Hour},
		"stages":                 {source: `export const options = {stages: [{duration: '30s', target: 5}, {duration: "5m", target: 5}]};`, want: 330 * time.Second},
		"exported by name":       {source: "const options = {duration: '2m'}\nexport {options}", want: 2 * time.Minute},
		"beside imports":         {source: "import http from 'k6/http';\nimport {x} from 'https://example.org/x.js';\nexport const options = {duration: '2m'};\nexport default function () { http.get('/'); }", want: 2 * time.Minute},
		"a constant":             {source: "const minutes = 3;\nexport const options = {duration: `${minutes}m`};", want: 3 * time.Minute},
		"a member of a constant": {source: "const shape = {steady: {duration: '4m'}};\nexport const options = {...shape['steady'], thresholds: {}};", want: 4 * time.Minute},
		"what env says":          {source: `export const options = {duration: __ENV.LENGTH || '2m'};`, env: map[string]string{"LENGTH": "7m"}, want: 7 * time.Minute},
		"without the env":        {source: `export const options = {duration: __ENV.LENGTH ?? '2m'};`, want: 2 * time.Minute},
		"what does not matter":   {source: `export const options = {duration: '2m', tags: {at: new Date().toString()}};`, want: 2 * time.Minute},
		"scenarios, the last to end": {source: `export const options = {scenarios: {
			search: {executor: 'constant-arrival-rate', rate: 5, duration: '2m', preAllocatedVUs: 5},
			later: {executor: 'ramping-vus', startTime: '90s', stages: [{duration: '1m', target: 3}]},
		}};`, want: 150 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := k6options.Length(tc.source, tc.env)
			if err != nil || got != tc.want {
				t.Errorf("%s, %v; want %s", got, err, tc.want)
			}
		})
	}
}

func TestLengthIsNotMadeUp(t *testing.T) {
	cases := map[string]struct {
		source string
		is     error
		says   string
	}{
		"iterations":           {`export const options = {iterations: 100, duration: '2m'};`, k6options.ErrIterations, ""},
		"users alone":          {`export const options = {vus: 3};`, k6options.ErrIterations, ""},
		"one scenario of two":  {`export const options = {scenarios: {a: {executor: 'constant-vus', duration: '2m'}, b: {executor: 'shared-iterations', iterations: 9}}};`, k6options.ErrIterations, ""},
		"no options":           {`export default function () {}`, k6options.ErrNone, ""},
		"not exported":         {`const options = {duration: '2m'};`, k6options.ErrNone, ""},
		"a call":               {`export const options = {duration: length()};`, k6options.ErrComputed, "options.duration is computed"},
		"an imported value":    {"import {stages} from './stages.js';\nexport const options = {stages};", k6options.ErrComputed, "options.stages is computed"},
		"a file":               {`export const options = JSON.parse(open('./options.json'));`, k6options.ErrComputed, "options is computed"},
		"changed later":        {"export const options = {duration: '2m'};\nif (__ENV.LONG) { options.duration = '2h'; }", k6options.ErrComputed, ""},
		"more stages later":    {"const stages = [{duration: '2m'}];\nstages.push({duration: '1h'});\nexport const options = {stages};", k6options.ErrComputed, ""},
		"in a circle":          {"const a = b;\nconst b = a;\nexport const options = {duration: a};", k6options.ErrComputed, ""},
		"no JavaScript":        {`export const options = {duration: `, k6options.ErrSource, ""},
		"a duration in words":  {`export const options = {duration: 'soon'};`, nil, `options.duration: "soon" is no duration`},
		"no time at all":       {`export const options = {duration: '-5000'};`, nil, `options.duration: "-5000" is no duration`},
		"longer than a year":   {`export const options = {duration: 1e300};`, nil, `options.duration: "1e+300" is no duration of at most a year`},
		"that in words":        {`export const options = {duration: '365d2562047h'};`, nil, `"365d2562047h" is no duration of at most a year`},
		"years of stages":      {`export const options = {stages: [{duration: '300d'}, {duration: '300d'}]};`, nil, "2 stages last for more than a year together"},
		"a nameless executor":  {`export const options = {scenarios: {a: {duration: '2m'}}};`, k6options.ErrComputed, "options.scenarios.a.executor"},
		"more than there can":  {strings.Repeat("//\n", 1<<19), k6options.ErrSource, "more than"},
		"a source map is left": {"export const options = {vus: 1};\n//# sourceMappingURL=/no/such/file.map", k6options.ErrIterations, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := k6options.Length(tc.source, nil)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s, %v; want %v, %q", got, err, tc.is, tc.says)
			}
		})
	}
}

func TestStages(t *testing.T) {
	if got, err := k6options.Stages("30s:10,5m:10"); err != nil || got != 330*time.Second {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := k6options.Stages("soon:10"); err == nil {
		t.Errorf("%s for a stage without a duration", got)
	}
}
