// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/archive/stores/directory"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/text/decimal"
)

// size is the size of an archive.
type size struct {
	// Experiments is the number of experiments in all namespaces, and Runs is the number of
	// runs per experiment.
	Experiments, Runs int
	// Namespaces is the number of namespaces, which have equal shares of the experiments.
	Namespaces int
	// Series is the number of series per namespace. The first has 40 % of the experiments,
	// and the others share the rest.
	Series int
	// Observations is the number of observations per run. Runs of the reported series have
	// Deep observations.
	Observations, Deep int
	// Modules is the number of modules per system of the reported series. Other systems
	// have a thirtieth.
	Modules int
}

const (
	arms, scenarios = 5, 2
	primary         = "cico/Check-In/average"
)

// isReported returns whether an experiment is in the reported series. These are the last
// experiments of the first series of the first namespace, as many as a history reads.
func (s size) isReported(namespace, nth int) bool {
	return namespace == 0 && nth < s.first() && nth >= s.first()-releases.MaxPoints
}

// first returns the number of experiments of the first series of a namespace.
func (s size) first() int { return max(1, s.Experiments/s.Namespaces*4/10) }

// series returns the series of the nth experiment of a namespace.
func (s size) series(nth int) int {
	if nth < s.first() || s.Series < 2 {
		return 0
	}
	return 1 + nth%(s.Series-1)
}

// unsynced is a directory without fsync, because a benchmark can be filled again. Recent
// writes are read from memory.
type unsynced struct {
	archive.Bucket
	root string

	mu     sync.Mutex
	recent map[string][]byte
	order  []string
}

// mostRecent is the number of objects that are read from memory.
const mostRecent = 4096

func (u *unsynced) Write(_ context.Context, key string, body []byte, how archive.WriteOptions) error {
	if isNew := u.remember(key, body); !isNew && !how.Replace {
		return archive.ErrExists
	}
	path := filepath.Join(u.root, filepath.FromSlash(key))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o750); err == nil {
			file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return archive.ErrExists
	}
	if err != nil {
		return err
	}
	_, err = file.Write(body)
	return errors.Join(err, file.Close())
}

func (u *unsynced) Read(ctx context.Context, key string, most int64) ([]byte, archive.Object, error) {
	if body, known := u.known(key); known {
		return body, archive.Object{Key: key, Size: int64(len(body)), Modified: time.Now()}, nil
	}
	return u.Bucket.Read(ctx, key, most)
}

func (u *unsynced) known(key string) ([]byte, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	body, known := u.recent[key]
	return body, known
}

// remember keeps an object in memory before its file is written. Concurrent readers read it
// from there, so they never read a partial file.
func (u *unsynced) remember(key string, body []byte) (isNew bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, known := u.recent[key]; known {
		return false
	}
	if len(u.order) == mostRecent {
		delete(u.recent, u.order[0])
		u.order = u.order[1:]
	}
	u.recent[key], u.order = body, append(u.order, key)
	return true
}

// open opens a directory as an archive without fsync.
func open(ctx context.Context, root string) (*archive.Store, error) {
	if err := os.MkdirAll(root, 0o750); err != nil {
		return nil, err
	}
	location, err := archive.ParseLocation("file://" + root)
	if err != nil {
		return nil, err
	}
	opened, err := directory.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	return archive.New(&unsynced{Bucket: opened, root: root, recent: map[string][]byte{}}, location, archive.Options{}), nil
}

// fill fills a directory with an archive. It uses the operator's code for records.
func fill(ctx context.Context, root string, of size, tell func(done int)) error {
	store, err := open(ctx, root)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	each := of.Experiments / of.Namespaces
	for n := range of.Experiments {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return keep(ctx, store, of, n/each, n%each) })
		if n%100 == 99 {
			tell(n + 1)
		}
	}
	return group.Wait()
}

// keep stores an experiment and its runs.
func keep(ctx context.Context, store *archive.Store, of size, namespace, nth int) error {
	input := draw(of, namespace, nth)
	alike, err := newPattern(&input.Experiment, &input.Runs[0])
	if err != nil {
		return err
	}
	references := make([]archive.Reference, 0, len(input.Runs))
	for i := range input.Runs {
		record := alike.newRecord(&input.Runs[i])
		// All runs share one object as their raw results: the benchmark does not read it.
		record.Items = append(record.Items, archive.Item{Kind: "ConfigMap", Name: input.Runs[i].Name + "-raw", MediaType: "application/yaml", Bytes: raw})
		reference, err := store.Keep(ctx, record)
		if err != nil {
			return err
		}
		references = append(references, reference)
	}
	record, err := contents.ExperimentRecord(input, nil, references)
	if err != nil {
		return err
	}
	_, err = store.Keep(ctx, record)
	return err
}

var raw = []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: raw}\n")

// draw generates an experiment. The true value of the reported series has a step after two
// thirds of its experiments.
func draw(of size, namespace, nth int) report.Input {
	random := rand.New(rand.NewPCG(uint64(namespace), uint64(nth)))
	found := of.isReported(namespace, nth)
	observations, modules := of.Observations, max(1, of.Modules/30)
	truth := 400.0
	if found {
		observations, modules = of.Deep, of.Modules
		if nth >= of.first()-releases.MaxPoints/3 {
			truth = 420
		}
	}
	began := time.Date(2016, time.January, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(nth) * 8 * time.Hour)
	experiment := v1alpha1.PerfExperiment{}
	experiment.APIVersion, experiment.Kind = v1alpha1.GroupVersion.String(), "PerfExperiment"
	experiment.Namespace, experiment.Name = fmt.Sprintf("team-%d", namespace), fmt.Sprintf("heap-%05d", nth)
	experiment.UID = types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", namespace, nth))
	experiment.Annotations = map[string]string{v1alpha1.AnnotationRelease: fmt.Sprintf("%d.%d", began.Year(), began.YearDay())}
	experiment.Spec.Analysis.Primary = []string{primary, "cico/Check-Out/average"}
	for at := range scenarios {
		load := v1alpha1.Load{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: int32(8 + of.series(nth))}} //nolint:gosec // A few.
		experiment.Spec.Scenarios = append(experiment.Spec.Scenarios, v1alpha1.Scenario{Name: fmt.Sprintf("cico-%d", at+1), Loads: []v1alpha1.Load{load}})
	}
	for at := range arms {
		experiment.Status.Arms = append(experiment.Status.Arms, v1alpha1.ArmStatus{Name: fmt.Sprintf("arm-%d", at+1), Baseline: at == 0})
	}
	blocks := of.Runs / arms / scenarios
	system := newSystem(modules, nth)
	input := report.Input{Experiment: experiment}
	for n := range blocks * arms * scenarios {
		run := newRun(&experiment, n, system, began.Add(time.Duration(n)*8*time.Minute))
		run.Status.Observations = observe(random, observations, truth*(1+0.02*float64(n%arms)))
		input.Runs = append(input.Runs, run)
	}
	done := metav1.NewTime(began.Add(time.Duration(of.Runs) * 8 * time.Minute))
	input.Experiment.Status.CompletionTime, input.Experiment.Status.Phase = &done, v1alpha1.ExperimentComplete
	return input
}

func newRun(experiment *v1alpha1.PerfExperiment, n int, system v1alpha1.System, began time.Time) v1alpha1.PerfRun {
	run := v1alpha1.PerfRun{}
	run.APIVersion, run.Kind = v1alpha1.GroupVersion.String(), "PerfRun"
	arm, scenario, block := n%arms, n/arms%scenarios, n/arms/scenarios
	run.Namespace, run.Spec.Experiment = experiment.Namespace, experiment.Name
	run.Spec.Arm, run.Spec.Scenario, run.Spec.System = experiment.Status.Arms[arm].Name, experiment.Spec.Scenarios[scenario], system
	run.Spec.Block, run.Spec.Position, run.Spec.Attempt = int32(block+1), int32(n+1), 1 //nolint:gosec // A few.
	run.Name = naming.Long.Run(experiment.Name, run.Spec.Block, run.Spec.Arm, run.Spec.Scenario.Name, 1)
	run.UID = types.UID(fmt.Sprintf("%s-%04x", experiment.UID[:31], n))
	run.Labels = naming.RunLabels(&run)
	start, finish := metav1.NewTime(began), metav1.NewTime(began.Add(6*time.Minute))
	run.Status.Timings.LoadStart, run.Status.Timings.LoadFinish, run.Status.Timings.Finish = &start, &finish, &finish
	run.Status.Phase = v1alpha1.RunSucceeded
	run.Status.Effective = &v1alpha1.EffectiveSystem{KafkaVersion: "4.1.0"}
	return run
}

// newSystem returns a system with the given number of modules. The image of one module
// changes from time to time.
func newSystem(modules, nth int) v1alpha1.System {
	var system v1alpha1.System
	for at := range modules {
		module := v1alpha1.Module{Name: fmt.Sprintf("mod-%02d", at), Image: fmt.Sprintf("example.org/mod-%02d:20.%d.0", at, cmp.Or(at, nth/50))}
		limit := resource.MustParse("4096Mi")
		module.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: limit, corev1.ResourceCPU: resource.MustParse("2")}
		module.Resources.Requests = module.Resources.Limits
		for variable := range 2 {
			module.Env = append(module.Env, corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", variable), Value: fmt.Sprintf("value-%d", variable)})
		}
		system.Modules = append(system.Modules, module)
	}
	return system
}

// observe generates observations: a quarter are of loads, the others of servers.
func observe(random *rand.Rand, count int, truth float64) []v1alpha1.Observation {
	all := make([]v1alpha1.Observation, 0, count)
	draw := func(name, unit string, center float64) {
		all = append(all, v1alpha1.Observation{Metric: name, Unit: unit, Value: decimal.Format(center * math.Exp(0.02*random.NormFloat64()))})
	}
	draw(primary, "ms", truth)
	draw("cico/Check-Out/average", "ms", truth*1.3)
	for at := 2; at < count; at++ {
		if at < count/4 {
			draw(fmt.Sprintf("cico/Transaction-%02d/p%d", at/4, 50+10*(at%4)), "ms", truth)
			continue
		}
		draw(fmt.Sprintf("module/mod-%02d/%s/average", at/4, []string{"cpu", "memory", "heapUsed", "cpuThrottled"}[at%4]), "cores", 0.7)
	}
	return all
}
