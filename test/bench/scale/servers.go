// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

// nodes is the number of nodes of a generated cluster.
const nodes = 8

// instance is a pod of the system in the collector's samples.
type instance struct {
	component, pod, container, node string
	resources                       corev1.ResourceRequirements
}

// podName generates the name of a pod of a Deployment.
func podName(owner string, n int) string {
	d := digest(owner, n)
	return fmt.Sprintf("%s-%s-%s", owner, d[:10], d[10:15])
}

func nodeName(n int) string { return fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", n%nodes, 10+n%nodes) }

// instances returns the pods of a system: its modules, brokers and PostgreSQL instances.
func instances(system v1alpha1.System) []instance {
	var all []instance
	for _, module := range system.Modules {
		for n := range replicas(module) {
			pod := podName("perflab-"+module.Name, n)
			all = append(all, instance{metric.Module + "/" + module.Name, pod, module.Name, nodeName(len(all)), module.Resources})
		}
	}
	if kafka := system.Kafka; kafka != nil {
		for n := range int(kafka.Brokers.Replicas) {
			all = append(all, instance{fmt.Sprintf("%s%d", metric.Broker, n), fmt.Sprintf("perflab-broker-%d", n), "kafka", nodeName(len(all)), kafka.Brokers.Resources})
		}
	}
	if postgres := system.Postgres; postgres != nil {
		for n := range int(postgres.Instances) {
			component := metric.Primary
			if n > 0 {
				component = fmt.Sprintf("%s%d", metric.Replica, n)
			}
			all = append(all, instance{component, fmt.Sprintf("perflab-pg-%d", n+1), "postgres", nodeName(len(all)), postgres.Resources})
		}
	}
	return all
}

func replicas(module v1alpha1.Module) int {
	if module.Replicas == nil {
		return 1
	}
	return int(*module.Replicas)
}

// servers generates the collector's samples.
func (r *recorder) servers() {
	r.samples = payload.NewSampleRecorder(r.run.Name, "collector", r.start)
	// A short load is also sampled at its start and end.
	every, all := min(r.run.Spec.Measurement.IntervalOrDefault(), r.length/4), instances(r.run.Spec.System)
	for at := r.start; !at.After(r.start.Add(r.length)); at = at.Add(every) {
		r.samples.Round(at, every)
		for _, one := range all {
			own := one.pod + "/" + one.container
			r.samples.Record(one.component, own, metric.CPU, metric.UnitCores, at, 0.3*r.noise(0.1))
			r.samples.Record(one.component, own, metric.Memory, metric.UnitMebibytes, at, 700*r.noise(0.01))
		}
		for _, resource := range []string{metric.Connections, metric.ConnectionsActive, metric.ConnectionsIdle, metric.IdleInTransaction, metric.DatabaseLoad + "cpu", metric.DatabaseLoad + "io", metric.CacheHits, metric.TransactionsPerSecond} {
			r.samples.Record(metric.Primary, "", resource, metric.UnitCount, at, 100*r.noise(0.1))
		}
		r.samples.Record(metric.Kafka, "", metric.ConsumerLag, metric.UnitCount, at, 10*r.noise(0.3))
		r.samples.Record(metric.Kafka, "", metric.RecordsIn, metric.UnitPerSecond, at, 200*r.noise(0.1))
	}
	for _, one := range all {
		r.samples.Samples.SetContainer(payload.Container{
			Component: one.component, Instance: one.pod + "/" + one.container, Node: one.node,
			CPURequest:    one.resources.Requests.Cpu().AsApproximateFloat64(),
			MemoryRequest: one.resources.Requests.Memory().AsApproximateFloat64() / mib,
			MemoryLimit:   one.resources.Limits.Memory().AsApproximateFloat64() / mib,
		})
	}
	r.statements()
}

// statements generates the statements that used PostgreSQL's time.
func (r *recorder) statements() {
	period := payload.StatementPeriod{Component: metric.Primary, From: r.start, To: r.start.Add(r.length)}
	texts := map[string]string{}
	for n := range statements {
		id := digest("statement", n)[:16]
		texts[id] = fmt.Sprintf("SELECT jsonb::text FROM fs09000000_mod_inventory_storage.table_%d WHERE lower(f_unaccent(jsonb->>$1)) LIKE lower(f_unaccent($2)) AND (jsonb->>$3)::boolean IS NOT TRUE ORDER BY lower(f_unaccent(jsonb->>$4)), id LIMIT $5 OFFSET $6", n)
		took := 60000 / float64(n+1) * r.noise(0.1)
		period.Top = append(period.Top, payload.StatementTime{ID: id, Calls: 4000, Milliseconds: took, Rows: 4000})
		period.Milliseconds += took
	}
	r.samples.Samples.Statements, r.samples.Samples.Texts = []payload.StatementPeriod{period}, texts
}

// report writes the rest of a run's status.
func (r *recorder) report(status *v1alpha1.PerfRunStatus) {
	status.ObservedGeneration, status.Phase = 1, v1alpha1.RunSucceeded
	after := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: r.start.Add(d)} }
	status.Timings = v1alpha1.RunTimings{
		ProvisionStart: after(-4 * time.Minute), Provisioned: after(-2 * time.Minute), Ready: after(-10 * time.Second),
		LoadStart: after(0), LoadFinish: after(r.length), CollectStart: after(r.length + 4*time.Second), Finish: after(r.length + 5*time.Second),
	}
	seconds := func(n int) metav1.Duration { return metav1.Duration{Duration: time.Duration(n) * time.Second} }
	status.Durations = &v1alpha1.RunDurations{
		Provision: seconds(120), Ready: seconds(110), LoadStart: seconds(10), Load: metav1.Duration{Duration: r.length}, Collect: seconds(1), Analyze: seconds(0),
	}
	status.Effective = effective(r.run.Spec.System)
	status.Conditions = conditions(*status.Timings.Finish, len(r.run.Spec.System.Modules))
	status.Evidence = r.evidence()
	for _, load := range r.run.Spec.Scenario.Loads {
		tally := results.TallyOf(load, r.measured, r.run.Spec.Measurement)
		status.Loads = append(status.Loads, v1alpha1.LoadStatus{
			Name: load.Name, Stage: "started", Outcome: v1alpha1.LoadSucceeded,
			CreateTime: after(-5 * time.Second), StartTime: after(0), FinishTime: after(loadLength(load)),
			Progress: &v1alpha1.LoadProgress{Time: *after(loadLength(load) - 5*time.Second), Users: 20, RequestsPerSecond: "41.2", ErrorPercent: "0"},
			Requests: tally.Requests.Status(), Checks: tally.Checks.Status(),
		})
	}
}

func (r *recorder) evidence() *v1alpha1.RunEvidence {
	kept := &v1alpha1.RunEvidence{Versions: v1alpha1.MetVersions{
		PerfLab: "v0.4.0", Kubernetes: "v1.35.4", Strimzi: "1.2.0", CloudNativePG: "1.30.0", K6Operator: "1.6.0", K6: "k6 v2.2.0",
	}}
	image := func(of string) {
		kept.Images = append(kept.Images, v1alpha1.MetImage{Of: of, ImageID: "sha256:" + digest(of)})
	}
	payloads := func(of, pod string) {
		kept.Payloads = append(kept.Payloads, v1alpha1.PayloadDigest{Pod: pod, Load: of, SHA256: digest(of, pod, r.run.Spec.Position)})
	}
	image("collector")
	image("operator")
	payloads("", podName("perflab-collector", int(r.run.Spec.Position)))
	for _, load := range r.run.Spec.Scenario.Loads {
		image(load.Name)
		for n := range int(load.ParallelismOrDefault()) {
			payloads(load.Name, podName("perflab-"+load.Name, n))
		}
		kept.Rendered = append(kept.Rendered, v1alpha1.RenderedDigest{Of: load.Name, SHA256: digest("load", load.Name)})
	}
	for _, part := range []string{"Kafka", "PostgreSQL", "the modules"} {
		kept.Rendered = append(kept.Rendered, v1alpha1.RenderedDigest{Of: part, SHA256: digest(part)})
	}
	return kept
}

// effective returns the system as the operator reads it from the cluster.
func effective(system v1alpha1.System) *v1alpha1.EffectiveSystem {
	reported := &v1alpha1.EffectiveSystem{KafkaMode: "KRaft", KafkaVersion: "4.3.1", PostgresInstances: 1}
	modules, found := map[string][]v1alpha1.EffectivePod{}, map[string]int32{}
	for _, one := range instances(system) {
		pod := v1alpha1.EffectivePod{Name: one.pod, UID: types.UID(uid(one.pod)), Node: one.node}
		found[one.node]++
		switch one.container {
		case "kafka":
			reported.KafkaPods, reported.KafkaBrokers = append(reported.KafkaPods, pod), reported.KafkaBrokers+1
		case "postgres":
			reported.PostgresPods = append(reported.PostgresPods, pod)
		default:
			modules[one.container] = append(modules[one.container], pod)
		}
	}
	for _, module := range system.Modules {
		own := v1alpha1.EffectiveModule{Name: module.Name, Replicas: int32(replicas(module)), ImageID: module.Image + "@sha256:" + digest(module.Image), Pods: modules[module.Name]}
		if module.JVM != nil && module.JVM.Heap != nil {
			own.Heap, own.Collector = module.JVM.Heap.Max, "G1"
		}
		for _, pod := range own.Pods {
			own.Nodes = append(own.Nodes, pod.Node)
		}
		slices.Sort(own.Nodes)
		own.Nodes = slices.Compact(own.Nodes)
		reported.Modules = append(reported.Modules, own)
	}
	for n := range min(nodes, len(found)) {
		reported.Nodes = append(reported.Nodes, v1alpha1.EffectiveNode{Name: nodeName(n), InstanceType: "m7g.2xlarge", Pods: found[nodeName(n)]})
	}
	if system.Kafka != nil {
		for _, group := range system.Kafka.Topics {
			reported.Topics = append(reported.Topics, v1alpha1.EffectiveTopics{Group: group.Group, Topics: 4, Partitions: group.Partitions, Replicas: 1, Source: "broker metadata"})
		}
	}
	return reported
}

// conditions returns the conditions of a valid run.
func conditions(at metav1.Time, modules int) []metav1.Condition {
	all := []metav1.Condition{
		{Type: v1alpha1.ConditionImagesAvailable, Reason: v1alpha1.ReasonReady, Message: "no image is known to be missing"},
		{Type: v1alpha1.ConditionKafkaReady, Reason: v1alpha1.ReasonReady, Message: "14 of 14 topics are created"},
		{Type: v1alpha1.ConditionPostgresReady, Reason: v1alpha1.ReasonReady, Message: `PostgreSQL "perflab-pg" is ready: 1 of 1 instance is ready`},
		{Type: v1alpha1.ConditionValid, Reason: v1alpha1.ReasonValid, Message: "the run is valid"},
		{Type: v1alpha1.ConditionReady, Reason: v1alpha1.ReasonComplete, Message: "the run is finished and valid"},
		{Type: v1alpha1.ConditionModulesReady, Reason: v1alpha1.ReasonReady, Message: fmt.Sprintf("%d of %d modules are ready", modules, modules)},
		{Type: v1alpha1.ConditionTargetReachable, Reason: v1alpha1.ReasonReady, Message: "the target answers"},
		{Type: v1alpha1.ConditionLoadsComplete, Reason: v1alpha1.ReasonComplete, Message: "every load has ended"},
		{Type: v1alpha1.ConditionResultsKept, Reason: v1alpha1.ReasonReady, Message: "the results are stored"},
	}
	for i := range all {
		all[i].Status, all[i].LastTransitionTime, all[i].ObservedGeneration = metav1.ConditionTrue, at, 1
	}
	return all
}
