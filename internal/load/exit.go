// SPDX-License-Identifier: Apache-2.0

package load

import corev1 "k8s.io/api/core/v1"

const (
	// Exit codes of k6 (errext/exitcodes) of a load that ended as planned: the second after
	// a stop request.
	exitSuccess       = 0
	exitStoppedByREST = 103

	// Exit codes for an invalid script or configuration.
	exitInvalidConfig   = 104
	exitScriptException = 107

	// exitKilled is the exit code after SIGKILL.
	exitKilled = 137
)

// exitMeaning explains common exit codes.
var exitMeaning = map[int32]string{
	99:  "a threshold was breached",
	100: "setup() took too long",
	101: "teardown() took too long",
	103: "it was stopped through its REST API",
	104: "its configuration is invalid",
	105: "it was interrupted by a signal",
	106: "it could not start its REST API",
	107: "the script threw an exception",
	108: "the script aborted the test",
	109: "k6 crashed",
	110: "the script marked the test as failed",
	137: "SIGKILL ended it, but not for lack of memory: the kubelet does not report OOMKilled",
}

// ScriptFailed reports whether k6 ended because of its script, so that a retry would fail
// as well.
func ScriptFailed(exitCode int32) bool {
	return exitCode == exitInvalidConfig || exitCode == exitScriptException
}

// meaning explains a runner's end. Only the kubelet reports exhausted memory, and only
// events report a failed probe.
func meaning(end *corev1.ContainerStateTerminated, probe string) string {
	switch {
	case end.Reason == "OOMKilled":
		return "it ran out of memory; raise the load's resources.limits.memory"
	case end.ExitCode == exitKilled && probe != "":
		return "the kubelet killed it because " + probe + "; give the load more CPU (resources) or more runners (parallelism)"
	}
	if known, ok := exitMeaning[end.ExitCode]; ok {
		return known
	}
	return "k6 does not document this exit code"
}
