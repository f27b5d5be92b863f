// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/expect"
	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
)

// toYAML renders an object as YAML.
func toYAML(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	expect.NoError(t, err)
	return string(text)
}

// TestRunnerJob checks the whole Job of the second of two runners.
func TestRunnerJob(t *testing.T) {
	run := makeRun("tr", 2)
	run.Spec.Runner.Env = []corev1.EnvVar{{Name: "K6_AUTO_EXTENSION_RESOLUTION", Value: "false"}}
	run.Spec.Runner.Metadata.Labels = map[string]string{"mine": "yes", "runner": "never"}
	job, err := runnerJob(run, 2)
	expect.NoError(t, err)
	want := `
metadata:
  labels:
    app: k6
    k6_cr: tr
    mine: "yes"
    runner: "true"
  name: tr-2
  namespace: ns
spec:
  backoffLimit: 0
  template:
    metadata:
      labels:
        app: k6
        k6_cr: tr
        mine: "yes"
        runner: "true"
    spec:
      automountServiceAccountToken: true
      containers:
      - command:
        - k6
        - run
        - --quiet
        - --execution-segment=1/2:1
        - --execution-segment-sequence=0,1/2,1
        - --out
        - lab
        - /test/s.js
        - --address=0.0.0.0:6565
        - --paused
        - --tag
        - instance_id=2
        - --tag
        - testrun_name=tr
        env:
        - name: K6_AUTO_EXTENSION_RESOLUTION
          value: "false"
        image: k6:test
        livenessProbe:
          httpGet:
            path: /v1/status
            port: 6565
            scheme: HTTP
        name: k6
        ports:
        - containerPort: 6565
        readinessProbe:
          httpGet:
            path: /v1/status
            port: 6565
            scheme: HTTP
        resources: {}
        securityContext: {}
        volumeMounts:
        - mountPath: /test
          name: k6-test-volume
          readOnly: true
      hostname: tr-2
      restartPolicy: Never
      schedulerName: default-scheduler
      securityContext: {}
      serviceAccountName: default
      volumes:
      - configMap:
          name: s
        name: k6-test-volume
status: {}
`
	expect.Equal(t, strings.TrimPrefix(want, "\n"), toYAML(t, job))
}

func TestRunnerService(t *testing.T) {
	want := `
metadata:
  labels:
    app: k6
    k6_cr: tr
    runner: "true"
  name: tr-service-1
  namespace: ns
spec:
  ports:
  - name: http-api
    port: 6565
    protocol: TCP
    targetPort: 0
  selector:
    job-name: tr-1
status:
  loadBalancer: {}
`
	expect.Equal(t, strings.TrimPrefix(want, "\n"), toYAML(t, runnerService(makeRun("tr", 2), 1)))
}

func TestStarterJob(t *testing.T) {
	run := makeRun("tr", 2)
	run.Spec.Starter = k6v1alpha1.Pod{
		Image: "curl:test", Env: []corev1.EnvVar{{Name: "IGNORED"}},
		Volumes: []corev1.Volume{{Name: "ignored"}}, AutomountServiceAccountToken: "false",
	}
	job := starterJob(run, []string{"10.0.0.1", "10.0.0.2"})
	pod := job.Spec.Template.Spec
	container := pod.Containers[0]
	if job.Name != "tr-starter" || container.Name != "k6-curl" || container.Image != "curl:test" {
		t.Errorf("Job %q runs container %q of %q", job.Name, container.Name, container.Image)
	}
	if _, isRunner := job.Labels["runner"]; isRunner {
		t.Error("the starter is labelled as a runner")
	}
	if len(container.Env) > 0 || len(pod.Volumes) > 0 || *pod.AutomountServiceAccountToken {
		t.Errorf("env %v, volumes %v, token %t; want none", container.Env, pod.Volumes, *pod.AutomountServiceAccountToken)
	}
	expect.Equal(t, "200Mi", container.Resources.Limits.Memory().String(), "memory limit")
	requests := strings.Split(container.Command[2], ";")
	if len(requests) != 2 {
		t.Fatalf("%d requests in %q, want 2", len(requests), container.Command[2])
	}
	for i, address := range []string{"10.0.0.1", "10.0.0.2"} {
		expect.Contains(t, requests[i], []string{"curl ", "--retry 3", "-X PATCH", "http://" + address + ":6565/v1/status", `"paused":false`}, "request %d", i+1)
	}
}

// TestInitializerJob checks a spec without an initializer, which then has the settings of a
// runner.
func TestInitializerJob(t *testing.T) {
	run := makeRun("tr", 2)
	run.Spec.Runner.Env = []corev1.EnvVar{{Name: "USERS", Value: "8"}}
	job, err := initializerJob(run)
	expect.NoError(t, err)
	container := job.Spec.Template.Spec.Containers[0]
	if job.Name != "tr-initializer" || container.Image != "k6:test" || len(container.Env) != 1 {
		t.Errorf("Job %q runs %q with env %v", job.Name, container.Image, container.Env)
	}
	if _, isRunner := job.Labels["runner"]; isRunner {
		t.Error("the initializer is labelled as a runner")
	}
	if container.LivenessProbe != nil || job.Spec.Template.Spec.Hostname != "" {
		t.Error("the initializer has a probe or a hostname")
	}
}

func TestSeparateReplacesAffinity(t *testing.T) {
	run := makeRun("tr", 2)
	run.Spec.Separate = true
	run.Spec.Runner.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
	job, err := runnerJob(run, 1)
	expect.NoError(t, err)
	affinity := job.Spec.Template.Spec.Affinity
	if affinity.NodeAffinity != nil || affinity.PodAntiAffinity == nil {
		t.Errorf("affinity %+v, want the anti-affinity of runners only", affinity)
	}
}
