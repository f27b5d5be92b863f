// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/rules"
)

// valid causes no warning: the arms differ in one setting.
var valid = func() string {
	text, rest, _ := strings.Cut(rules.Valid, "  - name: changed\n")
	_, rest, _ = strings.Cut(rest, "  scenarios:")
	return text + "  - {name: changed, set: {kafka: {topics: [{group: data-import, partitions: 4}]}}}\n  scenarios:" + rest
}()

const (
	set     = "spec.arms.1.set"
	aSet    = "spec.arms[1].set"
	module  = "spec.system.modules.1"
	aModule = "spec.system.modules[1]"
)

func TestReferences(t *testing.T) {
	judge(t, valid, map[string]rule{
		"as it is": accept(),
		"unknown module": refuse(aSet+".modules[0].name", `arm "changed": the system has no module "inventory": write one of its modules (gateway, circulation), or "*" for all`,
			change{set, `{modules: [{name: inventory, replicas: 2}]}`}),
		"unknown module in a list": refuse(aSet+".modules[0].names[1]", `arm "changed": the system has no module "inventory"`,
			change{set, `{modules: [{names: [gateway, inventory], replicas: 2}]}`}),
		"all modules": accept(change{set, `{modules: [{name: "*", replicas: 2}]}`}),
		"module twice": refuse(aSet+".modules[1].name", `arm "changed" sets module "gateway" twice, here and in modules[0]: merge both into one entry`,
			change{set, `{modules: [{name: gateway, replicas: 2}, {name: gateway, image: "a:2"}]}`}),
		"name and names": refuse(aSet+".modules[0]", "needs exactly one of name (one module, or \"*\" for all) and names (a list)",
			change{set, `{modules: [{name: gateway, names: [circulation], replicas: 2}]}`}),
		"unknown topic group": refuse(aSet+".kafka.topics[0].group", `arm "changed" sets topic group "imports", which is not in system.kafka.topics: write one of its groups (data-import, pub-sub)`,
			change{set + ".kafka.topics.0.group", "imports"}),
		"kafka without kafka": refuse(aSet+".kafka", `arm "changed" sets kafka, but the system has none: declare system.kafka, or remove the setting`,
			change{"spec.system.kafka", ""}),
		"postgres without postgres": refuse(aSet+".postgres", `arm "changed" sets postgres, but the system has none: declare system.postgres, or remove the setting`,
			change{"spec.system.postgres", ""}, change{set, `{postgres: {instances: 2}}`}),
		"unknown excluded module": refuse("spec.system.postgres.readWriteSplit.exclude", `postgres.readWriteSplit.exclude: the system has no module "inventory": write one of its modules`,
			change{"spec.system.postgres.readWriteSplit.exclude", "[inventory]"}),
		"arm excludes an unknown module": refuse(aSet+".postgres.readWriteSplit.exclude", `arm "changed": postgres.readWriteSplit.exclude: the system has no module "inventory"`,
			change{set, `{postgres: {readWriteSplit: {enabled: true, exclude: [inventory]}}}`}),
		"image of a borrowed module": refuse(aSet+".modules[0].image", `arm "changed" sets the image of module "circulation", which is an existing workload`,
			change{module, `{name: circulation, workloadRef: {name: okapi}}`}, change{set, `{modules: [{name: circulation, image: "a:2"}]}`}),
		"restore by an unknown module": refuse("spec.restore.http.module", `restore.http.module: the system has no module "storage"`,
			change{"spec.reset", "RestoreData"}, change{"spec.restore", "{http: {module: storage, path: /restore}}"}),
		"restore by a known module": accept(change{"spec.reset", "RestoreData"}, change{"spec.restore", "{http: {module: circulation, path: /restore}}"}),
		"restore by a missing module": refuse("spec.restore.http.module", "the load's target is not a module of the system: write the module that restores the data",
			change{"spec.reset", "RestoreData"}, change{"spec.restore", "{http: {path: /restore}}"}, change{"spec.system.target.module", ""}, change{"spec.system.target.url", "http://okapi:9130"}),
		"restore by SQL without a database": refuse("spec.restore.sql", "restore.sql needs a database, and the system has no postgres",
			change{"spec.reset", "RestoreData"}, change{"spec.restore", "{sql: {image: psql, configMap: {name: a, key: b}}}"}, change{"spec.system.postgres", ""}),
		"restore without its reset": refuse("spec", "restore requires reset: RestoreData", change{"spec.restore", "{http: {path: /restore}}"}),
		"names too long together": refuse("spec.system.modules[1].name", `the experiment's name and module "a-module-with-a-name-of-forty-characters" together have 72 characters, and 62 are allowed`,
			change{"metadata.name", strings.Repeat("a", 32)}, change{module + ".name", "a-module-with-a-name-of-forty-characters"}, change{"spec.system.postgres.readWriteSplit.exclude", ""}),
		"names just short enough together": accept(
			change{"metadata.name", strings.Repeat("a", 22)}, change{module + ".name", "a-module-with-a-name-of-forty-characters"}, change{"spec.system.postgres.readWriteSplit.exclude", ""}),
		"a target that does not run": refuse(aSet+".modules[0].replicas", `arm "changed": module "gateway" receives the load and has 0 replicas: write 1 or more, or another target.module`,
			change{set, `{modules: [{name: gateway, replicas: 0}]}`}),
		"a module that does not run": accept(change{set, `{modules: [{name: circulation, replicas: 0}]}`}),
		"workload borrowed twice": refuse(aModule+".workloadRef.name", `module "circulation" adopts Deployment "okapi", which module "gateway" already adopts`,
			change{"spec.system.modules.0", `{name: gateway, workloadRef: {name: okapi}}`}, change{module, `{name: circulation, workloadRef: {name: okapi}}`}),
		"workloads of two kinds": accept(
			change{"spec.system.modules.0", `{name: gateway, workloadRef: {name: okapi}}`}, change{module, `{name: circulation, workloadRef: {kind: StatefulSet, name: okapi}}`}),
		"unknown target": refuse("spec.system", "system.target.module must be the name of one of system.modules", change{"spec.system.target.module", "okapi"}),
	})
}

func TestNotesOfScenarios(t *testing.T) {
	judge(t, valid, map[string]rule{
		"one that there is": accept(change{"spec.notes", "[{name: a, section: Results, scenario: cico, text: words}]"}),
		"one that is not": refuse("spec.notes[1].scenario", "there is no such scenario: write one of cico, import-under-cico, or remove it to show the note below all scenarios",
			change{"spec.notes", "[{name: a, text: words}, {name: b, section: Results, scenario: cioc, text: words}]"}),
	})
}

func TestKafka(t *testing.T) {
	const kafka, aKafka = "spec.system.kafka", "spec.system.kafka"
	external := change{kafka, `{provider: External, external: {bootstrapServers: ["b-1:9092"]}, topics: [{group: data-import, names: [a], replicas: 3}]}`}
	judge(t, valid, map[string]rule{
		"more replicas than brokers": refuse(aKafka+".topics[0].replicas", `the topics of group "data-import" have 4 replicas on 3 brokers: lower the group's replicas to 3, or raise kafka.brokers.replicas`,
			change{kafka + ".topics.0.replicas", "4"}),
		"arm lowers brokers": refuse(aSet+".kafka.brokers.replicas", `arm "changed": the topics of group "data-import" have 3 replicas on 1 broker`,
			change{set, "{kafka: {brokers: {replicas: 1}}}"}),
		"arm raises replicas": refuse(aSet+".kafka.topics[0].replicas", `arm "changed": the topics of group "pub-sub" have 5 replicas on 3 brokers`,
			change{set, "{kafka: {topics: [{group: pub-sub, replicas: 5}]}}"}),
		"arm lowers both":           accept(change{set, "{kafka: {brokers: {replicas: 1}, topics: [{group: data-import, replicas: 1}]}}"}).warned("differs from the baseline in 3 settings"),
		"replicas elsewhere":        accept(external, change{set + ".kafka.topics.0", "{group: data-import, replicas: 5}"}),
		"partitions beyond request": refuse(aKafka+".topics[1].partitions", `the topics of group "pub-sub" have 10000 partitions each, and Kafka does not create a topic with more than 9999`, change{kafka + ".topics.1.partitions", "10000"}),
		"arm's partitions beyond request": refuse(aSet+".kafka.topics[0].partitions", `arm "changed": the topics of group "data-import" have 10000 partitions each`,
			change{set + ".kafka.topics.0.partitions", "10000"}),
		"partitions just few enough": accept(change{kafka + ".topics.1.partitions", "9999"}),
		"topic in two groups": refuse(aKafka+".topics[1]", `topic "Default.diku.DI_COMPLETED" is in group "data-import" and in group "pub-sub": keep it in one of them`,
			change{kafka + ".topics.1", "{group: pub-sub, names: [b, Default.diku.DI_COMPLETED]}"}),
		"numbered topic in two groups": refuse(aKafka+".topics[1]", `topic "events-3" is in group "data-import" and in group "pub-sub"`,
			change{kafka + ".topics.0.names", "[events-3]"}, change{kafka + ".topics.1", "{group: pub-sub, prefix: events, count: 3}"}),
		"preset twice": refuse(aKafka+".topics[1]", `topic "Default.diku.DI_`,
			change{kafka + ".topics.0", "{group: data-import, preset: {name: DataImport}}"}, change{kafka + ".topics.1", "{group: pub-sub, preset: {name: DataImport, tenants: [diku]}}"}),
		"preset of two tenants": accept(
			change{kafka + ".topics.0", "{group: data-import, preset: {name: DataImport}}"}, change{kafka + ".topics.1", "{group: pub-sub, preset: {name: DataImport, tenants: [other]}}"}),
		"topic twice in a group": refuse(aKafka+".topics[0].names[1]", "Duplicate value", change{kafka + ".topics.0.names", "[a, a]"}),
		"PLAIN without TLS": refuse(aKafka+".external.sasl.mechanism", "mechanism PLAIN without tls would send the password in clear text: write kafka.external.tls: {}",
			outside("{mechanism: PLAIN, credentialsSecret: {name: msk}}", "")),
		"PLAIN without TLS, as declared": accept(outside("{mechanism: PLAIN, insecurePlaintext: true, credentialsSecret: {name: msk}}", "")),
		"PLAIN with TLS":                 accept(outside("{mechanism: PLAIN, credentialsSecret: {name: msk}}", "tls: {}, ")),
		"SCRAM without TLS":              accept(outside("{credentialsSecret: {name: msk}}", "")),
		"ZooKeeper with Kafka 4": refuse(aKafka+".version", "Kafka 4.1.0 has no ZooKeeper mode: write a version up to 3.9, for example 3.9.1, or mode: KRaft",
			change{kafka + ".controllers", ""}, change{kafka + ".mode", "ZooKeeper"}),
		"arm takes ZooKeeper with Kafka 4": refuse(aSet+".kafka.mode", `arm "changed": Kafka 4.1.0 has no ZooKeeper mode`, change{set, "{kafka: {mode: ZooKeeper}}"}),
		"arm takes ZooKeeper with Kafka 3": accept(change{kafka + ".version", "3.9.1"}, change{set, "{kafka: {mode: ZooKeeper}}"}),
		"arm takes Kafka 4 with ZooKeeper": refuse(aSet+".kafka.version", `arm "changed": Kafka 4.0.0 has no ZooKeeper mode`,
			change{kafka + ".version", "3.9.1"}, change{kafka + ".controllers", ""}, change{kafka + ".mode", "ZooKeeper"}, change{set, "{kafka: {version: 4.0.0}}"}),
		"arm's ZooKeeper nodes with KRaft": refuse(aSet+".kafka.zooKeeper", `arm "changed" sets kafka.zooKeeper with mode: KRaft: add mode: ZooKeeper, or write kafka.controllers instead`,
			change{set, "{kafka: {zooKeeper: {replicas: 3}}}"}),
		"arm's controllers with ZooKeeper": refuse(aSet+".kafka.controllers", `arm "changed" sets kafka.controllers, which are nodes of KRaft, with mode: ZooKeeper: write kafka.zooKeeper instead`,
			change{kafka + ".version", "3.9.1"}, change{set, "{kafka: {mode: ZooKeeper, controllers: {replicas: 3}}}"}),
		"controllers with ZooKeeper": refuse(aKafka, "kafka.controllers requires mode: KRaft: with mode: ZooKeeper, use kafka.zooKeeper instead",
			change{kafka + ".version", "3.9.1"}, change{kafka + ".mode", "ZooKeeper"}),
		"ZooKeeper nodes with KRaft": refuse(aKafka, "kafka.zooKeeper requires mode: ZooKeeper", change{kafka + ".zooKeeper", "{replicas: 3}"}),
		"even controllers": warn("4 nodes of kafka.controllers tolerate no more failures than 3: write an odd number, for example 5",
			change{kafka + ".controllers.replicas", "4"}),
		"heap above the limit": refuse(aKafka+".brokers.heap", "the heap of kafka.brokers is 2Gi, larger than its memory limit of 1Gi",
			change{kafka + ".brokers", "{replicas: 3, heap: 2Gi, resources: {limits: {memory: 1Gi}}}"}),
		"no heap at all":              refuse(aKafka+".brokers.heap", "kafka.brokers.heap is 0: write a size above 0", change{kafka + ".brokers.heap", `"0"`}),
		"no storage at all":           refuse(aKafka+".brokers.storage.size", "the storage of kafka.brokers is 0: write a size above 0", change{kafka + ".brokers.storage", `{size: "0"}`}),
		"configuring external":        refuse(aSet+".kafka.config", `arm "changed" sets config of an External Kafka, which PerfLab cannot configure`, external, change{set, `{kafka: {config: {a: b}}}`}),
		"brokers of external":         refuse(aSet+".kafka.brokers", `arm "changed" sets brokers of an External Kafka`, external, change{set, `{kafka: {brokers: {replicas: 2}}}`}),
		"address of our own":          refuse(aSet+".kafka.external", `arm "changed" sets the address of a Kafka that PerfLab runs`, change{set, `{kafka: {external: {bootstrapServers: ["b-1:9092"]}}}`}),
		"external without an address": refuse(aKafka, "provider: External needs kafka.external with bootstrapServers", change{kafka, "{provider: External}"}, change{set, ""}),
		"bootstrap with a scheme": refuse(aKafka+".external.bootstrapServers[0]", "a bootstrap server is host:port without a scheme",
			change{kafka, `{provider: External, external: {bootstrapServers: ["http://b-1:9092"]}}`}, change{set, ""}),
		"preset without its version": refuse(aKafka+".topics[1].preset", "the preset PubSub needs the version of mod-pubsub", change{kafka + ".topics.1", "{group: pub-sub, preset: {name: PubSub}}"}),
		"two ways to name topics":    refuse(aKafka+".topics[1]", "a topic group needs exactly one of names", change{kafka + ".topics.1", "{group: pub-sub, names: [a], preset: {name: Domain}}"}),
	})
}

// The names of a service in Prometheus are rejected without measurement.prometheus, and if
// they are not valid AWS names, because they become part of a query.
func TestServicesInPrometheus(t *testing.T) {
	const aKafka, aPostgres = "spec.system.kafka.external", "spec.system.postgres.external"
	kafka := func(settings string) change {
		return change{"spec.system.kafka", `{provider: External, external: {bootstrapServers: ["b-2.perf.x1.c2.kafka.eu-west-1.amazonaws.com:9096"], prometheus: ` + settings + `}, topics: [{group: data-import, names: [a], replicas: 3}]}`}
	}
	postgres := func(settings string) change {
		return change{"spec.system.postgres", "{provider: External, external: {host: db, database: folio, credentialsSecret: {name: login}, prometheus: " + settings + "}}"}
	}
	asked := change{"spec.measurement", "{prometheus: {url: 'http://p:9090'}}"}
	topics := change{set, "{kafka: {topics: [{group: data-import, partitions: 4}]}}"}
	const source = "external.prometheus.cluster, the name of the MSK cluster, is required with source: CloudWatch"
	const name = "a DBInstanceIdentifier has lower-case letters, digits and single '-', and begins with a letter: for example folio-writer"
	judge(t, valid, map[string]rule{
		"a database":        accept(asked, topics, postgres("{instance: folio-writer, readerInstances: [folio-reader-1, folio-reader-2]}")),
		"a cluster":         accept(asked, topics, kafka("{cluster: Perf-MSK-1}")),
		"open monitoring":   accept(asked, topics, kafka("{source: OpenMonitoring}")),
		"database, unasked": refuse(aPostgres+".prometheus", "postgres.external.prometheus selects the service in Prometheus, and no Prometheus is configured: set measurement.prometheus with its url, or remove postgres.external.prometheus", topics, postgres("{instance: folio-writer}")),
		"cluster, unasked":  refuse(aKafka+".prometheus", "kafka.external.prometheus selects the service in Prometheus, and no Prometheus is configured", topics, kafka("{cluster: perf}")),
		"arm's, unasked": refuse(aSet+".kafka.external.prometheus", `arm "changed": kafka.external.prometheus selects the service in Prometheus, and no Prometheus is configured`,
			kafka(""), change{set, `{kafka: {external: {bootstrapServers: ["b-1:9092"], prometheus: {cluster: perf}}}}`}),
		"no instance":               refuse(aPostgres+".prometheus.instance", "Required value", asked, topics, postgres("{readerInstances: [a]}")),
		"PromQL for an instance":    refuse(aPostgres+".prometheus.instance", name, asked, topics, postgres(`{instance: 'a"} or vector(1) or up{job="'}`)),
		"a reader in capitals":      refuse(aPostgres+".prometheus.readerInstances[0]", name, asked, topics, postgres("{instance: a, readerInstances: [B]}")),
		"an instance that ends":     refuse(aPostgres+".prometheus.instance", name, asked, topics, postgres("{instance: a-}")),
		"a name of 63":              accept(asked, topics, postgres("{instance: a"+strings.Repeat("b", 62)+"}")),
		"a name of 64":              refuse(aPostgres+".prometheus.instance", "may not be more than 63", asked, topics, postgres("{instance: a"+strings.Repeat("b", 63)+"}")),
		"PromQL for a cluster":      refuse(aKafka+".prometheus.cluster", "the name of an MSK cluster has letters, digits and '-': for example perf-msk", asked, topics, kafka(`{cluster: '.*'}`)),
		"CloudWatch of no cluster":  refuse(aKafka+".prometheus", source, asked, topics, kafka("{}")),
		"open monitoring of a name": refuse(aKafka+".prometheus", source, asked, topics, kafka("{source: OpenMonitoring, cluster: perf}")),
		"a source there is not":     refuse(aKafka+".prometheus.source", `supported values: "CloudWatch", "OpenMonitoring"`, asked, topics, kafka("{source: JMX}")),
		"brokers of other names": refuse(aKafka, "open monitoring identifies brokers by MSK's host names", asked, topics,
			change{"spec.system.kafka", `{provider: External, external: {bootstrapServers: ["kafka.example.org:9096"], prometheus: {source: OpenMonitoring}}, topics: [{group: data-import, names: [a], replicas: 3}]}`}),
	})
}

func TestPostgres(t *testing.T) {
	const postgres = "spec.system.postgres"
	const none = "the read/write split is enabled with 1 PostgreSQL instance, so there is no replica to read from: set postgres.instances to 2 or more, or set readWriteSplit.enabled: false"
	off := []change{{postgres + ".instances", "1"}, {postgres + ".readWriteSplit", "{enabled: false}"}}
	external := change{postgres, "{provider: External, external: {host: db, database: folio, credentialsSecret: {name: login}}}"}
	judge(t, valid, map[string]rule{
		"on with one instance": refuse(postgres, "postgres.readWriteSplit.enabled needs postgres.instances of 2 or more", change{postgres + ".instances", "1"}),
		"off with one":         accept(off...),
		"arm turns it on":      refuse(aSet+".postgres.readWriteSplit.enabled", `arm "changed": `+none, append(off, change{set, "{postgres: {readWriteSplit: {enabled: true}}}"})...),
		"arm turns it on with two": warn("differs from the baseline in 2 settings", append(off,
			change{set, "{postgres: {instances: 2, readWriteSplit: {enabled: true}}}"})...),
		"arm lowers instances":                  refuse(aSet+".postgres.instances", `arm "changed": `+none, change{set, "{postgres: {instances: 1}}"}),
		"arm lowers instances and turns it off": warn("differs from the baseline in 2 settings", change{set, "{postgres: {instances: 1, readWriteSplit: {enabled: false}}}"}),
		"arm splits without a reader": refuse(aSet+".postgres.readWriteSplit.enabled", `arm "changed": the read/write split is enabled without postgres.external.readerHost`,
			external, change{set, "{postgres: {readWriteSplit: {enabled: true}}}"}),
		"arm takes the reader away": refuse(aSet+".postgres.external", `arm "changed": the read/write split is enabled without postgres.external.readerHost`, external,
			change{postgres + ".external.readerHost", "db-ro"}, change{postgres + ".readWriteSplit", "{enabled: true}"},
			change{set, "{postgres: {external: {host: db, database: folio, credentialsSecret: {name: login}}}}"}),
		"split on a server elsewhere": accept(external, change{postgres + ".external.readerHost", "db-ro"}, change{set, "{postgres: {readWriteSplit: {enabled: true}}}"}),
		"configuring external":        refuse(aSet+".postgres.parameters", `arm "changed" sets parameters of an External PostgreSQL`, external, change{set, "{postgres: {parameters: {a: b}}}"}),
		"address of our own": refuse(aSet+".postgres.external", `arm "changed" sets the address of a PostgreSQL that PerfLab runs`,
			change{set, "{postgres: {external: {host: db, database: folio, credentialsSecret: {name: login}}}}"}),
		"module that can't read from a replica": warn("the read/write split is enabled, but gateway can't read from a replica", change{"spec.system.modules.0.readsFromReplica", "false"}),
		"FOLIO's module that can't":             warn("but mod-notes can't read from a replica", change{"spec.system.modules.2", `{name: mod-notes, image: "a:1"}`}),
		"FOLIO's module that can":               accept(change{"spec.system.modules.2", `{name: mod-inventory-storage, image: "a:1"}`}),
		"FOLIO's module without a database":     accept(change{"spec.system.modules.2", `{name: edge-oai-pmh, image: "a:1"}`}),
		"request above the limit": refuse(postgres+".resources.requests.memory", "postgres requests 2Gi of memory, more than its limit of 1Gi",
			change{postgres + ".resources", "{requests: {memory: 2Gi}, limits: {memory: 1Gi}}"}),
		"arm's request above the limit": refuse(aSet+".postgres.resources.requests.cpu", `arm "changed": postgres requests 2 of cpu, more than its limit of 1`,
			change{set, `{postgres: {resources: {requests: {cpu: "2"}, limits: {cpu: "1"}}}}`}),
	})
}

func TestModules(t *testing.T) {
	const jvm, aJVM = module + ".jvm", aModule + ".jvm"
	judge(t, valid, map[string]rule{
		"heap above the limit": refuse(aJVM+".heap.max", `the heap of module "circulation" is 600Mi, larger than its memory limit of 512Mi: write a smaller jvm.heap.max, or raise resources.limits.memory`,
			change{jvm + ".heap.max", "600Mi"}),
		"heap of the limit": warn(`module "circulation" may use 512Mi of heap and 96Mi of metaspace, together more than its memory limit of 512Mi`, change{jvm + ".heap.max", "512Mi"}),
		"arm's heap above the limit": refuse(aSet+".modules[0].jvm.heap.max", `arm "changed": the heap of module "circulation" is 1Gi, larger than its memory limit of 512Mi`,
			change{set, `{modules: [{name: "*", jvm: {heap: {max: 1Gi}}}]}`}),
		"arm's limit below the heap": refuse(aSet+".modules[0].resources.limits.memory", `arm "changed": the heap of module "circulation" is 128Mi, larger than its memory limit of 100Mi`,
			change{set, `{modules: [{names: [circulation], resources: {limits: {memory: 100Mi}}}]}`}),
		"the particular setting is named": refuse(aSet+".modules[1].jvm.heap.max", `arm "changed": the heap of module "circulation" is 2Gi`,
			change{set, `{modules: [{name: "*", jvm: {heap: {max: 64Mi}}}, {name: circulation, jvm: {heap: {max: 2Gi}}}]}`}),
		"percentage without a limit": warn(`arm "changed": module "gateway" has a heap of 66 percent and no memory limit: it would be a share of the node's memory`,
			change{set, `{modules: [{name: "*", jvm: {heap: {maxRAMPercentage: "66"}}}]}`}),
		"percentage of a limit":                     accept(change{set, `{modules: [{name: circulation, jvm: {heap: {maxRAMPercentage: "66"}}}]}`}),
		"percentage and metaspace beyond the limit": warn(`module "circulation" may use`, change{set, `{modules: [{name: circulation, jvm: {heap: {maxRAMPercentage: "90"}}}]}`}),
		"percentage of 0":                           refuse(aSet+".modules[0].jvm.heap.maxRAMPercentage", "must be a number from 1 to 95", change{set, `{modules: [{name: gateway, jvm: {heap: {maxRAMPercentage: "0"}}}]}`}),
		"percentage of 96":                          refuse(aSet+".modules[0].jvm.heap.maxRAMPercentage", "must be a number from 1 to 95", change{set, `{modules: [{name: gateway, jvm: {heap: {maxRAMPercentage: "96"}}}]}`}),
		"no heap at all":                            refuse(aJVM+".heap.max", `the heap of module "circulation" is 0: write a size above 0`, change{jvm + ".heap.max", `"0"`}),
		"a negative heap":                           refuse(aJVM+".heap.max", `the heap of module "circulation" is -1Mi: write a size above 0`, change{jvm + ".heap.max", "-1Mi"}),
		"a negative limit":                          refuse(aModule+".resources.limits.memory", `the memory limit of module "circulation" is -1Gi`, change{module + ".resources.limits.memory", "-1Gi"}),
		"negative requests":                         refuse(aModule+".resources.requests.cpu", `module "circulation" requests -1 of cpu: write an amount of 0 or more`, change{module + ".resources.requests", `{cpu: "-1"}`}),
		"request above the limit": refuse(aModule+".resources.requests.memory", `module "circulation" requests 1Gi of memory, more than its limit of 512Mi: lower the request, or raise the limit`,
			change{module + ".resources.requests", "{memory: 1Gi}"}),
		"metaspace that shrinks": refuse(aJVM+".metaspace.initial", `the metaspace of module "circulation" starts with 128Mi, more than its max of 96Mi`, change{jvm + ".metaspace.initial", "128Mi"}),
		"heap behind the heap": refuse(aJVM+".options", `module "circulation": jvm.options has "-XX:MaxHeapSize=1g", which sets the heap: write jvm.heap.max or jvm.heap.maxRAMPercentage instead`,
			change{jvm + ".options", `["-XX:MaxHeapSize=1g"]`}),
		"heap by another base":    refuse(aJVM+".options", "which sets the heap: write jvm.heap.max", change{jvm + ".options", `["-XX:MaxRAM=1g"]`}),
		"heap of the whole node":  refuse(aJVM+".options", "which sets the heap: write jvm.heap.max", change{jvm + ".options", `["-XX:-UseContainerSupport"]`}),
		"-Xmx":                    refuse(aJVM+".options", "jvm.options must not set the heap", change{jvm + ".options", `["-Xmx1g"]`}),
		"-Xmx after a space":      refuse(aJVM+".options", "which is not one flag: write one flag per entry, without spaces", change{jvm + ".options", `["-Xint -Xmx1g"]`}),
		"no flag":                 refuse(aJVM+".options", `jvm.options has "UseG1GC", which is not a flag: a flag starts with '-'`, change{jvm + ".options", "[UseG1GC]"}),
		"starts above the heap":   refuse(aJVM+".options", "which sets an initial heap larger than jvm.heap, so the JVM does not start", change{jvm + ".options", "[-Xms1g]"}),
		"starts with the heap":    accept(change{jvm + ".options", "[-Xms128m]"}),
		"metaspace twice":         refuse(aJVM+".options", "which jvm.metaspace already sets: remove one of them", change{jvm + ".options", `["-XX:MaxMetaspaceSize=64m"]`}),
		"JAVA_OPTIONS beside jvm": refuse(aModule+".env", `module "circulation" sets JAVA_OPTIONS and jvm: the variable would override jvm`, change{module + ".env", "[{name: JAVA_OPTIONS, value: -Xmx1g}]"}),
		"JAVA_OPTIONS alone":      accept(change{module + ".env", "[{name: JAVA_OPTIONS, value: -Xmx1g}]"}, change{jvm, ""}),
		"variable without a name": refuse(aModule+".env", "is not a valid variable name", change{module + ".env", `[{name: "A=B", value: c}]`}),
		"variable twice":          refuse(aModule+".env[1]", `Duplicate value: {"name":"A"}`, change{module + ".env", "[{name: A}, {name: A}]"}),
		"image and workload":      refuse(aModule, "a module needs exactly one of image (PerfLab runs it) and workloadRef", change{module + ".workloadRef", "{name: okapi}"}),
		"misspelt affinity": refuse(aModule+".placement.affinity.nodeAfinity", "an affinity has no such field: see kubectl explain pod.spec.affinity --recursive",
			change{module + ".placement", "{affinity: {nodeAfinity: {}}}"}),
		"arm's misspelt affinity": refuse(aSet+".modules[0].placement.affinity.podAntiAffinity.required", "an affinity has no such field",
			change{set, "{modules: [{name: gateway, placement: {affinity: {podAntiAffinity: {required: []}}}}]}"}),
		"affinity": accept(change{
			module + ".placement",
			"{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}}}",
		}),
	})
}

func TestPatches(t *testing.T) {
	patch := func(text string) change { return change{"spec.system.patches", "[" + text + "]"} }
	const first = "spec.system.patches"
	judge(t, valid, map[string]rule{
		"of every kind": accept(change{first, `[{kind: Kafka, merge: {spec: {a: b}}}, {kind: KafkaNodePool, name: controller, merge: {spec: {a: b}}}, {kind: Cluster, merge: {spec: {a: b}}},
			{kind: Deployment, name: gateway, merge: {spec: {a: b}}}, {kind: Service, merge: {spec: {a: b}}}]`}),
		"of a Pooler there is not":      refuse(first, "the patch of Pooler changes nothing: there is no Pooler: declare postgres.pooler, or remove the patch", patch("{kind: Pooler, merge: {spec: {a: b}}}")),
		"of a Pooler an arm has":        accept(patch("{kind: Pooler, merge: {spec: {a: b}}}"), change{set, "{postgres: {pooler: {instances: 1}}}"}),
		"of an unknown module":          refuse(first, `the patch of Deployment changes nothing: the system has no module "okapi"`, patch("{kind: Deployment, name: okapi, merge: {spec: {a: b}}}")),
		"of a StatefulSet there is not": refuse(first, "no module of the system is a StatefulSet", patch("{kind: StatefulSet, merge: {spec: {a: b}}}")),
		"of a module's other kind":      refuse(first, `module "gateway" has no StatefulSet that PerfLab renders`, patch("{kind: StatefulSet, name: gateway, merge: {spec: {a: b}}}")),
		"of Kafka without Kafka":        refuse(first, "the system has no Kafka that PerfLab runs, so there is no Kafka; remove the patch", patch("{kind: Kafka, merge: {spec: {a: b}}}"), change{"spec.system.kafka", ""}, change{set, ""}),
		"of an unknown pool":            refuse(first, `there is no KafkaNodePool "brokers": write name: broker or name: controller`, patch("{kind: KafkaNodePool, name: brokers, merge: {spec: {a: b}}}")),
		"of an unknown kind":            refuse(first+"[0].kind", "Unsupported value", patch("{kind: Secret, merge: {spec: {a: b}}}")),
		"that names the Cluster":        refuse(first, "the operator names the Cluster itself: remove name", patch("{kind: Cluster, name: pg, merge: {spec: {a: b}}}")),
		"that merges no object":         refuse(first+"[0].merge", "must be of type object", patch("{kind: Kafka, merge: [1]}")),
		"that merges nothing":           refuse(first, "the patch of Kafka has nothing to merge", patch("{kind: Kafka, merge: {}}")),
		"that renames":                  refuse(first, "the patch of Kafka sets metadata.name", patch("{kind: Kafka, merge: {metadata: {name: mine}}}")),
		"that changes the kind":         refuse(first, `the patch of Kafka sets "kind"`, patch("{kind: Kafka, merge: {kind: Mine}}")),
		"that changes the apiVersion":   refuse(first, `the patch of Kafka sets "apiVersion"`, patch("{kind: Kafka, merge: {apiVersion: mine/v1}}")),
		"of an arm, of a Pooler there is not": refuse(aSet+".patches[0]", `arm "changed": the patch of Pooler changes nothing: there is no Pooler`,
			change{set, "{patches: [{kind: Pooler, merge: {spec: {a: b}}}]}"}),
		"of an arm, that renames": refuse(aSet+".patches[0]", `arm "changed": the patch of Kafka sets metadata.name`,
			change{set, "{patches: [{kind: Kafka, merge: {metadata: {name: mine}}}]}"}),
	})
}

// warned adds an expected warning to an accepted rule.
func (r rule) warned(sentence string) rule {
	r.warning = sentence
	return r
}

// outside makes Kafka external, with a login.
func outside(sasl, tls string) change {
	return change{"spec.system.kafka", "{provider: External, mode: KRaft, topics: [{group: data-import, names: [Default.diku.DI_COMPLETED], partitions: 2}], external: {bootstrapServers: [\"b:9096\"], " + tls + "sasl: " + sasl + "}}"}
}
