// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/podspec"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/naming"
)

// Container is the name of the Job's only container.
const Container = "collector"

// maxRestarts limits the replacements of a collector that was killed. The operator reads the
// samples of earlier pods from their logs.
const maxRestarts = 5

// memory request and limit of a collector. Initializing PostgreSQL's parser takes 260 MiB for a
// second or two, of which some 25 stay; everything else takes about as much as that.
const (
	memoryRequest = "96Mi"
	memoryLimit   = "512Mi"
)

// grace is the time that a killed collector has to print its samples.
const grace = 20 * time.Second

// Access returns the ServiceAccount of an experiment's collectors and the RoleBinding that
// grants it a ClusterRole in the experiment's namespace.
func Access(request environment.Request, role string) []environment.Intent {
	account := naming.Collector(request.Experiment)
	intent := func(kind schema.GroupVersionKind, name string, fields map[string]any) environment.Intent {
		object := environment.NewIntent(kind, request.Namespace, name, naming.Labels(request.Experiment), request.Owner)
		maps.Copy(object.Object, fields)
		return object
	}
	return []environment.Intent{
		intent(corev1.SchemeGroupVersion.WithKind("ServiceAccount"), account, map[string]any{"automountServiceAccountToken": false}),
		intent(rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), naming.CollectorBinding(request.Experiment), map[string]any{
			"roleRef":  map[string]any{"apiGroup": rbacv1.GroupName, "kind": "ClusterRole", "name": role},
			"subjects": []any{map[string]any{"kind": rbacv1.ServiceAccountKind, "name": account, "namespace": request.Namespace}},
		}),
	}
}

// Job samples a run's servers until it is stopped. The run owns it.
func Job(run *v1alpha1.PerfRun, request environment.Request, config Config, image string) (environment.Intent, error) {
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("writing the collector's configuration: %w", err)
	}
	env := append([]corev1.EnvVar{
		// The kubelet would replace $( ) by variables.
		{Name: EnvConfig, Value: strings.ReplaceAll(string(encoded), "$(", "$$(")},
		podspec.EnvFromPod(EnvPod, "metadata.name"),
		podspec.EnvFromPod(EnvNode, "spec.nodeName"),
	}, logins(run, request)...)
	labels := naming.RunLabels(run)
	labels[v1alpha1.LabelComponent] = Container
	intent := environment.RunIntent(run, batchv1.SchemeGroupVersion.WithKind("Job"), naming.CollectorJob(run.Name), labels)
	intent.Object["spec"] = environment.Fields(&batchv1.JobSpec{
		BackoffLimit: new(int32(maxRestarts)),
		// The collector ends before; this ends a pod that hangs.
		ActiveDeadlineSeconds: new(int64((config.Longest + timeReserve).Seconds())),
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       pod(request, image, env),
		},
	})
	return intent, nil
}

func pod(request environment.Request, image string, env []corev1.EnvVar) corev1.PodSpec {
	container := corev1.Container{
		Name: Container, Image: image, Env: env,
		SecurityContext: podspec.ReadOnly(),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse(memoryRequest),
			},
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memoryLimit)},
		},
	}
	pod := podspec.Restricted(container)
	pod.ServiceAccountName = naming.Collector(request.Experiment)
	pod.AutomountServiceAccountToken = new(true)
	pod.RestartPolicy = corev1.RestartPolicyNever
	pod.TerminationGracePeriodSeconds = new(int64(grace.Seconds()))
	request.Pulls.Set(&pod)
	return pod
}

// logins refer to the Secrets with the credentials of PostgreSQL, Kafka and Prometheus.
func logins(run *v1alpha1.PerfRun, request environment.Request) []corev1.EnvVar {
	var env []corev1.EnvVar
	if request.System.Postgres != nil {
		access := postgres.AccessTo(request)
		env = podspec.PostgresEnv(access.Database, access.Secret, contract.PostgresSecretDatabase)
	}
	if kafka := request.System.Kafka; kafka != nil && kafka.External != nil {
		if sasl := kafka.External.SASL; sasl != nil {
			env = append(env, podspec.LoginEnv(EnvKafkaUsername, EnvKafkaPassword, sasl.CredentialsSecret.Name)...)
		}
		if tls := kafka.External.TLS; tls != nil && tls.CA != nil {
			env = append(env, podspec.EnvFromSecret(EnvKafkaCA, tls.CA.Name, tls.CA.Key))
		}
	}
	if prometheus := run.Spec.Measurement.Prometheus; prometheus != nil && prometheus.TokenSecret != nil {
		env = append(env, podspec.EnvFromSecret(EnvPrometheusToken, prometheus.TokenSecret.Name, "token"))
	}
	return env
}
