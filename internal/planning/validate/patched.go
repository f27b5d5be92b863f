// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/jvm"
)

// resolvedFindings returns the findings of a system with its patches applied.
func resolvedFindings(system *v1alpha1.System) []finding {
	changed := patched(system)
	found := findings(changed)
	if changed == system {
		return found
	}
	known := map[string]bool{}
	for _, finding := range findings(system) {
		known[finding.sentence] = true
	}
	for i := range found {
		found[i].patched = !known[found[i].sentence]
	}
	return found
}

// patched returns the system with the validated effects of its patches, or the system
// itself if they have none or can't be applied.
func patched(system *v1alpha1.System) *v1alpha1.System {
	broken := func(patch v1alpha1.Patch) bool { return environment.PatchFault(patch) != nil }
	if len(system.Patches) == 0 || slices.ContainsFunc(system.Patches, broken) {
		return system
	}
	changed := system.DeepCopy()
	patchKafka(changed)
	patchPostgres(changed)
	patchModules(changed)
	return changed
}

// through applies patches to the spec of an object, limited to the fields of the type.
func through[T any](spec T, kind, name, module string, patches []v1alpha1.Patch) T {
	object := &unstructured.Unstructured{Object: map[string]any{"kind": kind, "spec": environment.Fields(&spec)}}
	object.SetName(name)
	if module != "" {
		object.SetLabels(map[string]string{v1alpha1.LabelModule: module})
	}
	changed := environment.Patched([]environment.Intent{object}, patches)[0]
	fields, _ := changed.Object["spec"].(map[string]any)
	var read T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &read); err != nil {
		// The object's schema rejects it.
		return spec
	}
	return read
}

// nodesSpec is the part of Strimzi's objects for nodes.
type nodesSpec struct {
	Replicas   int32                       `json:"replicas"`
	Resources  corev1.ResourceRequirements `json:"resources,omitempty"`
	JVMOptions struct {
		Max string         `json:"-Xmx,omitempty"`
		XX  map[string]any `json:"-XX,omitempty"`
	} `json:"jvmOptions,omitempty"`
}

func newNodesSpec(nodes v1alpha1.KafkaNodes) nodesSpec {
	spec := nodesSpec{Replicas: nodes.Replicas, Resources: nodes.Resources}
	spec.JVMOptions.XX = anyValues(nodes.JVMOptions)
	return spec
}

func (s nodesSpec) change(nodes *v1alpha1.KafkaNodes) {
	nodes.Replicas, nodes.Resources, nodes.JVMOptions = s.Replicas, s.Resources, textValues(s.JVMOptions.XX)
	if bytes, is := jvm.OptionSize("-Xmx"+s.JVMOptions.Max, "MaxHeapSize"); is {
		nodes.Heap = binary(bytes)
	}
}

func patchKafka(system *v1alpha1.System) {
	declared := system.Kafka
	if declared == nil || declared.Provider == v1alpha1.KafkaProviderExternal {
		return
	}
	type kafkaSpec struct {
		Kafka struct {
			nodesSpec `json:",inline"`
			Config    map[string]any `json:"config,omitempty"`
			Version   string         `json:"version,omitempty"`
		} `json:"kafka"`
	}
	var spec kafkaSpec
	spec.Kafka.nodesSpec, spec.Kafka.Config, spec.Kafka.Version = newNodesSpec(declared.Brokers), anyValues(declared.Config), declared.Version
	spec = through(spec, "Kafka", "kafka", "", system.Patches)
	declared.Config, declared.Version = textValues(spec.Kafka.Config), spec.Kafka.Version
	if declared.Mode == v1alpha1.KafkaModeZooKeeper {
		spec.Kafka.change(&declared.Brokers)
		return
	}
	through(newNodesSpec(declared.Brokers), "KafkaNodePool", "broker-pool", "", system.Patches).change(&declared.Brokers)
	if declared.Controllers != nil {
		through(newNodesSpec(*declared.Controllers), "KafkaNodePool", "controller-pool", "", system.Patches).change(declared.Controllers)
	}
}

func patchPostgres(system *v1alpha1.System) {
	declared := system.Postgres
	if declared == nil || declared.Provider == v1alpha1.PostgresProviderExternal {
		return
	}
	type clusterSpec struct {
		Instances  int32                       `json:"instances,omitempty"`
		ImageName  string                      `json:"imageName,omitempty"`
		Resources  corev1.ResourceRequirements `json:"resources,omitempty"`
		Storage    *v1alpha1.Storage           `json:"storage,omitempty"`
		PostgreSQL struct {
			Parameters map[string]string `json:"parameters,omitempty"`
		} `json:"postgresql,omitempty"`
	}
	spec := clusterSpec{Instances: declared.Instances, ImageName: declared.Image, Resources: declared.Resources, Storage: declared.Storage}
	spec.PostgreSQL.Parameters = declared.Parameters
	spec = through(spec, "Cluster", "postgres", "", system.Patches)
	declared.Instances, declared.Image, declared.Resources, declared.Storage = spec.Instances, spec.ImageName, spec.Resources, spec.Storage
	declared.Parameters = spec.PostgreSQL.Parameters
	if declared.Pooler == nil {
		return
	}
	type poolerSpec struct {
		PgBouncer struct {
			Parameters map[string]string `json:"parameters,omitempty"`
		} `json:"pgbouncer,omitempty"`
	}
	var pooler poolerSpec
	pooler.PgBouncer.Parameters = declared.Pooler.Parameters
	declared.Pooler.Parameters = through(pooler, "Pooler", "postgres", "", system.Patches).PgBouncer.Parameters
}

func patchModules(system *v1alpha1.System) {
	type deploymentSpec struct {
		Template corev1.PodTemplateSpec `json:"template"`
	}
	for i := range system.Modules {
		module := &system.Modules[i]
		if module.WorkloadRef != nil {
			continue
		}
		var spec deploymentSpec
		spec.Template.Spec.Containers = []corev1.Container{{
			Name: module.Name, Image: module.Image, Command: module.Command, Args: module.Args, Env: module.Env, Resources: module.Resources,
		}}
		spec = through(spec, "Deployment", module.Name, module.Name, system.Patches)
		for _, container := range spec.Template.Spec.Containers {
			if container.Name == module.Name {
				module.Image, module.Command, module.Args, module.Env, module.Resources = container.Image, container.Command, container.Args, container.Env, container.Resources
			}
		}
	}
}

func anyValues(texts map[string]string) map[string]any {
	values := map[string]any{}
	for name, text := range texts {
		values[name] = text
	}
	return values
}

func textValues(values map[string]any) map[string]string {
	texts := map[string]string{}
	for name, value := range values {
		texts[name] = fmt.Sprint(value)
	}
	return texts
}

// patchKinds are the objects of each component that can be patched.
var patchKinds = map[string][]v1alpha1.PatchKind{
	"kafka": {"Kafka", "KafkaNodePool"}, "postgres": {"Cluster", "Pooler"}, "modules": {"Deployment"},
}

// patchPlace returns the last patch that affects a finding; nil if there is none.
func patchPlace(patches []v1alpha1.Patch, place func(int) *field.Path, finding finding) *field.Path {
	if !finding.patched || len(finding.settings) == 0 {
		return nil
	}
	about := finding.settings[0]
	for i, patch := range slices.Backward(patches) {
		named := about[0] != "modules" || patch.Name == "" || len(about) > 1 && patch.Name == about[1]
		if named && slices.Contains(patchKinds[about[0]], patch.Kind) {
			return place(i)
		}
	}
	return nil
}
