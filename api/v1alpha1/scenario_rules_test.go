// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

const (
	users    = "spec.scenarios.0.loads.0."
	imports  = "spec.scenarios.1.loads.1."
	aUser    = "spec.scenarios[0].loads[0]"
	anImport = "spec.scenarios[1].loads[1]"
)

func TestLoadRules(t *testing.T) {
	const kind = "a load needs exactly one of checkInCheckOut, dataImport and script"
	const end = "a checkInCheckOut load needs exactly one of duration (for example 30m) and until (the name of a load that ends by itself)"
	const importEnd = "a dataImport load ends when its imports are done: remove duration and until"
	judge(t, map[string]rule{
		"both kinds":                  refuse(aUser, kind, change{users + "dataImport", "{records: 1}"}),
		"neither kind":                refuse(aUser, kind, change{users + "checkInCheckOut", ""}),
		"duration and until":          refuse("spec.scenarios[1].loads[0]", end, change{"spec.scenarios.1.loads.0.duration", "30m"}),
		"neither of them":             refuse(aUser, end, change{users + "duration", ""}),
		"import with duration":        refuse(anImport, importEnd, change{imports + "duration", "30m"}),
		"import with until":           refuse(anImport, importEnd, change{imports + "until", "cico"}),
		"import in two runners":       refuse(anImport, "a dataImport load runs in one k6 runner: remove parallelism or set it to 1", change{imports + "parallelism", "2"}),
		"import in one runner":        accept(change{imports + "parallelism", "1"}),
		"more runners than users":     refuse(aUser, "parallelism is larger than checkInCheckOut.users: every k6 runner needs at least one user", change{users + "parallelism", "9"}),
		"as many runners as users":    accept(change{users + "parallelism", "8"}),
		"no runners":                  refuse(aUser+".parallelism", "greater than or equal to 1", change{users + "parallelism", "0"}),
		"no users":                    refuse(aUser+".checkInCheckOut.users", "checkInCheckOut.users must be from 1 to 10000", change{users + "checkInCheckOut.users", "0"}),
		"ramp-up as long as the load": refuse(aUser, "checkInCheckOut.rampUp must be shorter than the load's duration", change{users + "checkInCheckOut.rampUp", "30m"}),
		"ramp-up just shorter":        accept(change{users + "checkInCheckOut.rampUp", "29m59s"}),
		"ramp-up of an open load":     refuse(aUser+".checkInCheckOut", "rampUp has no effect with arrivals: remove it", change{users + "checkInCheckOut.rampUp", "1m"}, change{users + "checkInCheckOut.arrivals", "{perMinute: 60}"}),
		"an open load":                accept(change{users + "checkInCheckOut.rampUp", ""}, change{users + "checkInCheckOut.arrivals", "{perMinute: 60, distribution: Even}"}),
		"another distribution":        refuse(aUser+".checkInCheckOut.arrivals.distribution", `supported values: "Poisson", "Even"`, change{users + "checkInCheckOut.rampUp", ""}, change{users + "checkInCheckOut.arrivals", "{perMinute: 60, distribution: Uniform}"}),
		"no arrivals":                 refuse(aUser+".checkInCheckOut.arrivals.perMinute", "arrivals.perMinute must be from 1 to 1000000", change{users + "checkInCheckOut.rampUp", ""}, change{users + "checkInCheckOut.arrivals", "{perMinute: 0}"}),
		"no records":                  refuse(anImport+".dataImport.records", "dataImport.records must be from 1 to 1000000", change{imports + "dataImport.records", "0"}),
		"no imports":                  refuse(anImport+".dataImport.imports", "greater than or equal to 1", change{imports + "dataImport.imports", "0"}),
		"another record type":         refuse(anImport+".dataImport.recordType", `supported values: "Bibliographic", "Holdings", "Authority"`, change{imports + "dataImport.recordType", "Item"}),
		"another operation":           refuse(anImport+".dataImport.operation", `supported values: "Create", "Update"`, change{imports + "dataImport.operation", "Delete"}),
		"name with a slash":           refuse(aUser+".name", "a load's name may have lower-case letters, digits and '-': for example create-5k", change{users + "name", "a/b"}),
		"update of authorities": refuse(anImport+".dataImport", "only bibliographic records can be updated: set recordType to Bibliographic or operation to Create",
			change{imports + "dataImport.recordType", "Authority"}, change{imports + "dataImport.operation", "Update"}),
		"elsewhere":                accept(change{users + "checkInCheckOut", ""}, change{users + "duration", ""}, change{users + "parallelism", ""}, change{users + "elsewhere", "{tool: JMeter}"}),
		"elsewhere without a tool": refuse(aUser+".elsewhere.tool", "should be at least 1 chars long", change{users + "checkInCheckOut", ""}, change{users + "duration", ""}, change{users + "parallelism", ""}, change{users + "elsewhere", "{tool: ''}"}),
		"elsewhere with duration":  refuse(aUser, "a load with elsewhere is finished: remove after, startAfter, duration, until and parallelism", change{users + "checkInCheckOut", ""}, change{users + "elsewhere", "{tool: JMeter}"}),
		"load twice":               refuse(anImport, `Duplicate value: {"name":"cico"}`, change{imports + "name", "cico"}),
		"no loads":                 refuse("spec.scenarios[0].loads", "should have at least 1 items", change{"spec.scenarios.0.loads", "[]"}),
	})
}

func TestScriptRules(t *testing.T) {
	const place = "spec.scenarios[0].loads[0].script"
	script := func(text string) []change {
		return []change{{users + "checkInCheckOut", ""}, {users + "duration", ""}, {users + "script", text}}
	}
	judge(t, map[string]rule{
		"in a ConfigMap": accept(script("{configMap: {name: search, key: main.js}, env: [{name: A, value: b}], arguments: [--vus, '8', --duration, 30m]}")...),
		"on a volume":    accept(script("{persistentVolumeClaim: {claimName: scripts, file: search/main.js}}")...),
		"in an image":    accept(script("{path: /scripts/search.js, image: 'grafana/k6:2.2.0', results: Summary}")...),
		"no source":      refuse(place, "script needs exactly one of configMap, persistentVolumeClaim and path (a file in the image)", script("{image: k6}")...),
		"with duration":  refuse(aUser, "a script defines its own duration: remove duration, and write for example script.arguments: [--duration, 30m]", append(script("{path: /a.js}"), change{users + "duration", "1m"})...),
		"with a space":   refuse(place+".arguments", "an argument of a script must have no space, quote, '$' or '`': k6-operator splits arguments at spaces", script("{path: /a.js, arguments: ['--vus 8']}")...),
		"by a tag":       accept(script("{path: /a.js, transactions: {by: Tag, tag: name}}")...),
		"by a trend":     accept(script("{path: /a.js, transactions: {by: Trend}}")...),
		"a trend by tag": refuse(place+".transactions", "transactions.tag goes with transactions.by: Tag, and only with it", script("{path: /a.js, transactions: {by: Trend, tag: name}}")...),
		"by no tag":      refuse(place+".transactions", "transactions.tag goes with transactions.by: Tag, and only with it", script("{path: /a.js, transactions: {by: Tag}}")...),
	})
}

func TestMeasurementRules(t *testing.T) {
	const at = "spec.measurement."
	judge(t, map[string]rule{
		"interval":                        accept(change{at + "interval", "1s"}),
		"interval below 1s":               refuse(at+"interval", "measurement.interval must be at least 1s", change{at + "interval", "500ms"}),
		"growth":                          accept(change{at + "growth", "{after: 10m, percentPerHour: 24}"}),
		"growth after less than a minute": refuse(at+"growth.after", "measurement.growth.after must be at least 1m", change{at + "growth", "{after: 30s}"}),
		"growth after no duration":        refuse(at+"growth.after", "write a duration with its unit: for example 500ms, 30s, 5m or 1h30m", change{at + "growth", "{after: '10'}"}),
		"growth of 0 %":                   refuse(at+"growth.percentPerHour", "greater than or equal to 1", change{at + "growth", "{percentPerHour: 0}"}),
		"custom metrics":                  accept(change{at + "prometheus", "{url: 'http://prometheus:9090', metrics: [{name: gc-pause, query: 'sum(jvm_gc_pause_seconds_sum)', unit: s}]}"}),
		"Prometheus's url":                refuse(at+"prometheus.url", "prometheus.url must begin with http:// or https://: for example http://prometheus.monitoring.svc:9090", change{at + "prometheus", "{url: 'prometheus:9090'}"}),
		"a metric's name":                 refuse(at+"prometheus.metrics[0].name", "a metric's name may have lower-case letters, digits and '-': for example gc-pause", change{at + "prometheus", "{url: 'http://p', metrics: [{name: A b, query: up}]}"}),
		"data in two places":              refuse(aUser+".checkInCheckOut.data", "checkInCheckOut.data needs exactly one of configMap and persistentVolumeClaim", change{users + "checkInCheckOut.data", "{configMap: {name: a}, persistentVolumeClaim: {claimName: b}}"}),
	})
}

func TestTimelineRules(t *testing.T) {
	const until = "a load's until must name another load of the same scenario that ends by itself"
	const begins = "every load of the scenario has a startAfter or an after: remove it from the one that begins the scenario, because the others' delays count from its start"
	const after = "a load's after must name another load of the same scenario that ends by itself"
	const place, load = "spec.scenarios[1]", "spec.scenarios.1.loads.0."
	third := change{"spec.scenarios.1.loads.2", "{name: third, checkInCheckOut: {users: 1}, until: cico}"}
	judge(t, map[string]rule{
		"until names itself":             refuse(place, until, change{load + "until", "cico"}),
		"until names no load":            refuse(place, until, change{load + "until", "create"}),
		"until names another until load": refuse(place, until, third),
		"until names a timed load": accept(third,
			change{load + "until", ""}, change{load + "duration", "10m"}),
		"until names a load of another scenario": refuse("spec.scenarios[0]", until,
			change{users + "duration", ""}, change{users + "until", "create-5k"}),
		"after names itself":              refuse(place, after, change{"spec.scenarios.1.loads.1.after", "create-5k"}),
		"after names no load":             refuse(place, after, change{"spec.scenarios.1.loads.1.after", "create"}),
		"after names an until load":       refuse(place, after, change{"spec.scenarios.1.loads.1.after", "cico"}),
		"a second import after the first": accept(change{"spec.scenarios.1.loads.2", "{name: third, after: create-5k, startAfter: 1m, dataImport: {records: 1}}"}),
		"all loads start later":           refuse("spec.scenarios[0]", begins, change{users + "startAfter", "1m"}),
		"start after zero":                accept(change{users + "startAfter", "0s"}),
		"scenario twice":                  refuse("spec.scenarios[1]", `Duplicate value: {"name":"cico"}`, change{"spec.scenarios.1.name", "cico"}),
		"scenario with a space":           refuse("spec.scenarios[1].name", "a scenario's name may have lower-case letters, digits and '-': for example cico-8", change{"spec.scenarios.1.name", "a b"}),
	})
}

func TestDurationRules(t *testing.T) {
	const sentence = "write a duration with its unit: for example 500ms, 30s, 5m or 1h30m"
	rules := map[string]rule{
		"all units": accept(change{users + "duration", "1h1m1.5s"}),
		"0s":        refuse(aUser+".duration", "a load must last longer than 0s", change{users + "duration", "0s"}),
		"0m0s":      refuse(aUser+".duration", "a load must last longer than 0s", change{users + "duration", "0m0s"}),
		"a number":  refuse(aUser+".duration", `must be of type string: "integer"`, change{users + "duration", "30"}),
	}
	fields := map[string]string{
		users + "duration":                  aUser + ".duration",
		users + "startAfter":                aUser + ".startAfter",
		users + "checkInCheckOut.rampUp":    aUser + ".checkInCheckOut.rampUp",
		users + "checkInCheckOut.thinkTime": aUser + ".checkInCheckOut.thinkTime",
		imports + "dataImport.pause":        anImport + ".dataImport.pause",
		imports + "dataImport.stallTimeout": anImport + ".dataImport.stallTimeout",
		"spec.measurement.warmUp":           "spec.measurement.warmUp",
		"spec.measurement.tail":             "spec.measurement.tail",
		"spec.measurement.interval":         "spec.measurement.interval",
		"spec.deadlines.environment":        "spec.deadlines.environment",
		"spec.deadlines.loadStart":          "spec.deadlines.loadStart",
		"spec.deadlines.load":               "spec.deadlines.load",
		"spec.cleanup.ttl":                  "spec.cleanup.ttl",
	}
	for path, place := range fields {
		rules[place+" 30"] = refuse(place, sentence+"; if seconds are meant, write 30s", change{path, `"30"`})
		for _, bad := range []string{"abc", "-5m", "1 h", "2d", `""`} {
			rules[place+" "+bad] = refuse(place, sentence, change{path, bad})
		}
	}
	judge(t, rules)
}
