// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"testing"
)

func TestOwnVersion(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "4f0e"}}
	for name, tc := range map[string]struct {
		info  *debug.BuildInfo
		known bool
		want  string
	}{
		"Released":   {&debug.BuildInfo{Main: debug.Module{Version: "v0.4.0"}}, true, "v0.4.0"},
		"Repository": {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: commit}, true, "4f0e"},
		"Archive":    {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, true, ""},
		"Unknown":    {nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ownVersion(tc.info, tc.known); got != tc.want {
				t.Errorf("it is %q, want %q", got, tc.want)
			}
		})
	}
}
