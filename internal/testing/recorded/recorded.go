// SPDX-License-Identifier: Apache-2.0

// Package recorded generates the record of an experiment with two arms and an A/A control,
// two scenarios and six blocks, for tests: deterministic for a seed. One attempt is
// invalid.
package recorded

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
)

// Names in the experiment.
const (
	Name      = "maxram-vs-xmx"
	Namespace = "lab"
	Baseline  = "xmx"
	Twin      = "xmx-twin"
	Arm       = "maxram-66"
	// AloneScenario has only an import, ConcurrentScenario has it under concurrent users.
	AloneScenario      = "create-5k"
	ConcurrentScenario = "create-5k-under-cico"
)

var startTime = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// module is a service and its usage.
type module struct {
	name                string
	cores, memory       float64
	limit, request, max string
}

var modules = []module{
	{"mod-inventory", 1.91, 1420, "2880Mi", "2592Mi", "1814Mi"},
	{"mod-inventory-storage", 1.22, 2310, "4096Mi", "3690Mi", "3076Mi"},
	{"mod-source-record-manager", 0.83, 1940, "5600Mi", "5000Mi", "3500Mi"},
	{"mod-source-record-storage", 0.71, 2055, "5600Mi", "5000Mi", "3500Mi"},
	{"mod-circulation", 0.34, 1120, "2880Mi", "2592Mi", "1814Mi"},
	{"mod-users", 0.09, 610, "1024Mi", "896Mi", "768Mi"},
	{"mod-authtoken", 0.21, 540, "1440Mi", "1152Mi", "922Mi"},
}

// generator generates measured data.
type generator struct {
	random *rand.Rand
	input  report.Input
	at     time.Time
}

var (
	made   = map[uint64]report.Input{}
	making sync.Mutex
)

// Experiment generates the record; tests may change the result.
func Experiment(seed uint64) report.Input {
	making.Lock()
	defer making.Unlock()
	if _, known := made[seed]; !known {
		made[seed] = draw(seed)
	}
	found := made[seed]
	input := report.Input{Experiment: *found.Experiment.DeepCopy()}
	for _, run := range found.Runs {
		input.Runs = append(input.Runs, *run.DeepCopy())
	}
	for _, raw := range found.Raw {
		input.Raw = append(input.Raw, *raw.DeepCopy())
	}
	return input
}

func draw(seed uint64) report.Input {
	g := &generator{random: rand.New(rand.NewPCG(seed, 7)), at: startTime}
	g.input.Experiment = experiment()
	position := int32(0)
	for block := int32(1); block <= g.input.Experiment.Spec.Design.Blocks; block++ {
		mood := g.noise(0.03)
		type cell struct {
			arm      string
			scenario v1alpha1.Scenario
		}
		var cells []cell
		for _, arm := range []string{Baseline, Twin, Arm} {
			for _, scenario := range g.input.Experiment.Spec.Scenarios {
				cells = append(cells, cell{arm, scenario})
			}
		}
		g.random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		for _, one := range cells {
			position++
			attempt := int32(1)
			if position == 11 {
				g.invalid(g.run(block, position, attempt, one.arm, one.scenario))
				attempt++
			}
			g.valid(g.run(block, position, attempt, one.arm, one.scenario), mood)
		}
	}
	g.input.Experiment.Status.Runs = &v1alpha1.RunCounts{Planned: position, Done: position, Invalid: 1}
	g.input.Experiment.Status.CompletionTime = stamp(g.at)
	return g.input
}

func experiment() v1alpha1.PerfExperiment {
	made := v1alpha1.PerfExperiment{}
	made.Name, made.Namespace, made.UID = Name, Namespace, "3b8f0b1e-53a1-4b65-9d2f-0a4f3a1d7c11"
	made.CreationTimestamp = metav1.NewTime(startTime.Add(-time.Minute))
	spec := &made.Spec
	spec.System = system()
	var share []string
	for _, one := range modules {
		share = append(share, one.name)
	}
	spec.Arms = []v1alpha1.Arm{
		{Name: Baseline, Baseline: true},
		{Name: Arm, Set: &v1alpha1.SystemSet{Modules: []v1alpha1.ModuleSet{{
			Names: share, JVM: &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}},
		}}}},
	}
	imported := &v1alpha1.DataImport{RecordType: v1alpha1.RecordBibliographic, Operation: v1alpha1.ImportCreate, Records: 5000, Imports: 1}
	spec.Scenarios = []v1alpha1.Scenario{
		{Name: AloneScenario, Loads: []v1alpha1.Load{{Name: "create-5k", DataImport: imported}}},
		{Name: ConcurrentScenario, Loads: []v1alpha1.Load{
			{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8, RampUp: &metav1.Duration{Duration: 80 * time.Second}}, Duration: &metav1.Duration{Duration: 20 * time.Minute}},
			{Name: "create-5k", StartAfter: &metav1.Duration{Duration: 8 * time.Minute}, DataImport: imported},
		}},
	}
	spec.Design = v1alpha1.Design{Blocks: 6, Order: v1alpha1.OrderRandomized, Seed: ptr.To[int64](893), Calibrate: true}
	spec.Measurement = v1alpha1.Measurement{WarmUp: &metav1.Duration{Duration: 3 * time.Minute}}
	spec.Reset = v1alpha1.ResetRestartModules
	spec.Validity = v1alpha1.Validity{MaxErrorPercent: ptr.To[int32](1), MaxRestarts: ptr.To[int32](0), MaxAttempts: 3}
	made.Status = v1alpha1.PerfExperimentStatus{
		Phase: v1alpha1.ExperimentComplete, Progress: "36/36", Seed: ptr.To[int64](893), PlanHash: "5d1c0e7b3a9f4c21",
		StartTime: stamp(startTime),
	}
	all := arms.All(spec, spec.System)
	for _, arm := range all {
		made.Status.Arms = append(made.Status.Arms, v1alpha1.ArmStatus{
			Name: arm.Name, Baseline: arm.Baseline, Twin: arm.Twin, Differences: arms.Differences(all[0].System, arm.System),
		})
	}
	return made
}

func system() v1alpha1.System {
	made := v1alpha1.System{
		Target: v1alpha1.Target{URL: "http://gateway.example:8000", Tenant: "diku", CredentialsSecret: v1alpha1.SecretName{Name: "login"}},
		Kafka: &v1alpha1.Kafka{
			Mode: v1alpha1.KafkaModeKRaft, Version: "4.3.1", Brokers: v1alpha1.KafkaNodes{Replicas: 3},
			Topics: []v1alpha1.TopicGroup{{Group: "data-import", Prefix: "folio.Default", Count: ptr.To[int32](18), Partitions: 2}},
		},
		Postgres: &v1alpha1.Postgres{Instances: 1},
	}
	for _, one := range modules {
		made.Modules = append(made.Modules, v1alpha1.Module{
			Name: one.name, Image: "registry.example/folioorg/" + one.name + ":1.2.3",
			Resources: corev1.ResourceRequirements{
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(one.limit)},
				Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(one.request), corev1.ResourceCPU: resource.MustParse("1")},
			},
			JVM: &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse(one.max))}},
			Env: []corev1.EnvVar{{Name: "DB_PASSWORD", Value: "folio_admin_pw"}, {Name: "LOG_LEVEL", Value: "warn"}},
		})
	}
	return made
}

// noise returns a factor around 1.
func (g *generator) noise(deviation float64) float64 {
	return math.Exp(g.random.NormFloat64() * deviation)
}

func (g *generator) run(block, position, attempt int32, arm string, scenario v1alpha1.Scenario) *v1alpha1.PerfRun {
	spec := &g.input.Experiment.Spec
	configured, _ := arms.Named(arms.All(spec, spec.System), arm)
	run := &v1alpha1.PerfRun{}
	run.Name, run.Namespace = naming.Long.Run(Name, block, arm, scenario.Name, attempt), Namespace
	run.Spec = v1alpha1.PerfRunSpec{
		Experiment: Name, PlanHash: "5d1c0e7b3a9f4c21", Block: block, Position: position, Attempt: attempt, Arm: arm,
		System: configured.System, Scenario: scenario, Seed: int64(block), Measurement: spec.Measurement, Validity: spec.Validity,
	}
	run.Labels = naming.RunLabels(run)
	g.at = g.at.Add(2 * time.Minute)
	run.CreationTimestamp = metav1.NewTime(g.at)
	g.at = g.at.Add(90 * time.Second)
	run.Status.Timings.LoadStart = stamp(g.at)
	run.Status.Effective = effective(configured.System)
	return run
}

func effective(system v1alpha1.System) *v1alpha1.EffectiveSystem {
	made := &v1alpha1.EffectiveSystem{
		KafkaMode: "KRaft", KafkaVersion: "4.3.1", KafkaBrokers: 3, PostgresInstances: 1,
		Topics: []v1alpha1.EffectiveTopics{{Group: "data-import", Topics: 18, Partitions: 2, Replicas: 3, Source: "broker"}},
		Nodes:  []v1alpha1.EffectiveNode{{Name: "node-a", InstanceType: "m7g.2xlarge", Pods: 9}, {Name: "node-b", InstanceType: "m7g.2xlarge", Pods: 8}},
	}
	for i, one := range system.Modules {
		heap := one.JVM.Heap.Max
		if heap == nil {
			limit := one.Resources.Limits[corev1.ResourceMemory]
			heap = resource.NewQuantity(limit.Value()*66/100/(1<<20)*(1<<20), resource.BinarySI)
		}
		made.Modules = append(made.Modules, v1alpha1.EffectiveModule{
			Name: one.Name, Replicas: 2, ImageID: fmt.Sprintf("registry.example/folioorg/%s@sha256:%064x", one.Name, (i+1)*0x5f3759df),
			Heap: heap, Collector: "G1", Nodes: []string{"node-a", "node-b"},
		})
	}
	return made
}

func (g *generator) invalid(run *v1alpha1.PerfRun) {
	run.Status.Phase = v1alpha1.RunInvalid
	run.Status.Message = "containers ended or pods were replaced during the load: mod-inventory 2 times (OOMKilled, exit code 137); validity.maxRestarts allows 0"
	g.at = g.at.Add(11 * time.Minute)
	run.Status.Timings.LoadFinish = stamp(g.at)
	run.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionValid, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonRestarts, Message: run.Status.Message,
		LastTransitionTime: metav1.NewTime(g.at),
	}}
	g.input.Experiment.Status.InvalidRuns = append(g.input.Experiment.Status.InvalidRuns, v1alpha1.InvalidRun{Run: run.Name, Reason: v1alpha1.ReasonRestarts, Message: run.Status.Message})
	g.input.Runs = append(g.input.Runs, *run)
}

func (g *generator) valid(run *v1alpha1.PerfRun, mood float64) {
	run.Status.Phase = v1alpha1.RunSucceeded
	pace := mood * g.noise(0.012)
	// The heap's size determines the garbage collections of the import.
	imports := 236.0 * pace * g.noise(0.01)
	if run.Spec.Arm == Arm {
		imports *= 0.91
	}
	beside := run.Spec.Scenario.Name == ConcurrentScenario
	from, length := 0.0, imports
	if beside {
		imports *= 1.31
		from, length = 480, 1200
	}
	start := run.Status.Timings.LoadStart.Time
	g.at = start.Add(time.Duration(length * float64(time.Second)))
	run.Status.Timings.LoadFinish = stamp(g.at)
	measured := map[string]*payload.Payload{}
	if beside {
		measured["cico"] = g.users(run, start, pace, from, imports)
		g.status(run, "cico", start, g.at)
	}
	g.status(run, "create-5k", start.Add(seconds(from)), start.Add(seconds(from+imports)))
	g.observeImport(run, imports)
	g.observeServers(run, pace)
	g.keep(run, measured)
	g.sample(run, start, length, pace)
	slices.SortFunc(run.Status.Observations, func(a, b v1alpha1.Observation) int { return cmp.Compare(a.Metric, b.Metric) })
	g.input.Runs = append(g.input.Runs, *run)
}

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

// stamp truncates a time to whole seconds, as the cluster does.
func stamp(at time.Time) *metav1.Time { return ptr.To(metav1.NewTime(at.Truncate(time.Second))) }

func (g *generator) status(run *v1alpha1.PerfRun, load string, from, to time.Time) {
	run.Status.Loads = append(run.Status.Loads, v1alpha1.LoadStatus{
		Name: load, StartTime: stamp(from), FinishTime: stamp(to), Outcome: v1alpha1.LoadSucceeded,
	})
}

// users check in and out; during an import it takes longer.
func (g *generator) users(run *v1alpha1.PerfRun, start time.Time, pace, from, imports float64) *payload.Payload {
	p := payload.New("cico", run.Name, "1", start)
	for second := 0.0; second < 1200; second += 0.55 {
		transaction, base := "Check-Out", 940.0
		if g.random.Float64() < 0.43 {
			transaction, base = "Check-In", 462.0
		}
		took := base * pace * g.noise(0.22)
		if second < 120 {
			took *= 1 + (120-second)/140
		}
		if second >= from && second < from+imports {
			took *= 1.72
			if run.Spec.Arm == Arm && transaction == "Check-In" {
				took *= 1.22
			}
		}
		outcome := "ok"
		if g.random.Float64() < 0.0004 {
			outcome = "error"
		}
		p.Record(transaction, outcome, start.Add(seconds(second)), seconds(took/1000))
	}
	p.End, p.Final = start.Add(20*time.Minute), true
	for _, window := range []struct {
		suffix   string
		from, to float64
	}{{"", 180, 1200}, {"@alone", 180, from}, {"@during-create-5k", from, from + imports}, {"@after", from + imports, 1200}} {
		g.observeUsers(run, p.Between(start.Add(seconds(window.from)), start.Add(seconds(window.to))), window.suffix)
	}
	return p
}

func (g *generator) observeUsers(run *v1alpha1.PerfRun, part *payload.Payload, suffix string) {
	for _, transaction := range part.Transactions() {
		all, _ := part.Summary(transaction, "")
		failed, _ := part.Summary(transaction, "error")
		ok, _ := part.Summary(transaction, "ok")
		name := "cico/" + transaction + "/"
		g.observe(run, name+"samples"+suffix, float64(all.Count), "1", 0)
		g.observe(run, name+"errors"+suffix, 100*float64(failed.Count)/float64(all.Count), "%", all.Count)
		for statistic, value := range map[string]time.Duration{"average": ok.Mean, "p50": ok.P50, "p75": ok.P75, "p95": ok.P95, "p99": ok.P99, "max": ok.Max} {
			g.observe(run, name+statistic+suffix, value.Seconds()*1000, "ms", ok.Count)
		}
	}
	if suffix != "" {
		return
	}
	for _, request := range []struct {
		name, of string
		share    float64
	}{
		{"Check-In/POST /circulation/check-in-by-barcode", "Check-In", 0.44},
		{"Check-In/GET /inventory/items", "Check-In", 0.12},
		{"Check-Out/POST /circulation/check-out-by-barcode", "Check-Out", 0.33},
		{"Check-Out/GET /circulation/loans", "Check-Out", 0.15},
	} {
		ok, _ := part.Summary(request.of, "ok")
		own := ok.Mean.Seconds() * 1000 * request.share
		g.observe(run, "cico/"+request.name+"/average", own*g.noise(0.01), "ms", ok.Count)
		g.observe(run, "cico/"+request.name+"/p95", own*1.6*g.noise(0.02), "ms", ok.Count)
	}
}

func (g *generator) observeImport(run *v1alpha1.PerfRun, took float64) {
	g.observe(run, "create-5k/duration", took, "s", 1)
	g.observe(run, "create-5k/clientDuration", took+2.1*g.noise(0.2), "s", 1)
	g.observe(run, "create-5k/recordsPerSecond", 5000/took, "1/s", 0)
	g.observe(run, "create-5k/records", 5000, "1", 0)
	g.observe(run, "create-5k/failedRecords", 0, "1", 0)
	g.observe(run, "create-5k/imports", 1, "1", 0)
}

func (g *generator) observeServers(run *v1alpha1.PerfRun, pace float64) {
	for _, one := range modules {
		name := "module/" + one.name + "/"
		cores, memory := one.cores*g.noise(0.04)/pace, one.memory*g.noise(0.02)
		if run.Spec.Arm == Arm {
			memory *= 0.93
		}
		g.observe(run, name+"cpu/average", cores, "cores", 0)
		g.observe(run, name+"cpu/max", cores*1.5*g.noise(0.05), "cores", 0)
		g.observe(run, name+"memory/average", memory, "MiB", 0)
		g.observe(run, name+"memory/max", memory*1.05*g.noise(0.005), "MiB", 0)
		slope := 4 * g.random.NormFloat64()
		if one.name == "mod-inventory" {
			slope += 38
		}
		g.observe(run, name+"memory/slope", slope, "MiB/h", 0)
		g.observe(run, name+"restarts", 0, "1", 0)
	}
	g.observe(run, "postgres/primary/cpu/average", 2.4*g.noise(0.05), "cores", 0)
	g.observe(run, "postgres/primary/cpu/max", 3.6*g.noise(0.05), "cores", 0)
	g.observe(run, "postgres/primary/connections/total/average", 402*g.noise(0.01), "1", 0)
	g.observe(run, "postgres/primary/connections/total/max", 431*g.noise(0.01), "1", 0)
	for broker := range 3 {
		name := "kafka/broker-" + strconv.Itoa(broker) + "/"
		g.observe(run, name+"cpu/average", 0.33*g.noise(0.06), "cores", 0)
		g.observe(run, name+"cpu/max", 0.61*g.noise(0.06), "cores", 0)
	}
}

func (g *generator) observe(run *v1alpha1.PerfRun, metric string, value float64, unit string, samples int64) {
	run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{Metric: metric, Value: decimal.Format(value), Unit: unit, Samples: samples})
}

// sample records the usage of two servers.
func (g *generator) sample(run *v1alpha1.PerfRun, start time.Time, length, pace float64) {
	samples := payload.NewSampleRecorder(run.Name, "collector", start)
	for second := 0.0; second <= length; second += 15 {
		at := start.Add(seconds(second))
		busy := 0.35
		if run.Spec.Scenario.Name == AloneScenario || second > 480 && second < 790 {
			busy = 1
		}
		samples.Record("module/mod-inventory", "pod-1/main", "cpu", "cores", at, 1.9*busy*g.noise(0.06)/pace)
		samples.Record("module/mod-inventory", "pod-1/main", "memory", "MiB", at, 1400+second/90+4*g.random.NormFloat64())
		samples.Record("postgres/primary", "", "connections/total", "1", at, 380+40*busy)
	}
	body, err := payload.MarshalSamples(samples.Samples)
	if err != nil {
		// Generated data always marshals.
		panic(err)
	}
	raw := corev1.ConfigMap{BinaryData: map[string][]byte{"samples": body}}
	raw.Name, raw.Namespace, raw.Labels = naming.RawSamples(run.Name), Namespace, run.Labels
	run.Status.Servers = &v1alpha1.ServersStatus{
		RawSamples: raw.Name, Notes: []string{"kafka: the metrics API does not report the brokers' disks"},
		Statements: []v1alpha1.StatementShare{{
			Server: "postgres/primary", Text: "SELECT jsonb FROM diku_mod_inventory_storage.item WHERE lower(f_unaccent(jsonb->>$1)) LIKE lower(f_unaccent($2))",
			Calls: 4120, Rows: 4120, TotalSeconds: "61.8", MeanMilliseconds: "15", Percent: "24.4",
		}},
	}
	g.input.Raw = append(g.input.Raw, raw)
}

func (g *generator) keep(run *v1alpha1.PerfRun, measured map[string]*payload.Payload) {
	raw := corev1.ConfigMap{BinaryData: map[string][]byte{}}
	raw.Name, raw.Namespace, raw.Labels = naming.RawResults(run.Name), Namespace, run.Labels
	for load, own := range measured {
		body, err := payload.Marshal(own)
		if err != nil {
			// Generated data always marshals.
			panic(err)
		}
		raw.BinaryData[load] = body
	}
	run.Status.RawResults = raw.Name
	g.input.Raw = append(g.input.Raw, raw)
}
