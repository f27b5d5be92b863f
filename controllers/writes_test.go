// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// Each write of a run is one in etcd, kept for every revision, and wakes all who
// watch.
func TestARunIsWrittenSeldom(t *testing.T) {
	l := newLab(t, complete)
	withCollectors(l)
	l.outside.held["cico"] = true
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Scenarios[0].Loads[0].Duration = &metav1.Duration{Duration: 5 * time.Minute}
	}))
	l.until("a load", func() bool {
		runs := l.runs()
		return len(runs) == 1 && len(runs[0].Status.Loads) == 1 && runs[0].Status.Loads[0].StartTime != nil
	})
	l.secondsGoBy(65)
	if longer := l.writesIn(func() { l.secondsGoBy(120) }); len(longer) > 4 {
		t.Errorf("%d writes in two minutes of load, want one in thirty seconds: %q", len(longer), longer)
	}
	delete(l.outside.held, "cico")
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.settle()
	// What the environment takes depends on the system.
	own := slices.DeleteFunc(slices.Clone(l.line.journal), func(write string) bool {
		return !strings.Contains(write, l.run().Name) && !strings.Contains(write, "PerfExperiment")
	})
	if len(own) > 33 {
		t.Errorf("%d writes of a run with 185 s of load, want at most 33, of which 7 tell how far the load is:\n%s", len(own), strings.Join(own, "\n"))
	}
}

// secondsGoBy wakes the operator each second, as pods that change do.
func (l *lab) secondsGoBy(seconds int) {
	l.t.Helper()
	for range seconds {
		l.now = l.now.Add(time.Second)
		l.pass()
	}
}

func (l *lab) writesIn(do func()) []string {
	before := len(l.line.journal)
	do()
	return l.line.journal[before:]
}
