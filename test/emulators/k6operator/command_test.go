// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/test/emulators/fault"
	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
)

func makeRun(name string, parallelism int32) *k6v1alpha1.TestRun {
	return &k6v1alpha1.TestRun{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"},
		Spec: k6v1alpha1.TestRunSpec{
			Parallelism: parallelism,
			Script:      k6v1alpha1.Script{ConfigMap: k6v1alpha1.ConfigMapScript{Name: "s", File: "s.js"}},
			Args:        []string{"--out", "lab"},
			Runner:      k6v1alpha1.Pod{Image: "k6:test"},
		},
	}
}

func TestSegmentFlags(t *testing.T) {
	for _, tc := range []struct {
		index, total int
		want         []string
	}{
		{1, 2, []string{"--execution-segment=0:1/2", "--execution-segment-sequence=0,1/2,1"}},
		{2, 2, []string{"--execution-segment=1/2:1", "--execution-segment-sequence=0,1/2,1"}},
		{2, 3, []string{"--execution-segment=1/3:2/3", "--execution-segment-sequence=0,1/3,2/3,1"}},
	} {
		expect.Equal(t, tc.want, segmentFlags(tc.index, tc.total), "%d of %d", tc.index, tc.total)
	}
}

func TestRunnerCommand(t *testing.T) {
	tail := []string{"--address=0.0.0.0:6565", "--paused", "--tag", "instance_id=1", "--tag", "testrun_name=tr"}
	for name, tc := range map[string]struct {
		change func(*k6v1alpha1.TestRun)
		want   []string
	}{
		"one runner has no segment": {
			func(*k6v1alpha1.TestRun) {},
			append([]string{"k6", "run", "--quiet", "--out", "lab", "/test/s.js"}, tail...),
		},
		"first of two": {
			func(run *k6v1alpha1.TestRun) { run.Spec.Parallelism = 2 },
			append([]string{"k6", "run", "--quiet", "--execution-segment=0:1/2", "--execution-segment-sequence=0,1/2,1", "--out", "lab", "/test/s.js"}, tail...),
		},
		"neither quiet nor paused": {
			func(run *k6v1alpha1.TestRun) { run.Spec.Quiet, run.Spec.Paused = "false", "false" },
			[]string{"k6", "run", "--out", "lab", "/test/s.js", "--address=0.0.0.0:6565", "--tag", "instance_id=1", "--tag", "testrun_name=tr"},
		},
		"arguments in one string, on a claim": {
			func(run *k6v1alpha1.TestRun) {
				run.Spec.Args, run.Spec.Arguments = nil, " --out  lab "
				run.Spec.Script = k6v1alpha1.Script{VolumeClaim: k6v1alpha1.VolumeClaimScript{Name: "c", File: "/data/x/y.js"}}
			},
			append([]string{"k6", "run", "--quiet", "--out", "lab", "/data/x/y.js"}, tail...),
		},
		"local file with args": {
			func(run *k6v1alpha1.TestRun) { run.Spec.Script = k6v1alpha1.Script{LocalFile: "/scripts/cico.js"} },
			append([]string{"sh", "-c", runIfPresent, "sh", "/scripts/cico.js", "k6", "run", "--quiet", "--out", "lab", "/scripts/cico.js"}, tail...),
		},
		"local file with arguments goes through a shell": {
			func(run *k6v1alpha1.TestRun) {
				run.Spec.Args, run.Spec.Arguments = nil, "--out lab"
				run.Spec.Script = k6v1alpha1.Script{LocalFile: "/scripts/cico.js"}
			},
			[]string{
				"sh", "-c", runIfPresent, "sh", "/scripts/cico.js", "sh", "-c",
				"k6 run --quiet --out lab /scripts/cico.js " + strings.Join(tail, " "),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := makeRun("tr", 1)
			tc.change(run)
			s, err := findScript(run.Spec.Script)
			expect.NoError(t, err)
			expect.Equal(t, tc.want, runnerCommand(run, s, 1))
		})
	}
}

func TestScriptMissing(t *testing.T) {
	if _, err := findScript(k6v1alpha1.Script{}); err == nil {
		t.Error("an empty script was accepted")
	}
}

func TestInitializerCommand(t *testing.T) {
	run := makeRun("tr", 1)
	run.Spec.Args = []string{"--out", "lab", "--tag", "a=b", "-v", "--linger"}
	s, err := findScript(run.Spec.Script)
	expect.NoError(t, err)
	want := []string{
		"sh", "-c", inspectScript, "sh", "/tmp/s.js.archived.tar",
		"k6", "archive", "/test/s.js", "-e", "USERS=$(USERS)", "-O", "/tmp/s.js.archived.tar", "--tag", "a=b",
	}
	expect.Equal(t, want, initializerCommand(&run.Spec, s, []corev1.EnvVar{{Name: "USERS"}}))
}

func TestCheckArguments(t *testing.T) {
	for name, tc := range map[string]struct {
		arguments []string
		ok        bool
	}{
		"none":                 {nil, true},
		"flags and values":     {[]string{"--out", "lab", "-v"}, true},
		"empty value":          {[]string{"--user-agent", ""}, true},
		"a stray word":         {[]string{"run", "--out"}, false},
		"a stray empty string": {[]string{"--out", "lab", ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := checkArguments(tc.arguments); (err == nil) != tc.ok {
				t.Errorf("got %v, want accepted: %t", err, tc.ok)
			}
		})
	}
}

// TestInspectScript runs the initializer's shell text with a fake k6.
func TestInspectScript(t *testing.T) {
	for name, tc := range map[string]struct {
		k6     string
		output string
		fails  bool
	}{
		"good script":            {`[ "$1" = inspect ] && echo '{"maxVUs":3}'; exit 0`, `{"maxVUs":3}`, false},
		"warnings are not shown": {`echo level=warning >&2; [ "$1" = inspect ] && echo '{}'; exit 0`, `{}`, false},
		"archive fails":          {`[ "$1" = archive ] && echo broken >&2 && exit 107; exit 0`, "broken", true},
		"inspect fails":          {`[ "$1" = inspect ] && echo broken >&2 && exit 107; exit 0`, "broken", true},
		"an error in the log":    {`[ "$1" = inspect ] && echo 'level=error x' >&2; exit 0`, "level=error x", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			expect.NoError(t, os.WriteFile(filepath.Join(dir, "k6"), []byte("#!/bin/sh\n"+tc.k6+"\n"), 0o700))
			archive := filepath.Join(dir, "a", "s.tar")
			cmd := exec.Command("sh", "-c", inspectScript, "sh", archive, "k6", "archive", "s.js")
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			output, err := cmd.Output()
			if (err != nil) != tc.fails {
				t.Errorf("ended with %v, want failure: %t", err, tc.fails)
			}
			expect.Equal(t, tc.output, strings.TrimSpace(string(output)), "printed")
		})
	}
}

// TestRunIfPresent runs the shell text around a script in the image.
func TestRunIfPresent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.js")
	if output, err := exec.Command("sh", "-c", runIfPresent, "sh", file, "echo", "ran").Output(); err == nil {
		t.Errorf("without the file it printed %q and succeeded", output)
	}
	expect.NoError(t, os.WriteFile(file, nil, 0o600))
	output, err := exec.Command("sh", "-c", runIfPresent, "sh", file, "echo", "two words", "$HOME").Output()
	if err != nil || string(output) != "two words $HOME\n" {
		t.Errorf("with the file it printed %q and ended with %v", output, err)
	}
}

func TestFaultyCommand(t *testing.T) {
	command := []string{"sh", "-c", "echo ran"}
	for name, tc := range map[string]struct {
		argument string
		index    int
		code     int
		wantErr  bool
	}{
		"all runners":        {"99", 2, 99, false},
		"this runner":        {"2:107", 2, 107, false},
		"another runner":     {"1:107", 2, 0, false},
		"no number":          {"x", 1, 0, true},
		"no valid exit code": {"256", 1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := faultyCommand(fault.Faults{fault.RunnerExit: tc.argument}, tc.index, command)
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want one: %t", err, tc.wantErr)
			}
			if tc.wantErr {
				return
			}
			cmd := exec.Command(got[0], got[1:]...)
			output, _ := cmd.Output()
			if string(output) != "ran\n" || cmd.ProcessState.ExitCode() != tc.code {
				t.Errorf("printed %q and exited with %d, want the command to run and exit with %d", output, cmd.ProcessState.ExitCode(), tc.code)
			}
		})
	}
}

func TestReachable(t *testing.T) {
	all := []string{"10.0.0.1", "10.0.0.2"}
	got, err := reachable(fault.Faults{fault.StarterMisses: "1"}, all)
	expect.NoError(t, err)
	expect.Equal(t, []string{"10.0.0.2"}, got)
	expect.Equal(t, []string{"10.0.0.1", "10.0.0.2"}, all, "the caller's list changed")
	if _, err := reachable(fault.Faults{fault.StarterMisses: "3"}, all); err == nil {
		t.Error("a runner that does not exist was accepted")
	}
}
