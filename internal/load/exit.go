// SPDX-License-Identifier: Apache-2.0

package load

import corev1 "k8s.io/api/core/v1"

// Exit codes of k6 (errext/exitcodes) with which a load ends as planned: the
// second only when we told it to end.
const (
	exitSuccess       = 0
	exitStoppedByREST = 103
)

// exitMeaning explains the codes a person is likely to meet.
var exitMeaning = map[int32]string{
	99:  "a threshold was breached",
	100: "setup() took too long",
	101: "teardown() took too long",
	103: "it was stopped from outside",
	104: "its configuration is not valid",
	105: "it was interrupted by a signal",
	106: "its REST API could not be served",
	107: "the script threw an exception",
	108: "the script aborted the test",
	109: "k6 crashed",
	110: "the script marked the test as failed",
	137: "it was killed, most likely for want of memory",
}

func meaning(end *corev1.ContainerStateTerminated) string {
	if end.Reason == "OOMKilled" {
		return "it ran out of memory; raise the load's resources.limits.memory"
	}
	if known, ok := exitMeaning[end.ExitCode]; ok {
		return known
	}
	return "an exit code k6 does not document"
}
