// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/naming"
)

// Container is the name of the Job's only container.
const Container = "collector"

// replacements is how often another pod takes the place of a collector that
// was killed. What it had printed is read from the log of its pod.
const replacements = 5

// grace is how long a collector that is killed may take to print what it has.
const grace = 20 * time.Second

// Access are the ServiceAccount that the collectors of an experiment work as
// and the few rights it has: to look at pods, and at what they use.
func Access(request environment.Request) []environment.Intent {
	name := naming.Collector(request.Experiment)
	intent := func(kind schema.GroupVersionKind, fields map[string]any) environment.Intent {
		made := &unstructured.Unstructured{Object: fields}
		made.SetGroupVersionKind(kind)
		made.SetNamespace(request.Namespace)
		made.SetName(name)
		made.SetLabels(naming.Labels(request.Experiment))
		made.SetOwnerReferences([]metav1.OwnerReference{request.Owner})
		return made
	}
	read := func(group string) map[string]any {
		return map[string]any{"apiGroups": []any{group}, "resources": []any{"pods"}, "verbs": []any{"get", "list"}}
	}
	return []environment.Intent{
		intent(corev1.SchemeGroupVersion.WithKind("ServiceAccount"), map[string]any{"automountServiceAccountToken": false}),
		intent(rbacv1.SchemeGroupVersion.WithKind("Role"), map[string]any{"rules": []any{read(""), read("metrics.k8s.io")}}),
		intent(rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), map[string]any{
			"roleRef":  map[string]any{"apiGroup": rbacv1.GroupName, "kind": "Role", "name": name},
			"subjects": []any{map[string]any{"kind": rbacv1.ServiceAccountKind, "name": name, "namespace": request.Namespace}},
		}),
	}
}

// Job samples a run's servers until the pod is told to end. It belongs to the
// run.
func Job(run *v1alpha1.PerfRun, request environment.Request, config Config, image string) (environment.Intent, error) {
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("writing the collector's configuration: %w", err)
	}
	env := append([]corev1.EnvVar{
		// The kubelet would put variables into the place of what is in $( ).
		{Name: EnvConfig, Value: strings.ReplaceAll(string(encoded), "$(", "$$(")},
		fromPod(EnvPod, "metadata.name"),
		fromPod(EnvNode, "spec.nodeName"),
	}, logins(run, request)...)
	job := batchv1.JobSpec{
		BackoffLimit: ptr.To[int32](replacements),
		// The collector ends before; a pod that hangs does not.
		ActiveDeadlineSeconds: ptr.To(int64((config.Longest + spare).Seconds())),
		Template:              corev1.PodTemplateSpec{Spec: pod(request, image, env)},
	}
	job.Template.Labels = labels(run)
	intent := &unstructured.Unstructured{Object: map[string]any{"spec": environment.Fields(&job)}}
	intent.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
	intent.SetNamespace(run.Namespace)
	intent.SetName(naming.CollectorJob(run.Name))
	intent.SetLabels(labels(run))
	intent.SetOwnerReferences([]metav1.OwnerReference{naming.Owner("PerfRun", run)})
	return intent, nil
}

func labels(run *v1alpha1.PerfRun) map[string]string {
	labels := naming.RunLabels(run)
	labels[v1alpha1.LabelComponent] = Container
	return labels
}

func pod(request environment.Request, image string, env []corev1.EnvVar) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            naming.Collector(request.Experiment),
		AutomountServiceAccountToken:  ptr.To(true),
		EnableServiceLinks:            ptr.To(false),
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: ptr.To(int64(grace.Seconds())),
		SecurityContext:               environment.RestrictedPod(),
		Containers: []corev1.Container{{
			Name: Container, Image: image, Env: env,
			SecurityContext: containerSecurity(),
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("48Mi"),
				},
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
			},
		}},
	}
}

func containerSecurity() *corev1.SecurityContext {
	restricted := environment.RestrictedContainer()
	restricted.ReadOnlyRootFilesystem = ptr.To(true)
	return restricted
}

// logins refer to the Secrets with what PostgreSQL, Kafka and Prometheus ask
// for.
func logins(run *v1alpha1.PerfRun, request environment.Request) []corev1.EnvVar {
	var env []corev1.EnvVar
	if request.System.Postgres != nil {
		access := postgres.AccessTo(request)
		database := corev1.EnvVar{Name: "PGDATABASE", Value: access.Database}
		if access.Database == "" {
			database = fromSecret("PGDATABASE", access.Secret, contract.PostgresSecretDatabase)
		}
		env = append(env, database,
			fromSecret("PGUSER", access.Secret, contract.PostgresSecretUsername),
			fromSecret("PGPASSWORD", access.Secret, contract.PostgresSecretPassword))
	}
	if kafka := request.System.Kafka; kafka != nil && kafka.External != nil {
		if sasl := kafka.External.SASL; sasl != nil {
			env = append(env,
				fromSecret(EnvKafkaUsername, sasl.CredentialsSecret.Name, "username"),
				fromSecret(EnvKafkaPassword, sasl.CredentialsSecret.Name, "password"))
		}
		if tls := kafka.External.TLS; tls != nil && tls.CA != nil {
			env = append(env, fromSecret(EnvKafkaCA, tls.CA.Name, tls.CA.Key))
		}
	}
	if prometheus := run.Spec.Measurement.Prometheus; prometheus != nil && prometheus.TokenSecret != nil {
		env = append(env, fromSecret(EnvPrometheusToken, prometheus.TokenSecret.Name, "token"))
	}
	return env
}

func fromPod(name, field string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}}
}

func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key,
	}}}
}
