// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

func TestFaultRules(t *testing.T) {
	const place = "spec.scenarios[0].faults"
	faults := func(text string) change { return change{"spec.scenarios.0.faults", text} }
	kill := func(text string) change {
		return faults("[{name: lost, after: 1m, kill: " + text + "}]")
	}
	resource := func(begun string) change {
		return faults("[{name: slow, after: 1m, resource: {manifest: {apiVersion: chaos-mesh.org/v1alpha1, kind: NetworkChaos, spec: {mode: all}}, begun: " + begun + "}}]")
	}
	judge(t, map[string]rule{
		"a module":            accept(kill("{module: gateway, pods: 2, gracePeriod: 30s}")),
		"the primary":         accept(kill("{postgres: Primary}")),
		"the controller":      accept(kill("{kafka: Controller}")),
		"all times":           accept(faults("[{name: lost, load: cico, after: 1m, within: 30s, observe: 2m, kill: {module: gateway}}]")),
		"a resource":          accept(resource("{condition: AllInjected}")),
		"a field":             accept(resource("{field: status.engineStatus, value: initialized}")),
		"a rolling restart":   accept(faults("[{name: rolled, after: 1m, restart: {module: gateway}}]")),
		"of PostgreSQL":       accept(faults("[{name: rolled, after: 1m, restart: {postgres: {}}}]")),
		"of Kafka":            accept(faults("[{name: rolled, after: 1m, restart: {kafka: {version: 4.3.1}}}]")),
		"an upgrade":          accept(faults("[{name: rolled, after: 1m, restart: {module: gateway, image: 'example.org/gateway:2'}}]")),
		"of its database":     accept(faults("[{name: rolled, after: 1m, restart: {postgres: {image: 'ghcr.io/cloudnative-pg/postgresql:17.6'}}}]")),
		"less memory":         accept(faults("[{name: rolled, after: 1m, restart: {module: gateway, memory: 300Mi}}]")),
		"of a database":       refuse(place+"[0].restart", "memory is that of a module: name the module", faults("[{name: rolled, after: 1m, restart: {postgres: {}, memory: 300Mi}}]")),
		"at the wrong place":  refuse(place+"[0].restart", "image is that of a module: write postgres.image", faults("[{name: rolled, after: 1m, restart: {postgres: {}, image: 'a:1'}}]")),
		"nothing to restart":  refuse(place+"[0].restart", "restart needs exactly one of module, postgres and kafka", faults("[{name: rolled, after: 1m, restart: {}}]")),
		"a switchover":        accept(faults("[{name: moved, after: 1m, switchover: {postgres: {}}}]")),
		"nothing to switch":   refuse(place+"[0].switchover.postgres", "Required value", faults("[{name: moved, after: 1m, switchover: {}}]")),
		"nothing to do":       refuse(place+"[0]", "a fault needs exactly one of kill, restart, switchover, partitions and resource", faults("[{name: lost, after: 1m}]")),
		"a lost node":         accept(kill("{module: gateway, wholeNode: true}")),
		"more partitions":     accept(faults("[{name: grown, after: 1m, partitions: {group: data-import, count: 4}}]")),
		"one partition":       refuse(place+"[0].partitions.count", "greater than or equal to 2", faults("[{name: grown, after: 1m, partitions: {group: data-import, count: 1}}]")),
		"of no group":         refuse(place+"[0].partitions.group", "Required value", faults("[{name: grown, after: 1m, partitions: {count: 4}}]")),
		"nothing to kill":     refuse(place+"[0].kill", "kill needs exactly one of module, postgres and kafka", kill("{pods: 1}")),
		"too much to kill":    refuse(place+"[0].kill", "kill needs exactly one of module, postgres and kafka", kill("{module: gateway, kafka: Broker}")),
		"no such role":        refuse(place+"[0].kill.postgres", "Unsupported value", kill("{postgres: Leader}")),
		"no time":             refuse(place+"[0].after", "Required value", faults("[{name: lost, kill: {module: gateway}}]")),
		"a time without unit": refuse(place+"[0].after", "write a duration with its unit", faults("[{name: lost, after: '60', kill: {module: gateway}}]")),
		"a name with a space": refuse(place+"[0].name", "a fault's name may have lower-case letters, digits and '-'", faults("[{name: Lost pod, after: 1m, kill: {module: gateway}}]")),
		"twice":               refuse(place+"[1]", "Duplicate value", faults("[{name: lost, after: 1m, kill: {module: gateway}}, {name: lost, after: 9m, kill: {module: gateway}}]")),
		"an unknown load":     refuse("spec.scenarios[0]", "a fault's load must name a load of the same scenario", faults("[{name: lost, load: other, after: 1m, kill: {module: gateway}}]")),
		"beside a capacity": refuse("spec.scenarios[0]", "a scenario has either a capacity or faults",
			kill("{module: gateway}"), change{"spec.scenarios.0.capacity", "{min: 1, objectives: [{metric: cico/Check-In/p95, max: 1s}]}"}),
		"no sign":               refuse(place+"[0].resource.begun", "a sign needs exactly one of condition and field", resource("{}")),
		"a field without value": refuse(place+"[0].resource.begun", "a field needs a value", resource("{field: status.engineStatus}")),
		"a field of the spec":   refuse(place+"[0].resource.begun.field", "write the path of a field of the status", resource("{field: spec.mode, value: all}")),
	})
}
