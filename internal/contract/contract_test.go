// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

// kafkaAnswers are the results of the accessors for a Kafka.
type kafkaAnswers struct {
	Ready, Rolling, HasStatus bool
	Refusal                   string
	Bootstrap, Version        string
}

func TestKafka(t *testing.T) {
	const creating = `
    - {type: NotReady, status: "True", reason: Creating, message: Kafka cluster is being deployed}`
	cases := map[string]struct {
		reason     string
		generation string
		status     string
		want       kafkaAnswers
	}{
		"Untouched": {
			reason:     "no controller has observed it",
			generation: "1", status: "{}",
		},
		"Creating": {
			reason:     "the first status has no observedGeneration, and NotReady is not a refusal",
			generation: "1", status: "\n    conditions:" + creating,
			want: kafkaAnswers{HasStatus: true},
		},
		"CreatingOfZero": {
			reason:     "the first status may carry observedGeneration 0",
			generation: "1", status: "\n    observedGeneration: 0\n    conditions:" + creating,
			want: kafkaAnswers{HasStatus: true},
		},
		"CreatingAgain": {
			reason:     "a resource in progress, of any generation, is not refused",
			generation: "1", status: "\n    observedGeneration: 1\n    conditions:" + creating,
			want: kafkaAnswers{HasStatus: true},
		},
		"Ready": {
			reason:     "observed: warnings beside Ready",
			generation: "1",
			status: `
    observedGeneration: 1
    kafkaVersion: 3.9.1
    listeners: [{name: tls}, {name: plain, bootstrapServers: "k-kafka-bootstrap.ns.svc:9092"}]
    conditions:
    - {type: Warning, status: "True", reason: KafkaStorage}
    - {type: Ready, status: "True"}`,
			want: kafkaAnswers{Ready: true, HasStatus: true, Bootstrap: "k-kafka-bootstrap.ns.svc:9092", Version: "3.9.1"},
		},
		"Rolling": {
			reason:     "Ready=True of the old generation stays during a roll",
			generation: "2",
			status:     "\n    observedGeneration: 1\n    conditions: [{type: Ready, status: \"True\"}]",
			want:       kafkaAnswers{Rolling: true, HasStatus: true},
		},
		"Refused": {
			reason:     "a failure is NotReady=True with an exception's name, without Ready",
			generation: "2",
			status: `
    observedGeneration: 2
    conditions: [{type: NotReady, status: "True", reason: InvalidResourceException, message: no such version}]`,
			want: kafkaAnswers{HasStatus: true, Refusal: "InvalidResourceException: no such version"},
		},
		"RefusedBefore": {
			reason:     "a failure of an older generation does not apply to this one",
			generation: "3",
			status: `
    observedGeneration: 2
    conditions: [{type: NotReady, status: "True", reason: InvalidResourceException, message: no such version}]`,
			want: kafkaAnswers{HasStatus: true},
		},
		"NotReadyFalse": {
			reason:     "a condition with status False is not a refusal",
			generation: "1",
			status: `
    observedGeneration: 1
    conditions: [{type: NotReady, status: "False", reason: Gone}]`,
			want: kafkaAnswers{HasStatus: true},
		},
		"Garbled": {
			reason:     "fields of another type count as absent",
			generation: "1", status: "{observedGeneration: x, conditions: [1, {type: [Ready]}], listeners: {}}",
			want: kafkaAnswers{HasStatus: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kafka := contract.Kafka{Object: yamlcmp.Object(t, "apiVersion: v1\nkind: Kafka\nmetadata: {name: k, generation: "+tc.generation+"}\nstatus: "+tc.status)}
			expect.Equal(t, tc.want, answersOf(kafka), "%s", tc.reason)
		})
	}
}

func answersOf(kafka contract.Kafka) kafkaAnswers {
	answers := kafkaAnswers{
		Ready: kafka.Ready(), Rolling: kafka.Rolling(), HasStatus: kafka.HasStatus(),
		Bootstrap: kafka.BootstrapServers("plain"), Version: kafka.Version(),
	}
	if reason, message, refused := kafka.Refusal(); refused {
		answers.Refusal = reason + ": " + message
	}
	return answers
}

func TestAccessorsAcceptNil(t *testing.T) {
	expect.Equal(t, kafkaAnswers{}, answersOf(contract.Kafka{}), "a Kafka that is not there")
	cluster := contract.PostgresCluster{}
	if cluster.Ready() || cluster.HasStatus() || cluster.Stuck() {
		t.Error("a PostgreSQL that is not there has answers")
	}
	if stage := (contract.TestRun{}).Stage(); stage != "" {
		t.Errorf("a TestRun that is not there is in stage %q", stage)
	}
}

func TestPostgresClusterReady(t *testing.T) {
	cases := map[string]struct {
		reason string
		status string
		want   bool
	}{
		"Untouched":  {status: "{}"},
		"Ready":      {status: `{readyInstances: 2, currentPrimary: a, targetPrimary: a, conditions: [{type: Ready, status: "True"}]}`, want: true},
		"NotReady":   {status: `{readyInstances: 2, currentPrimary: a, targetPrimary: a, conditions: [{type: Ready, status: "False"}]}`},
		"OneMissing": {status: `{readyInstances: 1, currentPrimary: a, targetPrimary: a, conditions: [{type: Ready, status: "True"}]}`},
		"Switchover": {status: `{readyInstances: 2, currentPrimary: a, targetPrimary: b, conditions: [{type: Ready, status: "True"}]}`},
		"NoPrimary":  {reason: "two empty names are equal", status: `{readyInstances: 2, conditions: [{type: Ready, status: "True"}]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := contract.PostgresCluster{Object: yamlcmp.Object(t, "apiVersion: v1\nkind: Cluster\nspec: {instances: 2}\nstatus: "+tc.status)}
			if cluster.Ready() != tc.want {
				t.Errorf("ready is %t, want %t: %s", cluster.Ready(), tc.want, tc.reason)
			}
		})
	}
}

func TestPostgresClusterStuck(t *testing.T) {
	cases := map[string]bool{
		"":                         false,
		"Setting up primary":       false,
		"Cluster in healthy state": false,
		"Cluster has incomplete or invalid image catalog":                                   true,
		"Cluster cannot proceed to reconciliation due to an unknown plugin being required":  true,
		"Unable to create required cluster objects":                                         true,
		"Cluster is unrecoverable and needs manual intervention":                            true,
		"Waiting for the instances to become active":                                        false,
		"Cluster cannot execute instance online upgrade due to missing architecture binary": true,
	}
	for phase, want := range cases {
		cluster := contract.PostgresCluster{Object: yamlcmp.Object(t, "apiVersion: v1\nkind: Cluster\nstatus: {phase: '"+phase+"'}")}
		expect.Equal(t, want, cluster.Stuck(), "in phase %q stuck", phase)
	}
}

func TestTestRunStage(t *testing.T) {
	for _, stage := range []contract.Stage{contract.StageInitialization, contract.StageStarted, contract.StageFinished, contract.StageError} {
		testRun := contract.TestRun{Object: yamlcmp.Object(t, "apiVersion: v1\nkind: TestRun\nstatus: {stage: "+string(stage)+"}")}
		expect.Equal(t, stage, testRun.Stage(), "stage")
	}
}

// Operators' versions are in the objects that they create.
func TestOperatorVersions(t *testing.T) {
	kafka := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"operatorLastSuccessfulVersion": "1.2.0"}}}
	if told := (contract.Kafka{Object: kafka}).OperatorVersion(); told != "1.2.0" {
		t.Errorf("Strimzi is %q", told)
	}
	if told := (contract.Kafka{}).OperatorVersion(); told != "" {
		t.Errorf("without a Kafka Strimzi is %q", told)
	}
	const image = "ghcr.io/cloudnative-pg/cloudnative-pg:1.30.0"
	prepared := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "bootstrap-controller", Image: image}}}
	others := corev1.Pod{Spec: prepared}
	own := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{contract.LabelPostgresCluster: "pg"}}, Spec: prepared}
	if told := contract.PostgresOperatorImage([]corev1.Pod{others}); told != "" {
		t.Errorf("of a pod that is not CloudNativePG's it is %q", told)
	}
	if told := contract.PostgresOperatorImage([]corev1.Pod{others, own}); told != image {
		t.Errorf("CloudNativePG is %q", told)
	}
}
