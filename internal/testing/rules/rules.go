// SPDX-License-Identifier: Apache-2.0

// Package rules tests validation messages.
package rules

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/expect"
)

// Valid is an experiment that uses most fields.
const Valid = `
apiVersion: perflab.dev/v1alpha1
kind: PerfExperiment
metadata: {name: valid}
spec:
  system:
    target: {module: gateway, credentialsSecret: {name: login}}
    kafka:
      version: 4.1.0
      brokers: {replicas: 3, heap: 256Mi}
      controllers: {replicas: 3}
      config: {log.retention.minutes: "480"}
      topics:
      - {group: data-import, names: [Default.diku.DI_COMPLETED], partitions: 2, replicas: 3}
      - {group: pub-sub, prefix: Default.diku.PUB, count: 60}
    postgres:
      instances: 2
      readWriteSplit: {enabled: true, exclude: [circulation]}
      parameters: {max_connections: "300"}
    modules:
    - {name: gateway, image: "example.org/gateway:1"}
    - name: circulation
      image: example.org/circulation:1
      resources: {limits: {memory: 512Mi}}
      jvm: {heap: {max: 128Mi}, metaspace: {max: 96Mi}, options: [-XX:+UseSerialGC]}
  arms:
  - {name: as-is, baseline: true}
  - name: changed
    set:
      kafka: {topics: [{group: data-import, partitions: 4}]}
      postgres: {parameters: {max_connections: "400"}}
      modules: [{name: "*", jvm: {heap: {maxRAMPercentage: "66"}}}, {name: circulation, replicas: 2}]
  scenarios:
  - name: cico
    loads:
    - {name: cico, checkInCheckOut: {users: 8, rampUp: 10s}, duration: 30m, parallelism: 2}
  - name: import-under-cico
    loads:
    - {name: cico, checkInCheckOut: {users: 8}, until: create-5k}
    - {name: create-5k, startAfter: 1m, dataImport: {records: 5000}}
`

// Schedule returns a PerfSchedule of the valid experiment.
func Schedule(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	schedule := Object(t, `
apiVersion: perflab.dev/v1alpha1
kind: PerfSchedule
metadata: {name: nightly}
spec:
  schedule: 0 2 * * *
  timeZone: Europe/Berlin
  startingDeadlineSeconds: 3600
  onImageChange: [{name: okapi}]
`)
	template := map[string]any{"spec": Object(t, Valid).Object["spec"]}
	expect.NoError(t, unstructured.SetNestedMap(schedule.Object, template, "spec", "template"), "setting the template")
	return schedule
}

// Object reads an object from YAML.
func Object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	expect.NoError(t, yaml.Unmarshal([]byte(text), &object.Object), "reading YAML")
	return object
}

// Set sets the field at a path ("spec.arms.1.name") to a YAML value, or removes it if the
// value is empty.
func Set(t *testing.T, object *unstructured.Unstructured, path, value string) {
	t.Helper()
	changed, err := put(object.Object, strings.Split(path, "."), value)
	expect.NoError(t, err, "setting %s", path)
	object.Object = changed.(map[string]any)
}

var errNoSuchField = errors.New("the object has no such field")

// put returns the node with the value at the path.
func put(node any, path []string, value string) (any, error) {
	if len(path) == 0 {
		var parsed any
		err := yaml.Unmarshal([]byte(value), &parsed)
		return parsed, err
	}
	switch typed := node.(type) {
	case map[string]any:
		if len(path) == 1 && value == "" {
			delete(typed, path[0])
			return typed, nil
		}
		changed, err := put(typed[path[0]], path[1:], value)
		typed[path[0]] = changed
		return typed, err
	case []any:
		at, err := strconv.Atoi(path[0])
		if err != nil || at > len(typed) {
			return nil, fmt.Errorf("%q: %w", path[0], errNoSuchField)
		}
		if at == len(typed) {
			typed = append(typed, nil)
		}
		typed[at], err = put(typed[at], path[1:], value)
		return typed, err
	default:
		return put(map[string]any{}, path, value)
	}
}

// Verdict fails the test unless the answer is the wanted one: accepted if the sentence is
// empty, else rejected with the sentence at the path.
func Verdict(t *testing.T, answer error, place, sentence string) {
	t.Helper()
	switch {
	case sentence == "" && answer != nil:
		t.Errorf("was rejected: %v", answer)
	case sentence == "":
	case answer == nil:
		t.Errorf("was accepted, want a rejection with: %s", sentence)
	case !apierrors.IsInvalid(answer) && !apierrors.IsBadRequest(answer):
		t.Errorf("was not validated: %v", answer)
	case !strings.Contains(answer.Error(), sentence):
		t.Errorf("was rejected without the sentence\n%s\nbut with\n%v", sentence, answer)
	case !strings.Contains(answer.Error(), place):
		t.Errorf("was rejected without the path %q, but with\n%v", place, answer)
	}
}
