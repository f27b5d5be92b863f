// SPDX-License-Identifier: Apache-2.0

package arms_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/systems"
)

func TestDifferences(t *testing.T) {
	cases := map[string]struct {
		set  *v1alpha1.SystemSet
		want []v1alpha1.Difference
	}{
		"None": {nil, nil},
		"Same": {partitions(2), nil},
		"Partitions": {partitions(4), []v1alpha1.Difference{
			{Setting: "kafka.topics[data-import].partitions", Baseline: "2", Arm: "4"},
		}},
		"HeapByPercentage": {
			modulesSet(v1alpha1.ModuleSet{Name: "*", JVM: &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}}}),
			[]v1alpha1.Difference{
				{Setting: "modules[gateway].jvm.heap", Arm: "66% of the limit"},
				{Setting: "modules[mod-inventory].jvm.heap", Baseline: "768Mi", Arm: "66% of the limit"},
			},
		},
		"Variable": {
			modulesSet(v1alpha1.ModuleSet{Name: "mod-inventory", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}),
			[]v1alpha1.Difference{{Setting: "modules[mod-inventory].env[A]", Arm: "b"}},
		},
		"ChangedVariable": {
			modulesSet(v1alpha1.ModuleSet{Name: "mod-inventory", Env: []corev1.EnvVar{{Name: "DB_MAXPOOLSIZE", Value: "20"}}}),
			[]v1alpha1.Difference{{Setting: "modules[mod-inventory].env[DB_MAXPOOLSIZE]", Baseline: "10", Arm: "20"}},
		},
		"EmptyVariable": {
			modulesSet(v1alpha1.ModuleSet{Name: "mod-inventory", Env: []corev1.EnvVar{{Name: "A"}}}),
			[]v1alpha1.Difference{{Setting: "modules[mod-inventory].env[A]", Arm: `""`}},
		},
		"VariableFromElsewhere": {
			modulesSet(v1alpha1.ModuleSet{Name: "mod-inventory", Env: []corev1.EnvVar{
				{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: "user",
				}}},
				{Name: "B", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "b", Optional: ptr.To(true),
				}}},
				{Name: "C", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			}}),
			[]v1alpha1.Difference{
				{Setting: "modules[mod-inventory].env[A]", Arm: "from Secret login, key user"},
				{Setting: "modules[mod-inventory].env[B]", Arm: "from optional ConfigMap settings, key b"},
				{Setting: "modules[mod-inventory].env[C]", Arm: `{"fieldRef":{"fieldPath":"status.podIP"}}`},
			},
		},
		"Spread": {
			modulesSet(v1alpha1.ModuleSet{Name: "gateway", Placement: &v1alpha1.Placement{TopologySpread: []v1alpha1.Spread{{TopologyKey: "zone", MaxSkew: 1}}}}),
			[]v1alpha1.Difference{{Setting: "modules[gateway].placement.topologySpread[zone].maxSkew", Arm: "1"}},
		},
		"OnlyAName": {
			modulesSet(v1alpha1.ModuleSet{Name: "gateway", Resources: &corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}}),
			[]v1alpha1.Difference{{Setting: "modules[gateway].resources.claims[gpu]", Arm: "set"}},
		},
		"Options": {
			modulesSet(v1alpha1.ModuleSet{Name: "mod-inventory", JVM: &v1alpha1.JVM{Options: []string{"-Xint"}}}),
			[]v1alpha1.Difference{
				{Setting: "modules[mod-inventory].jvm.options", Baseline: `["-XX:+UseSerialGC"]`, Arm: `["-Xint"]`},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			system := systems.Full()
			expect.Equal(t, tc.want, arms.Differences(system, arms.Resolve(system, tc.set)), "differences")
		})
	}
}

func listed(sets ...*v1alpha1.SystemSet) *v1alpha1.PerfExperimentSpec {
	spec := &v1alpha1.PerfExperimentSpec{Arms: []v1alpha1.Arm{{Name: "as-is", Baseline: true}}}
	for _, set := range sets {
		spec.Arms = append(spec.Arms, v1alpha1.Arm{Name: "changed", Set: set})
	}
	return spec
}

func TestConfounded(t *testing.T) {
	nodes := v1alpha1.KafkaNodes{Replicas: 3}
	both := partitions(4)
	both.Postgres = split(false).Postgres
	cases := map[string]struct {
		reason string
		spec   *v1alpha1.PerfExperimentSpec
		want   []string
	}{
		"OneThing": {spec: listed(partitions(4))},
		"Nothing":  {spec: listed(nil)},
		"ManyModules": {
			reason: "the same heap in many modules is one difference",
			spec:   listed(modulesSet(v1alpha1.ModuleSet{Name: "*", JVM: &v1alpha1.JVM{Heap: &v1alpha1.Heap{MaxRAMPercentage: "66"}}})),
		},
		"NewVariable": {
			reason: "a variable with its value is one difference",
			spec:   listed(modulesSet(v1alpha1.ModuleSet{Name: "*", Env: []corev1.EnvVar{{Name: "SLOW", Value: "30"}}})),
		},
		"VariableAndImage": {
			reason: "values that may be secret are not shown",
			spec:   listed(modulesSet(v1alpha1.ModuleSet{Name: "gateway", Image: "gateway:2", Env: []corev1.EnvVar{{Name: "DB_PASSWORD", Value: "hunter2"}}})),
			want:   []string{`arm "changed" differs from the baseline in 2 settings: modules[*].env[*] (not set → (not shown)), modules[*].image (gateway:1 → gateway:2)`},
		},
		"Mode": {
			reason: "another mode needs other nodes",
			spec:   listed(kafkaSet(v1alpha1.KafkaSet{Mode: v1alpha1.KafkaModeZooKeeper, ZooKeeper: &nodes})),
		},
		"TwoThings": {
			spec: listed(both),
			want: []string{`arm "changed" differs from the baseline in 2 settings: kafka.topics[*].partitions (2 → 4), postgres.readWriteSplit (true → false)`},
		},
		"HeapAndLimit": {
			spec: listed(modulesSet(v1alpha1.ModuleSet{
				Name: "mod-inventory", JVM: &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse("1Gi"))}},
				Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": resource.MustParse("3Gi")}, Requests: systems.Full().Modules[0].Resources.Requests},
			})),
			want: []string{`arm "changed" differs from the baseline in 2 settings: modules[*].jvm.heap (768Mi → 1Gi), modules[*].resources.limits (2Gi → 3Gi)`},
		},
		"Matrix": {reason: "factors vary together on purpose", spec: twoByTwo()},
		"MatrixLevel": {
			spec: func() *v1alpha1.PerfExperimentSpec {
				spec := twoByTwo()
				spec.Matrix.Factors[0].Levels[1].Set.Modules = []v1alpha1.ModuleSet{{Name: "*", Image: "other:2"}}
				return spec
			}(),
			want: []string{`level "two" of factor "partitions" differs from the baseline in 2 settings: kafka.topics[*].partitions (1 → 2), modules[*].image (gateway:1 → other:2)`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, confounded := range arms.ConfoundedArms(tc.spec, systems.Full()) {
				got = append(got, confounded.String())
			}
			expect.Equal(t, tc.want, got, "%s", tc.reason)
		})
	}
}

func TestChanges(t *testing.T) {
	cases := map[string]struct {
		reason      string
		differences []v1alpha1.Difference
		want        []arms.Change
	}{
		"NoList": {
			differences: []v1alpha1.Difference{{Setting: "postgres.parameters.work_mem", Arm: "8MB"}},
			want:        []arms.Change{{Setting: "postgres.parameters.work_mem", Baseline: "not set", Arm: "8MB"}},
		},
		"Alike": {
			reason: "a change to several modules is listed once",
			differences: []v1alpha1.Difference{
				{Setting: "modules[a].jvm.heap", Baseline: "1Gi", Arm: "2Gi"},
				{Setting: "modules[b].jvm.heap", Baseline: "3Gi", Arm: "2Gi"},
				{Setting: "modules[c].jvm.heap", Baseline: "1Gi", Arm: "2Gi"},
			},
			want: []arms.Change{
				{Setting: "modules.jvm.heap (a, c)", Baseline: "1Gi", Arm: "2Gi"},
				{Setting: "modules.jvm.heap (b)", Baseline: "3Gi", Arm: "2Gi"},
			},
		},
		"JSON": {
			reason: "lists and objects are described in words",
			differences: []v1alpha1.Difference{
				{Setting: "postgres.readWriteSplit.exclude", Arm: `["a","b"]`},
				{Setting: "postgres.readWriteSplit", Baseline: `{"enabled":true,"exclude":["a"]}`, Arm: "[]"},
				{Setting: "kafka.version", Baseline: "4.1", Arm: "[4"},
			},
			want: []arms.Change{
				{Setting: "postgres.readWriteSplit.exclude", Baseline: "not set", Arm: "a, b"},
				{Setting: "postgres.readWriteSplit", Baseline: "enabled: true; exclude: a", Arm: "none"},
				{Setting: "kafka.version", Baseline: "4.1", Arm: "[4"},
			},
		},
		"Variables": {
			reason: "two variables with the same value are two changes",
			differences: []v1alpha1.Difference{
				{Setting: "modules[a].env[LINGER]", Arm: "5"},
				{Setting: "modules[a].env[POOL]", Arm: "5"},
				{Setting: "modules[b].env[LINGER]", Arm: "5"},
			},
			want: []arms.Change{
				{Setting: "env LINGER (a, b)", Baseline: "not set", Arm: "5"},
				{Setting: "env POOL (a)", Baseline: "not set", Arm: "5"},
			},
		},
		"Secret": {
			reason:      "shows the source of a secret, never its value",
			differences: []v1alpha1.Difference{{Setting: "modules[a].env[DB_PASSWORD]", Baseline: "hunter2", Arm: "from Secret db, key password"}},
			want:        []arms.Change{{Setting: "env DB_PASSWORD (a)", Baseline: "(not shown)", Arm: "from Secret db, key password"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, arms.Changes(tc.differences), "%s", tc.reason)
		})
	}
}

func TestPairs(t *testing.T) {
	matrix := &v1alpha1.Matrix{Factors: []v1alpha1.Factor{
		{Name: "split", Levels: []v1alpha1.Level{{Name: "off"}, {Name: "on"}}},
		{Name: "size", Levels: []v1alpha1.Level{{Name: "s"}, {Name: "m"}}},
	}}
	all := []arms.Arm{{Name: "off-s", Baseline: true}, {Name: "off-m"}, {Name: "on-s"}, {Name: "on-m"}, {Name: "twin", Twin: true}}
	for wanted, want := range map[v1alpha1.Pairs][]arms.Pair{
		"":                         nil,
		v1alpha1.PairsAll:          {{"on-s", "off-m"}, {"on-m", "off-m"}, {"on-m", "on-s"}},
		v1alpha1.PairsChain:        {{"on-s", "off-m"}, {"on-m", "on-s"}},
		v1alpha1.PairsWithinLevels: {{"on-m", "off-m"}, {"on-m", "on-s"}},
	} {
		expect.Equal(t, want, arms.Pairs(wanted, matrix, all), "%s", wanted)
	}
	if got := arms.Pairs(v1alpha1.PairsWithinLevels, nil, all); got != nil {
		t.Errorf("without a matrix %v are within levels", got)
	}
}
