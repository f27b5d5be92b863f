// SPDX-License-Identifier: Apache-2.0

// Package watching follows an experiment with one watch of it and one of its runs, for any
// number of viewers. It only reads.
package watching

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/view"
	"perflab.dev/perflab/internal/view/progress"
)

const (
	// watchFor is how long a watch lasts before it is restarted.
	watchFor = 5 * time.Minute
	// Bounds of the backoff while the cluster is unavailable.
	firstPause, longestPause = time.Second, 15 * time.Second
)

var (
	errGone = errors.New("the experiment was deleted")
	// errOutdated: the last seen version has expired, so everything is listed again.
	errOutdated = errors.New("the last seen version has expired")
)

// Experiment is a followed experiment. Run must be running.
type Experiment struct {
	client client.WithWatch
	key    client.ObjectKey
	now    func() time.Time

	mu         sync.Mutex
	version    uint64
	experiment *v1alpha1.PerfExperiment
	runs       map[string]*v1alpha1.PerfRun
	courses    view.LoadHistory
	seen       time.Time
	lost       *view.Outage
	gone       bool
	// traces of finished runs, from their raw results.
	traces map[string]*report.Trace
	// snapshot is that of this version.
	snapshot *view.Snapshot

	// Resource versions at which the watches resume. Only Run uses them.
	experimentAt, runsAt string
}

// New returns a follower of the experiment with this key.
func New(c client.WithWatch, key client.ObjectKey, now func() time.Time) *Experiment {
	return &Experiment{client: c, key: key, now: now, runs: map[string]*v1alpha1.PerfRun{}, traces: map[string]*report.Trace{}}
}

// Run follows the experiment until it is deleted, or the context ends.
func (e *Experiment) Run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		err := e.look(ctx)
		switch {
		case errors.Is(err, errGone):
			e.change(func() { e.gone = true })
			return
		case errors.Is(err, errOutdated):
			continue
		case ctx.Err() != nil:
			return
		}
		if e.lose(err) {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// lose records that the cluster is unavailable, and reports whether that is new.
func (e *Experiment) lose(err error) (isNew bool) {
	e.change(func() {
		isNew = e.lost == nil
		loss := view.Outage{Since: e.now(), Reason: why(err)}
		if !isNew {
			loss.Since = e.lost.Since
		}
		e.lost = &loss
	})
	return isNew
}

// why describes the error for users.
func why(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "The cluster denies access: " + prose.Sentence(err.Error()) + "."
	case apierrors.IsUnauthorized(err):
		return "The cluster no longer accepts your credentials: log in again."
	}
	return "PerfLab retries every few seconds: " + prose.Sentence(err.Error()) + "."
}

// look lists everything, then watches. It returns the error that ended the watch.
func (e *Experiment) look(ctx context.Context) error {
	if err := e.take(ctx); err != nil {
		return err
	}
	for {
		if err := e.watch(ctx); err != nil {
			return err
		}
	}
}

func (e *Experiment) take(ctx context.Context) error {
	experiment := &v1alpha1.PerfExperiment{}
	err := e.client.Get(ctx, e.key, experiment)
	if apierrors.IsNotFound(err) && e.knows() {
		return errGone
	}
	if err != nil {
		return fmt.Errorf("reading experiment %q: %w", e.key.Name, err)
	}
	if e.isAnother(experiment.UID) {
		return errGone
	}
	runs := &v1alpha1.PerfRunList{}
	if err := e.client.List(ctx, runs, e.ofExperiment()...); err != nil {
		return fmt.Errorf("listing the runs of experiment %q: %w", e.key.Name, err)
	}
	e.experimentAt, e.runsAt = experiment.ResourceVersion, runs.ResourceVersion
	e.change(func() {
		e.experiment, e.lost = experiment, nil
		clear(e.runs)
		for i := range runs.Items {
			e.keep(&runs.Items[i])
		}
	})
	return nil
}

func (e *Experiment) knows() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.experiment != nil
}

// isAnother reports whether another experiment has the name now.
func (e *Experiment) isAnother(uid types.UID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.experiment != nil && e.experiment.UID != uid
}

func (e *Experiment) ofExperiment() []client.ListOption {
	return []client.ListOption{client.InNamespace(e.key.Namespace), client.MatchingLabels{v1alpha1.LabelExperiment: e.key.Name}}
}

// watch applies changes until the server closes the watch.
func (e *Experiment) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	named := client.MatchingFields{"metadata.name": e.key.Name}
	experiments, err := e.client.Watch(ctx, &v1alpha1.PerfExperimentList{}, client.InNamespace(e.key.Namespace), named, from(e.experimentAt))
	if err != nil {
		return outdatedOr(err)
	}
	defer experiments.Stop()
	runs, err := e.client.Watch(ctx, &v1alpha1.PerfRunList{}, append(e.ofExperiment(), from(e.runsAt))...)
	if err != nil {
		return outdatedOr(err)
	}
	defer runs.Stop()
	e.change(func() { e.lost = nil })
	for {
		select {
		case event, open := <-experiments.ResultChan():
			if !open {
				return nil
			}
			err = e.takeExperiment(event)
		case event, open := <-runs.ResultChan():
			if !open {
				return nil
			}
			err = e.takeRun(event)
		}
		if err != nil {
			return err
		}
	}
}

// from resumes at a version.
func from(version string) client.ListOption {
	seconds := int64(watchFor.Seconds())
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: &seconds, AllowWatchBookmarks: true}}
}

func outdatedOr(err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return errOutdated
	}
	return fmt.Errorf("watching the experiment: %w", err)
}

func (e *Experiment) takeExperiment(event watch.Event) error {
	experiment, is := event.Object.(*v1alpha1.PerfExperiment)
	if !is {
		return outdatedOr(apierrors.FromObject(event.Object))
	}
	e.experimentAt = experiment.ResourceVersion
	switch event.Type {
	case watch.Deleted:
		return errGone
	case watch.Added, watch.Modified:
		if e.isAnother(experiment.UID) {
			return errGone
		}
		e.change(func() { e.experiment = experiment })
	case watch.Bookmark, watch.Error:
		// A bookmark has only a new version; errors have another type.
	}
	return nil
}

func (e *Experiment) takeRun(event watch.Event) error {
	run, is := event.Object.(*v1alpha1.PerfRun)
	if !is {
		return outdatedOr(apierrors.FromObject(event.Object))
	}
	e.runsAt = run.ResourceVersion
	switch event.Type {
	case watch.Deleted:
		e.change(func() { delete(e.runs, run.Name) })
	case watch.Added, watch.Modified:
		e.change(func() { e.keep(run) })
	case watch.Bookmark, watch.Error:
		// A bookmark has only a new version; errors have another type.
	}
	return nil
}

func (e *Experiment) keep(run *v1alpha1.PerfRun) {
	run.ManagedFields = nil
	e.runs[run.Name] = run
	if current := e.experiment.Status.Current; current != nil && current.Run == run.Name || run.Status.Phase == v1alpha1.RunLoading {
		e.courses.Add(run)
	}
}

// change updates the state, which is current unless the cluster is unavailable.
func (e *Experiment) change(by func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	by()
	e.version++
	if e.lost == nil {
		e.seen = e.now()
	}
}

// Snapshot returns a snapshot of the current state.
func (e *Experiment) Snapshot() view.Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.snapshot == nil || e.snapshot.Version != e.version {
		e.snapshot = e.newSnapshot()
	}
	return *e.snapshot
}

func (e *Experiment) newSnapshot() *view.Snapshot {
	made := &view.Snapshot{Version: e.version, LastChange: e.seen, Outage: e.lost, Deleted: e.gone}
	if e.experiment == nil {
		return made
	}
	made.Experiment = e.experiment.DeepCopy()
	var all []v1alpha1.PerfRun
	for _, name := range slices.Sorted(maps.Keys(e.runs)) {
		all = append(all, *e.runs[name])
	}
	made.Runs, _ = runfilter.Following(made.Experiment, runfilter.Recorded(made.Experiment), all)
	progress.CopyRunProgress(made.Experiment, made.Runs)
	if current := made.Experiment.Status.Current; current != nil {
		made.Loads = e.courses.Loads(current.Run)
	}
	return made
}
