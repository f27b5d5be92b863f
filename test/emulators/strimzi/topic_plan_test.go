// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

func TestChangeFor(t *testing.T) {
	kafka := makeKafka("ns", "k")
	renamed := makeTopic(kafka, "a", 1, 1)
	renamed.Spec.TopicName, renamed.Status.TopicName = "new", "old"
	defaults := makeTopic(kafka, "a", 1, 1)
	defaults.Spec.Partitions, defaults.Spec.Replicas = nil, nil
	two := existing{ID: "id", Replicas: []int{1, 1}}
	for name, tc := range map[string]struct {
		topic *api.KafkaTopic
		now   existing
		want  change
	}{
		"missing":             {makeTopic(kafka, "a", 2, 1), existing{}, change{Create: true}},
		"as wished":           {makeTopic(kafka, "a", 2, 1), two, change{}},
		"more partitions":     {makeTopic(kafka, "a", 4, 1), two, change{GrowTo: 4}},
		"fewer partitions":    {makeTopic(kafka, "a", 1, 1), two, change{Refuse: &refusal{"NotSupported", "Decreasing partitions not supported"}}},
		"other replicas":      {makeTopic(kafka, "a", 2, 3), two, change{Refuse: &refusal{"NotSupported", "Replication factor change not supported, but required for partitions [0, 1]"}}},
		"another name":        {renamed, two, change{Refuse: &refusal{"NotSupported", "Changing spec.topicName is not supported"}}},
		"broker's defaults":   {defaults, two, change{}},
		"defaults, not there": {defaults, existing{}, change{Create: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, changeFor(tc.topic, tc.now)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestConflicts(t *testing.T) {
	kafka := makeKafka("ns", "k")
	older, younger, other := makeTopic(kafka, "z", 1, 1), makeTopic(kafka, "a", 1, 1), makeTopic(kafka, "b", 1, 1)
	older.Spec.TopicName, younger.Spec.TopicName = "same", "same"
	older.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
	younger.CreationTimestamp = metav1.NewTime(time.Unix(2, 0))
	got := conflicts([]api.KafkaTopic{*younger, *other, *older})
	want := map[string]refusal{"a": {"ResourceConflict", "Managed by Ref{namespace='ns', name='z'}"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestBatchSize(t *testing.T) {
	kafka := makeKafka("ns", "k")
	if got := batchSize(kafka); got != 100 {
		t.Errorf("by default %d, want 100", got)
	}
	kafka.Spec.EntityOperator.Template.TopicOperatorContainer.Env = []corev1.EnvVar{{Name: "STRIMZI_MAX_BATCH_SIZE", Value: "20"}}
	if got := batchSize(kafka); got != 20 {
		t.Errorf("as asked %d, want 20", got)
	}
}

func TestJavaClass(t *testing.T) {
	for name, want := range map[string]string{
		"INVALID_REPLICATION_FACTOR": "InvalidReplicationFactorException",
		"POLICY_VIOLATION":           "PolicyViolationException",
		"TOPIC_ALREADY_EXISTS":       "TopicExistsException",
		"INVALID_CONFIG":             "InvalidConfigurationException",
	} {
		if got := javaClass(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
