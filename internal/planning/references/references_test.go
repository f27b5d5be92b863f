// SPDX-License-Identifier: Apache-2.0

package references_test

import (
	"fmt"
	"testing"

	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/references"
	"perflab.dev/perflab/internal/testing/expect"
)

func read[T any](t *testing.T, text string) *T {
	t.Helper()
	var object T
	expect.NoError(t, yaml.UnmarshalStrict([]byte(text), &object), "reading %s", text)
	return &object
}

// lines returns needs as users read them: the field, then the right.
func lines(needs []references.Need) []string {
	var all []string
	for _, need := range needs {
		all = append(all, fmt.Sprintf("%s: %s", need.Field, need.Right))
	}
	return all
}

func wants(t *testing.T, needs []references.Need, want ...string) {
	t.Helper()
	expect.Equal(t, want, lines(needs), "needs")
}

// The author of changed notes needs permissions for these notes only.
func TestNotes(t *testing.T) {
	notes := func(text string) []v1alpha1.Note { return *read[[]v1alpha1.Note](t, text) }
	before := notes(`[{name: a, text: words}, {name: b, configMap: {name: kept, key: k}}, {name: c, at: "2026-03-09T07:12:44Z", text: stopped}]`)
	wants(t, references.Experiment(&v1alpha1.PerfExperimentSpec{Notes: before}, nil), `spec.notes[1].configMap: get ConfigMap "kept"`)
	wants(t, references.Notes(before, before))
	wants(t, references.Notes(before, before[:1]))
	for after, want := range map[string]string{
		`[{name: b, configMap: {name: other, key: k}}]`:                                            `spec.notes[0].configMap: get ConfigMap "other"`,
		`[{name: b, configMap: {name: kept, key: other}}]`:                                         `spec.notes[0].configMap: get ConfigMap "kept"`,
		`[{name: b, configMap: {name: kept, key: k}}, {name: d, configMap: {name: kept, key: k}}]`: `spec.notes[1].configMap: get ConfigMap "kept"`,
		`[{name: d, text: more}, {name: b, section: Results, configMap: {name: kept, key: k}}]`:    `spec.notes[1].configMap: get ConfigMap "kept"`,
	} {
		wants(t, references.Notes(before, notes(after)), want)
	}
}

func TestExperiment(t *testing.T) {
	cases := map[string]struct {
		spec string
		want []string
	}{
		"nothing":          {spec: `{system: {target: {module: a}, modules: [{name: a, image: "a:1", env: [{name: A, value: b}], volumes: [{name: v, mountPath: /v, emptyDir: {}}]}]}}`},
		"the target":       {`{system: {target: {credentialsSecret: {name: login}}}}`, []string{`spec.system.target.credentialsSecret: get Secret "login"`}},
		"brokers outside":  {`{system: {kafka: {external: {tls: {ca: {name: ca, key: k}}, sasl: {credentialsSecret: {name: msk}}}}}}`, []string{`spec.system.kafka.external.tls.ca: get Secret "ca"`, `spec.system.kafka.external.sasl.credentialsSecret: get Secret "msk"`}},
		"brokers' rules":   {`{system: {kafka: {metrics: {jmxExporter: {name: jmx, key: k}}}}}`, []string{`spec.system.kafka.metrics.jmxExporter: get ConfigMap "jmx"`}},
		"database outside": {`{system: {postgres: {external: {credentialsSecret: {name: rds}}}}}`, []string{`spec.system.postgres.external.credentialsSecret: get Secret "rds"`}},
		"a server's image": {
			`{system: {postgres: {image: "example.org/postgresql:16"}}, arms: [{name: a, set: {postgres: {image: "ghcr.io/cloudnative-pg/postgresql:17.2"}}}, {name: b, set: {postgres: {image: "ghcr.io/cloudnative-pg.example.org/postgresql:17"}}}]}`,
			[]string{"spec.system.postgres.image: create pods", "spec.arms[1].set.postgres.image: create pods"},
		},
		"borrowed":          {`{system: {modules: [{name: a, workloadRef: {name: okapi}}]}}`, []string{`spec.system.modules[0].workloadRef: patch Deployment "okapi"`}},
		"borrowed set":      {`{system: {modules: [{name: a, workloadRef: {kind: StatefulSet, name: okapi}}]}}`, []string{`spec.system.modules[0].workloadRef: patch StatefulSet "okapi"`}},
		"variables":         {`{system: {modules: [{name: a, env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: k}}}, {name: N, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}]}}`, []string{`spec.system.modules[0].env[0].valueFrom.secretKeyRef: get Secret "s"`, `spec.system.modules[0].env[1].valueFrom.configMapKeyRef: get ConfigMap "c"`}},
		"an optional one":   {`{system: {modules: [{name: a, env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}]}]}}`, []string{`spec.system.modules[0].env[0].valueFrom.secretKeyRef: get Secret "s"`}},
		"volumes":           {`{system: {modules: [{name: a, volumes: [{name: s, secret: {name: s}}, {name: c, configMap: {name: c}}, {name: p, persistentVolumeClaim: {claimName: p}}]}]}}`, []string{`spec.system.modules[0].volumes[0].secret: get Secret "s"`, `spec.system.modules[0].volumes[1].configMap: get ConfigMap "c"`, `spec.system.modules[0].volumes[2].persistentVolumeClaim: create pods`}},
		"an arm":            {`{arms: [{name: a}, {name: b, set: {kafka: {external: {sasl: {credentialsSecret: {name: msk}}}}, modules: [{name: "*", env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}]}`, []string{`spec.arms[1].set.kafka.external.sasl.credentialsSecret: get Secret "msk"`, `spec.arms[1].set.modules[0].env[0].valueFrom.secretKeyRef: get Secret "s"`}},
		"a level":           {`{matrix: {factors: [{name: f, levels: [{name: a}, {name: b, set: {postgres: {external: {credentialsSecret: {name: rds}}}, patches: [{kind: Deployment, merge: {spec: {template: {spec: {hostPID: true}}}}}]}}]}]}}`, []string{`spec.matrix.factors[0].levels[1].set.postgres.external.credentialsSecret: get Secret "rds"`, `spec.matrix.factors[0].levels[1].set.patches[0].merge.spec.template.spec.hostPID: create pods`}},
		"a script":          {`{scenarios: [{name: s, loads: [{name: l, script: {configMap: {name: c, key: k}, env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}}]}]}`, []string{`spec.scenarios[0].loads[0].script.configMap: get ConfigMap "c"`, `spec.scenarios[0].loads[0].script.env[0].valueFrom.secretKeyRef: get Secret "s"`}},
		"a script's volume": {`{scenarios: [{name: s, loads: [{name: l, script: {persistentVolumeClaim: {claimName: p, file: f}}}]}]}`, []string{`spec.scenarios[0].loads[0].script.persistentVolumeClaim: create pods`}},
		"items to lend":     {`{scenarios: [{name: s, loads: [{name: l, checkInCheckOut: {users: 1, data: {configMap: {name: c}}}}, {name: m, checkInCheckOut: {users: 1, data: {persistentVolumeClaim: {claimName: p}}}}]}]}`, []string{`spec.scenarios[0].loads[0].checkInCheckOut.data.configMap: get ConfigMap "c"`, `spec.scenarios[0].loads[1].checkInCheckOut.data.persistentVolumeClaim: create pods`}},
		"restoring":         {`{restore: {sql: {configMap: {name: c, key: k}}, job: {image: "a:1", env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}}}`, []string{`spec.restore.sql.configMap: get ConfigMap "c"`, `spec.restore.job.env[0].valueFrom.secretKeyRef: get Secret "s"`}},
		"a fault":           {`{scenarios: [{name: s, faults: [{name: f, kill: {module: a}}]}]}`, []string{`spec.scenarios[0].faults[0].kill: delete pods`}},
		"a switchover":      {`{scenarios: [{name: s, faults: [{name: f, switchover: {postgres: {}}}]}]}`, []string{`spec.scenarios[0].faults[0].switchover: delete pods`}},
		"an upgrade":        {`{scenarios: [{name: s, faults: [{name: f, restart: {postgres: {image: "example.org/postgres:1"}}}]}]}`, []string{`spec.scenarios[0].faults[0].restart: delete pods`, `spec.scenarios[0].faults[0].restart.postgres.image: create pods`}},
		"Prometheus":        {`{measurement: {prometheus: {url: "http://p", tokenSecret: {name: t}}}}`, []string{`spec.measurement.prometheus.tokenSecret: get Secret "t"`}},
		"prices":            {`{cost: {priceList: {name: p}}}`, []string{`spec.cost.priceList: get ConfigMap "p"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			wants(t, references.Experiment(read[v1alpha1.PerfExperimentSpec](t, c.spec), nil), c.want...)
		})
	}
}

func TestSharedSystems(t *testing.T) {
	spec := read[v1alpha1.PerfExperimentSpec](t, `{systemRef: {name: folio}, cost: {priceList: {name: p}}}`)
	shared := read[v1alpha1.System](t, `{target: {credentialsSecret: {name: login}}}`)
	wants(t, references.Experiment(spec, nil), `spec.cost.priceList: get ConfigMap "p"`)
	needs := references.Experiment(spec, shared)
	wants(t, needs, `spec.cost.priceList: get ConfigMap "p"`, `spec.target.credentialsSecret: get Secret "login"`)
	if needs[0].In != "" || needs[1].In != "folio" {
		t.Errorf("said to be in %q and %q, want the experiment and folio", needs[0].In, needs[1].In)
	}
	wants(t, references.System(shared), `spec.target.credentialsSecret: get Secret "login"`)
}
