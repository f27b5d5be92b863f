// SPDX-License-Identifier: AGPL-3.0-only

package output

import "runtime/debug"

// k6Module is what k6 is built from.
const k6Module = "go.k6.io/k6/v2"

// k6Version is k6 with the version this binary is built with; empty in tests, of
// which Go does not say it.
func k6Version() string {
	info, known := debug.ReadBuildInfo()
	if !known {
		return ""
	}
	return k6VersionIn(info)
}

func k6VersionIn(info *debug.BuildInfo) string {
	for _, module := range info.Deps {
		if module.Path == k6Module {
			return "k6 " + module.Version
		}
	}
	return ""
}
