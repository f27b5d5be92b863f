// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/payload"
)

const (
	// mostSamples is what the operator stores of a run's samples at most, in bytes.
	mostSamples = 900 << 10
	// mostLoad is what it stores of one load.
	mostLoad = 512 << 10
	// statements are named in a run's status.
	statements = 10
	// shortLoad is the length of a load that does not say how long it lasts: the
	// demo's script runs for 11 seconds.
	shortLoad = 11 * time.Second
)

// began is when the first run of a made-up experiment was.
var began = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// record is what one run gave: made up, but passed through what the operator
// makes its observations with, so that it is as large as a real one. Several
// runs of experiments that are alike may share it.
type record struct {
	// status lacks what bears the run's name.
	status v1alpha1.PerfRunStatus
	// raw, samples and scripts are what is kept in ConfigMaps beside the run.
	raw, samples map[string][]byte
	scripts      map[string]string
}

// recorder makes up what one run gave.
type recorder struct {
	random   *rand.Rand
	run      *v1alpha1.PerfRun
	start    time.Time
	length   time.Duration
	measured map[string]results.Measured
	samples  *payload.SampleRecorder
}

// recordOf makes the record of a run, the same for the same run.
func recordOf(run *v1alpha1.PerfRun, scripts map[string]string) (*record, error) {
	r := &recorder{
		random:   rand.New(rand.NewPCG(uint64(run.Spec.Seed), uint64(run.Spec.Position))),
		run:      run,
		start:    began.Add(time.Duration(run.Spec.Position) * time.Hour),
		measured: map[string]results.Measured{},
	}
	for _, load := range run.Spec.Scenario.Loads {
		r.length = max(r.length, lengthOf(load))
		r.measured[load.Name] = results.FromHistograms(r.load(load))
	}
	r.servers()
	made := &record{}
	if err := r.observe(made); err != nil {
		return nil, err
	}
	if err := r.keep(made); err != nil {
		return nil, err
	}
	r.report(&made.status)
	made.scripts = r.scripts(&made.status, scripts)
	return made, nil
}

func lengthOf(load v1alpha1.Load) time.Duration {
	if load.Duration == nil {
		return shortLoad
	}
	return load.Duration.Duration
}

// noise is a factor around 1.
func (r *recorder) noise(deviation float64) float64 {
	return math.Exp(r.random.NormFloat64() * deviation)
}

// transaction is what users do in a load, with the requests it takes.
type transaction struct {
	name     string
	took     time.Duration
	requests []string
}

// transactionsOf are two with the 63 requests that FOLIO's check-in and check-out
// make, or the one of a script.
func transactionsOf(load v1alpha1.Load) []transaction {
	if load.CheckInCheckOut == nil {
		return []transaction{{"Search", 70 * time.Millisecond, []string{"GET /instance-storage/instances"}}}
	}
	made := []transaction{{name: metric.CheckIn, took: 460 * time.Millisecond}, {name: metric.CheckOut, took: 940 * time.Millisecond}}
	for i := range 63 {
		of := &made[min(i/27, 1)]
		of.requests = append(of.requests, fmt.Sprintf("GET /circulation/storage-%02d/records/${id}", i))
	}
	return made
}

// load is what a load's users measured. An arm that is not the baseline takes
// somewhat longer.
func (r *recorder) load(load v1alpha1.Load) *payload.Payload {
	p := payload.New(load.Name, r.run.Name, "runner", r.start)
	p.Generator = "k6 v2.2.0"
	pace := r.noise(0.02)
	if r.run.Spec.Position%2 == 0 {
		pace *= 1.04
	}
	users, all := 1, transactionsOf(load)
	if load.CheckInCheckOut != nil {
		users = int(load.CheckInCheckOut.Users)
	}
	// Users think between two transactions as long as those take.
	every := 2 * all[0].took / time.Duration(users)
	for at, i := r.start, 0; at.Before(r.start.Add(lengthOf(load))); at, i = at.Add(every), i+1 {
		one := all[i%len(all)]
		r.transact(p, one, at, time.Duration(float64(one.took)*pace*r.noise(0.2)))
	}
	p.Count(payload.GeneratorCPU, r.start, 0.1*lengthOf(load).Seconds())
	p.Count(payload.GeneratorCPULimit, r.start, lengthOf(load).Seconds())
	p.End, p.Final = r.start.Add(lengthOf(load)), true
	return p
}

func (r *recorder) transact(p *payload.Payload, one transaction, at time.Time, took time.Duration) {
	p.Record(one.name, payload.OK, at, took)
	for _, request := range one.requests {
		share := took / time.Duration(len(one.requests))
		p.Add(payload.Row{Transaction: one.name, Request: request, Outcome: payload.OK, Status: "2xx"}, at, time.Duration(float64(share)*r.noise(0.3)))
	}
}

// observe turns what was measured into observations, as the operator does.
func (r *recorder) observe(made *record) error {
	spec := r.run.Spec
	whole := results.CountedWindow(spec.Scenario.Loads, r.measured, spec.Measurement)
	observations := results.ObserveServers(r.samples.Samples, whole)
	observations = append(observations, results.ObserveGrowth(r.samples.Samples, whole, spec.Measurement)...)
	observations = append(observations, results.Observe(spec.Scenario.Loads, r.measured, spec.Measurement)...)
	kept, err := results.Keep(observations)
	if err != nil {
		return err
	}
	made.status.Observations = kept.Status
	made.raw = map[string][]byte{}
	if len(kept.Raw) > 0 {
		made.raw[naming.RawObservations] = kept.Raw
	}
	pods, _ := results.Pods(r.samples.Samples, whole)
	interval := spec.Measurement.IntervalOrDefault()
	made.status.Servers = &v1alpha1.ServersStatus{
		Rounds: int32(len(r.samples.Samples.Rounds)), Interval: &metav1.Duration{Duration: interval}, LongestGap: &metav1.Duration{Duration: interval},
		Silent: "collector", Pods: pods, Statements: results.TopStatements(r.samples.Samples, whole, statements),
	}
	return nil
}

// keep encodes what is stored beside the run.
func (r *recorder) keep(made *record) error {
	for name, own := range r.measured {
		small, err := own.Histograms.Fit(mostLoad)
		if err != nil {
			return fmt.Errorf("fitting load %q: %w", name, err)
		}
		if made.raw[name], err = payload.Marshal(small); err != nil {
			return fmt.Errorf("encoding load %q: %w", name, err)
		}
	}
	small, err := payload.FitSamples(r.samples.Samples, mostSamples)
	if err != nil {
		return fmt.Errorf("fitting the samples: %w", err)
	}
	encoded, err := payload.MarshalSamples(small)
	made.samples = map[string][]byte{"samples": encoded}
	return err
}

// scripts notes in the status what the loads run, and gives the texts.
func (r *recorder) scripts(status *v1alpha1.PerfRunStatus, texts map[string]string) map[string]string {
	var kept map[string]string
	for i, load := range r.run.Spec.Scenario.Loads {
		if load.Script == nil || load.Script.ConfigMap == nil {
			continue
		}
		key := load.Script.ConfigMap.Key
		kept = map[string]string{load.Name + "." + key: texts[key]}
		status.Loads[i].Script = &v1alpha1.ScriptStatus{SHA256: evidence.Sum([]byte(texts[key]))}
	}
	return kept
}

// named is the record's status for one run, and the ConfigMaps beside it.
func (m *record) named(run *v1alpha1.PerfRun) (*v1alpha1.PerfRunStatus, []*corev1.ConfigMap, error) {
	status := m.status.DeepCopy()
	status.RawResults = naming.RawResults(run.Name)
	status.Servers.RawSamples = naming.RawSamples(run.Name)
	kept := []*corev1.ConfigMap{beside(run, status.RawResults), beside(run, status.Servers.RawSamples)}
	kept[0].BinaryData, kept[1].BinaryData = m.raw, m.samples
	for i := range status.Loads {
		load := &status.Loads[i]
		load.TestRun = naming.TestRun(run, load.Name)
		if load.Script != nil {
			load.Script.Record = naming.RawScripts(run.Name)
		}
	}
	if m.scripts != nil {
		kept = append(kept, beside(run, naming.RawScripts(run.Name)))
		kept[2].Data = m.scripts
	}
	for _, one := range kept {
		sum, err := evidence.Content(one)
		if err != nil {
			return nil, nil, err
		}
		status.Evidence.Kept = append(status.Evidence.Kept, v1alpha1.KeptDigest{Name: one.Name, SHA256: sum})
	}
	return status, kept, nil
}

// beside is an empty ConfigMap that goes with a run.
func beside(run *v1alpha1.PerfRun, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: run.Namespace, Name: name, Labels: naming.RunLabels(run),
		OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfRun", run)},
	}}
}

// digest stands for one: as long, and different for different words.
func digest(words ...any) string { return naming.Hash(words...) }

// uid looks like one of Kubernetes'.
func uid(words ...any) string {
	d := digest(words...)
	return d[:8] + "-" + d[8:12] + "-4" + d[13:16] + "-a" + d[17:20] + "-" + d[20:32]
}
