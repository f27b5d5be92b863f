// SPDX-License-Identifier: AGPL-3.0-only

package output

import "runtime/debug"

// k6Module is k6's module.
const k6Module = "go.k6.io/k6/v2"

// k6Version returns k6 with its version in this binary. It is empty in tests, for which Go has no
// version.
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
