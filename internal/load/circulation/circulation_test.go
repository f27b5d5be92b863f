// SPDX-License-Identifier: Apache-2.0

package circulation_test

import (
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/circulation"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

// cico returns a load with these settings.
func cico(t *testing.T, settings string) kind.Kind {
	t.Helper()
	load := v1alpha1.Load{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}}
	expect.NoError(t, yaml.Unmarshal([]byte(settings), load.CheckInCheckOut))
	found, is := circulation.FromLoad(load)
	if !is {
		t.Fatal("a load that checks in and out is not of this kind")
	}
	return found
}

func TestEnvironment(t *testing.T) {
	for name, test := range map[string]struct{ settings, want string }{
		"users": {`{}`, `{USERS: "8", RAMP_UP_SECONDS: "0", DURATION_SECONDS: "90"}`},
		"users with all settings": {
			`{rampUp: 80s, thinkTime: 500ms, checkInPercent: 0, release: "2026", preflights: false, data: {configMap: {name: library}}}`,
			`{USERS: "8", RAMP_UP_SECONDS: "80", DURATION_SECONDS: "90", RELEASE: "2026", PREFLIGHTS: "false", DATA_DIR: /perflab/data, THINK_TIME_SECONDS: "0.5", CHECK_IN_PERCENT: "0"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			values := map[string]string{}
			for _, variable := range cico(t, test.settings).Environment(90 * time.Second) {
				values[variable.Name] = variable.Value
			}
			yamlcmp.Equal(t, values, test.want)
		})
	}
}

func TestDataIsMountedReadOnly(t *testing.T) {
	for name, test := range map[string]struct{ settings, want string }{
		"none": {`{}`, `{volumes: null, mounts: null}`},
		"a ConfigMap": {
			`{data: {configMap: {name: library}}}`,
			`{volumes: [{name: data, configMap: {name: library}}], mounts: [{name: data, mountPath: /perflab/data, readOnly: true}]}`,
		},
		"a folder of a volume": {
			`{data: {persistentVolumeClaim: {claimName: library, subPath: cico/}}}`,
			`{volumes: [{name: data, persistentVolumeClaim: {claimName: library, readOnly: true}}], mounts: [{name: data, mountPath: /perflab/data, subPath: cico, readOnly: true}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			volumes, mounts := cico(t, test.settings).Volumes()
			yamlcmp.Equal(t, map[string]any{"volumes": volumes, "mounts": mounts}, test.want)
		})
	}
}

func TestPrimarySkipsUnusedTransactions(t *testing.T) {
	for settings, want := range map[string][]string{
		`{}`:                    {"cico/Check-In/average", "cico/Check-Out/average"},
		`{checkInPercent: 100}`: {"cico/Check-In/average"},
		`{checkInPercent: 0}`:   {"cico/Check-Out/average"},
	} {
		if got := cico(t, settings).Primary(); !slices.Equal(got, want) {
			t.Errorf("%s: %q decide, want %q", settings, got, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	for settings, want := range map[string]string{
		`{}`:                     "check-in and check-out by 8 users",
		`{users: 1, rampUp: 2m}`: "check-in and check-out by 1 user with a ramp-up of 2m",
	} {
		expect.Equal(t, want, cico(t, settings).Describe(), "%s", settings)
	}
}
