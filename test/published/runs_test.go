// SPDX-License-Identifier: Apache-2.0

package published

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/schema"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

const (
	// importTakes is the assumed duration of the import of one file.
	importTakes = 40 * time.Minute
	// every is the interval between two samples of servers.
	every = 2 * time.Minute
)

// began is the start of every generated run.
var began = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// readSample reads an experiment and its system as the cluster would. It generates a run of
// each arm and scenario.
func readSample(t *testing.T, sample, system string) report.Input {
	t.Helper()
	experiment, under := &v1alpha1.PerfExperiment{}, &v1alpha1.PerfSystem{}
	for _, path := range []string{apiserver.Root("config", "samples", sample), apiserver.Root("config", "systems", system)} {
		stream, err := os.Open(path)
		expect.NoError(t, err)
		objects, err := schema.Documents(stream)
		_ = stream.Close()
		expect.NoError(t, err)
		for _, object := range objects {
			if schema.IsOurs(object) {
				if faults := schema.Check(t.Context(), object); len(faults) > 0 {
					t.Fatal(path, faults)
				}
			}
			into := map[string]any{"PerfExperiment": experiment, "PerfSystem": under}[object.GetKind()]
			if into == nil {
				continue
			}
			expect.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into))
		}
	}
	return reportInput(t, experiment, under.Spec)
}

func reportInput(t *testing.T, experiment *v1alpha1.PerfExperiment, system v1alpha1.System) report.Input {
	t.Helper()
	experiment.Namespace = "lab"
	input := report.Input{Experiment: *experiment}
	for _, arm := range arms.All(&experiment.Spec, system) {
		input.Experiment.Status.Arms = append(input.Experiment.Status.Arms, v1alpha1.ArmStatus{Name: arm.Name, Baseline: arm.Baseline})
		for _, scenario := range experiment.Spec.Scenarios {
			run, raw := newRun(t, experiment, arm, scenario)
			input.Runs = append(input.Runs, *run)
			input.Raw = append(input.Raw, *raw)
		}
	}
	return input
}

// newRun returns a valid run and its raw results.
func newRun(t *testing.T, experiment *v1alpha1.PerfExperiment, arm arms.Arm, scenario v1alpha1.Scenario) (*v1alpha1.PerfRun, *corev1.ConfigMap) {
	t.Helper()
	run := &v1alpha1.PerfRun{ObjectMeta: metav1.ObjectMeta{Namespace: experiment.Namespace, Name: fmt.Sprintf("%s-%s-%s", experiment.Name, arm.Name, scenario.Name)}}
	run.Spec = v1alpha1.PerfRunSpec{
		Experiment: experiment.Name, Arm: arm.Name, Block: 1, Attempt: 1, Scenario: scenario,
		System: arm.System, Measurement: experiment.Spec.Measurement,
	}
	run.Labels = naming.RunLabels(run)
	raw := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: naming.RawResults(run.Name), Labels: run.Labels}, BinaryData: map[string][]byte{}}
	when := loadWindows(scenario.Loads)
	measured := map[string]results.Measured{}
	end := began
	for _, load := range scenario.Loads {
		histograms := loadPayload(run.Name, load, when[load.Name])
		measured[load.Name] = results.FromHistograms(histograms)
		encoded, err := payload.Marshal(histograms)
		expect.NoError(t, err)
		raw.BinaryData[load.Name] = encoded
		if when[load.Name].To.After(end) {
			end = when[load.Name].To
		}
	}
	samples := collectorSamples(run.Name, arm.System, end)
	run.Status = v1alpha1.PerfRunStatus{Phase: v1alpha1.RunSucceeded, RawResults: raw.Name, Observations: append(
		results.Observe(scenario.Loads, measured, run.Spec.Measurement),
		results.ObserveServersThroughout(samples, scenario.Loads, measured, run.Spec.Measurement)...)}
	run.Status.Timings = v1alpha1.RunTimings{LoadStart: ptrTo(began), LoadFinish: ptrTo(end), Finish: ptrTo(end)}
	return run, raw
}

func ptrTo(at time.Time) *metav1.Time { return &metav1.Time{Time: at} }

// loadWindows returns the times of a scenario's loads.
func loadWindows(loads []v1alpha1.Load) map[string]results.Window {
	when := map[string]results.Window{}
	for _, load := range loads {
		from := began
		if load.After != "" {
			from = when[load.After].To
		}
		from = from.Add(load.StartAfterOrDefault())
		lasts := importTakes * time.Duration(countFiles(load))
		if load.Duration != nil {
			lasts = load.Duration.Duration
		}
		when[load.Name] = results.Window{From: from, To: from.Add(lasts)}
	}
	for _, load := range loads {
		if load.Until != "" {
			when[load.Name] = results.Window{From: when[load.Name].From, To: when[load.Until].To}
		}
	}
	return when
}

func countFiles(load v1alpha1.Load) int32 {
	if load.DataImport == nil {
		return 1
	}
	return max(load.DataImport.Imports, 1)
}

// loadPayload returns the result of a load.
func loadPayload(run string, load v1alpha1.Load, when results.Window) *payload.Payload {
	p := payload.New(load.Name, run, "1", when.From)
	if load.DataImport != nil {
		imports(p, load, when)
	} else {
		users(p, load, when)
	}
	p.End, p.Final = when.To, true
	return p
}

// imports adds the metrics of data-import.js, named as in k6/README.md.
func imports(p *payload.Payload, load v1alpha1.Load, when results.Window) {
	files := countFiles(load)
	for n := int32(1); n <= files; n++ {
		at := when.From.Add(time.Duration(n)*importTakes - time.Second)
		p.Record("Import", payload.OK, at, importTakes)
		p.Record("Import job", payload.OK, at, importTakes)
		if files > 1 {
			p.Record(fmt.Sprintf("Import job %d", n), payload.OK, at, importTakes)
		}
	}
	p.Count("perflab_imports", when.To.Add(-time.Second), float64(files))
	p.Count("perflab_records", when.To.Add(-time.Second), float64(files)*float64(load.DataImport.Records))
}

// slowRequests has the requests of check-in and check-out that the report lists
// individually.
var slowRequests = map[string][]string{
	metric.CheckIn:  {"POST /circulation/check-in-by-barcode", "GET /inventory/items"},
	metric.CheckOut: {"POST /circulation/check-out-by-barcode", "GET /circulation/loans"},
}

// transactions returns the transactions of a load's kind, or of the script of page 003's
// workflows.
func transactions(load v1alpha1.Load) []string {
	if load.Script != nil && load.Script.Path == "/scripts/workflows.js" {
		return slices.Sorted(maps.Values(workflows))
	}
	return kinds.ForLoad(load).Transactions()
}

// users adds the transactions. Each user performs each transaction every two minutes.
func users(p *payload.Payload, load v1alpha1.Load, when results.Window) {
	for at := when.From.Add(time.Second); at.Before(when.To); at = at.Add(every) {
		for _, transaction := range transactions(load) {
			p.Record(transaction, payload.OK, at, time.Second)
			for _, request := range slowRequests[transaction] {
				p.Add(payload.Row{Transaction: transaction, Request: request, Outcome: payload.OK, Status: "2xx"}, at, 300*time.Millisecond)
			}
		}
	}
}

// collectorSamples returns the samples of a system's servers.
func collectorSamples(run string, system v1alpha1.System, end time.Time) *payload.Samples {
	r := payload.NewSampleRecorder(run, "collector", began)
	servers := serverResources(system)
	for at := began; at.Before(end); at = at.Add(every) {
		r.Round(at, every)
		for of := range servers {
			r.Record(of, "pod/container", metric.CPU, metric.UnitCores, at, 0.3)
			r.Record(of, "pod/container", metric.Memory, metric.UnitMebibytes, at, 700)
		}
	}
	for of, resources := range servers {
		const mib = 1 << 20
		r.Samples.SetContainer(payload.Container{
			Component: of, Instance: "pod/container",
			CPURequest:    resources.Requests.Cpu().AsApproximateFloat64(),
			MemoryRequest: resources.Requests.Memory().AsApproximateFloat64() / mib,
		})
	}
	return r.Samples
}

// serverResources returns the resources of a system's modules, brokers and databases.
func serverResources(system v1alpha1.System) map[string]corev1.ResourceRequirements {
	servers := map[string]corev1.ResourceRequirements{}
	for _, module := range system.Modules {
		if module.Replicas == nil || *module.Replicas > 0 {
			servers[metric.Name(metric.Module, module.Name)] = module.Resources
		}
	}
	if kafka := system.Kafka; kafka != nil {
		for n := range int(kafka.Brokers.Replicas) {
			servers[fmt.Sprintf("%s%d", metric.Broker, n)] = kafka.Brokers.Resources
		}
	}
	if postgres := system.Postgres; postgres != nil {
		servers[metric.Primary] = postgres.Resources
		for n := 1; n < int(postgres.Instances); n++ {
			servers[fmt.Sprintf("%s%d", metric.Replica, n)] = postgres.Resources
		}
	}
	return servers
}
