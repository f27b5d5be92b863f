// SPDX-License-Identifier: Apache-2.0

package jvm

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Collectors by their names in "Using …".
const (
	Serial     = "Serial"
	Parallel   = "Parallel"
	G1         = "G1"
	Z          = "The Z Garbage Collector"
	Shenandoah = "Shenandoah"
)

// collectors are the flags that select a collector.
var collectors = map[string]string{
	"UseSerialGC": Serial, "UseParallelGC": Parallel, "UseParallelOldGC": Parallel,
	"UseG1GC": G1, "UseZGC": Z, "UseShenandoahGC": Shenandoah,
	"UseEpsilonGC": "Epsilon", "UseConcMarkSweepGC": "Concurrent Mark Sweep",
}

// Init is what a JVM logs at startup.
type Init struct {
	// MaxHeap in bytes.
	MaxHeap int64
	// Memory in bytes, with the log's precision of whole MiB: the container's limit, or
	// else the node's memory.
	Memory int64
	// Cores the JVM may use.
	Cores int
	// Collector is one of the names above.
	Collector string
}

// initLine and gcLine match a line by its tags, after any other decorations, one pair of brackets
// each; bareHeap and bareGC match the two relevant lines without decorations.
var (
	initLine = regexp.MustCompile(`\[gc,init\s*\](?:\[[^\]]*\])*\s*(.+?)\s*$`)
	bareHeap = regexp.MustCompile(`^((?:Heap )?Max Capacity: \d+[BKMGT])\s*$`)
	gcLine   = regexp.MustCompile(`\[gc\s*\](?:\[[^\]]*\])*\s*Using (.+?)\s*$`)
	bareGC   = regexp.MustCompile(`^Using (Serial|Parallel|G1|Shenandoah|The Z Garbage Collector)\s*$`)
	amount   = regexp.MustCompile(`^(\d+)([BKMGT]?)$`)
)

// longestLine bounds the retained part of a line; modules log whole documents.
const longestLine = 64 << 10

// ParseInit parses the startup log of the first JVM in a log, as JDK 16 and later write it
// with -Xlog:gc+init; false if there is none. It accepts a truncated log.
func ParseInit(log io.Reader) (Init, bool) {
	var found Init
	marks := map[string]bool{}
	lines := bufio.NewScanner(log)
	lines.Buffer(make([]byte, 0, 4096), longestLine)
	for lines.Scan() {
		text := lines.Text()
		if using, is := match(text, gcLine, bareGC); is && found.Collector == "" {
			found.Collector = using
		}
		message, is := match(text, initLine, bareHeap)
		if !is {
			continue
		}
		name, value, _ := strings.Cut(message, ": ")
		if name == "Version" && found.MaxHeap > 0 {
			// Another JVM starts.
			break
		}
		marks[name] = true
		found.note(name, value)
	}
	if found.Collector == "" && found.MaxHeap > 0 {
		found.Collector = collectorBy(marks)
	}
	return found, found.MaxHeap > 0
}

func match(line string, forms ...*regexp.Regexp) (string, bool) {
	for _, form := range forms {
		if found := form.FindStringSubmatch(line); found != nil {
			return found[1], true
		}
	}
	return "", false
}

func (i *Init) note(name, value string) {
	switch name {
	case "Heap Max Capacity", "Max Capacity":
		if i.MaxHeap == 0 {
			i.MaxHeap = logged(value)
		}
	case "Memory":
		i.Memory = logged(value)
	case "CPUs":
		// "2 total, 1 available": the second is the container's limit.
		_, available, _ := strings.Cut(value, ", ")
		if cores, err := strconv.Atoi(strings.TrimSuffix(available, " available")); err == nil && cores > 0 {
			i.Cores = cores
		}
	}
}

// collectorBy returns the collector that writes these lines.
func collectorBy(marks map[string]bool) string {
	switch {
	case marks["Initializing The Z Garbage Collector"]:
		return Z
	case marks["Heuristics"], marks["Heap Region Count"]:
		return Shenandoah
	case marks["Heap Region Size"]:
		return G1
	case marks["Alignments"]:
		return Parallel
	case marks["Pre-touch"]:
		return Serial
	default:
		// The distinguishing lines are missing.
		return ""
	}
}

// logged parses a size in a JVM's log: 676M, 6656K, 1G; 0 for anything else.
func logged(text string) int64 {
	match := amount.FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	value, fits := bytes(match[1], match[2])
	if !fits {
		return 0
	}
	return value
}
