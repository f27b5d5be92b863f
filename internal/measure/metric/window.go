// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"cmp"
	"strings"

	"perflab.dev/perflab/payload/label"
)

// Windows of a scenario with imports next to other loads.
const (
	// Alone is before the first import.
	Alone = "alone"
	// After is after the last import.
	After = "after"
)

const (
	duringPrefix = "during-"
	faultPrefix  = "fault-"
	windowMark   = "@"
)

// During returns the window of an import.
func During(load string) string { return duringPrefix + load }

// CutDuring returns the import of a window; false if the window has none.
func CutDuring(window string) (load string, found bool) {
	return strings.CutPrefix(window, duringPrefix)
}

// AfterFault returns the window from a fault's begin to the end of its observation.
func AfterFault(fault string) string { return faultPrefix + fault }

// CutFault returns the fault that begins a window; false for other windows.
func CutFault(window string) (fault string, found bool) {
	return strings.CutPrefix(window, faultPrefix)
}

// IsWindow reports whether a scenario may have a window with this name.
func IsWindow(name string) bool {
	_, isDuring := CutDuring(name)
	_, isFault := CutFault(name)
	return name == Alone || name == After || isDuring || isFault
}

// In returns the name of a metric in a window of the run; an empty window means the whole
// measurement.
func In(name, window string) string {
	if window == "" {
		return name
	}
	return name + windowMark + window
}

// CutWindow splits a metric into its name and its window: cico/Check-In/p95@alone is
// cico/Check-In/p95 in the window alone. An @ with a slash after it, or a backslash before it, is a
// part of the name.
func CutWindow(metric string) (name, window string) {
	at := strings.LastIndex(metric, windowMark)
	if at < 0 || strings.Contains(metric[at:], label.Separator) || isEscaped(metric[:at]) {
		return metric, ""
	}
	return metric[:at], metric[at+1:]
}

// isEscaped reports whether a text ends in a backslash that escapes the next character.
func isEscaped(before string) bool {
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}

// Compare orders names for readers, and for statuses with little space: the whole measurement
// before windows, each by name.
func Compare(a, b string) int {
	_, windowA := CutWindow(a)
	_, windowB := CutWindow(b)
	return cmp.Or(cmp.Compare(min(len(windowA), 1), min(len(windowB), 1)), cmp.Compare(a, b))
}

// CompareWindows orders windows by time; those of imports are equal.
func CompareWindows(a, b string) int { return cmp.Compare(rank(a), rank(b)) }

func rank(window string) int {
	switch window {
	case Alone:
		return 0
	case After:
		return 2
	}
	return 1
}
