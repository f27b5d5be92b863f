// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

func TestTargetRules(t *testing.T) {
	const one = "target needs exactly one of module (a module of this system) and url (an address outside it)"
	const url = "target.url must be http:// or https:// with a host and an optional port, without a path: for example http://okapi.folio.svc:9130"
	judge(t, map[string]rule{
		"unknown module": refuse("spec.system", "system.target.module must be the name of one of system.modules: that module receives the load",
			change{"spec.system.target.module", "okapi"}),
		"module and url":       refuse("spec.system.target", one, change{"spec.system.target.url", "http://okapi:9130"}),
		"neither":              refuse("spec.system.target", one, change{"spec.system.target.module", ""}),
		"url":                  accept(change{"spec.system.target.module", ""}, change{"spec.system.target.url", "http://okapi.folio.svc:9130"}),
		"url with a path":      refuse("spec.system.target.url", url, change{"spec.system.target.module", ""}, change{"spec.system.target.url", "http://okapi/a"}),
		"url without a scheme": refuse("spec.system.target.url", url, change{"spec.system.target.module", ""}, change{"spec.system.target.url", "okapi:9130"}),
		"no credentials":       accept(change{"spec.system.target.credentialsSecret", ""}),
		"nameless Secret":      refuse("spec.system.target.credentialsSecret.name", "should be at least 1 chars long", change{"spec.system.target.credentialsSecret.name", `""`}),
	})
}

func TestKafkaRules(t *testing.T) {
	const nodes = "replicas of Kafka nodes must be from 1 to 100: a Kafka without nodes cannot serve"
	const either = "a topic group needs exactly one of names (a list), prefix with count, and preset (topics of FOLIO)"
	const pair = "a topic group with a prefix needs a count, and a count needs a prefix"
	const group = "spec.system.kafka.topics[0]"
	judge(t, map[string]rule{
		"no brokers":           refuse("spec.system.kafka.brokers.replicas", nodes, change{"spec.system.kafka.brokers.replicas", "0"}),
		"negative":             refuse("spec.system.kafka.brokers.replicas", nodes, change{"spec.system.kafka.brokers.replicas", "-1"}),
		"no controllers":       refuse("spec.system.kafka.controllers.replicas", nodes, change{"spec.system.kafka.controllers.replicas", "0"}),
		"combined roles":       accept(change{"spec.system.kafka.controllers", ""}),
		"unknown provider":     refuse("spec.system.kafka.provider", `supported values: "Strimzi", "External"`, change{"spec.system.kafka.provider", "MSK"}),
		"ZooKeeper":            accept(change{"spec.system.kafka.controllers", ""}, change{"spec.system.kafka.mode", "ZooKeeper"}),
		"unknown mode":         refuse("spec.system.kafka.mode", `supported values: "KRaft", "ZooKeeper"`, change{"spec.system.kafka.mode", "Raft"}),
		"heap that is no size": refuse("spec.system.kafka.brokers.heap", `"much"`, change{"spec.system.kafka.brokers.heap", "much"}),
		"config as a number":   refuse("spec.system.kafka.config.log.retention.minutes", `must be of type string: "integer"`, change{"spec.system.kafka.config", "{log.retention.minutes: 480}"}),

		"names and prefix":     refuse(group, either, change{"spec.system.kafka.topics.0.prefix", "p"}, change{"spec.system.kafka.topics.0.count", "2"}),
		"neither":              refuse(group, either, change{"spec.system.kafka.topics.0.names", ""}),
		"prefix without count": refuse("spec.system.kafka.topics[1]", pair, change{"spec.system.kafka.topics.1.count", ""}),
		"count without prefix": refuse(group, pair, change{"spec.system.kafka.topics.0.count", "2"}),
		"count of 0":           refuse("spec.system.kafka.topics[1].count", "greater than or equal to 1", change{"spec.system.kafka.topics.1.count", "0"}),
		"no names":             refuse("spec.system.kafka.topics[0].names", "should have at least 1 items", change{"spec.system.kafka.topics.0.names", "[]"}),
		"name with a space":    refuse("spec.system.kafka.topics[0].names[0]", "a topic's name may have letters, digits, '.', '_' and '-'", change{"spec.system.kafka.topics.0.names.0", "a topic"}),
		"prefix with a slash":  refuse("spec.system.kafka.topics[1].prefix", "a topic's name may have letters, digits, '.', '_' and '-'", change{"spec.system.kafka.topics.1.prefix", "a/b"}),
		"name twice":           refuse("spec.system.kafka.topics[0].names[1]", "Duplicate value", change{"spec.system.kafka.topics.0.names", "[a, a]"}),
		"group twice":          refuse("spec.system.kafka.topics[1]", `Duplicate value: {"group":"data-import"}`, change{"spec.system.kafka.topics.1.group", "data-import"}),
		"no partitions":        refuse("spec.system.kafka.topics[0].partitions", "partitions must be from 1 to 10000", change{"spec.system.kafka.topics.0.partitions", "0"}),
		"no replicas":          refuse("spec.system.kafka.topics[0].replicas", "topic replicas must be from 1 to 100", change{"spec.system.kafka.topics.0.replicas", "0"}),
	})
}

func TestModuleRules(t *testing.T) {
	const both = "jvm.heap has both max and maxRAMPercentage: the JVM would ignore the percentage; write only one of them"
	const neither = "jvm.heap needs max (a size, for example 768Mi) or maxRAMPercentage (for example \"66\")"
	const percentage = "jvm.heap.maxRAMPercentage must be a number from 1 to 95, in quotes and without a percent sign: for example \"66\" or \"70.1\""
	const options = "jvm.options must not set the heap: write jvm.heap.max instead of -Xmx and jvm.heap.maxRAMPercentage instead of -XX:MaxRAMPercentage"
	const heap, module = "spec.system.modules[1].jvm.heap", "spec.system.modules.1."
	share := func(value string) []change {
		return []change{{module + "jvm.heap", "{maxRAMPercentage: " + value + "}"}}
	}
	judge(t, map[string]rule{
		"heap by size and percentage": refuse(heap, both, change{module + "jvm.heap.maxRAMPercentage", `"66"`}),
		"heap by neither":             refuse(heap, neither, change{module + "jvm.heap", "{}"}),
		"percentage":                  accept(share(`"66"`)...),
		"percentage with a fraction":  accept(share(`"70.1"`)...),
		"percentage of 95":            accept(share(`"95"`)...),
		"percentage of 0":             refuse(heap+".maxRAMPercentage", percentage, share(`"0"`)...),
		"percentage of 96":            refuse(heap+".maxRAMPercentage", percentage, share(`"96"`)...),
		"percentage with a sign":      refuse(heap+".maxRAMPercentage", percentage, share(`"66%"`)...),
		"percentage without quotes":   refuse(heap+".maxRAMPercentage", `must be of type string: "integer"`, share("66")...),
		"-Xmx among the options":      refuse("spec.system.modules[1].jvm.options", options, change{module + "jvm.options", "[-Xmx64m]"}),
		"a percentage among the options": refuse("spec.system.modules[1].jvm.options", options,
			change{module + "jvm.options", `["-XX:MaxRAMPercentage=66"]`}),
		"name with a capital": refuse("spec.system.modules[1].name", "a module name may have lower-case letters, digits and '-', and starts with a letter: for example mod-inventory",
			change{module + "name", "Circulation"}),
		"neither image nor workload": refuse("spec.system.modules[1]", "a module needs exactly one of image (PerfLab runs it) and workloadRef (PerfLab adopts it and releases it afterwards)",
			change{module + "image", ""}),
		"101 replicas": refuse("spec.system.modules[1].replicas", "replicas of a module must be from 0 to 100", change{module + "replicas", "101"}),
		"port 0":       refuse("spec.system.modules[1].port", "greater than or equal to 1", change{module + "port", "0"}),
		"health path without a slash": refuse("spec.system.modules[1].healthPath", "healthPath must begin with '/': for example /health",
			change{module + "healthPath", "health"}),
		"module twice": refuse("spec.system.modules[1]", `Duplicate value: {"name":"gateway"}`, change{module + "name", "gateway"}),
		"no modules":   refuse("spec.system", "system.modules is empty: list the Java services to run, or set target.url if the system is external", change{"spec.system.modules", "[]"}),
		"no modules beside a url": accept(change{"spec.system.modules", ""}, change{"spec.system.target.module", ""}, change{"spec.system.target.url", "http://shop.example:8080"},
			change{"spec.arms", "[{name: as-is, baseline: true}]"}),
		"command, args, ports and volumes": accept(change{module + "command", "[a]"}, change{module + "args", "[b]"}, change{module + "healthPort", "9000"},
			change{module + "ports", "[{name: management, port: 9000}]"}, change{module + "volumes", "[{name: a, mountPath: /a, configMap: {name: a}}]"}),
		"args of an existing workload": refuse("spec.system.modules[1]", "command, args, healthPort, ports and volumes are for a module with an image",
			change{module + "image", ""}, change{module + "workloadRef", "{name: a}"}, change{module + "args", "[b]"}),
		"a port named http": refuse("spec.system.modules[1].ports[0].name", "a port's name may have lower-case letters", change{module + "ports", "[{name: http, port: 9000}]"}),
		"a volume without a source": refuse("spec.system.modules[1].volumes[0]", "a volume needs exactly one of configMap, secret, emptyDir and persistentVolumeClaim",
			change{module + "volumes", "[{name: a, mountPath: /a}]"}),
		"a volume with two": refuse("spec.system.modules[1].volumes[0]", "a volume needs exactly one of configMap, secret, emptyDir and persistentVolumeClaim",
			change{module + "volumes", "[{name: a, mountPath: /a, emptyDir: {}, secret: {name: a}}]"}),
		"a mount path without a slash": refuse("spec.system.modules[1].volumes[0].mountPath", "mountPath must begin with '/'",
			change{module + "volumes", "[{name: a, mountPath: a, emptyDir: {}}]"}),
		"a variable with a space": refuse("spec.system.modules[1].jvm.variable", "jvm.variable must be the name of an environment variable: for example JAVA_OPTS",
			change{module + "jvm.variable", `"JAVA OPTS"`}),
		"heap in a word":   refuse("spec.system.modules[1].jvm.heap.max", `"lots"`, change{module + "jvm.heap.max", "lots"}),
		"misspelt setting": refuse("", `unknown field "spec.system.modules[1].jvm.heep"`, change{module + "jvm.heep", "{}"}),
	})
}
