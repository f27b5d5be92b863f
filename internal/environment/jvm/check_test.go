// SPDX-License-Identifier: Apache-2.0

package jvm_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/environment/jvm"
)

// server is a machine for which a JVM selects G1.
var server = jvm.Machine{Memory: 4096 * mebibyte, Cores: 2}

// releaseOf returns the release that a JDK reports.
func releaseOf(t *testing.T, java string) int {
	t.Helper()
	said, err := exec.Command(java, "-version").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	release, err := strconv.Atoi(regexp.MustCompile(`version "([0-9]+)`).FindStringSubmatch(string(said))[1])
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// A JVM fails to start where Check reports an error, and starts otherwise.
func TestCheckMatchesJava(t *testing.T) {
	lists := []string{
		"-XX:+UseG1GC", "-XX:+UseG1GC -XX:+UseZGC", "-XX:+UseZGC -XX:+UseG1GC", "-XX:+UseSerialGC -XX:+UseParallelGC", "-XX:+UseG1GC -XX:+UseG1GC",
		"-XX:+UseG1GC -XX:-UseG1GC -XX:+UseZGC", "-XX:+UseG1GC -XX:+UseZGC -XX:-UseG1GC", "-XX:-UseG1GC", "-XX:-UseG1GC -XX:+UseSerialGC", "-XX:-UseZGC",
		"-XX:+UseParallelGC -XX:+UseParallelOldGC", "-XX:+UseConcMarkSweepGC", "-XX:+UseConcMarkSweepGC -XX:+UseParNewGC", "-XX:CMSInitiatingOccupancyFraction=70",
		"-XX:+IgnoreUnrecognizedVMOptions -XX:+UseConcMarkSweepGC", "-XX:+UseConcMarkSweepGC -XX:+IgnoreUnrecognizedVMOptions",
		"-XX:+IgnoreUnrecognizedVMOptions -XX:+UseG1Gc -XX:MaxPermSize=64m", "-XX:+IgnoreUnrecognizedVMOptions -XX:-IgnoreUnrecognizedVMOptions -XX:MaxPermSize=64m",
		"-XX:+UseBiasedLocking", "-XX:BiasedLockingStartupDelay=0", "-XX:MaxPermSize=256m", "-XX:+AggressiveOpts", "-XX:+PrintGCDateStamps", "-XX:+UseGCLogFileRotation",
		"-XX:+PrintGCDetails", "-XX:+PrintGC", "-Xloggc:gc.log", "-Xlog:gc*:file=gc.log", "-d64", "-Xincgc", "-XX:+UseCGroupMemoryLimitForHeap", "-XX:MaxRAMFraction=2",
		"-XX:+UseEpsilonGC", "-XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC", "-XX:+UseEpsilonGC -XX:+UnlockExperimentalVMOptions",
		"-XX:+UnlockExperimentalVMOptions -XX:-UnlockExperimentalVMOptions -XX:+UseEpsilonGC", "-XX:+UnlockDiagnosticVMOptions -XX:+UseEpsilonGC",
		"-XX:+DebugNonSafepoints", "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints", "-XX:G1NewSizePercent=10", "-XX:+UnlockExperimentalVMOptions -XX:G1NewSizePercent=10",
		"-XX:+EnableJVMCI", "-XX:+UseCompactObjectHeaders", "-XX:+ZGenerational -XX:+UseZGC", "-XX:+UseSharedSpaces",
		"-XX:UseG1GC", "-XX:UseG1GC=true", "-XX:+MaxGCPauseMillis=200", "-XX:MaxGCPauseMillis", "-XX:MaxGCPauseMillis=fast", "-XX:MaxGCPauseMillis=200",
		"-XX:MaxRAMPercentage=66", "-XX:MaxRAMPercentage=many", "-XX:MaxDirectMemorySize=64m", "-XX:MaxDirectMemorySize=64mb", "-XX:OnOutOfMemoryError=ls", "-XX:ReservedCodeCacheSize=0x8000000",
		"-XX:+UseG1Gc", "-XX:+UseG1G", "-XX:MaxGCPauseMilis=200", "-XX:+AlwaysPretouch", "-XX:+NoSuchFlag", "-XX:+UseStringDeduplication", "-XX:NativeMemoryTracking=summary",
		"-XX:StartFlightRecording=duration=1s,filename=/dev/null", "-XX:FlightRecorderOptions=stackdepth=64", "-XX:Flags=/dev/null", "-XX:VMOptionsFile=/dev/null", "-Dname=value", "-server",
	}
	asked := 0
	for _, java := range javas(t) {
		release := releaseOf(t, java)
		for _, options := range lists {
			words := jvm.SplitOptions(options)
			command := exec.Command(java, append(append([]string{"-XX:ActiveProcessorCount=2", "-XX:MaxRAM=4g"}, words...), "-version")...)
			command.Dir = t.TempDir()
			said, err := command.CombinedOutput()
			if err != nil && strings.Contains(string(said), "not supported") {
				// Not every build has every collector.
				continue
			}
			asked++
			faults := jvm.Check(words, release, server)
			refused := false
			for _, fault := range faults {
				refused = refused || !fault.IsWarning || strings.Contains(fault.Message, "no JDK from")
			}
			if refused != (err != nil) {
				t.Errorf("JDK %d with %s: %+v, and it says %.300s", release, options, faults, said)
			}
		}
	}
	if asked < len(lists) {
		t.Errorf("only %d questions were answered", asked)
	}
}

// The list of flags equals that of the JDKs.
func TestFlagsMatchJava(t *testing.T) {
	listed, err := os.ReadFile("flags.txt")
	if err != nil {
		t.Fatal(err)
	}
	printed := regexp.MustCompile(`(?m)^\s*\S+\s+(\S+)\s+=.*?\{([^}]*)\}`)
	for _, java := range javas(t) {
		column := map[int]int{17: 0, 25: 1}
		at, known := column[releaseOf(t, java)]
		if !known {
			continue
		}
		kinds := map[string]byte{}
		for line := range strings.Lines(string(listed)) {
			fields := strings.Fields(line)
			kinds[fields[0]] = fields[2][at]
		}
		all, err := exec.Command(java, "-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions", "-XX:+PrintFlagsFinal", "-version").Output()
		if err != nil {
			t.Fatal(err)
		}
		found := printed.FindAllStringSubmatch(string(all), -1)
		for _, parts := range found {
			want := byte('p')
			if strings.Contains(parts[2], "diagnostic") {
				want = 'd'
			} else if strings.Contains(parts[2], "experimental") {
				want = 'e'
			}
			if kinds[parts[1]] != want {
				t.Errorf("%s: %s is %q in the list, want %q", java, parts[1], kinds[parts[1]], want)
			}
		}
		if len(found) < 500 {
			t.Errorf("%s lists %d flags", java, len(found))
		}
	}
}

func TestCheckByRelease(t *testing.T) {
	cases := map[string]struct {
		options string
		release int
		want    string
		doubt   bool
	}{
		"CMS before it went":               {options: "-XX:+UseConcMarkSweepGC", release: 11},
		"CMS after it went":                {options: "-XX:+UseConcMarkSweepGC", release: 21, want: "which JDK 15 and later do not support, so the JVM does not start: write -XX:+UseG1GC instead, or remove it"},
		"CMS in a JDK that is not known":   {options: "-XX:+UseConcMarkSweepGC", want: "which JDK 15 and later do not support"},
		"CMS in any JDK":                   {options: "-XX:+UseConcMarkSweepGC", release: jvm.AnyRelease},
		"biased locking, not known":        {options: "-XX:+UseBiasedLocking", want: "which not every JDK from 17 to 25 supports", doubt: true},
		"biased locking in 18":             {options: "-XX:+UseBiasedLocking", release: 18},
		"biased locking in 21":             {options: "-XX:+UseBiasedLocking", release: 21, want: "which JDK 19 and later do not support"},
		"a flag of the newest":             {options: "-XX:+UseCompactObjectHeaders", release: 21},
		"a slip of the pen":                {options: "-XX:+UseG1Gc", release: 21, want: "which the JVM does not recognize: did you mean -XX:+UseG1GC?"},
		"a slip with a value":              {options: "-XX:MaxGCPauseMilis=9", want: "did you mean -XX:MaxGCPauseMillis=9?"},
		"a size of Kubernetes":             {options: "-XX:MaxMetaspaceSize=512Mi", want: "with k, m or g for a size: write 512m"},
		"a size in words":                  {options: "-XX:MaxMetaspaceSize=1.5 GB", want: "for a size: write one"},
		"a size with a byte":               {options: "-XX:MaxMetaspaceSize=256MB", want: "for a size: write 256m"},
		"another JVM's":                    {options: "-XX:+UseC4GarbageCollectorOfAnother", want: "which no JDK from 17 to 25 supports", doubt: true},
		"another JVM's of any age":         {options: "-XX:+UseC4GarbageCollectorOfAnother", release: jvm.AnyRelease},
		"two collectors of any age":        {options: "-XX:+UseConcMarkSweepGC -XX:+UseG1GC", release: jvm.AnyRelease, want: "a second garbage collector in addition to -XX:+UseConcMarkSweepGC"},
		"an old JDK's flags":               {options: "-XX:+PrintGCDateStamps -XX:+UseG1Gc", release: 8},
		"experimental of old":              {options: "-XX:+UseZGC", release: 11},
		"experimental":                     {options: "-XX:G1NewSizePercent=5", want: "which is experimental: put -XX:+UnlockExperimentalVMOptions before it"},
		"off where the JVM would not pick": {options: "-XX:-UseG1GC", release: 17},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			faults := jvm.Check(jvm.SplitOptions(tc.options), tc.release, jvm.Machine{})
			if (len(faults) == 0) != (tc.want == "") || len(faults) > 0 && (!strings.Contains(faults[0].Message, tc.want) || faults[0].IsWarning != tc.doubt) {
				t.Errorf("%+v, want %q", faults, tc.want)
			}
		})
	}
}

func TestImageRelease(t *testing.T) {
	for image, want := range map[string]int{
		"eclipse-temurin:21-jre": 21, "eclipse-temurin:21.0.4_7-jre-alpine": 21, "docker.io/library/eclipse-temurin:17@sha256:abc": 17, "openjdk:8u342-jdk": 8,
		"amazoncorretto:17-alpine-jdk": 17, "folioci/alpine-jre-openjdk17:latest": 17, "azul/zulu-openjdk:11.0.20": 11, "bellsoft/liberica-openjre-alpine:17": 17,
		"gcr.io/distroless/java17-debian12": 17, "registry.example.org:5000/ubi9/openjdk-21-runtime:1.20": 21, "example.org/web:1-jdk17": 17, "example.org/web:2.1-java21": 21,
		"maven:3.9-eclipse-temurin-17": 17, "tomcat:9-jre8": 8, "example.org/web:java1.8": 8, "example.org/web:1-jdk25": 25,
		"example.org/web:1": 0, "folioorg/mod-inventory:20.2.0": 0, "example.org/java-app:3": 0, "example.org/java-app:12-jdk17": 17, "example.org/javaee-shop:17": 0, "": 0, "example.org/jdk17-to-jdk21:1": 0,
	} {
		if got := jvm.ImageRelease(image); got != want {
			t.Errorf("%s has JDK %d, want %d", image, got, want)
		}
	}
}
