// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/testing/loopback"
	"perflab.dev/perflab/internal/testing/ports"
)

// startTime is the time limit for a broker to start.
const startTime = time.Minute

// broker is a Kafka process with its own directory.
type broker struct {
	process *exec.Cmd
	dir     string
	address string
}

const settings = `process.roles=broker,controller
node.id=1
listeners=PLAIN://127.0.0.1:%[1]d,CONTROL://127.0.0.1:%[2]d
advertised.listeners=PLAIN://127.0.0.1:%[1]d
listener.security.protocol.map=PLAIN:PLAINTEXT,CONTROL:PLAINTEXT
inter.broker.listener.name=PLAIN
controller.listener.names=CONTROL
controller.quorum.voters=1@127.0.0.1:%[2]d
offsets.topic.replication.factor=1
auto.create.topics.enable=false
log.dirs=%[3]s
`

const logging = `appender.file.type=File
appender.file.name=FILE
appender.file.fileName=%s/server.log
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%%d %%p %%m%%n
rootLogger.level=WARN
rootLogger.appenderRef.file.ref=FILE
`

func startBroker(ctx context.Context, libs, heap string) (*broker, error) {
	if jars, _ := filepath.Glob(filepath.Join(libs, "kafka_*.jar")); len(jars) == 0 {
		return nil, fmt.Errorf("no Kafka in %q: run test/emulators/kafka/fetch.sh", libs)
	}
	dir, err := os.MkdirTemp("", "perflab-bench-topics-")
	if err != nil {
		return nil, err
	}
	b := &broker{dir: dir}
	if err := b.start(ctx, libs, heap); err != nil {
		return nil, errors.Join(err, b.stop())
	}
	return b, nil
}

func (b *broker) start(ctx context.Context, libs, heap string) error {
	port, noPort := ports.Free()
	control, noControl := ports.Free()
	if err := errors.Join(noPort, noControl); err != nil {
		return err
	}
	b.address = fmt.Sprintf("127.0.0.1:%d", port)
	config, log4j := filepath.Join(b.dir, "server.properties"), filepath.Join(b.dir, "log4j2.properties")
	err := errors.Join(
		os.WriteFile(config, fmt.Appendf(nil, settings, port, control, filepath.Join(b.dir, "data")), 0o600),
		os.WriteFile(log4j, fmt.Appendf(nil, logging, b.dir), 0o600),
	)
	if err != nil {
		return err
	}
	java := []string{"-cp", filepath.Join(libs, "*"), "-Dlog4j2.configurationFile=" + log4j}
	format := exec.CommandContext(ctx, "java", append(java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", config)...)
	if output, err := format.CombinedOutput(); err != nil {
		return fmt.Errorf("formatting the broker's storage: %w\n%s", err, output)
	}
	// Each partition keeps files open: raise the limit to this machine's maximum.
	const run = `ulimit -n 100000 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec java "$@"`
	arguments := append([]string{"-c", run, "java", "-Xms" + heap, "-Xmx" + heap}, java...)
	b.process = exec.CommandContext(ctx, "bash", append(arguments, "kafka.Kafka", config)...)
	b.process.Stderr = os.Stderr
	if err := b.process.Start(); err != nil {
		return fmt.Errorf("starting the broker: %w", err)
	}
	return b.awaitAnswer(ctx)
}

func (b *broker) awaitAnswer(ctx context.Context) error {
	enough := time.Now().Add(startTime)
	for {
		_, err := kafkaadmin.Admin{Egress: loopback.Rules()}.Describe(ctx, kafkaadmin.Brokers{Servers: []string{b.address}})
		if err == nil {
			return nil
		}
		if time.Now().After(enough) {
			return fmt.Errorf("the broker did not answer within %s: %w", startTime, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (b *broker) stop() error {
	if b.process != nil && b.process.Process != nil {
		// A clean shutdown would write data that is deleted anyway.
		_ = b.process.Process.Signal(syscall.SIGKILL)
		_ = b.process.Wait()
	}
	return os.RemoveAll(b.dir)
}

// memory is the memory of a broker, in bytes, and its processor time so far. Unlike elapsed
// time, processor time does not depend on the machine's other load.
type memory struct {
	heap, resident int64
	cpu            time.Duration
}

var (
	usedHeap    = regexp.MustCompile(`used (\d+)K`)
	residentSet = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
)

// memory measures the broker's memory after a full garbage collection.
func (b *broker) memory(ctx context.Context) (memory, error) {
	pid := strconv.Itoa(b.process.Process.Pid)
	if output, err := exec.CommandContext(ctx, "jcmd", pid, "GC.run").CombinedOutput(); err != nil {
		return memory{}, fmt.Errorf("collecting the broker's garbage: %w\n%s", err, output)
	}
	heap, err := exec.CommandContext(ctx, "jcmd", pid, "GC.heap_info").Output()
	if err != nil {
		return memory{}, fmt.Errorf("reading the broker's heap: %w", err)
	}
	status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return memory{}, err
	}
	used, resident := usedHeap.FindStringSubmatch(string(heap)), residentSet.FindStringSubmatch(string(status))
	if used == nil || resident == nil {
		return memory{}, fmt.Errorf("no memory in %q and in the status of the process", strings.TrimSpace(string(heap)))
	}
	cpu, err := b.cpu()
	return memory{heap: kibibytes(used[1]), resident: kibibytes(resident[1]), cpu: cpu}, err
}

// cpu returns the broker's processor time.
func (b *broker) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The second field, the program's name, can contain spaces. After it, utime and
	// stime are the 12th and 13th, in hundredths of a second.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("no processor time in %q", rest)
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, err
}

func kibibytes(digits string) int64 {
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		// The argument has only digits and is in range.
		panic(err)
	}
	return number << 10
}
