// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/plan"
)

// design follows from a spec and its system.
type design struct {
	uid        types.UID
	generation int64
	planned    plan.Plan
	arms       []v1alpha1.ArmStatus
	confounded []arms.Confounded
}

func newDesign(experiment *v1alpha1.PerfExperiment, planned plan.Plan, system v1alpha1.System) *design {
	return &design{experiment.UID, experiment.Generation, planned, armsStatus(planned.Arms), arms.ConfoundedArms(&experiment.Spec, system)}
}

// use adopts a design. Blocks are added to a copy of its plan.
func (s *scope) use(made *design) {
	s.design, s.Plan = made, made.planned
	s.Plan.Runs = slices.Clone(made.planned.Runs)
}

// designs remembers the designs of started experiments. A restarted operator computes them again.
type designs struct {
	mutex sync.Mutex
	known map[types.NamespacedName]*design
}

// of returns the design of the experiment's generation; nil: it is not remembered.
func (d *designs) of(experiment *v1alpha1.PerfExperiment) *design {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	known := d.known[client.ObjectKeyFromObject(experiment)]
	if known == nil || known.uid != experiment.UID || known.generation != experiment.Generation {
		return nil
	}
	return known
}

func (d *designs) keep(experiment *v1alpha1.PerfExperiment, made *design) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.known == nil {
		d.known = map[types.NamespacedName]*design{}
	}
	d.known[client.ObjectKeyFromObject(experiment)] = made
}

func (d *designs) forget(key types.NamespacedName) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	delete(d.known, key)
}

// runsDigest is the digest of the spec's generation, of the runs and of the release, which may be
// set at any time and which the archive must have.
func runsDigest(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) string {
	seen := make([]string, 0, len(runs))
	for i := range runs {
		seen = append(seen, fmt.Sprintf("%s %t", runs[i].UID, runs[i].Status.Phase.IsFinal()))
	}
	slices.Sort(seen)
	if release := experiment.Annotations[v1alpha1.AnnotationRelease]; release != "" {
		seen = append(seen, "release "+release)
	}
	return naming.Hash(experiment.Generation, seen)
}

// namespaceLocks are locks by namespace.
type namespaceLocks struct {
	mutex sync.Mutex
	locks map[string]*sync.Mutex
}

// lock locks a namespace, and returns a function that unlocks it.
func (l *namespaceLocks) lock(namespace string) (unlock func()) {
	l.mutex.Lock()
	if l.locks == nil {
		l.locks = map[string]*sync.Mutex{}
	}
	if l.locks[namespace] == nil {
		l.locks[namespace] = &sync.Mutex{}
	}
	lock := l.locks[namespace]
	l.mutex.Unlock()
	lock.Lock()
	return lock.Unlock
}
