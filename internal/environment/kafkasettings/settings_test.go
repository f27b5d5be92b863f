// SPDX-License-Identifier: Apache-2.0

package kafkasettings_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/environment/kafkasettings"
)

const (
	topic  = kafkasettings.Topic
	broker = kafkasettings.Broker
)

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		scope             kafkasettings.Scope
		name, value, want string
	}{
		{topic, "retention.ms", "7200000", ""},
		{topic, "retention.ms", " -1 ", ""},
		{topic, "retention.ms", "2h", "write a whole number of milliseconds, -1 or more: 7200000 for 2h"},
		{topic, "retention.ms", "7 days", "write a whole number of milliseconds, -1 or more: 604800000 for 7 days"},
		{topic, "retention.ms", "long", "write a whole number of milliseconds, -1 or more"},
		{topic, "retention.ms", "-5", "write a whole number of milliseconds, -1 or more"},
		{broker, "log.retention.minutes", "8h", "write a whole number of minutes: 480 for 8h"},
		{broker, "log.retention.hours", "30m", "write a whole number of hours"},
		{topic, "segment.bytes", "16Mi", "write a whole number of bytes, 14 or more: 16777216 for 16Mi"},
		{topic, "min.cleanable.dirty.ratio", "1.5", "write a number, 0 to 1"},
		{topic, "cleanup.policy", "compacted", "write one of compact, delete"},
		{topic, "cleanup.policy", "compact, delete", ""},
		{topic, "preallocate", "yes", "write true or false"},
		{broker, "num.io.threads", "eight", "write a whole number, 1 or more"},
		{broker, "log.retention.hours", "9999999999", "write a whole number of hours"},
		{broker, "log.retention.ms", "${env:RETENTION}", ""},
		{broker, "a.plugin.setting", "any", ""},
	} {
		got := ""
		if err := kafkasettings.Check(test.scope, test.name, test.value); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s %s = %q: %q, want %q", test.scope, test.name, test.value, got, test.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	for _, test := range []struct {
		scope      kafkasettings.Scope
		name, want string
	}{
		{topic, "log.retention.ms", "retention.ms"},
		{topic, "retention.mss", "retention.ms"},
		{topic, "confluent.tier.enable", ""},
		{broker, "retention.ms", "log.retention.ms"},
		{broker, "num.io.thread", "num.io.threads"},
		{broker, "my.plugin", ""},
	} {
		if got := kafkasettings.Suggest(test.scope, test.name); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.scope, test.name, got, test.want)
		}
	}
}

// Check accepts what Kafka 4.3 accepts, and rejects what Kafka rejects, except below bounds that
// Kafka 3.9 does not have.
func TestCheckMatchesKafka(t *testing.T) {
	names := map[kafkasettings.Scope][]string{
		topic: {
			"retention.ms", "retention.bytes", "cleanup.policy", "compression.type", "compression.lz4.level", "flush.messages",
			"message.timestamp.type", "min.cleanable.dirty.ratio", "min.insync.replicas", "preallocate",
			"segment.ms", "unclean.leader.election.enable", "retention.mss", "log.retention.ms",
		},
		broker: {
			"num.io.threads", "num.network.threads", "log.retention.ms", "log.retention.hours", "log.cleanup.policy",
			"compression.type", "auto.create.topics.enable", "offsets.topic.replication.factor", "log.cleaner.io.buffer.load.factor",
			"default.replication.factor", "message.max.bytes", "socket.send.buffer.bytes", "group.initial.rebalance.delay.ms",
			"log.message.timestamp.type", "transaction.state.log.min.isr",
		},
	}
	values := []string{
		"1", "0", "-1", "-2", "+5", " 7 ", "9", "1.5", "0.5", "1e3", "0x10", "1_000", "40000", "3000000000", "99999999999999999999", "2h", "16Mi",
		"true", "FALSE", "yes", "on", "compact", "delete", "compact,delete", "compact, delete", "Compact", "zstd", "ZSTD", "brotli", "producer", "CreateTime", "createtime",
	}
	var asked []string
	for scope, all := range names {
		for _, name := range all {
			for _, value := range values {
				asked = append(asked, fmt.Sprintf("%s\t%s\t%s", scope, name, value))
			}
		}
	}
	for i, answer := range ask(t, asked) {
		fields := strings.Split(asked[i], "\t")
		scope := kafkasettings.Scope(fields[0])
		err := kafkasettings.Check(scope, fields[1], fields[2])
		if got := err == nil && kafkasettings.IsKnown(scope, fields[1]); fmt.Sprint(got) != answer {
			t.Errorf("%q: Kafka takes it: %s; we say: %v", asked[i], answer, err)
		}
	}
}

// ask returns Kafka's answers to lines, if its jars are available.
func ask(t *testing.T, lines []string) []string {
	t.Helper()
	libs, err := filepath.Abs("../../../bin/kafka-libs")
	if err != nil {
		t.Fatal(err)
	}
	if jars, err := filepath.Glob(libs + "/kafka-server-*.jar"); err != nil || len(jars) == 0 {
		t.Skip("test/emulators/kafka/fetch.sh has not fetched Kafka")
	}
	command := exec.Command("java", "-cp", libs+"/*", "testdata/Ask.java")
	command.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	said, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(said))
}
