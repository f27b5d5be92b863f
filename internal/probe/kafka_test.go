// SPDX-License-Identifier: Apache-2.0

package probe_test

import (
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"perflab.dev/perflab/internal/probe"
)

func TestPartitionsAreThoseTheBrokersHave(t *testing.T) {
	brokers, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(1, "one"), kfake.SeedTopics(12, "twelve"))
	if err != nil {
		t.Fatal(err)
	}
	defer brokers.Close()
	got, err := probe.Kafka{}.Partitions(t.Context(), strings.Join(brokers.ListenAddrs(), ","), []string{"one", "twelve", "none"})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int32{"one": 1, "twelve": 12}; !maps.Equal(got, want) {
		t.Errorf("partitions %v, want %v", got, want)
	}
}

func TestPartitionsOfBrokersThatDoNotAnswer(t *testing.T) {
	// A port that takes connections and says nothing.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for what, address := range map[string]string{"a closed port": "127.0.0.1:1", "a silent one": silent.Addr().String()} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			_, err := probe.Kafka{}.Partitions(t.Context(), address, []string{"one"})
			if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), address) || took > 8*time.Second {
				t.Errorf("gave %v after %s, want an error that names it after about 3s", err, took)
			}
		})
	}
}
