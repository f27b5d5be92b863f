// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestTopics(t *testing.T) {
	declared := small()
	declared.Topics = append(declared.Topics,
		v1alpha1.TopicGroup{Group: "numbered", Prefix: "n", Count: ptr.To[int32](2), Partitions: 120, Replicas: 3, Config: map[string]string{"retention.ms": "1"}},
		v1alpha1.TopicGroup{Group: "again", Names: []string{"n-1", "own"}},
	)
	req := request(declared)
	env := kafka.Env(req)
	config := map[string]string{"retention.ms": "1"}
	want := []kafka.Topic{
		{Name: env + ".Default.diku.DI_COMPLETED", Partitions: 2, Replicas: 1, Group: "data-import"},
		{Name: env + ".n-1", Partitions: 120, Replicas: 3, Config: config, Group: "numbered"},
		{Name: env + ".n-2", Partitions: 120, Replicas: 3, Config: config, Group: "numbered"},
		{Name: env + ".own", Partitions: 1, Replicas: 1, Group: "again"},
	}
	expect.Equal(t, want, kafka.Topics(req))
}

func TestTopicNamesOfPresets(t *testing.T) {
	cases := map[string]struct {
		preset v1alpha1.TopicPreset
		count  int
		first  string
	}{
		"Target":     {preset: v1alpha1.TopicPreset{Name: v1alpha1.PresetDataImport}, count: 65, first: "Default.diku.DI_INITIALIZATION_STARTED"},
		"Tenants":    {preset: v1alpha1.TopicPreset{Name: v1alpha1.PresetDataImport, Tenants: []string{"a", "b"}}, count: 130, first: "Default.a.DI_INITIALIZATION_STARTED"},
		"Collection": {preset: v1alpha1.TopicPreset{Name: v1alpha1.PresetDomain, Tenants: []string{"a", "b"}, Collection: "ALL"}, count: 38, first: "ALL.inventory.async-migration"},
		"PubSub":     {preset: v1alpha1.TopicPreset{Name: v1alpha1.PresetPubSub, Version: "2.7.0"}, count: 10, first: "pub-sub.diku.FEE_FINE_BALANCE_CHANGED.mod-pubsub-2.7.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			names := kafka.TopicNames(v1alpha1.TopicGroup{Group: "g", Preset: &tc.preset}, "diku")
			if len(names) != tc.count || names[0] != tc.first {
				t.Errorf("%d names from %q, want %d from %q", len(names), names[0], tc.count, tc.first)
			}
		})
	}
}

func external() *v1alpha1.Kafka {
	kafka := small()
	kafka.Provider = v1alpha1.KafkaProviderExternal
	kafka.Brokers = v1alpha1.KafkaNodes{}
	kafka.External = &v1alpha1.ExternalKafka{
		BootstrapServers: []string{"b-1:9096"},
		SASL:             &v1alpha1.KafkaSASL{CredentialsSecret: v1alpha1.SecretName{Name: "msk"}},
	}
	return kafka
}

// Experiments of one name in two namespaces may share brokers, but no topics.
func TestExternalTopicsAreUniquePerExperiment(t *testing.T) {
	one, two := request(external()), request(external())
	two.Owner.UID = "2"
	if kafka.Env(one) == kafka.Env(two) {
		t.Errorf("both have ENV %q", kafka.Env(one))
	}
	other := external()
	other.Topics[0].Partitions++
	for topic, want := range map[string]bool{
		kafka.Topics(one)[0].Name:              true,
		kafka.Topics(request(other))[0].Name:   true,
		kafka.Topics(two)[0].Name:              false,
		"demo":                                 false,
		"demo-folio.Default.diku.DI_COMPLETED": false,
		strings.TrimSuffix(kafka.Env(one), "123456") + "0.Default.diku": false,
		kafka.Env(one): false,
	} {
		owner := &metav1.ObjectMeta{Name: one.Experiment, UID: one.Owner.UID}
		expect.Equal(t, want, kafka.IsExperimentTopic(owner, topic), "%q is ours", topic)
	}
}

// Brokers built for an experiment only have the topics of the arm that runs.
func TestIsOtherLayout(t *testing.T) {
	one, other := request(small()), request(small())
	other.System.Kafka.Topics[0].Partitions++
	for topic, want := range map[string]bool{
		kafka.Topics(one)[0].Name:               false,
		kafka.Env(one) + ".made-by-a-module":    false,
		kafka.Topics(other)[0].Name:             true,
		kafka.Env(other) + ".made-by-a-module":  true,
		one.Experiment + "-abc123.earlier":      true,
		one.Experiment + "-abcdef1234":          false,
		one.Experiment + "-2-abcdef1234.theirs": false,
		"__consumer_offsets":                    false,
		"orders":                                false,
	} {
		if got := kafka.IsOtherLayout(one, topic); got != want {
			t.Errorf("%q is of another layout: %t, want %t", topic, got, want)
		}
	}
}

// A changed ledger is rejected, because the operator sends a login to its brokers.
func TestReadLedgerRejectsChangedLedger(t *testing.T) {
	req := request(external())
	run := &v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{Experiment: req.Experiment, System: req.System}}
	known := []v1alpha1.TopicLedger{*kafka.NewLedgerRef(run)}
	brokers, err := kafka.ReadLedger(kafka.Ledger(req), known)
	expect.NoError(t, err)
	expect.Equal(t, req.System.Kafka.External, brokers)

	for name, forge := range map[string]func(*corev1.ConfigMap){
		"other brokers": func(l *corev1.ConfigMap) { l.Data["brokers.json"] = `{"bootstrapServers":["b-1.theirs:9096"]}` },
		"other login": func(l *corev1.ConfigMap) {
			l.Data["brokers.json"] = strings.ReplaceAll(l.Data["brokers.json"], "msk", "theirs")
		},
		"nothing":          func(l *corev1.ConfigMap) { l.Data = nil },
		"another ledger's": func(l *corev1.ConfigMap) { l.Name += "0" },
	} {
		forged := kafka.Ledger(req)
		forge(forged)
		if brokers, err := kafka.ReadLedger(forged, known); err == nil {
			t.Errorf("%s: %+v is followed", name, brokers)
		}
	}
	run.Spec.System.Kafka = small()
	if ledger := kafka.NewLedgerRef(run); ledger != nil {
		t.Errorf("Kafka of the experiment's own has the ledger %+v", ledger)
	}
}

func TestLedgerHasItsFinalizerAndOwner(t *testing.T) {
	ledger := kafka.Ledger(request(external()))
	if len(ledger.Finalizers) != 1 || len(ledger.OwnerReferences) != 1 || !regexp.MustCompile(`^demo-topics-[0-9a-f]{10}$`).MatchString(ledger.Name) {
		t.Errorf("the ledger is %+v", ledger.ObjectMeta)
	}
}

func manyTopics(partitions ...int32) []kafka.Topic {
	var topics []kafka.Topic
	for i, count := range partitions {
		topics = append(topics, kafka.Topic{Name: fmt.Sprint("t", i), Partitions: count, Replicas: 1, Group: "g"})
	}
	return topics
}

// Every request stays below Kafka's limit, and contains every topic.
func TestRequests(t *testing.T) {
	cases := map[string]struct {
		topics []kafka.Topic
		sizes  []int
	}{
		"None":    {},
		"One":     {topics: manyTopics(1), sizes: []int{1}},
		"Full":    {topics: manyTopics(1000, 1000), sizes: []int{2}},
		"Over":    {topics: manyTopics(1000, 1001), sizes: []int{1, 1}},
		"Giant":   {topics: manyTopics(1, 9999, 1), sizes: []int{1, 1, 1}},
		"Many":    {topics: manyTopics(make([]int32, 501)...), sizes: []int{250, 250, 1}},
		"Twelves": {topics: manyTopics(120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120, 120), sizes: []int{16, 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var sizes []int
			var all []kafka.Topic
			for _, request := range kafka.Requests(tc.topics) {
				sizes = append(sizes, len(request))
				all = append(all, request...)
				sum := int32(0)
				for _, topic := range request {
					sum += topic.Partitions
				}
				if sum > 2000 && len(request) > 1 || sum > 9999 {
					t.Errorf("%d partitions in one request", sum)
				}
			}
			expect.Equal(t, tc.sizes, sizes)
			if diff := cmp.Diff(tc.topics, all); diff != "" {
				t.Errorf("the topics asked for are others:\n%s", diff)
			}
		})
	}
}

func TestAssessTopics(t *testing.T) {
	wanted := manyTopics(1, 2, 3)
	state := func(leaderless int32, partitions ...int32) map[string]kafka.TopicState {
		found := map[string]kafka.TopicState{}
		for i, count := range partitions {
			found[fmt.Sprint("t", i)] = kafka.TopicState{Partitions: count, Replicas: 1, Leaderless: leaderless}
		}
		return found
	}
	fewer := state(0, 1, 2, 3)
	fewer["t1"] = kafka.TopicState{Partitions: 2, Replicas: 3}
	cases := map[string]struct {
		wanted []kafka.Topic
		found  map[string]kafka.TopicState
		want   environment.Readiness
	}{
		"Nothing":    {want: environment.Readiness{Ready: true, Reason: v1alpha1.ReasonNotDeclared, Message: "the system declares no topics"}},
		"None":       {wanted: wanted, want: environment.NotReady(v1alpha1.ReasonTopicsNotReady, "0 of 3 topics are created")},
		"Some":       {wanted: wanted, found: state(0, 1, 2), want: environment.NotReady(v1alpha1.ReasonTopicsNotReady, "2 of 3 topics are created")},
		"All":        {wanted: wanted, found: state(0, 1, 2, 3), want: environment.Ready("3 of 3 topics are created")},
		"Leaderless": {wanted: wanted, found: state(1, 1, 2, 3), want: environment.NotReady(v1alpha1.ReasonTopicsNotReady, "0 of 3 topics are led by a broker")},
		"Partitions": {wanted: wanted, found: state(0, 1, 5), want: environment.NotReady(v1alpha1.ReasonRefused,
			`topic "t1" has 5 partitions in Kafka, but 2 are declared: something else changed or created it; delete it, so that PerfLab creates it as declared`)},
		"Replicas": {wanted: wanted, found: fewer, want: environment.NotReady(v1alpha1.ReasonRefused,
			`topic "t1" has 3 replicas in Kafka, but 1 is declared: something else changed or created it; delete it, so that PerfLab creates it as declared`)},
		"TooMany": {wanted: manyTopics(10_000), want: environment.NotReady(v1alpha1.ReasonRefused,
			`topic group "g" declares 10000 partitions in one topic, but Kafka allows at most 9999: spread them over more topics`)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, kafka.AssessTopics(tc.wanted, tc.found))
		})
	}
}
