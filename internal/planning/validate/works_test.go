// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
)

// shop is a valid experiment; tests change a line.
const shop = `
metadata: {name: shop}
spec:
  system:
    target: {module: web}
    kafka:
      provider: Strimzi
      mode: KRaft
      brokers: {replicas: 3, resources: {limits: {memory: 2Gi}}}
      config: {log.retention.minutes: "60"}
      topics:
      - {group: orders, names: [orders.created, orders.paid], partitions: 2, replicas: 1}
      - {group: stock, prefix: stock, count: 3, partitions: 1, replicas: 1}
    postgres:
      provider: CloudNativePG
      instances: 1
      parameters: {max_connections: "100"}
      resources: {limits: {memory: 1Gi}}
    modules:
    - name: web
      image: example.org/web:1
      resources: {requests: {cpu: 500m, memory: 512Mi}, limits: {cpu: "2", memory: 2Gi}}
      env: [{name: GREETING, value: hello}]
      jvm: {heap: {max: 1Gi}, options: ["-XX:+UseG1GC"]}
    patches: []
  arms:
  - {name: base, baseline: true}
  - {name: other, set: {modules: [{name: web, replicas: 2}]}}
  scenarios:
  - name: s
    loads: [{name: l, script: {path: /a.js}}]
  design: {blocks: 6, maxRuns: 200}
  analysis: {primary: [l/T/average]}
`

const (
	heapLine    = "heap: {max: 1Gi}"
	envLine     = "env: [{name: GREETING, value: hello}]"
	optionsLine = `options: ["-XX:+UseG1GC"]`
	imageLine   = "image: example.org/web:1"
	setLine     = "set: {modules: [{name: web, replicas: 2}]}"
	parameters  = `parameters: {max_connections: "100"}`
	configLine  = `config: {log.retention.minutes: "60"}`
	ordersLine  = "{group: orders, names: [orders.created, orders.paid], partitions: 2, replicas: 1}"
	patchLine   = "patches: []"
	webLine     = "resources: {requests: {cpu: 500m, memory: 512Mi}, limits: {cpu: \"2\", memory: 2Gi}}"
)

// works is a change of the shop, with the expected path and message.
type works struct {
	old, changed string
	// fault or warning; without either, it is valid.
	fault, warning string
}

func testWorks(t *testing.T, cases map[string]works) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(shop, tc.old) {
				t.Fatalf("the shop has no %s", tc.old)
			}
			made := &v1alpha1.PerfExperiment{}
			if err := yaml.UnmarshalStrict([]byte(strings.Replace(shop, tc.old, tc.changed, 1)), made); err != nil {
				t.Fatal(err)
			}
			faults, warnings := validate.Experiment(made, validate.Known{})
			told := ""
			for _, fault := range faults {
				told += fault.Field + ": " + fault.Detail + "\n"
			}
			if (told == "") != (tc.fault == "") || !strings.Contains(told, tc.fault) {
				t.Errorf("faults\n%swant\n%s", told, tc.fault)
			}
			if text := strings.Join(warnings.Sentences(), "\n"); (text == "") != (tc.warning == "") || !strings.Contains(text, tc.warning) {
				t.Errorf("warnings\n%s\nwant\n%s", text, tc.warning)
			}
		})
	}
}

func TestShopExampleIsValid(t *testing.T) { testWorks(t, map[string]works{"as it is": {}}) }

func TestImplausibleQuantities(t *testing.T) {
	const web, heap = "spec.system.modules[0].", "spec.system.modules[0].jvm.heap.max: the heap of module \"web\" is "
	testWorks(t, map[string]works{
		"a heap in thousandths":      {old: heapLine, changed: "heap: {max: 512m}", fault: heap + "512m, which is 0.512 bytes: write 512Mi"},
		"a heap without a unit":      {old: heapLine, changed: "heap: {max: 512}", fault: heap + "512, which is 512 bytes: write 512Mi"},
		"a heap in text":             {old: heapLine, changed: `heap: {max: "0.5"}`, fault: heap + "500m, which is 0.5 bytes: write 500Mi"},
		"a heap of kilobytes":        {old: heapLine, changed: "heap: {max: 768k}", fault: heap + "768k, which is 768000 bytes: write 768Mi"},
		"a heap with an exponent":    {old: heapLine, changed: `heap: {max: "1e3"}`, fault: heap + "1e3, which is 1000 bytes: write a size such as 512Mi"},
		"a heap of nothing":          {old: heapLine, changed: "heap: {max: 0}", fault: heap + "0: write a size above 0, for example 512Mi"},
		"decimal megabytes":          {old: heapLine, changed: "heap: {max: 640M}"},
		"a part of a gibibyte":       {old: heapLine, changed: "heap: {max: 0.5Gi}"},
		"a part of a byte":           {old: heapLine, changed: "heap: {max: 0.1Gi}"},
		"bytes with an exponent":     {old: heapLine, changed: `heap: {max: "1e9"}`},
		"a heap of an arm":           {old: setLine, changed: "set: {modules: [{name: web, jvm: {heap: {max: 640m}}}]}", fault: "spec.arms[1].set.modules[0].jvm.heap.max: arm \"other\": the heap of module \"web\" is 640m, which is 0.64 bytes: write 640Mi"},
		"metaspace":                  {old: heapLine, changed: heapLine + ", metaspace: {max: 256m}", fault: web + "jvm.metaspace.max: the metaspace of module \"web\" is 256m"},
		"initial metaspace":          {old: heapLine, changed: heapLine + ", metaspace: {initial: 96m}", fault: web + "jvm.metaspace.initial: the initial metaspace of module \"web\" is 96m"},
		"a memory limit":             {old: "memory: 2Gi}}\n      env", changed: "memory: 2048m}}\n      env", fault: web + "resources.limits.memory: the memory limit of module \"web\" is 2048m, which is 2.048 bytes: write 2048Mi"},
		"a memory request":           {old: "memory: 512Mi", changed: "memory: 512m", fault: web + "resources.requests.memory: the memory request of module \"web\" is 512m"},
		"a request of few bytes":     {old: "memory: 512Mi", changed: "memory: 512", warning: "the memory request of module \"web\" is 512, which is 512 bytes: write 512Mi (" + web + "resources.requests.memory)"},
		"a request of no bytes":      {old: "memory: 512Mi", changed: "memory: 0"},
		"a request below nothing":    {old: "memory: 512Mi", changed: "memory: -1Gi", fault: "module \"web\" requests -1Gi of memory: write an amount of 0 or more"},
		"requests of an arm":         {old: setLine, changed: "set: {modules: [{name: '*', requests: {memory: 64m}}]}", fault: "spec.arms[1].set.modules[0].requests.memory: arm \"other\": the memory request of module \"web\" is 64m"},
		"ephemeral storage":          {old: "memory: 512Mi", changed: "memory: 512Mi, ephemeral-storage: 10m", fault: "the ephemeral-storage request of module \"web\" is 10m"},
		"an unknown resource":        {old: "memory: 512Mi", changed: "Memory: 512Mi", fault: web + "resources.requests.Memory: module \"web\": Kubernetes has no resource \"Memory\": write cpu, memory or ephemeral-storage"},
		"an extended resource":       {old: "memory: 512Mi", changed: "memory: 512Mi, example.org/device: 1"},
		"hundreds of cores":          {old: "cpu: 500m", changed: `cpu: "0"`},
		"thousandths without a unit": {old: "cpu: 500m, memory: 512Mi}, limits: {cpu: \"2\", memory: 2Gi}}", changed: "cpu: 500}, limits: {memory: 2Gi}}", warning: "the cpu request of module \"web\" is 500, which is 500 cores: write 500m for millicores"},
		"no cores":                   {old: `cpu: "2"`, changed: `cpu: "0"`, fault: "the cpu limit of module \"web\" is 0: write a size above 0, for example 500m"},
		"a size limit":               {old: envLine, changed: "volumes: [{name: tmp, mountPath: /tmp, emptyDir: {sizeLimit: 100m}}]", fault: web + "volumes[0].emptyDir.sizeLimit: the size limit of volume \"tmp\" of module \"web\" is 100m"},
		"a small size limit":         {old: envLine, changed: "volumes: [{name: tmp, mountPath: /tmp, emptyDir: {sizeLimit: 64Ki}}]"},
		"Kafka's heap":               {old: "brokers: {replicas: 3", changed: "brokers: {replicas: 3, heap: 512m", fault: "spec.system.kafka.brokers.heap: kafka.brokers.heap is 512m"},
		"Kafka's storage":            {old: "brokers: {replicas: 3", changed: "brokers: {replicas: 3, storage: {size: 100}", fault: "spec.system.kafka.brokers.storage.size: the storage of kafka.brokers is 100, which is 100 bytes: write 100Mi"},
		"Kafka's heap in an arm":     {old: setLine, changed: "set: {kafka: {brokers: {replicas: 3, heap: 1536m}}}", fault: "spec.arms[1].set.kafka.brokers.heap: arm \"other\": kafka.brokers.heap is 1536m, which is 1.536 bytes: write 1536Mi"},
		"PostgreSQL's memory":        {old: "resources: {limits: {memory: 1Gi}}", changed: "resources: {limits: {memory: 1024m}}", fault: "spec.system.postgres.resources.limits.memory: the memory limit of postgres is 1024m"},
		"PostgreSQL's storage":       {old: "instances: 1", changed: "instances: 1\n      storage: {size: 20m}", fault: "spec.system.postgres.storage.size: the storage of postgres is 20m"},
		"a load's memory":            {old: "script: {path: /a.js}", changed: "script: {path: /a.js}, resources: {limits: {memory: 256m}}", fault: "spec.scenarios[0].loads[0].resources.limits.memory: the memory limit of load \"l\" is 256m, which is 0.256 bytes: write 256Mi"},
		"cores with a unit of bytes": {old: "cpu: 500m, memory: 512Mi}, limits: {cpu: \"2\", memory: 2Gi}}", changed: "cpu: 500Mi}, limits: {memory: 2Gi}}", warning: "the cpu request of module \"web\" is 500Mi, which is 524288000 cores: write 500m for millicores"},
		"a load's cores":             {old: "script: {path: /a.js}", changed: "script: {path: /a.js}, resources: {requests: {cpu: 1000}}", warning: "the cpu request of load \"l\" is 1k, which is 1000 cores: write 1000m for millicores"},
	})
}

func TestJVMMemoryFitsLimit(t *testing.T) {
	const limit = "spec.system.modules[0].resources.limits.memory"
	testWorks(t, map[string]works{
		"metaspace beside the heap": {old: heapLine, changed: "heap: {max: 1800Mi}, metaspace: {max: 512Mi}", warning: `module "web" may use 1800Mi of heap and 512Mi of metaspace, together more than its memory limit of 2Gi`},
		"direct memory":             {old: optionsLine, changed: `options: ["-XX:MaxDirectMemorySize=768m", "-XX:ReservedCodeCacheSize=512m"]`, warning: `module "web" may use 1Gi of heap, 768Mi of direct memory and 512Mi of code cache, together more than its memory limit of 2Gi`},
		"direct memory in env":      {old: envLine, changed: `env: [{name: JAVA_TOOL_OPTIONS, value: "-XX:MaxDirectMemorySize=1536m"}]`, warning: `1536Mi of direct memory, together more than its memory limit of 2Gi`},
		"a share and metaspace":     {old: heapLine, changed: `heap: {maxRAMPercentage: "90"}, metaspace: {max: 512Mi}`, warning: "of heap and 512Mi of metaspace, together more than"},
		"all of it for the heap":    {old: heapLine, changed: "heap: {max: 2Gi}", warning: `module "web" may use 2Gi of heap, all of its memory limit of 2Gi: it can be killed under load; lower one of them, or raise the limit (` + limit},
		"a heap above it":           {old: heapLine, changed: "heap: {max: 3Gi}", fault: `the heap of module "web" is 3Gi, larger than its memory limit of 2Gi`},
		"just enough":               {old: heapLine, changed: "heap: {max: 1536Mi}, metaspace: {max: 512Mi}"},
		"a limit of an arm":         {old: setLine, changed: "set: {modules: [{name: web, resources: {limits: {memory: 1Gi}}}]}", warning: `arm "other": module "web" may use 1Gi of heap, all of its memory limit of 1Gi: it can be killed under load; lower one of them, or raise the limit (spec.arms[1].set.modules[0].resources.limits.memory)`},
	})
}

func TestJVMOptionsAreValid(t *testing.T) {
	const option, jvmOption = "spec.system.modules[0].jvm.options[0]: module \"web\": jvm.options has ", "spec.system.modules[0].jvm.options[1]: module \"web\": jvm.options has "
	withOptions := func(options string) string { return "options: [" + options + "]" }
	testWorks(t, map[string]works{
		"two collectors":               {old: optionsLine, changed: withOptions(`"-XX:+UseG1GC", "-XX:+UseZGC"`), fault: jvmOption + `"-XX:+UseZGC", a second garbage collector in addition to -XX:+UseG1GC: the JVM does not start with two; remove one of them`},
		"one that is off again":        {old: optionsLine, changed: withOptions(`"-XX:+UseG1GC", "-XX:-UseG1GC", "-XX:+UseZGC"`)},
		"two of an arm":                {old: setLine, changed: `set: {modules: [{names: [web], jvm: {options: ["-XX:+UseSerialGC", "-XX:+UseParallelGC"]}}]}`, fault: `spec.arms[1].set.modules[0].jvm.options[1]: arm "other": module "web": jvm.options has "-XX:+UseParallelGC", a second garbage collector`},
		"one in a variable":            {old: envLine, changed: `env: [{name: JAVA_TOOL_OPTIONS, value: "-XX:+UseSerialGC"}]`, fault: option + `"-XX:+UseG1GC", a second garbage collector in addition to -XX:+UseSerialGC`},
		"one in an arm's variable":     {old: setLine, changed: `set: {modules: [{name: web, env: [{name: _JAVA_OPTIONS, value: "-XX:+UseSerialGC"}]}]}`, fault: `spec.arms[1].set.modules[0].env[0]: arm "other": module "web": _JAVA_OPTIONS has "-XX:+UseSerialGC", a second garbage collector in addition to -XX:+UseG1GC`},
		"two in a variable of scripts": {old: envLine, changed: `env: [{name: CATALINA_OPTS, value: "-XX:+UseSerialGC -XX:+UseZGC"}]`, fault: `spec.system.modules[0].env[0]: module "web": CATALINA_OPTS has "-XX:+UseZGC", a second garbage collector in addition to -XX:+UseSerialGC`},
		"none left":                    {old: optionsLine, changed: withOptions(`"-XX:-UseG1GC"`), fault: option + `"-XX:-UseG1GC", the garbage collector that the JVM would select`},
		"one that is gone":             {old: optionsLine, changed: withOptions(`"-XX:+UseConcMarkSweepGC"`), fault: option + `"-XX:+UseConcMarkSweepGC", which JDK 15 and later do not support, so the JVM does not start: write -XX:+UseG1GC instead, or remove it`},
		"a flag that is gone":          {old: optionsLine, changed: withOptions(`"-XX:MaxPermSize=256m"`), fault: "write -XX:MaxMetaspaceSize=… instead"},
		"a flag that is going":         {old: optionsLine, changed: withOptions(`"-XX:+UseBiasedLocking"`), warning: `"-XX:+UseBiasedLocking", which not every JDK from 17 to 25 supports`},
		"a slip of the pen":            {old: optionsLine, changed: withOptions(`"-XX:MaxGCPauseMilis=50"`), fault: option + `"-XX:MaxGCPauseMilis=50", which the JVM does not recognize: did you mean -XX:MaxGCPauseMillis=50?`},
		"experimental":                 {old: optionsLine, changed: withOptions(`"-XX:G1NewSizePercent=10"`), fault: "which is experimental: put -XX:+UnlockExperimentalVMOptions before it"},
		"unlocked":                     {old: optionsLine, changed: withOptions(`"-XX:+UnlockExperimentalVMOptions", "-XX:G1NewSizePercent=10"`)},
		"two flags in one":             {old: optionsLine, changed: withOptions(`"-Da=b -Dc=d"`), fault: "which is not one flag"},
		"an option of other kinds":     {old: optionsLine, changed: withOptions(`"-Dfile.encoding=UTF-8", "-Xss1m", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-javaagent:/opt/agent.jar", "-Xlog:gc*"`)},
		"the image's JDK is too old":   {old: imageLine, changed: "image: eclipse-temurin:8-jre", fault: `spec.system.modules[0].image: the image of module "web" has JDK 8, which does not log the size of its heap`},
		"Kafka's collectors":           {old: "brokers: {replicas: 3", changed: `brokers: {replicas: 3, jvmOptions: {UseG1GC: "true", UseZGC: "true"}`, fault: `spec.system.kafka.brokers.jvmOptions.UseZGC: kafka.brokers: kafka.brokers.jvmOptions has "-XX:+UseZGC", a second garbage collector in addition to -XX:+UseG1GC`},
		"Kafka's heap as an option":    {old: "brokers: {replicas: 3", changed: `brokers: {replicas: 3, jvmOptions: {MaxHeapSize: 1g}`, fault: "kafka.brokers.jvmOptions has MaxHeapSize, which sets the heap: write heap instead"},
		"Kafka's option as a flag":     {old: "brokers: {replicas: 3", changed: `brokers: {replicas: 3, jvmOptions: {"-XX:MaxGCPauseMillis": "20"}`, fault: `kafka.brokers.jvmOptions has "-XX:MaxGCPauseMillis": write the option's name alone`},
		"Kafka's options":              {old: "brokers: {replicas: 3", changed: `brokers: {replicas: 3, jvmOptions: {MaxGCPauseMillis: "20", UseG1GC: "true", G1NewSizePercent: "10", UnlockExperimentalVMOptions: "true"}`},
	})
}

func TestBiasedLockingByTheImage(t *testing.T) {
	for image, fault := range map[string]string{"example.org/web:1-jdk21": "which JDK 19 and later do not support", "example.org/web:1-jdk17": ""} {
		testWorks(t, map[string]works{image: {
			old:     imageLine + "\n      " + webLine + "\n      " + envLine + "\n      jvm: {" + heapLine + ", " + optionsLine,
			changed: "image: " + image + "\n      " + webLine + "\n      jvm: {" + heapLine + ", " + `options: ["-XX:+UseBiasedLocking"]`, fault: fault,
		}})
	}
}

func TestNoOptionOverridesJVMHeap(t *testing.T) {
	const env = `spec.system.modules[0].env[0]: module "web": `
	share := func(rest string) string { return `heap: {maxRAMPercentage: "50"}` + rest }
	variable := func(name, value string) string { return `env: [{name: ` + name + `, value: "` + value + `"}]` }
	// The last of several sizes wins; a size wins over a percentage in any order.
	testWorks(t, map[string]works{
		"a size before the size":    {old: envLine, changed: variable("JAVA_TOOL_OPTIONS", "-Xmx900m")},
		"a size of the launcher":    {old: envLine, changed: variable("JDK_JAVA_OPTIONS", "-Xmx900m")},
		"a size after the size":     {old: envLine, changed: variable("_JAVA_OPTIONS", "-Xmx900m"), fault: env + `_JAVA_OPTIONS has "-Xmx900m", which overrides jvm.heap: the heap would be 900Mi, not 1Gi; remove it`},
		"the same size":             {old: envLine, changed: variable("_JAVA_OPTIONS", "-Xmx1g")},
		"another spelling":          {old: envLine, changed: variable("_JAVA_OPTIONS", "-XX:MaxHeapSize=900m"), fault: `_JAVA_OPTIONS has "-XX:MaxHeapSize=900m"`},
		"a percentage after a size": {old: envLine, changed: variable("_JAVA_OPTIONS", "-XX:MaxRAMPercentage=80")},
		"a start above the size":    {old: envLine, changed: variable("JAVA_TOOL_OPTIONS", "-Xms1500m"), fault: env + `JAVA_TOOL_OPTIONS has "-Xms1500m", which sets an initial heap larger than jvm.heap, so the JVM does not start: write a smaller one`},
		"a size in words":           {old: envLine, changed: variable("_JAVA_OPTIONS", "-Xmxlots"), fault: `_JAVA_OPTIONS has "-Xmxlots", which the JVM rejects: the JVM option "-Xmxlots" does not have a valid size`},
		"a start in options":        {old: optionsLine, changed: `options: ["-Xms1500m"]`, fault: `spec.system.modules[0].jvm.options[0]: module "web": jvm.options has "-Xms1500m", which sets an initial heap larger`},
		"a start below the size":    {old: optionsLine, changed: `options: ["-Xms512m"]`},
		"from a Secret":             {old: envLine, changed: "env: [{name: _JAVA_OPTIONS, valueFrom: {secretKeyRef: {name: a, key: b}}}]"},
		"of other variables":        {old: envLine, changed: variable("_JAVA_OPTIONS", "$(HEAP_OPTIONS) -Xmx$(HEAP)")},
		"no heap in it":             {old: envLine, changed: variable("JAVA_TOOL_OPTIONS", "-Dname=value -javaagent:/opt/agent.jar")},
		"a variable of scripts":     {old: envLine, changed: variable("JAVA_OPTS", "-Xmx900m"), warning: `module "web": JAVA_OPTS has "-Xmx900m", in addition to jvm.heap: if the image passes it to the JVM, one of them has no effect`},
		"a file of options":         {old: envLine, changed: variable("JDK_JAVA_OPTIONS", "@/opt/options"), fault: `JDK_JAVA_OPTIONS has "@/opt/options", a file whose options may override jvm.heap`},
		"a file of flags":           {old: optionsLine, changed: `options: ["-XX:Flags=/opt/flags"]`, fault: `jvm.options has "-XX:Flags=/opt/flags", a file whose options may override jvm.heap`},
		"in the options":            {old: optionsLine, changed: `options: ["-Xmx900m"]`, fault: "which sets the heap: write jvm.heap.max"},
		"in the options, old":       {old: optionsLine, changed: `options: ["-mx900m"]`, fault: "which sets the heap: write jvm.heap.max"},
		"all of the machine":        {old: optionsLine, changed: `options: ["-XX:-UseContainerSupport"]`, fault: "which sets the heap: write jvm.heap.max"},
		"in a command":              {old: envLine, changed: `command: [java, "-Xmx900m", -jar, web.jar]`, fault: `spec.system.modules[0].command[1]: module "web": command has "-Xmx900m", which overrides jvm.heap`},
		"in arguments":              {old: envLine, changed: `args: ["-XX:MaxHeapSize=900m"]`, fault: `spec.system.modules[0].args[0]: module "web": args has`},
		"of an arm":                 {old: setLine, changed: `set: {modules: [{name: web, env: [{name: A, value: b}, {name: _JAVA_OPTIONS, value: "-Xmx900m"}]}]}`, fault: `spec.arms[1].set.modules[0].env[1]: arm "other": module "web": _JAVA_OPTIONS has "-Xmx900m"`},
		"a share of an arm":         {old: setLine, changed: `set: {modules: [{name: web, jvm: {heap: {maxRAMPercentage: "50"}}, env: [{name: JAVA_TOOL_OPTIONS, value: "-Xmx900m"}]}]}`, fault: `spec.arms[1].set.modules[0].env[0]: arm "other": module "web": JAVA_TOOL_OPTIONS has "-Xmx900m", which overrides jvm.heap: the heap would be 900Mi, not 1Gi`},
		"a size beside a share":     {old: heapLine + ", " + optionsLine + "}", changed: share("}\n      args: [\"-Xmx900m\"]"), fault: `args has "-Xmx900m"`},
		"another share":             {old: heapLine + ", " + optionsLine + "}", changed: share(", variable: JAVA_TOOL_OPTIONS}\n      args: [\"-XX:MaxRAMPercentage=60\"]"), fault: `args has "-XX:MaxRAMPercentage=60"`},
		"a start above a share":     {old: heapLine + ", " + optionsLine, changed: share(`, options: ["-Xms1200m"]`), fault: `jvm.options has "-Xms1200m", which overrides jvm.heap: the heap would be 1200Mi, not 1Gi`},
		"a memory of its own":       {old: heapLine + ", " + optionsLine, changed: share(`, options: ["-XX:MaxRAM=1g"]`), fault: "which sets the heap: write jvm.heap.max"},
	})
}

func TestKafkaTopicsAndCountsAreValid(t *testing.T) {
	const orders, config = "spec.system.kafka.topics[0]: ", "spec.system.kafka.config."
	topics := func(declared string) string { return "{group: orders, " + declared + ", partitions: 2, replicas: 1}" }
	long := strings.Repeat("a", 200)
	testWorks(t, map[string]works{
		"a dot for a line":                  {old: ordersLine, changed: topics("names: [orders.created, orders_created]"), fault: orders + `topics "orders.created" (group "orders") and "orders_created" (group "orders") collide: Kafka writes '.' as '_' in its metrics, so it accepts only one of them; rename one, for example orders-created`},
		"in another group":                  {old: ordersLine, changed: topics("names: [a_b]") + "\n      - {group: more, names: [a.b], partitions: 1, replicas: 1}", fault: `spec.system.kafka.topics[1]: topics "a_b" (group "orders") and "a.b" (group "more") collide`},
		"numbered":                          {old: ordersLine, changed: topics("prefix: a.b, count: 2") + "\n      - {group: more, names: [a_b-2], partitions: 1, replicas: 1}", fault: `topics "a.b-2" (group "orders") and "a_b-2" (group "more") collide`},
		"of a preset":                       {old: ordersLine, changed: topics("preset: {name: DataImport}") + "\n      - {group: more, names: [Default_diku.DI_COMPLETED], partitions: 1, replicas: 1}", fault: `topics "Default.diku.DI_COMPLETED" (group "orders") and "Default_diku.DI_COMPLETED" (group "more") collide`},
		"the same in two groups":            {old: ordersLine, changed: topics("names: [stock-2]"), fault: `spec.system.kafka.topics[1]: topic "stock-2" is in group "orders" and in group "stock": keep it in one of them`},
		"a line and another":                {old: ordersLine, changed: topics("names: [a-b, a_b, ab]")},
		"a dot":                             {old: ordersLine, changed: topics("names: [.]"), fault: orders + `topic group "orders" has a topic ".", a name that Kafka rejects`},
		"Kafka's own":                       {old: ordersLine, changed: topics("names: [__consumer_offsets]"), fault: orders + `topic group "orders" has Kafka's own topic "__consumer_offsets": remove it`},
		"two dots":                          {old: ordersLine, changed: topics("names: [..]"), fault: orders + `topic group "orders" has a topic "..", a name that Kafka rejects`},
		"a tenant with a space":             {old: ordersLine, changed: topics(`preset: {name: DataImport, tenants: ["di ku"]}`), fault: orders + `topic group "orders" has a topic "Default.di ku.DI_`},
		"a version with a plus":             {old: ordersLine, changed: topics(`preset: {name: PubSub, version: 2.7.0+1}`), fault: orders + `topic group "orders" has a topic "pub-sub.diku.`},
		"a long name":                       {old: ordersLine, changed: topics("names: [" + long + "]")},
		"too long with the prefix":          {old: "metadata: {name: shop}\nspec:", changed: "metadata: {name: a-shop-with-a-name-of-many-letters-indeed-and-more}\nspec:"},
		"no partitions":                     {old: ordersLine, changed: strings.Replace(ordersLine, "partitions: 2", "partitions: 10000", 1), fault: "spec.system.kafka.topics[0].partitions: the topics of group \"orders\" have 10000 partitions each"},
		"more replicas than brokers":        {old: ordersLine, changed: strings.Replace(ordersLine, "replicas: 1", "replicas: 4", 1), fault: "spec.system.kafka.topics[0].replicas: the topics of group \"orders\" have 4 replicas on 3 brokers"},
		"of an arm":                         {old: setLine, changed: "set: {kafka: {topics: [{group: stock, replicas: 4}]}}", fault: "spec.arms[1].set.kafka.topics[0].replicas: arm \"other\": the topics of group \"stock\" have 4 replicas on 3 brokers"},
		"brokers of an arm":                 {old: setLine, changed: "set: {kafka: {brokers: {replicas: 1}, topics: [{group: stock, replicas: 2}]}}", fault: "spec.arms[1].set.kafka.topics[0].replicas: arm \"other\": the topics of group \"stock\" have 2 replicas on 1 broker"},
		"more in sync than replicas":        {old: ordersLine, changed: strings.Replace(ordersLine, "replicas: 1", "replicas: 1, config: {min.insync.replicas: \"2\"}", 1), fault: `spec.system.kafka.topics[0].replicas: the topics of group "orders" have 1 replica and min.insync.replicas: 2 in its config, so Kafka would reject writes with acks=all: set 1 or less`},
		"more in sync by the brokers":       {old: configLine, changed: `config: {min.insync.replicas: "2"}`, fault: `the topics of group "orders" have 1 replica and min.insync.replicas: 2 in kafka.config`},
		"in sync of an arm":                 {old: setLine, changed: `set: {kafka: {config: {min.insync.replicas: "2"}}}`, fault: `spec.arms[1].set.kafka.config.min.insync.replicas: arm "other": the topics of group "orders" have 1 replica`},
		"as many in sync as replicas":       {old: ordersLine, changed: strings.Replace(ordersLine, "replicas: 1", "replicas: 3, config: {min.insync.replicas: \"3\"}", 1)},
		"more in sync than brokers":         {old: configLine, changed: `config: {min.insync.replicas: "4"}`, fault: config + "min.insync.replicas: kafka.config has min.insync.replicas: 4 on 3 brokers, so Kafka would reject all writes"},
		"none in sync":                      {old: configLine, changed: `config: {min.insync.replicas: "0"}`, fault: config + `min.insync.replicas: kafka.config has min.insync.replicas: "0": write a whole number, 1 or more`},
		"none in sync of a group":           {old: ordersLine, changed: strings.Replace(ordersLine, "replicas: 1", "replicas: 1, config: {min.insync.replicas: none}", 1), fault: `topic group "orders" has min.insync.replicas: "none": write a whole number, 1 or more`},
		"offsets on more than there are":    {old: configLine, changed: `config: {offsets.topic.replication.factor: "4"}`, fault: config + "offsets.topic.replication.factor: kafka.config has offsets.topic.replication.factor: 4 on 3 brokers: write 3 or less, or raise kafka.brokers.replicas"},
		"offsets on brokers of an arm":      {old: configLine + "\n", changed: `config: {offsets.topic.replication.factor: "3"}` + "\n"},
		"transactions in sync":              {old: configLine, changed: `config: {transaction.state.log.replication.factor: "1", transaction.state.log.min.isr: "2"}`, fault: config + "transaction.state.log.min.isr: kafka.config has transaction.state.log.min.isr: 2, more than transaction.state.log.replication.factor: 1"},
		"new topics on more than there are": {old: configLine, changed: `config: {default.replication.factor: "4"}`, warning: "kafka.config has default.replication.factor: 4 on 3 brokers: write 3 or less"},
		"a setting of brokers in words":     {old: configLine, changed: `config: {log.retention.ms: 2h}`, fault: config + `log.retention.ms: kafka.config has log.retention.ms: "2h": write a whole number of milliseconds`},
		"a setting of brokers misspelt":     {old: configLine, changed: `config: {num.io.thread: "8"}`, warning: `kafka.config has "num.io.thread", which is not a broker setting: write num.io.threads`},
		"a setting that Strimzi ignores":    {old: configLine, changed: `config: {log.dirs: /data}`, warning: "kafka.config has log.dirs, which Strimzi sets itself and ignores here: remove it"},
		"topics that are not deleted":       {old: configLine, changed: `config: {delete.topic.enable: "false"}`, warning: "kafka.config has delete.topic.enable: false, so the topics of other arms stay on the brokers"},
		"a setting of a plugin":             {old: configLine, changed: `config: {confluent.tier.enable: "true", ssl.protocol: TLSv1.3}`},
		"a setting of topics in words":      {old: ordersLine, changed: strings.Replace(ordersLine, "replicas: 1", "replicas: 1, config: {cleanup.policy: compacted}", 1), fault: `spec.system.kafka.topics[0].config.cleanup.policy: topic group "orders" has cleanup.policy: "compacted": write one of compact, delete`},
		"a broker's setting for topics":     {old: ordersLine, changed: strings.Replace(ordersLine, "replicas: 1", "replicas: 1, config: {log.retention.ms: \"1\"}", 1), fault: `topic group "orders" has "log.retention.ms", which is not a topic setting: write retention.ms`},
		"an unknown topic setting":          {old: ordersLine, changed: strings.Replace(ordersLine, "replicas: 1", "replicas: 1, config: {confluent.tier.enable: \"true\"}", 1), warning: `topic group "orders" has "confluent.tier.enable", which Kafka 3.9 to 4.3 rejects`},
		"a topic's setting in an arm":       {old: setLine, changed: "set: {kafka: {topics: [{group: stock, config: {retention.ms: 1d}}]}}", fault: `spec.arms[1].set.kafka.topics[0].config.retention.ms: arm "other": topic group "stock" has retention.ms: "1d"`},
		"no partitions for new topics":      {old: configLine, changed: `config: {num.partitions: "0"}`, fault: `kafka.config has num.partitions: "0": write a whole number, 1 or more`},
	})
}

// The prefix of topics contains the experiment's name.
func TestTopicNamesIncludePrefix(t *testing.T) {
	made := experiment()
	made.Name = strings.Repeat("e", 60)
	made.Spec.System.Modules[0].Name = "m"
	made.Spec.System.Kafka.Topics = []v1alpha1.TopicGroup{{Group: "long", Names: []string{strings.Repeat("n", 180)}, Partitions: 1, Replicas: 1}}
	faults, _ := validate.Experiment(made, validate.Known{})
	found := false
	for _, fault := range faults {
		found = found || fault.Field == "spec.system.kafka.topics[0]" && strings.Contains(fault.Detail, "of group \"long\" has 252 characters with the prefix of 72 that PerfLab adds, and Kafka allows 249: shorten it, or the experiment's name")
	}
	if !found {
		t.Errorf("%v", faults)
	}
}

func TestPostgreSQLParametersAreValid(t *testing.T) {
	const place = "spec.system.postgres.parameters."
	set := func(more string) string { return "parameters: {" + more + "}" }
	testWorks(t, map[string]works{
		"above the memory":               {old: parameters, changed: set("shared_buffers: 4GB"), fault: place + "shared_buffers: postgres.parameters: shared_buffers takes 4Gi, and the memory limit is 1Gi: set shared_buffers to a quarter of the limit"},
		"above the memory in blocks":     {old: parameters, changed: set(`shared_buffers: "262144"`), fault: "shared_buffers takes 2Gi, and the memory limit is 1Gi"},
		"all of the memory":              {old: parameters, changed: set("shared_buffers: 1GB"), warning: "shared_buffers takes 1Gi, and the memory limit is 1Gi"},
		"together above the memory":      {old: parameters, changed: set("shared_buffers: 800MB, wal_buffers: 512MB"), fault: place + "shared_buffers: postgres.parameters: shared_buffers, wal_buffers take 1312Mi, and the memory limit is 1Gi"},
		"above the memory in an arm":     {old: setLine, changed: "set: {postgres: {parameters: {shared_buffers: 2GB}}}", fault: `spec.arms[1].set.postgres.parameters.shared_buffers: arm "other": postgres.parameters: shared_buffers takes 2Gi`},
		"above the memory of an arm":     {old: setLine, changed: "set: {postgres: {resources: {limits: {memory: 64Mi}}, parameters: {shared_buffers: 128MB}}}", fault: `spec.arms[1].set.postgres.parameters.shared_buffers: arm "other"`},
		"above the request":              {old: "parameters: {max_connections: \"100\"}\n      resources: {limits: {memory: 1Gi}}", changed: "parameters: {shared_buffers: 512MB}\n      resources: {requests: {memory: 256Mi}, limits: {memory: 1Gi}}", fault: "shared_buffers takes 512Mi, and CloudNativePG rejects more than the memory request of 256Mi"},
		"blocks that look like MB":       {old: "parameters: {max_connections: \"100\"}\n      resources: {limits: {memory: 1Gi}}", changed: "parameters: {shared_buffers: \"16384\"}\n      resources: {requests: {memory: 1Gi}, limits: {memory: 1Gi}}", fault: "CloudNativePG reads shared_buffers without a unit as MB, and rejects more than the memory request of 1Gi: write 128MB"},
		"in huge pages":                  {old: "parameters: {max_connections: \"100\"}\n      resources: {limits: {memory: 1Gi}}", changed: "parameters: {shared_buffers: 4GB}\n      resources: {limits: {memory: 1Gi, hugepages-2Mi: 5Gi}}"},
		"work above the memory":          {old: parameters, changed: set("work_mem: 2GB"), warning: "one process may use 2Gi of work_mem, and the memory limit is 1Gi"},
		"a cache above the memory":       {old: parameters, changed: set("effective_cache_size: 64GB")},
		"Kubernetes' milli":              {old: parameters, changed: set("shared_buffers: 512m"), fault: place + `shared_buffers: postgres.parameters: "512m" has a unit that PostgreSQL does not accept for shared_buffers: write 512MB`},
		"Kubernetes' unit":               {old: parameters, changed: set("work_mem: 64Mi"), fault: "write 64MB"},
		"unknown parameter":              {old: parameters, changed: set("max_conections: '300'"), fault: place + "max_conections: postgres.parameters: PostgreSQL has no parameter max_conections: did you mean max_connections?"},
		"fixed by CloudNativePG":         {old: parameters, changed: set("port: '5433'"), fault: place + "port: postgres.parameters: CloudNativePG sets port itself: remove it"},
		"libraries":                      {old: parameters, changed: set("shared_preload_libraries: auto_explain"), fault: "write a patch of kind: Cluster with spec.postgresql.shared_preload_libraries"},
		"an extension's":                 {old: parameters, changed: set("pg_stat_statements.max: '5000', auto_explain.log_min_duration: 1s")},
		"of another release":             {old: parameters, changed: "image: ghcr.io/cloudnative-pg/postgresql:16.9\n      " + set("io_method: worker"), fault: "PostgreSQL 16 has no parameter io_method, which exists only in 18"},
		"of an unknown release":          {old: parameters, changed: "image: ghcr.io/cloudnative-pg/postgresql:19\n      " + set("brand_new: worker")},
		"an image without a release":     {old: parameters, changed: "image: example.org/postgresql:latest\n      " + parameters, fault: "spec.system.postgres.image: postgres.image example.org/postgresql:latest has no tag that starts with PostgreSQL's release"},
		"an image by digest alone":       {old: parameters, changed: "image: example.org:5000/postgresql@sha256:0123\n      " + parameters, fault: "has no tag that starts with PostgreSQL's release"},
		"an image by both":               {old: parameters, changed: "image: example.org:5000/postgresql:17.2@sha256:0123\n      " + parameters},
		"fewer connections than kept":    {old: parameters, changed: set("max_connections: '3'"), fault: place + "max_connections: postgres.parameters: max_connections is 3, and 3 of them are reserved, so PostgreSQL does not start"},
		"the log's sizes the wrong way":  {old: parameters, changed: set("max_wal_size: 64MB"), fault: place + "max_wal_size: postgres.parameters: CloudNativePG rejects a min_wal_size (80Mi) that is not below max_wal_size (64Mi)"},
		"a log above the storage":        {old: parameters, changed: "storage: {size: 2Gi}\n      " + set("max_wal_size: 4GB"), warning: "max_wal_size lets the log grow to 4Gi, and the storage is 2Gi"},
		"a log that tells too little":    {old: parameters, changed: set("wal_level: minimal"), fault: "CloudNativePG archives the log, and rejects wal_level minimal"},
		"replicas that can't follow":     {old: "instances: 1\n      " + parameters, changed: "instances: 4\n      " + set("max_wal_senders: '2'"), fault: place + "max_wal_senders: postgres.parameters: max_wal_senders is 2, and 3 replicas need one each"},
		"hints off with replicas":        {old: "instances: 1\n      " + parameters, changed: "instances: 2\n      " + set("wal_log_hints: 'no'"), fault: "CloudNativePG needs wal_log_hints on with more than one instance"},
		"hints off alone":                {old: parameters, changed: set("wal_log_hints: 'off'")},
		"a pooler's parameter":           {old: parameters, changed: "pooler: {parameters: {default_pool_sizes: '50'}}\n      " + parameters, fault: "spec.system.postgres.pooler.parameters.default_pool_sizes: postgres.pooler.parameters has default_pool_sizes: CloudNativePG does not support it for PgBouncer: did you mean default_pool_size?"},
		"a pooler's parameter of an arm": {old: setLine, changed: "set: {postgres: {pooler: {parameters: {listen_port: '50'}}}}", fault: `spec.arms[1].set.postgres.pooler.parameters.listen_port: arm "other": postgres.pooler.parameters has listen_port`},
	})
}

// Arms are validated with their patches.
func TestPatchedSystemIsValidated(t *testing.T) {
	patch := func(kind, merge string) string {
		return "patches: [{kind: " + kind + ", merge: {spec: " + merge + "}}]"
	}
	arm := func(kind, merge string) string { return "set: {" + patch(kind, merge) + "}" }
	const first = "spec.arms[1].set.patches[0]: arm \"other\": "
	env := func(name, value string) string {
		return `{template: {spec: {containers: [{name: web, env: [{name: ` + name + `, value: "` + value + `"}]}]}}}`
	}
	testWorks(t, map[string]works{
		"a heap in a variable":      {old: setLine, changed: arm("Deployment", env("_JAVA_OPTIONS", "-Xmx900m")), fault: first + `module "web": _JAVA_OPTIONS has "-Xmx900m", which overrides jvm.heap`},
		"a collector in a variable": {old: setLine, changed: arm("Deployment, name: web", env("JAVA_TOOL_OPTIONS", "-XX:+UseZGC")), fault: first + `module "web": jvm.options has "-XX:+UseG1GC", a second garbage collector in addition to -XX:+UseZGC`},
		"a variable of the system":  {old: patchLine, changed: patch("Deployment", env("_JAVA_OPTIONS", "-Xmx900m")), fault: `spec.system.patches[0]: module "web": _JAVA_OPTIONS has "-Xmx900m"`},
		"a variable that is sound":  {old: setLine, changed: arm("Deployment", env("A", "b"))},
		"a memory limit":            {old: setLine, changed: arm("Deployment", `{template: {spec: {containers: [{name: web, resources: {limits: {memory: 900m}}}]}}}`), fault: first + `the memory limit of module "web" is 900m`},
		"another container":         {old: setLine, changed: arm("Deployment", `{template: {spec: {containers: [{name: side, resources: {limits: {memory: 900m}}}]}}}`)},
		"a parameter":               {old: setLine, changed: arm("Cluster", `{postgresql: {parameters: {shared_buffers: 4GB}}}`), fault: first + "postgres.parameters: shared_buffers takes 4Gi"},
		"memory for a parameter":    {old: setLine, changed: "set: {postgres: {parameters: {shared_buffers: 4GB}}, " + patch("Cluster", `{resources: {limits: {memory: 16Gi}}}`) + "}", warning: "differs from the baseline in 2 settings"},
		"a pooler's parameter":      {old: parameters, changed: "pooler: {}\n      " + parameters},
		"an in-sync count":          {old: setLine, changed: arm("Kafka", `{kafka: {config: {min.insync.replicas: 2}}}`), fault: first + `the topics of group "orders" have 1 replica and min.insync.replicas: 2 in kafka.config`},
		"brokers":                   {old: setLine, changed: "set: {kafka: {topics: [{group: orders, replicas: 3}]}, " + patch("KafkaNodePool, name: broker", `{replicas: 2}`) + "}", fault: first + `the topics of group "orders" have 3 replicas on 2 brokers`},
		"a heap of brokers":         {old: setLine, changed: arm("KafkaNodePool", `{jvmOptions: {"-Xmx": 4g}}`), fault: first + "the heap of kafka.brokers is 4Gi, larger than its memory limit of 2Gi"},
		"what the schema refuses":   {old: setLine, changed: arm("Cluster", `{postgresql: {parameters: [a]}}`)},
		"what can't be applied":     {old: setLine, changed: "set: {patches: [{kind: Cluster, merge: {status: {a: b}}}]}", fault: "spec.arms[1].set.patches[0]: arm \"other\": the patch of Cluster sets \"status\""},
		"what is not the module's":  {old: setLine, changed: arm("Deployment, name: nobody", `{replicas: 1}`), fault: "the patch of Deployment changes nothing"},
		"a number for a text":       {old: setLine, changed: arm("Cluster", `{postgresql: {parameters: {max_connections: 100}}}`)},
	})
}
