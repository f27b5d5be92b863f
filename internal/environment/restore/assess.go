// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// Assess returns the readiness of a restore Job from the Job and its pods. A Job that
// failed permanently has the reason RestoreFailed. Messages contain no output of the
// container.
func Assess(hook Hook, job *batchv1.Job, observed environment.Observed) environment.Readiness {
	what := title(hook.Restore)
	if job == nil {
		return environment.NotReady(v1alpha1.ReasonRestoring, what+" is about to restore the data")
	}
	for _, condition := range job.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			return environment.Ready("the data is restored: " + what)
		case batchv1.JobFailed:
			return environment.NotReady(v1alpha1.ReasonRestoreFailed, failure(hook, condition, observed))
		default:
			// Suspended, or not yet complete or failed.
		}
	}
	if observed.Refused != "" {
		return environment.NotReady(v1alpha1.ReasonRefused, what+": the cluster refuses its pod: "+observed.Refused)
	}
	if trouble, found := environment.PodTrouble(observed.Pods, observed.Events, observed.Now); found {
		trouble.Message = what + ": " + trouble.Message
		return trouble
	}
	return environment.NotReady(v1alpha1.ReasonRestoring, what+" is restoring the data")
}

func failure(hook Hook, condition batchv1.JobCondition, observed environment.Observed) string {
	where := fmt.Sprintf("for the cause, run: kubectl logs -n %s job/%s", hook.Run.Namespace, naming.Restore(hook.Run.Name))
	what := title(hook.Restore)
	if condition.Reason == batchv1.JobReasonDeadlineExceeded {
		message := fmt.Sprintf("%s did not finish within %s", what, Timeout(hook.Restore))
		if trouble, found := environment.PodTrouble(observed.Pods, observed.Events, observed.Now); found {
			return message + ": " + trouble.Message
		}
		return message + "; raise restore.timeout, or check what it waits for"
	}
	if code, found := exitCode(observed.Pods); found {
		return fmt.Sprintf("%s ended with exit code %d%s; %s", what, code, meaning(hook.Restore, code), where)
	}
	return fmt.Sprintf("%s failed (%s); %s", what, condition.Reason, where)
}

// exitCode returns the exit code of the last attempt's pod.
func exitCode(pods []corev1.Pod) (int32, bool) {
	latest := slices.SortedFunc(slices.Values(pods), func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	for _, pod := range latest {
		for _, status := range pod.Status.ContainerStatuses {
			if end := status.State.Terminated; end != nil && end.ExitCode != 0 {
				return end.ExitCode, true
			}
		}
	}
	return 0, false
}

// meaning explains the exit codes of PerfLab's own restore programs.
func meaning(restore v1alpha1.Restore, code int32) string {
	psqlMeanings := map[int32]string{1: "psql could not read the script", 2: "psql could not connect, or lost its connection", 3: "a statement failed, and nothing was changed"}
	curlMeanings := map[int32]string{6: "the host name can't be resolved", 7: "connection refused", 22: "the server answered with an HTTP error", 28: "the request timed out"}
	text := ""
	switch {
	case restore.SQL != nil:
		text = psqlMeanings[code]
	case restore.HTTP != nil:
		text = curlMeanings[code]
	}
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}
