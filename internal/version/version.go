// SPDX-License-Identifier: Apache-2.0

// Package version returns a program's version.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// stamp is set by make: git's name for the commit, or the release's. Builds of the same
// commit have the same, so that they stay reproducible.
var stamp string

// unversioned is Go's version of a program that was built without its repository.
const unversioned = "(devel)"

// unknown replaces the version in a sentence.
const unknown = "of no known version"

// Current returns this program's version, or its commit; empty if neither is known.
func Current() string {
	info, known := debug.ReadBuildInfo()
	return from(stamp, info, known)
}

// Line returns the output of a program's version command.
func Line(program string) string { return line(program, Current()) }

func line(program, current string) string {
	if current == "" {
		current = unknown
	}
	return fmt.Sprintf("%s %s (%s, %s/%s)", program, current, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// from prefers make's stamp to Go's, which exists for go install and for go build in the
// repository.
func from(stamped string, info *debug.BuildInfo, known bool) string {
	if stamped != "" || !known {
		return stamped
	}
	if version := info.Main.Version; version != unversioned {
		return version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return ""
}
