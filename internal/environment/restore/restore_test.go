// SPDX-License-Identifier: Apache-2.0

package restore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/restore"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

var (
	now   = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	bySQL = v1alpha1.Restore{
		SQL:     &v1alpha1.RestoreSQL{ConfigMap: v1alpha1.ConfigMapKey{Name: "data", Key: "restore.sql"}, Image: "psql:1"},
		Timeout: &metav1.Duration{Duration: 2 * time.Minute},
	}
	byCall = v1alpha1.Restore{HTTP: &v1alpha1.RestoreHTTP{Path: "/admin/restore", Method: "PUT", Body: `{"all": true}`}}
	byJob  = v1alpha1.Restore{Job: &v1alpha1.RestoreJob{Image: "loader:1", Command: []string{"load", "--all"}}}
)

func hook(declared v1alpha1.Restore) restore.Hook {
	return restore.Hook{
		Run: &v1alpha1.PerfRun{
			ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "demo-1-a-b-123456", UID: "7"},
			Spec:       v1alpha1.PerfRunSpec{Experiment: "demo", Arm: "a", Scenario: v1alpha1.Scenario{Name: "b"}},
		},
		Restore:  declared,
		Database: restore.Database{Host: "demo-pg-rw", Port: 5432, Secret: "demo-pg-app", NameKey: "dbname"},
		URL:      "http://demo-gateway.lab.svc:8081", Tenant: "diku", CallerImage: "curl:1",
		Env: []corev1.EnvVar{{Name: "DB_HOST", Value: "demo-pg-rw"}},
	}
}

func TestBuildSQLJob(t *testing.T) {
	yamlcmp.Equal(t, restore.Build(hook(bySQL)), `
apiVersion: batch/v1
kind: Job
metadata:
  name: demo-1-a-b-123456-restore
  namespace: lab
  labels: {app.kubernetes.io/managed-by: perflab, perflab.dev/experiment: demo, perflab.dev/run: demo-1-a-b-123456, perflab.dev/arm: a, perflab.dev/scenario: b}
  ownerReferences: [{apiVersion: perflab.dev/v1alpha1, kind: PerfRun, name: demo-1-a-b-123456, uid: "7", controller: true, blockOwnerDeletion: true}]
spec:
  backoffLimit: 1
  activeDeadlineSeconds: 120
  template:
    metadata:
      labels: {app.kubernetes.io/managed-by: perflab, perflab.dev/experiment: demo, perflab.dev/run: demo-1-a-b-123456, perflab.dev/arm: a, perflab.dev/scenario: b}
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext: {runAsNonRoot: true, runAsUser: 65534, seccompProfile: {type: RuntimeDefault}}
      volumes: [{name: script, configMap: {name: data, items: [{key: restore.sql, path: script.sql}]}}]
      containers:
      - name: restore
        image: psql:1
        command: [psql, -X, -q, "-1", -v, ON_ERROR_STOP=1, -f, /restore/script.sql]
        resources: {}
        env:
        - {name: PGHOST, value: demo-pg-rw}
        - {name: PGPORT, value: "5432"}
        - {name: PGDATABASE, valueFrom: {secretKeyRef: {name: demo-pg-app, key: dbname}}}
        - {name: PGUSER, valueFrom: {secretKeyRef: {name: demo-pg-app, key: username}}}
        - {name: PGPASSWORD, valueFrom: {secretKeyRef: {name: demo-pg-app, key: password}}}
        - {name: PGAPPNAME, value: perflab-restore}
        volumeMounts: [{name: script, mountPath: /restore, readOnly: true}]
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
`)
}

func job(t *testing.T, declared v1alpha1.Restore) *batchv1.Job {
	t.Helper()
	made := &batchv1.Job{}
	expect.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(restore.Build(hook(declared)).Object, made, true), "it is no Job")
	return made
}

func TestBuildHTTPJob(t *testing.T) {
	container := job(t, byCall).Spec.Template.Spec.Containers[0]
	want := []string{
		"curl", "--silent", "--show-error", "--fail", "--output", "/dev/null", "--max-time", "600", "--request", "PUT",
		"--header", "X-Okapi-Tenant: diku", "--header", "Content-Type: application/json", "--data-raw", `{"all": true}`,
		"http://demo-gateway.lab.svc:8081/admin/restore",
	}
	if diff := cmp.Diff(want, container.Command); diff != "" || container.Image != "curl:1" {
		t.Errorf("image %q; command (-want +got):\n%s", container.Image, diff)
	}
}

func TestBuildContainerJob(t *testing.T) {
	made := job(t, byJob)
	container := made.Spec.Template.Spec.Containers[0]
	if diff := cmp.Diff([]string{"load", "--all"}, container.Command); diff != "" || container.Image != "loader:1" || len(container.Env) != 1 {
		t.Errorf("image %q, env %v; command (-want +got):\n%s", container.Image, container.Env, diff)
	}
	if user := made.Spec.Template.Spec.SecurityContext.RunAsUser; user != nil || *made.Spec.ActiveDeadlineSeconds != 600 {
		t.Errorf("user %v and %d s; a declared container keeps its user, and the default is 10m", user, *made.Spec.ActiveDeadlineSeconds)
	}
}

// PerfLab's own programs write no files; third-party ones may.
func TestReadOnlyRootFilesystem(t *testing.T) {
	for name, c := range map[string]struct {
		declared v1alpha1.Restore
		may      bool
	}{"a script": {bySQL, false}, "a call": {byCall, false}, "a container": {byJob, true}} {
		context := job(t, c.declared).Spec.Template.Spec.Containers[0].SecurityContext
		expect.Equal(t, c.may, context.ReadOnlyRootFilesystem == nil, "%s may write files", name)
	}
}

func TestAssess(t *testing.T) {
	ended := func(code int32) []corev1.Pod {
		return []corev1.Pod{{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "restore", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: "secret"}},
		}}}}}
	}
	const logs = "; for the cause, run: kubectl logs -n lab job/demo-1-a-b-123456-restore"
	cases := map[string]struct {
		declared  v1alpha1.Restore
		condition batchv1.JobConditionType
		reason    string
		pods      []corev1.Pod
		want      environment.Readiness
	}{
		"On":      {declared: bySQL, want: environment.NotReady(v1alpha1.ReasonRestoring, `the SQL of ConfigMap "data" is restoring the data`)},
		"Done":    {declared: byCall, condition: batchv1.JobComplete, want: environment.Ready("the data is restored: the call PUT /admin/restore")},
		"SQL":     {declared: bySQL, condition: batchv1.JobFailed, pods: ended(3), want: environment.NotReady(v1alpha1.ReasonRestoreFailed, `the SQL of ConfigMap "data" ended with exit code 3 (a statement failed, and nothing was changed)`+logs)},
		"Call":    {declared: byCall, condition: batchv1.JobFailed, pods: ended(22), want: environment.NotReady(v1alpha1.ReasonRestoreFailed, "the call PUT /admin/restore ended with exit code 22 (the server answered with an HTTP error)"+logs)},
		"Job":     {declared: byJob, condition: batchv1.JobFailed, pods: ended(3), want: environment.NotReady(v1alpha1.ReasonRestoreFailed, "the Job of restore.job ended with exit code 3"+logs)},
		"PodGone": {declared: byJob, condition: batchv1.JobFailed, reason: "BackoffLimitExceeded", want: environment.NotReady(v1alpha1.ReasonRestoreFailed, "the Job of restore.job failed (BackoffLimitExceeded)"+logs)},
		"Late": {
			declared: bySQL, condition: batchv1.JobFailed, reason: batchv1.JobReasonDeadlineExceeded,
			want: environment.NotReady(v1alpha1.ReasonRestoreFailed, `the SQL of ConfigMap "data" did not finish within 2m0s; raise restore.timeout, or check what it waits for`),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			made := job(t, tc.declared)
			if tc.condition != "" {
				made.Status.Conditions = []batchv1.JobCondition{{Type: tc.condition, Status: corev1.ConditionTrue, Reason: tc.reason}}
			}
			got := restore.Assess(hook(tc.declared), made, environment.Observed{Pods: tc.pods, Now: now})
			expect.Equal(t, tc.want, got)
		})
	}
}
