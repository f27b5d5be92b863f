// SPDX-License-Identifier: Apache-2.0

// Package version tells which PerfLab a program is.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// stamp is what make builds in: git's name for the commit, or the release's. Two
// builds of a commit get the same, so that they stay equal byte for byte.
var stamp string

// unversioned is what Go says of a program that was built without its repository.
const unversioned = "(devel)"

// unknown takes the version's place in a sentence for people.
const unknown = "of no known version"

// Current is this program's version, or its commit; empty: neither is known.
func Current() string {
	info, known := debug.ReadBuildInfo()
	return from(stamp, info, known)
}

// Line is what a program says when it is asked for its version.
func Line(program string) string { return line(program, Current()) }

func line(program, current string) string {
	if current == "" {
		current = unknown
	}
	return fmt.Sprintf("%s %s (%s, %s/%s)", program, current, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// from prefers make's stamp to what Go built in, which it does for go install and
// for a go build that sees the repository.
func from(stamped string, info *debug.BuildInfo, known bool) string {
	if stamped != "" || !known {
		return stamped
	}
	if told := info.Main.Version; told != unversioned {
		return told
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return ""
}
