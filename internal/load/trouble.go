// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// imagePatience is how long a runner's image may be missing: a registry may recover.
const imagePatience = 30 * time.Second

// trouble records why a load does not start.
func (s *State) trouble(observed Observed) {
	for _, find := range []func(Observed, State) (environment.Readiness, bool){podTrouble, refused, silent} {
		if trouble, found := find(observed, *s); found {
			s.Trouble = &trouble
			s.Message = trouble.Message
			return
		}
	}
}

// outlastsDeadline reports whether the trouble will outlast the deadline.
func (s *State) outlastsDeadline(observed Observed) bool {
	if s.Trouble == nil {
		return false
	}
	created := observed.Status.CreateTime
	return s.Trouble.Final ||
		s.Trouble.Reason == v1alpha1.ReasonImagePull && created != nil && observed.Now.Sub(created.Time) > imagePatience
}

func podTrouble(observed Observed, _ State) (environment.Readiness, bool) {
	return environment.PodTrouble(observed.Pods, observed.Events, observed.Now)
}

func refused(observed Observed, _ State) (environment.Readiness, bool) {
	return environment.NotReady(v1alpha1.ReasonRefused, "the cluster refuses the pods of the runners: "+observed.Refused), observed.Refused != ""
}

// silent finds that k6-operator does not act. It may have stopped after its first update,
// so the stage alone is not enough.
func silent(observed Observed, state State) (environment.Readiness, bool) {
	if observed.TestRun == nil {
		return environment.Readiness{}, false
	}
	since, patience, undone := observed.TestRun.GetCreationTimestamp().Time, environment.SilenceThreshold, "it has no status"
	_, starting := observed.Jobs[naming.StarterJob(observed.Status.TestRun)]
	switch {
	case state.Stage == "":
	case len(observed.Jobs) == 0:
		patience, undone = environment.LongSilenceThreshold, "it has no Jobs"
		// An operator that was away for long has just begun.
		if begun := (contract.TestRun{Object: observed.TestRun}).LastTransition(); begun.After(since) {
			since = begun
		}
	case allUp(observed, state) && !starting:
		since, patience, undone = lastStart(observed.Pods), environment.LongSilenceThreshold, "its runners are ready but not started"
	default:
		return environment.Readiness{}, false
	}
	return environment.NotReady(v1alpha1.ReasonOperatorSilent, fmt.Sprintf(
			"no operator reconciles TestRun %q: %s; check that k6-operator runs and watches namespace %q",
			observed.TestRun.GetName(), undone, observed.TestRun.GetNamespace())),
		observed.Now.Sub(since) > patience
}

func allUp(observed Observed, state State) bool {
	return int32(len(state.Running)) == observed.Load.ParallelismOrDefault()
}

// lastStart returns when the last runner started.
func lastStart(pods []corev1.Pod) time.Time {
	var last time.Time
	for _, pod := range pods {
		for _, status := range pod.Status.ContainerStatuses {
			if running := status.State.Running; running != nil && status.Name == contract.RunnerContainer && running.StartedAt.After(last) {
				last = running.StartedAt.Time
			}
		}
	}
	return last
}
