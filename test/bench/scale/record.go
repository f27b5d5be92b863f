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
	// mostSamples is the maximum size of a run's samples that the operator stores, in bytes.
	mostSamples = 900 << 10
	// mostLoad is the maximum size of one load's results that the operator stores, in bytes.
	mostLoad = 512 << 10
	// statements is the number of statements in a run's status.
	statements = 10
	// shortLoad is the length of a load without a duration: the script of the demo runs for 11
	// seconds.
	shortLoad = 11 * time.Second
)

// began is the time of the first run of a generated experiment.
var began = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// record has the generated results of one run. The code that makes the operator's observations
// processes them, so that the record is as large as a real one. Runs of several experiments
// with the same spec can share it.
type record struct {
	// status lacks the fields with the run's name.
	status v1alpha1.PerfRunStatus
	// raw, samples and scripts are stored in ConfigMaps of the run.
	raw, samples map[string][]byte
	scripts      map[string]string
}

// recorder generates the results of one run.
type recorder struct {
	random   *rand.Rand
	run      *v1alpha1.PerfRun
	start    time.Time
	length   time.Duration
	measured map[string]results.Measured
	samples  *payload.SampleRecorder
}

// newRecord generates the record of a run. The run determines the result.
func newRecord(run *v1alpha1.PerfRun, scripts map[string]string) (*record, error) {
	r := &recorder{
		random:   rand.New(rand.NewPCG(uint64(run.Spec.Seed), uint64(run.Spec.Position))),
		run:      run,
		start:    began.Add(time.Duration(run.Spec.Position) * time.Hour),
		measured: map[string]results.Measured{},
	}
	for _, load := range run.Spec.Scenario.Loads {
		r.length = max(r.length, loadLength(load))
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

func loadLength(load v1alpha1.Load) time.Duration {
	if load.Duration == nil {
		return shortLoad
	}
	return load.Duration.Duration
}

// noise returns a random factor around 1.
func (r *recorder) noise(deviation float64) float64 {
	return math.Exp(r.random.NormFloat64() * deviation)
}

// transaction is a transaction of a load's users, with its requests.
type transaction struct {
	name     string
	took     time.Duration
	requests []string
}

// transactions returns two transactions with the 63 requests of FOLIO's check-in and check-out,
// or the transaction of a script.
func transactions(load v1alpha1.Load) []transaction {
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

// load generates the measurements of a load's users. Runs at even positions take somewhat
// longer.
func (r *recorder) load(load v1alpha1.Load) *payload.Payload {
	p := payload.New(load.Name, r.run.Name, "runner", r.start)
	p.Generator = "k6 v2.2.0"
	pace := r.noise(0.02)
	if r.run.Spec.Position%2 == 0 {
		pace *= 1.04
	}
	users, all := 1, transactions(load)
	if load.CheckInCheckOut != nil {
		users = int(load.CheckInCheckOut.Users)
	}
	// The think time between two transactions equals their duration.
	every := 2 * all[0].took / time.Duration(users)
	for at, i := r.start, 0; at.Before(r.start.Add(loadLength(load))); at, i = at.Add(every), i+1 {
		one := all[i%len(all)]
		r.transact(p, one, at, time.Duration(float64(one.took)*pace*r.noise(0.2)))
	}
	p.Count(payload.GeneratorCPU, r.start, 0.1*loadLength(load).Seconds())
	p.Count(payload.GeneratorCPULimit, r.start, loadLength(load).Seconds())
	p.End, p.Final = r.start.Add(loadLength(load)), true
	return p
}

func (r *recorder) transact(p *payload.Payload, one transaction, at time.Time, took time.Duration) {
	p.Record(one.name, payload.OK, at, took)
	for _, request := range one.requests {
		share := took / time.Duration(len(one.requests))
		p.Add(payload.Row{Transaction: one.name, Request: request, Outcome: payload.OK, Status: "2xx"}, at, time.Duration(float64(share)*r.noise(0.3)))
	}
}

// observe converts the measurements into observations, as the operator does.
func (r *recorder) observe(made *record) error {
	spec := r.run.Spec
	whole := results.CountedWindow(spec.Scenario.Loads, r.measured, spec.Measurement)
	observations := results.ObserveServers(r.samples.Samples, whole)
	observations = append(observations, results.ObserveGrowth(r.samples.Samples, whole, spec.Measurement)...)
	observations = append(observations, results.Observe(spec.Scenario.Loads, r.measured, spec.Measurement)...)
	kept, err := results.SelectForStatus(observations)
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

// keep encodes the data that is stored with the run.
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

// scripts records the scripts of the loads in the status, and returns their texts.
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

// named returns the record's status for one run, and its ConfigMaps.
func (m *record) named(run *v1alpha1.PerfRun) (*v1alpha1.PerfRunStatus, []*corev1.ConfigMap, error) {
	status := m.status.DeepCopy()
	status.RawResults = naming.RawResults(run.Name)
	status.Servers.RawSamples = naming.RawSamples(run.Name)
	kept := []*corev1.ConfigMap{related(run, status.RawResults), related(run, status.Servers.RawSamples)}
	kept[0].BinaryData, kept[1].BinaryData = m.raw, m.samples
	for i := range status.Loads {
		load := &status.Loads[i]
		load.TestRun = naming.TestRun(run, load.Name)
		if load.Script != nil {
			load.Script.Record = naming.RawScripts(run.Name)
		}
	}
	if m.scripts != nil {
		kept = append(kept, related(run, naming.RawScripts(run.Name)))
		kept[2].Data = m.scripts
	}
	for _, one := range kept {
		sum, err := evidence.ContentDigest(one)
		if err != nil {
			return nil, nil, err
		}
		status.Evidence.Kept = append(status.Evidence.Kept, v1alpha1.KeptDigest{Name: one.Name, SHA256: sum})
	}
	return status, kept, nil
}

// related returns an empty ConfigMap of a run.
func related(run *v1alpha1.PerfRun, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: run.Namespace, Name: name, Labels: naming.RunLabels(run),
		OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfRun", run)},
	}}
}

// digest returns a string with the length of a digest that depends on the words.
func digest(words ...any) string { return naming.Hash(words...) }

// uid returns a string in the format of Kubernetes' UIDs.
func uid(words ...any) string {
	d := digest(words...)
	return d[:8] + "-" + d[8:12] + "-4" + d[13:16] + "-a" + d[17:20] + "-" + d[20:32]
}
