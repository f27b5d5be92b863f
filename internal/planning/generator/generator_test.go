// SPDX-License-Identifier: Apache-2.0

package generator_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/generator"
	"perflab.dev/perflab/internal/testing/expect"
)

// desk is a load of users with limits per runner; 0 means none.
func desk(users, runners int32, memoryMiB, milliCores int64) v1alpha1.Load {
	load := v1alpha1.Load{Name: "cico", Parallelism: &runners, CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: users}}
	load.Resources.Limits = corev1.ResourceList{}
	if memoryMiB > 0 {
		load.Resources.Limits[corev1.ResourceMemory] = *resource.NewQuantity(memoryMiB<<20, resource.BinarySI)
	}
	if milliCores > 0 {
		load.Resources.Limits[corev1.ResourceCPU] = *resource.NewMilliQuantity(milliCores, resource.DecimalSI)
	}
	return load
}

func TestNeedIsComparedWithLimits(t *testing.T) {
	for name, c := range map[string]struct {
		load     v1alpha1.Load
		says     string
		excesses []string
	}{
		"no limits": {desk(1000, 1, 0, 0), "1000 users need about 1673 MiB of memory and about 2 cores", nil},
		"memory enough": {desk(1000, 2, 1024, 500), "1000 users need about 1745 MiB of memory and about 2 cores; the 2 k6 runners may use 2048 MiB and 1 core", []string{
			"the 2 k6 runners may use 1 core, and 1000 users need about 2 cores: a run above 80 % of the limit is invalid; raise resources.limits.cpu or parallelism",
		}},
		"too little of both": {
			desk(1000, 1, 512, 2400), "1000 users need about 1673 MiB of memory and about 2 cores; the k6 runner may use 512 MiB and 2.4 cores",
			[]string{
				"the k6 runner may use 512 MiB of memory, and 1000 users need about 1673 MiB: k6 may be killed; raise resources.limits.memory or parallelism",
				"the k6 runner may use 2.4 cores, and 1000 users need about 2 cores: a run above 80 % of the limit is invalid; raise resources.limits.cpu or parallelism",
			},
		},
	} {
		need, known := generator.AtLevel(c.load, 1000, nil)
		if !known {
			t.Errorf("%s: unknown", name)
		}
		expect.Equal(t, c.says, need.String(), "%s", name)
		expect.Equal(t, c.excesses, need.Excesses(), "%s", name)
	}
}

func TestNeedOfKinds(t *testing.T) {
	scripts := map[string]map[string]string{"scripts": {
		"users.js": "export const options = { scenarios: { s: { executor: 'ramping-vus', stages: JSON.parse(__ENV.PERFLAB_STAGES) } } };\nexport default function () {}",
		"rate.js":  "export const options = { scenarios: { s: { executor: 'ramping-arrival-rate', preAllocatedVUs: 20, maxVUs: 300, stages: JSON.parse(__ENV.PERFLAB_STAGES) } } };\nexport default function () {}",
		"pick.js":  "export const options = pick();\nexport default function () {}",
	}}
	script := func(key string) v1alpha1.Load {
		return v1alpha1.Load{Name: "search", Script: &v1alpha1.Script{ConfigMap: &v1alpha1.ConfigMapKey{Name: "scripts", Key: key}}}
	}
	open := desk(300, 1, 0, 0)
	open.CheckInCheckOut.Arrivals = &v1alpha1.Arrivals{PerMinute: 2000}
	for name, c := range map[string]struct {
		load  v1alpha1.Load
		users int64
		known bool
	}{
		"users":             {desk(200, 1, 0, 0), 100, true},
		"arrivals":          {open, 300, true},
		"users of a script": {script("users.js"), 100, true},
		"a script's rate":   {script("rate.js"), 300, true},
		"a computed script": {script("pick.js"), 0, false},
		"an absent script":  {script("absent.js"), 0, false},
		"imports":           {v1alpha1.Load{Name: "create", DataImport: &v1alpha1.DataImport{Records: 100}}, 0, false},
		"another tool":      {v1alpha1.Load{Name: "jmeter"}, 0, false},
	} {
		need, known := generator.AtLevel(c.load, 100, scripts)
		if known != c.known || known && need.Users != c.users {
			t.Errorf("%s: %+v, %t; want %d users", name, need, known, c.users)
		}
	}
}
