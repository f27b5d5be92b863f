// SPDX-License-Identifier: Apache-2.0

package version

import (
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestFrom(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "4f0e"}}
	for name, tc := range map[string]struct {
		stamp string
		info  *debug.BuildInfo
		known bool
		want  string
	}{
		"Stamped":    {"v0.4.0-3-g4f0e", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: commit}, true, "v0.4.0-3-g4f0e"},
		"Released":   {"", &debug.BuildInfo{Main: debug.Module{Version: "v0.4.0"}}, true, "v0.4.0"},
		"Repository": {"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: commit}, true, "4f0e"},
		"Archive":    {"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, true, ""},
		"Unknown":    {"", nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, from(tc.stamp, tc.info, tc.known))
		})
	}
}

func TestLine(t *testing.T) {
	if got := line("perflab", "v0.4.0"); !strings.HasPrefix(got, "perflab v0.4.0 (go1.") {
		t.Errorf("it says %q", got)
	}
	if got := line("perflab", ""); !strings.HasPrefix(got, "perflab of no known version (") {
		t.Errorf("it says %q", got)
	}
}

// The linker says nothing of a variable it does not find, so the name in the
// Makefile is tried.
func TestMakeStampsEveryProgram(t *testing.T) {
	out := t.TempDir()
	for program, asked := range map[string]string{"manager": "--version", "collector": "--version", "perflab": "version"} {
		recipe := exec.CommandContext(t.Context(), "make", "--no-print-directory", "build-one", "PROGRAM="+program, "BIN="+out, "VERSION=v1.2.3-test")
		recipe.Dir = apiserver.Root()
		if said, err := recipe.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", program, err, said)
		}
		said, err := exec.CommandContext(t.Context(), filepath.Join(out, program), asked).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(said), program+" v1.2.3-test (") {
			t.Errorf("%s %s: %v, it says %q", program, asked, err, said)
		}
	}
}
