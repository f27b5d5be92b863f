// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/kube"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/plan"
	"perflab.dev/perflab/internal/releases/regression"
)

// memory holds what passes over experiments that are on have worked out, by name.
// Nothing rests on it: who has just started works it out again.
type memory struct {
	mutex sync.Mutex
	known map[types.NamespacedName]*recollection
	// traced is what the traces of all of them take, in bytes; full: the last one was too
	// much.
	traced int
	full   bool
}

// recollection is what is remembered of an experiment. One pass at a time has it.
type recollection struct {
	uid types.UID
	// design is what follows from the spec; nil: it is not known.
	design *design
	// described is the digest of the runs whose results are in the status, and
	// reported that of the report that is stored.
	described, reported string
	// lookedBack is the digest of what the history was looked at for, and pastOf that of
	// what came out.
	lookedBack, pastOf string
	// traces of runs that are over, by UID.
	traces map[types.UID]traced
}

// design is what follows from a spec of this generation.
type design struct {
	generation int64
	planned    plan.Plan
	arms       []v1alpha1.ArmStatus
	confounded []arms.Confounded
}

// of is what is remembered of the experiment; nothing, of an earlier one with its
// name.
func (m *memory) of(experiment *v1alpha1.PerfExperiment) *recollection {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	key := client.ObjectKeyFromObject(experiment)
	known := m.known[key]
	if known != nil && known.uid == experiment.UID {
		return known
	}
	m.drop(known)
	if m.known == nil {
		m.known = map[types.NamespacedName]*recollection{}
	}
	m.known[key] = &recollection{uid: experiment.UID}
	return m.known[key]
}

func (m *memory) forget(key types.NamespacedName) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.drop(m.known[key])
	delete(m.known, key)
}

// use goes by a design. Blocks are added to a plan of the pass's own.
func (s *scope) use(made *design) {
	s.planned, s.arms, s.confounded = made.planned, made.arms, made.confounded
	s.planned.Runs = slices.Clone(made.planned.Runs)
}

// remember notes what the status tells, now that it is written.
func (s *scope) remember() {
	if s.known == nil {
		return
	}
	if s.described {
		s.known.described = s.ended
	}
	if s.reported != "" {
		s.known.reported = s.reported
	}
	if s.lookedBack != "" {
		s.known.lookedBack, s.known.pastOf = s.lookedBack, s.pastOf
	}
}

// digestOf tells apart what an experiment is asked, and the runs it is asked of.
func digestOf(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) string {
	seen := make([]string, 0, len(runs))
	for i := range runs {
		seen = append(seen, fmt.Sprintf("%s %t", runs[i].UID, runs[i].Status.Phase.IsFinal()))
	}
	slices.Sort(seen)
	if release := experiment.Annotations[v1alpha1.AnnotationRelease]; release != "" {
		// It may be said at any time, and the archive is to have it.
		seen = append(seen, "release "+release)
	}
	return naming.Hash(experiment.Generation, seen)
}

// isEnded tells the runs that are over, of which nothing changes any more.
func isEnded(run *v1alpha1.PerfRun) bool { return run.Status.Phase.IsFinal() }

// endedOf are those of them.
func endedOf(runs []v1alpha1.PerfRun) []v1alpha1.PerfRun {
	return slices.DeleteFunc(slices.Clone(runs), func(run v1alpha1.PerfRun) bool { return !isEnded(&run) })
}

// rest tells of a complete experiment of which nothing is left to do for a while;
// zero: until something about it changes.
func (s *scope) rest() (left time.Duration, settled bool) {
	if s.seen == "" || s.experiment.Status.Settled != s.seen {
		return 0, false
	}
	if !s.stands() {
		return 0, true
	}
	left = s.stay()
	return left, left > 0
}

// reportSettled notes that nothing is left to do but to take the environment down,
// for which a time is set.
func reportSettled(s *scope, store *archive.Store, err error) {
	status := &s.experiment.Status
	status.Settled = ""
	if err == nil && !s.awaitsArchive(store) && s.refusal == nil && status.Phase == v1alpha1.ExperimentComplete && s.described && s.reported != "" && s.hasLookedBack() {
		status.Settled = s.seen
		status.HistoryDigest = cmp.Or(status.HistoryDigest, regression.NothingKept)
	}
}

// bodyPage is how many runs are asked for at once: one can be a megabyte.
const bodyPage = 20

// errGone says that the cache has a run which is no more.
var errGone = errors.New("the run is gone, of which the cache has not heard yet")

// errBusy says that another pass holds what runs gave.
var errBusy = errors.New("the runs of another experiment are being looked at")

// letGo ends a pass's turn to hold what runs gave.
func (r *Reconciler) letGo(s *scope) {
	if s.answers {
		s.full, s.answers = nil, false
		r.answering.Unlock()
	}
}

// fullRuns are the runs with all they gave. The cache has only a summary of those
// that are over.
func (r *Reconciler) fullRuns(ctx context.Context, s *scope) ([]v1alpha1.PerfRun, error) {
	if s.full != nil {
		return s.full, nil
	}
	if !s.answers && !r.answering.TryLock() {
		return nil, errBusy
	}
	s.answers = true
	bodies, err := r.bodies(ctx, s)
	if err != nil {
		return nil, err
	}
	full := slices.Clone(s.runs)
	for i := range full {
		if !isEnded(&full[i]) {
			continue
		}
		body, there := bodies[full[i].UID]
		if !there {
			return nil, apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("perfruns").GroupResource(), full[i].Name, errGone)
		}
		full[i] = body
	}
	s.full = full
	return full, nil
}

// bodies are the experiment's runs as the API server has them.
func (r *Reconciler) bodies(ctx context.Context, s *scope) (map[types.UID]v1alpha1.PerfRun, error) {
	found := map[types.UID]v1alpha1.PerfRun{}
	if len(endedOf(s.runs)) == 0 {
		return found, nil
	}
	err := kube.Pages(ctx, r.Live, &v1alpha1.PerfRunList{}, bodyPage, func(page *v1alpha1.PerfRunList) error {
		for i := range page.Items {
			found[page.Items[i].UID] = page.Items[i]
		}
		return nil
	}, client.InNamespace(s.experiment.Namespace), client.MatchingFields{kubecache.FieldExperiment: s.experiment.Name})
	if err != nil {
		return nil, fmt.Errorf("reading what the runs gave: %w", err)
	}
	return found, nil
}

// turns lets one at a time do something in a namespace.
type turns struct {
	mutex sync.Mutex
	locks map[string]*sync.Mutex
}

// take waits for the turn, and gives what ends it.
func (t *turns) take(namespace string) (done func()) {
	t.mutex.Lock()
	if t.locks == nil {
		t.locks = map[string]*sync.Mutex{}
	}
	if t.locks[namespace] == nil {
		t.locks[namespace] = &sync.Mutex{}
	}
	lock := t.locks[namespace]
	t.mutex.Unlock()
	lock.Lock()
	return lock.Unlock
}
