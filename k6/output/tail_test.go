// SPDX-License-Identifier: AGPL-3.0-only

package output_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/k6/internal/k6test"
	"perflab.dev/perflab/payload"
)

func TestK6RepeatsLastLogLines(t *testing.T) {
	env := []string{"OKAPI_USERNAME=diku_admin", "OKAPI_PASSWORD=s3 cr&t", "PERFLAB_SECRETS=OKAPI_USERNAME,OKAPI_PASSWORD"}
	for name, test := range map[string]struct {
		script string
		args   []string
		code   int
		want   string
	}{
		"aborted": {
			script: `import exec from 'k6/execution'; export default () => exec.test.abort(__ENV.OKAPI_USERNAME + ' is refused');`,
			code:   108, want: "test aborted: *** is refused",
		},
		"not to be read":   {script: `throw new Error('no item for ' + encodeURIComponent(__ENV.OKAPI_PASSWORD));`, code: 107, want: "Error: no item for ***"},
		"not to be parsed": {script: `export default function () { nonsense here }`, code: 107, want: "Unexpected identifier"},
		"with k6's own summary": {
			script: `export default () => console.error('with ' + __ENV.OKAPI_PASSWORD);`,
			args:   []string{"--out=json=/dev/null"}, want: "with ***",
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := k6test.Run(t, k6test.Script(t, test.script), env, test.args...)
			if result.Code != test.code {
				t.Errorf("exit code %d, want %d", result.Code, test.code)
			}
			lines := payload.ReadLog(strings.NewReader(result.Stdout))
			if len(lines) == 0 || !lines[len(lines)-1].IsError() || !strings.Contains(lines[len(lines)-1].Text, test.want) {
				t.Fatalf("told %+v, want %q at the end\n%s", lines, test.want, result.Stderr)
			}
		})
	}
}
