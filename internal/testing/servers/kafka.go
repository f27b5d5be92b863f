// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/ports"
)

const kafkaSettings = `process.roles=broker,controller
node.id=1
listeners=PLAIN://127.0.0.1:%[1]d,CONTROL://127.0.0.1:%[2]d
advertised.listeners=PLAIN://127.0.0.1:%[1]d
listener.security.protocol.map=PLAIN:PLAINTEXT,CONTROL:PLAINTEXT
inter.broker.listener.name=PLAIN
controller.listener.names=CONTROL
controller.quorum.voters=1@127.0.0.1:%[2]d
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
log.dirs=%[3]s
`

// Kafka starts a broker from the jars of the emulators' image and returns its address.
func Kafka(t *testing.T) string {
	t.Helper()
	libs := apiserver.Root("bin", "kafka-libs")
	if jars, err := filepath.Glob(filepath.Join(libs, "kafka_*.jar")); err != nil || len(jars) == 0 {
		t.Skipf("no Kafka in %s: run %q for this test", libs, "test/emulators/kafka/fetch.sh")
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("java is not installed: install it to run this test")
	}
	dir := directory(t)
	port, control := ports.For(t), ports.For(t)
	config := filepath.Join(dir, "server.properties")
	expect.NoError(t, os.WriteFile(config, fmt.Appendf(nil, kafkaSettings, port, control, filepath.Join(dir, "data")), 0o644))
	// Only the test's user may have access to the jars.
	asUser := []string{"-cp", filepath.Join(libs, "*"), "-Xmx256m"}
	format := exec.Command(java, append(asUser, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", config)...)
	if output, err := format.CombinedOutput(); err != nil {
		t.Fatalf("formatting the broker's storage: %v\n%s", err, output)
	}
	startProcess(t, dir, exec.Command(java, append(asUser, "kafka.Kafka", config)...))
	answers(t, "Kafka", port)
	return fmt.Sprintf("127.0.0.1:%d", port)
}
