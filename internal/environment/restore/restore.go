// SPDX-License-Identifier: Apache-2.0

// Package restore renders the declared restore as a Job, and assesses the Job's readiness.
// It is pure.
package restore

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
	"perflab.dev/perflab/internal/naming"
)

// defaultTimeout is the API's default.
const defaultTimeout = 10 * time.Minute

// retries is the number of retries of a failed container: a server may be in a failover. A
// restore is idempotent.
const retries = 1

// container is the name of the Job's only container.
const container = "restore"

// nobody runs images whose user may be root; psql needs no specific user.
const nobody = 65534

// Database is the connection to the restored database.
type Database struct {
	Host string
	Port int32
	// Name of the database; empty if the Secret has it, under NameKey.
	Name string
	// Secret with the keys username and password.
	Secret string
	// NameKey is the key of the database's name.
	NameKey string
}

// Hook is the input of a restore Job.
type Hook struct {
	Run     *v1alpha1.PerfRun
	Restore v1alpha1.Restore
	// Database for sql.
	Database Database
	// URL of the request, for http, and its tenant.
	URL, Tenant string
	// CallerImage has curl, for http.
	CallerImage string
	// Env of the container, for job.
	Env []corev1.EnvVar
	// Pulls are the settings for the container's image.
	Pulls environment.Pulls
}

// NeedsModules reports whether the modules run during the restore; else all are stopped.
func NeedsModules(restore *v1alpha1.Restore) bool { return restore != nil && restore.HTTP != nil }

// Images returns the additional images of a restore.
func Images(restore *v1alpha1.Restore) []string {
	switch {
	case restore == nil:
		return nil
	case restore.SQL != nil:
		return []string{restore.SQL.Image}
	case restore.Job != nil:
		return []string{restore.Job.Image}
	default:
		return nil
	}
}

// Timeout of a restore.
func Timeout(restore v1alpha1.Restore) time.Duration {
	if restore.Timeout == nil {
		return defaultTimeout
	}
	return restore.Timeout.Duration
}

// Build returns the Job. The run owns it, and has one attempt at it.
func Build(hook Hook) environment.Intent {
	labels := naming.RunLabels(hook.Run)
	pod := podspec.Restricted(hook.container())
	pod.Volumes = hook.volumes()
	pod.RestartPolicy = corev1.RestartPolicyNever
	pod.SecurityContext.RunAsUser = hook.user()
	hook.Pulls.Set(&pod)
	intent := environment.RunIntent(hook.Run, batchv1.SchemeGroupVersion.WithKind("Job"), naming.Restore(hook.Run.Name), labels)
	intent.Object["spec"] = environment.Fields(&batchv1.JobSpec{
		BackoffLimit:          new(int32(retries)),
		ActiveDeadlineSeconds: new(max(1, int64(Timeout(hook.Restore).Seconds()))),
		Template:              corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
	})
	return intent
}

func (h Hook) container() corev1.Container {
	result := corev1.Container{Name: container, SecurityContext: podspec.ReadOnly()}
	switch {
	case h.Restore.SQL != nil:
		h.sql(&result)
	case h.Restore.HTTP != nil:
		h.http(&result)
	case h.Restore.Job != nil:
		// A third-party program may write files.
		result.SecurityContext = podspec.ContainerSecurityContext()
		result.Image, result.Command, result.Env = h.Restore.Job.Image, h.Restore.Job.Command, h.Env
	}
	return result
}

func (h Hook) sql(result *corev1.Container) {
	result.Image = h.Restore.SQL.Image
	// -1 is one transaction, ON_ERROR_STOP aborts it at the first error, -X ignores a
	// .psqlrc in the image.
	result.Command = []string{"psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-f", scriptDirectory + "/" + scriptFile}
	result.VolumeMounts = []corev1.VolumeMount{{Name: scriptVolume, MountPath: scriptDirectory, ReadOnly: true}}
	result.Env = []corev1.EnvVar{
		{Name: "PGHOST", Value: h.Database.Host},
		{Name: "PGPORT", Value: strconv.Itoa(int(h.Database.Port))},
	}
	result.Env = append(result.Env, podspec.PostgresEnv(h.Database.Name, h.Database.Secret, h.Database.NameKey)...)
	result.Env = append(result.Env, corev1.EnvVar{Name: "PGAPPNAME", Value: "perflab-restore"})
}

func (h Hook) http(result *corev1.Container) {
	call := h.Restore.HTTP
	result.Image = h.CallerImage
	result.Command = []string{
		"curl", "--silent", "--show-error", "--fail", "--output", "/dev/null",
		"--max-time", strconv.Itoa(max(1, int(Timeout(h.Restore).Seconds()))),
		"--request", httpMethod(call),
	}
	if h.Tenant != "" {
		result.Command = append(result.Command, "--header", "X-Okapi-Tenant: "+h.Tenant)
	}
	if call.Body != "" {
		result.Command = append(result.Command, "--header", "Content-Type: application/json", "--data-raw", call.Body)
	}
	result.Command = append(result.Command, h.URL+call.Path)
}

func httpMethod(call *v1alpha1.RestoreHTTP) string { return cmp.Or(call.Method, http.MethodPost) }

const (
	scriptVolume    = "script"
	scriptDirectory = "/restore"
	scriptFile      = "script.sql"
)

func (h Hook) volumes() []corev1.Volume {
	if h.Restore.SQL == nil {
		return nil
	}
	source := h.Restore.SQL.ConfigMap
	return []corev1.Volume{{Name: scriptVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: source.Name},
		Items:                []corev1.KeyToPath{{Key: source.Key, Path: scriptFile}},
	}}}}
}

func (h Hook) user() *int64 {
	if h.Restore.SQL == nil {
		return nil
	}
	return new(int64(nobody))
}

// title describes the restore in a condition.
func title(restore v1alpha1.Restore) string {
	switch {
	case restore.SQL != nil:
		return fmt.Sprintf("the SQL of ConfigMap %q", restore.SQL.ConfigMap.Name)
	case restore.HTTP != nil:
		return fmt.Sprintf("the call %s %s", httpMethod(restore.HTTP), restore.HTTP.Path)
	default:
		return "the Job of restore.job"
	}
}
