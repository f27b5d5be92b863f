// SPDX-License-Identifier: Apache-2.0

package jvm

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"perflab.dev/perflab/internal/text/prose"
)

// oldest and newest are the JDKs whose flags are known.
const (
	oldest = 17
	newest = 25
)

// Kinds of flags.
const (
	product      = 'p'
	diagnostic   = 'd'
	experimental = 'e'
	// ignored flags were removed, but are still accepted.
	ignored = 'i'
	// absent flags exist in other releases, unknown ones in none.
	absent      = '-'
	unknownFlag = '?'
)

// flagList has a line for each flag: its name, its type, and its kind in the oldest and the newest
// JDK, as -XX:+PrintFlagsFinal lists them with everything unlocked. TestFlagsMatchJava verifies the
// list.
//
//go:embed flags.txt
var flagList string

// flag is a flag of the JVM.
type flag struct {
	// kind of its value: bool, number, double or text.
	kind        string
	first, last byte
}

var knownFlags = sync.OnceValue(func() map[string]flag {
	read := map[string]flag{}
	for line := range strings.Lines(flagList) {
		fields := strings.Fields(line)
		read[fields[0]] = flag{fields[1], fields[2][0], fields[2][1]}
	}
	return read
})

// removal is a flag that was removed in a release.
type removal struct {
	since   int
	instead string
}

func (r removal) advice() string {
	if r.instead == "" {
		return "remove it"
	}
	return "write " + r.instead + " instead, or remove it"
}

// removedWords are removed options that are not flags.
var removedWords = map[string]int{"-d32": 10, "-d64": 10, "-Xincgc": 10, "-Xconcgc": 10}

// removed are removed flags that users still write.
var removed = removals()

func removals() map[string]removal {
	all := map[string]removal{
		"UseConcMarkSweepGC": {15, "-XX:+UseG1GC"}, "UseParNewGC": {10, ""}, "UseParallelOldGC": {16, "-XX:+UseParallelGC"},
		"PermSize": {17, "-XX:MetaspaceSize=…"}, "MaxPermSize": {17, "-XX:MaxMetaspaceSize=…"},
		"UseCGroupMemoryLimitForHeap": {11, ""}, "MaxRAMFraction": {25, ""}, "MinRAMFraction": {25, ""}, "InitialRAMFraction": {25, ""},
		"DefaultMaxRAMFraction": {25, ""}, "SuspendRetryCount": {18, ""}, "SuspendRetryDelay": {18, ""},
		"TraceClassLoading": {17, "-Xlog:class+load"}, "TraceClassUnloading": {17, "-Xlog:class+unload"},
	}
	for since, names := range map[int]string{
		9:  "UseSplitVerifier UseFastAccessorMethods UseStringCache UseCompressedStrings UseCMSCompactAtFullCollection CMSFullGCsBeforeCompaction CMSIncrementalMode HandlePromotionFailure UseSpinning",
		11: "UnlockCommercialFeatures",
		12: "UseAppCDS",
		13: "AggressiveOpts PrintSafepointStatistics PrintSafepointStatisticsCount PrintSafepointStatisticsTimeout",
		15: "CMSClassUnloadingEnabled CMSInitiatingOccupancyFraction CMSParallelRemarkEnabled CMSParallelInitialMarkEnabled CMSScavengeBeforeRemark UseCMSInitiatingOccupancyOnly ParallelCMSThreads ThreadLocalHandshakes",
		16: "UseGCTaskAffinity BindGCTaskThreadsToCPUs UseAdaptiveGCBoundary",
		19: "UseBiasedLocking BiasedLockingStartupDelay BiasedLockingBulkRebiasThreshold BiasedLockingBulkRevokeThreshold BiasedLockingDecayTime UseOptoBiasInlining CriticalJNINatives AlwaysLockClassLoader",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = removal{since: since}
		}
	}
	for name := range strings.FieldsSeq("PrintGCDateStamps PrintGCTimeStamps PrintGCApplicationStoppedTime PrintGCApplicationConcurrentTime " +
		"PrintTenuringDistribution PrintHeapAtGC PrintGCCause PrintAdaptiveSizePolicy PrintPromotionFailure PrintReferenceGC " +
		"PrintClassHistogramBeforeFullGC PrintClassHistogramAfterFullGC UseGCLogFileRotation NumberOfGCLogFiles GCLogFileSize " +
		"PrintFLSStatistics PrintCMSStatistics PrintPLAB PrintTLAB PrintStringDeduplicationStatistics G1PrintHeapRegions G1SummarizeConcMark G1SummarizeRSetStats") {
		all[name] = removal{9, "-Xlog:gc*"}
	}
	return all
}

// nearest returns the closest flag; empty if there is none.
func nearest(name string) string {
	return prose.Closest(name, slices.Sorted(maps.Keys(knownFlags())))
}
