// SPDX-License-Identifier: Apache-2.0

package arms_test

import (
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestDefaultsOfModules(t *testing.T) {
	script := []v1alpha1.Scenario{{Loads: []v1alpha1.Load{{Script: &v1alpha1.Script{}}}}}
	imports := []v1alpha1.Scenario{{Loads: []v1alpha1.Load{{DataImport: &v1alpha1.DataImport{}}}}}
	preset := &v1alpha1.Kafka{Topics: []v1alpha1.TopicGroup{{Preset: &v1alpha1.TopicPreset{}}}}
	neutral, folio := v1alpha1.Module{Port: 8080}, v1alpha1.Module{Port: 8081, HealthPath: "/admin/health"}
	own := v1alpha1.Module{Port: 9130, HealthPath: "/health"}
	for name, c := range map[string]struct {
		scenarios []v1alpha1.Scenario
		system    v1alpha1.System
		module    v1alpha1.Module
		want      v1alpha1.Module
	}{
		"any system":        {scenarios: script, want: neutral},
		"a FOLIO load":      {scenarios: imports, want: folio},
		"a tenant":          {scenarios: script, system: v1alpha1.System{Target: v1alpha1.Target{Tenant: "diku"}}, want: folio},
		"a preset":          {scenarios: script, system: v1alpha1.System{Kafka: preset}, want: folio},
		"declared":          {scenarios: imports, module: own, want: own},
		"declared, neutral": {scenarios: script, module: own, want: own},
	} {
		t.Run(name, func(t *testing.T) {
			c.system.Modules = []v1alpha1.Module{c.module}
			got := arms.Defaulted(&v1alpha1.PerfExperimentSpec{Scenarios: c.scenarios}, c.system)
			expect.Equal(t, []v1alpha1.Module{c.want}, got.Modules, "modules")
			expect.Equal(t, c.module, c.system.Modules[0], "the declared module")
		})
	}
}
