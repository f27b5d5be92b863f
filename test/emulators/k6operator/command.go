// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
)

// runIfPresent is the shell text around a script in the image: it checks that the file
// exists, then executes the command in its arguments.
const runIfPresent = `test -f "$1" || { echo "LocalFile not found exiting..."; exit 1; }
shift
exec "$@"`

// inspectScript is the initializer's shell text. Its output must be the JSON of k6 inspect
// and nothing else, because the operator parses the log. The log of k6 is printed only if
// it has an error.
const inspectScript = `archive=$1
shift
errors=/tmp/k6-errors
fail() { cat "$errors"; exit 1; }
mkdir -p "$(dirname "$archive")" || exit 1
"$@" 2>"$errors" || fail
k6 inspect --execution-requirements "$archive" 2>"$errors" || fail
! grep 'level.*error' "$errors"`

// splitArguments returns k6's arguments one by one: args as they are, or arguments split at spaces.
func splitArguments(spec *k6v1alpha1.TestRunSpec) []string {
	if len(spec.Args) > 0 {
		return slices.Clone(spec.Args)
	}
	return strings.Fields(spec.Arguments)
}

// interpreted reports whether a shell interprets the arguments: those of spec.arguments,
// not those of spec.args.
func interpreted(spec *k6v1alpha1.TestRunSpec) bool { return len(spec.Args) == 0 }

// runnerCommand returns the command of runner number index, from 1.
func runnerCommand(run *k6v1alpha1.TestRun, s script, index int) []string {
	spec := &run.Spec
	command := []string{"k6", "run"}
	if isTrue(spec.Quiet, true) {
		command = append(command, "--quiet")
	}
	if spec.Parallelism > 1 {
		command = append(command, segmentFlags(index, int(spec.Parallelism))...)
	}
	command = append(command, splitArguments(spec)...)
	command = append(command, s.path(), fmt.Sprintf("--address=0.0.0.0:%d", apiPort))
	if isTrue(spec.Paused, true) {
		command = append(command, "--paused")
	}
	command = append(command,
		"--tag", fmt.Sprintf("instance_id=%d", index),
		"--tag", "testrun_name="+run.Name)
	if !s.isLocal() {
		return command
	}
	if interpreted(spec) {
		command = []string{"sh", "-c", strings.Join(command, " ")}
	}
	return append([]string{"sh", "-c", runIfPresent, "sh", s.path()}, command...)
}

// initializerCommand returns a command that archives the script and inspects the archive.
func initializerCommand(spec *k6v1alpha1.TestRunSpec, s script, env []corev1.EnvVar) []string {
	archive := "/tmp/" + s.File + ".archived.tar"
	command := []string{"k6", "archive", s.path()}
	for _, variable := range env {
		command = append(command, "-e", fmt.Sprintf("%s=$(%s)", variable.Name, variable.Name))
	}
	command = append(command, "-O", archive)
	command = append(command, archiveArguments(splitArguments(spec))...)
	return append([]string{"sh", "-c", inspectScript, "sh", archive}, command...)
}

// Arguments that k6 archive does not accept, or that would change the output of k6 inspect.
// Their values are removed, too.
var notForArchive = []string{
	"-o", "--out", "-l", "--linger", "--no-usage-report", "-v", "--verbose",
	"--log-output", "--block-hostnames", "--blacklist-ip", "--user-agent",
}

// archiveArguments returns the arguments that k6 archive accepts. The arguments without a dash
// after an argument with a dash belong to it.
func archiveArguments(arguments []string) []string {
	var kept []string
	dropping := false
	for _, argument := range arguments {
		if strings.HasPrefix(argument, "-") {
			name, _, _ := strings.Cut(argument, "=")
			dropping = slices.Contains(notForArchive, name)
		}
		if !dropping {
			kept = append(kept, argument)
		}
	}
	return kept
}

// checkArguments rejects anything but flags and their values.
func checkArguments(arguments []string) error {
	if len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
		return fmt.Errorf("encountered an invalid value for k6 CLI argument: %q", arguments[0])
	}
	for i, argument := range arguments {
		if argument == "" && (i == 0 || !strings.HasPrefix(arguments[i-1], "-")) {
			return fmt.Errorf("encountered an invalid value for k6 CLI argument: %q", argument)
		}
	}
	return nil
}

// segmentFlags returns the flags for the share of runner number index of total.
func segmentFlags(index, total int) []string {
	bounds := make([]string, total+1)
	for i := range bounds {
		bounds[i] = fmt.Sprintf("%d/%d", i, total)
	}
	bounds[0], bounds[total] = "0", "1"
	return []string{
		fmt.Sprintf("--execution-segment=%s:%s", bounds[index-1], bounds[index]),
		"--execution-segment-sequence=" + strings.Join(bounds, ","),
	}
}

// isTrue parses the booleans that the API has as strings.
func isTrue(text string, whenEmpty bool) bool {
	if text == "" {
		return whenEmpty
	}
	value, _ := strconv.ParseBool(text)
	return value
}
