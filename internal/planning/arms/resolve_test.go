// SPDX-License-Identifier: Apache-2.0

package arms_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/systems"
)

func TestResolve(t *testing.T) {
	cases := map[string]struct {
		reason string
		set    *v1alpha1.SystemSet
		// want edits the full system into the expected one.
		want func(*v1alpha1.System)
	}{
		"Nothing": {reason: "an arm without settings is the system", want: func(*v1alpha1.System) {}},
		"Empty":   {reason: "an arm with empty settings is the system", set: &v1alpha1.SystemSet{}, want: func(*v1alpha1.System) {}},
		"Partitions": {
			reason: "only the named group changes, and of it only what is given",
			set: kafkaSet(v1alpha1.KafkaSet{Topics: []v1alpha1.TopicGroupSet{
				{Group: "pub-sub", Partitions: ptr.To[int32](2), Config: map[string]string{"retention.bytes": "1"}},
				{Group: "no-such-group", Partitions: ptr.To[int32](9)},
			}}),
			want: func(s *v1alpha1.System) {
				s.Kafka.Topics[1].Partitions = 2
				s.Kafka.Topics[1].Config = map[string]string{"retention.ms": "7200000", "retention.bytes": "1"}
			},
		},
		"Brokers": {
			reason: "brokers are replaced as a whole, config key by key",
			set: kafkaSet(v1alpha1.KafkaSet{
				Version:     "4.2.0",
				Brokers:     &v1alpha1.KafkaNodes{Replicas: 1},
				Controllers: &v1alpha1.KafkaNodes{Replicas: 5},
				Config:      map[string]string{"compression.type": "zstd", "num.io.threads": "4"},
			}),
			want: func(s *v1alpha1.System) {
				s.Kafka.Version = "4.2.0"
				s.Kafka.Brokers = v1alpha1.KafkaNodes{Replicas: 1}
				s.Kafka.Controllers = &v1alpha1.KafkaNodes{Replicas: 5}
				s.Kafka.Config = map[string]string{"log.retention.minutes": "480", "compression.type": "zstd", "num.io.threads": "4"}
			},
		},
		"Postgres": {
			reason: "the split is replaced as a whole, parameters key by key",
			set: &v1alpha1.SystemSet{Postgres: &v1alpha1.PostgresSet{
				Instances:      ptr.To[int32](2),
				ReadWriteSplit: &v1alpha1.ReadWriteSplit{Enabled: false},
				Parameters:     map[string]string{"work_mem": "8MB"},
			}},
			want: func(s *v1alpha1.System) {
				s.Postgres.Instances = 2
				s.Postgres.ReadWriteSplit = &v1alpha1.ReadWriteSplit{}
				s.Postgres.Parameters = map[string]string{"max_connections": "300", "work_mem": "8MB"}
			},
		},
		"HeapBySize": {
			reason: "a percentage replaces the size; metaspace and options stay",
			set: modulesSet(v1alpha1.ModuleSet{
				Name: "mod-inventory",
				JVM:  &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}},
			}),
			want: func(s *v1alpha1.System) {
				s.Modules[0].JVM.Heap = &v1alpha1.Heap{MaxRAMPercentage: "66"}
			},
		},
		"MetaspaceAndOptions": {
			reason: "options alone keep the heap; an empty list removes the options",
			set: modulesSet(v1alpha1.ModuleSet{
				Name: "mod-inventory",
				JVM:  &v1alpha1.JVM{Metaspace: &v1alpha1.Metaspace{Max: ptr.To(resource.MustParse("1Gi"))}, Options: []string{}},
			}),
			want: func(s *v1alpha1.System) {
				s.Modules[0].JVM.Metaspace = &v1alpha1.Metaspace{Max: ptr.To(resource.MustParse("1Gi"))}
				s.Modules[0].JVM.Options = []string{}
			},
		},
		"NamedAfterAll": {
			reason: `"*" is applied first wherever it is written, so the named module wins`,
			set: modulesSet(
				v1alpha1.ModuleSet{Name: "gateway", Replicas: ptr.To[int32](4)},
				v1alpha1.ModuleSet{Name: "*", Replicas: ptr.To[int32](3), Image: "same:2", Resources: &corev1.ResourceRequirements{}, JVM: &v1alpha1.JVM{Options: []string{"-XX:+UseZGC"}}},
				v1alpha1.ModuleSet{Name: "no-such-module", Image: "x"},
			),
			want: func(s *v1alpha1.System) {
				for i, replicas := range []int32{3, 4} {
					s.Modules[i].Replicas = &replicas
					s.Modules[i].Image = "same:2"
					s.Modules[i].Resources = corev1.ResourceRequirements{}
				}
				s.Modules[0].JVM.Options = []string{"-XX:+UseZGC"}
				s.Modules[1].JVM = &v1alpha1.JVM{Options: []string{"-XX:+UseZGC"}}
			},
		},
		"Env": {
			reason: "variables are replaced in place, new ones come last",
			set: modulesSet(v1alpha1.ModuleSet{Name: "mod-inventory", Env: []corev1.EnvVar{
				{Name: "NEW", Value: "1"}, {Name: "DB_MAXPOOLSIZE", Value: "20"},
			}}),
			want: func(s *v1alpha1.System) {
				s.Modules[0].Env = []corev1.EnvVar{{Name: "DB_MAXPOOLSIZE", Value: "20"}, {Name: "NEW", Value: "1"}}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := systems.Full()
			tc.want(&want)
			expect.Equal(t, want, arms.Resolve(systems.Full(), tc.set), "%s", tc.reason)
		})
	}
}

func TestResolveIgnoresMissingComponents(t *testing.T) {
	bare := v1alpha1.System{Modules: []v1alpha1.Module{{Name: "gateway", Image: "gateway:1"}}}
	resolved := arms.Resolve(bare, everything())
	if resolved.Kafka != nil || resolved.Postgres != nil {
		t.Error("settings made a component the system does not have")
	}
	if got := resolved.Modules[0].Image; got != "gateway:2" {
		t.Errorf("the module's image is %q; want the arm's", got)
	}
}

// Inputs are shared by every run of an arm, so an edit of one would affect the next.
func TestResolveSharesNothing(t *testing.T) {
	system, set := systems.Full(), everything()
	first := arms.Resolve(system, set)
	if diff := cmp.Diff(systems.Full(), system); diff != "" {
		t.Errorf("the system was edited:\n%s", diff)
	}
	if diff := cmp.Diff(everything(), set); diff != "" {
		t.Errorf("the set was edited:\n%s", diff)
	}
	if diff := cmp.Diff(first, arms.Resolve(first, set)); diff != "" {
		t.Errorf("applied twice is not what it is applied once:\n%s", diff)
	}

	spoil(&first)
	if diff := cmp.Diff(systems.Full(), system); diff != "" {
		t.Errorf("the result shares memory with the system:\n%s", diff)
	}
	if diff := cmp.Diff(everything(), set); diff != "" {
		t.Errorf("the result shares memory with the set:\n%s", diff)
	}
	if diff := cmp.Diff(arms.Resolve(systems.Full(), everything()), arms.Resolve(system, set)); diff != "" {
		t.Errorf("the second result differs from the first:\n%s", diff)
	}
}

// After one setting for all modules, each can still change independently.
func TestResolvedModulesShareNothing(t *testing.T) {
	bare := v1alpha1.System{Modules: []v1alpha1.Module{{Name: "a"}, {Name: "b"}}}
	resolved := arms.Resolve(bare, modulesSet(v1alpha1.ModuleSet{
		Name: "*", JVM: &v1alpha1.JVM{Options: []string{"-Xint"}},
	}))
	resolved.Modules[0].JVM.Options[0] = "spoilt"
	if got := resolved.Modules[1].JVM.Options[0]; got != "-Xint" {
		t.Errorf("the second module's option is %q", got)
	}
}

// spoil overwrites everything that a resolved system refers to.
func spoil(s *v1alpha1.System) {
	for _, settings := range []map[string]string{s.Kafka.Config, s.Kafka.Topics[0].Config, s.Kafka.Topics[1].Config, s.Postgres.Parameters} {
		for key := range settings {
			settings[key] = "spoilt"
		}
	}
	s.Kafka.Controllers.Replicas = 99
	s.Kafka.Topics[0].Names[0] = "spoilt"
	s.Postgres.ReadWriteSplit.Enabled = !s.Postgres.ReadWriteSplit.Enabled
	for i := range s.Modules {
		module := &s.Modules[i]
		module.JVM.Heap.MaxRAMPercentage = "99"
		module.JVM.Options[0] = "spoilt"
		module.Resources.Limits["memory"] = resource.MustParse("99Ti")
		module.Env[0].Value = "spoilt"
	}
}

// everything sets every field.
func everything() *v1alpha1.SystemSet {
	jvm := func() *v1alpha1.JVM {
		return &v1alpha1.JVM{
			Heap:      &v1alpha1.Heap{MaxRAMPercentage: "70.1"},
			Metaspace: &v1alpha1.Metaspace{Max: ptr.To(resource.MustParse("200Mi"))},
			Options:   []string{"-XX:+UseG1GC"},
		}
	}
	return &v1alpha1.SystemSet{
		Kafka: &v1alpha1.KafkaSet{
			Version:     "4.2.0",
			Brokers:     &v1alpha1.KafkaNodes{Replicas: 2},
			Controllers: &v1alpha1.KafkaNodes{Replicas: 1},
			Config:      map[string]string{"a": "b"},
			Topics: []v1alpha1.TopicGroupSet{
				{Group: "data-import", Partitions: ptr.To[int32](7), Replicas: ptr.To[int32](2), Config: map[string]string{"c": "d"}},
			},
		},
		Postgres: &v1alpha1.PostgresSet{
			Instances:      ptr.To[int32](2),
			ReadWriteSplit: &v1alpha1.ReadWriteSplit{Enabled: true},
			Parameters:     map[string]string{"e": "f"},
		},
		Modules: []v1alpha1.ModuleSet{
			{Name: "*", JVM: jvm(), Env: []corev1.EnvVar{{Name: "G", Value: "H"}}, Resources: &corev1.ResourceRequirements{
				Limits: corev1.ResourceList{"memory": resource.MustParse("3Gi")},
			}},
			{Name: "gateway", Image: "gateway:2", Replicas: ptr.To[int32](2)},
		},
	}
}

func kafkaSet(set v1alpha1.KafkaSet) *v1alpha1.SystemSet { return &v1alpha1.SystemSet{Kafka: &set} }

func modulesSet(sets ...v1alpha1.ModuleSet) *v1alpha1.SystemSet {
	return &v1alpha1.SystemSet{Modules: sets}
}

// A single request changes for all modules, and their other requests stay.
func TestSingleRequestsAreReplaced(t *testing.T) {
	memory := func(text string) v1alpha1.Module {
		return v1alpha1.Module{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse(text)},
			Limits:   corev1.ResourceList{"memory": resource.MustParse(text)},
		}}
	}
	system := v1alpha1.System{Modules: []v1alpha1.Module{memory("1Gi"), memory("2Gi"), {}}}
	for i := range system.Modules {
		system.Modules[i].Name = string(rune('a' + i))
	}
	set := &v1alpha1.SystemSet{Modules: []v1alpha1.ModuleSet{{Name: "*", Requests: corev1.ResourceList{"cpu": resource.MustParse("2m")}}}}
	resolved := arms.Resolve(system, set)
	for i, want := range []string{"1Gi", "2Gi", "0"} {
		got := resolved.Modules[i].Resources
		if got.Requests.Cpu().String() != "2m" || got.Requests.Memory().String() != want || got.Limits.Memory().String() != want {
			t.Errorf("module %d asks for %v", i, got)
		}
	}
	if system.Modules[0].Resources.Requests.Cpu().String() != "1" {
		t.Error("the system itself is changed")
	}
}
