// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

// outside configures the simulation of everything but the operator. The zero value is healthy.
type outside struct {
	// withoutStrimzi, withoutPostgres and withoutK6: no operator reconciles their kinds.
	withoutStrimzi, withoutPostgres, withoutK6 bool
	// namesInstances: CloudNativePG reports the name of its first instance.
	namesInstances bool
	// withoutKueue: Kueue is not installed. quotaUsed: it admits nothing.
	withoutKueue, quotaUsed bool
	// lost are Kafkas and PostgreSQLs that their operators can't repair.
	lost map[types.UID]bool
	// withoutImages: pulling never ends.
	withoutImages bool
	// exit codes of k6 by load; absent: 0.
	exit map[string]int32
	// restores is the exit code of Jobs that restore data.
	restores int32
	// unrestored: those Jobs get no pod.
	unrestored bool
	// held loads run until they are stopped.
	held map[string]bool
	// lasts is the duration of a load; 0: shortest.
	lasts time.Duration
	// node is the node of pods; empty: none.
	node string
	// moduleLog is the log of every module's pod; empty: it has no log.
	moduleLog string
	// lastWords is k6's error before it exits; empty: "no such item".
	lastWords string
	// cold: check-ins are slow in the first three seconds.
	cold bool
	// forge changes the results that runners print.
	forge func(*payload.Payload)
	// foreignK6: runners are not ours, and print no summary of their logs.
	foreignK6 bool
	// refusing: every request fails, inside of transactions that ignore it.
	refusing bool
	// bulky: the results of runners fit into no ConfigMap.
	bulky bool
}

// play simulates one round of everything but the operator.
func (l *lab) play() {
	l.t.Helper()
	if !l.outside.withoutStrimzi {
		l.playStrimzi()
	}
	if !l.outside.withoutPostgres {
		l.playPostgres()
	}
	l.playImages()
	l.playModules()
	l.playRestores()
	if !l.outside.withoutK6 {
		l.playK6()
	}
	l.playKueue()
	l.collectGarbage()
}

// playImages pulls every checked image.
func (l *lab) playImages() {
	l.t.Helper()
	checks := &corev1.PodList{}
	l.list(checks, client.MatchingLabels{v1alpha1.LabelComponent: environment.ComponentImages})
	for i := range checks.Items {
		check := &checks.Items[i]
		if check.Status.Phase == corev1.PodSucceeded || l.outside.withoutImages {
			continue
		}
		check.Status = corev1.PodStatus{Phase: corev1.PodSucceeded, StartTime: &metav1.Time{Time: l.now}}
		for _, container := range check.Spec.Containers {
			check.Status.ContainerStatuses = append(check.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: container.Name, Image: container.Image,
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}},
			})
		}
		l.writeStatus(check)
	}
}

// playStrimzi makes every Kafka ready as declared.
func (l *lab) playStrimzi() {
	l.t.Helper()
	for _, pool := range l.foreign(contract.KafkaNodePoolKind("v1")) {
		replicas, _, _ := unstructured.NestedInt64(pool.Object, "spec", "replicas")
		for n := range replicas {
			l.ensurePod(fmt.Sprintf("%s-%d", pool.GetName(), n), &pool, map[string]string{
				contract.LabelStrimziCluster: pool.GetLabels()[contract.LabelStrimziCluster],
				contract.LabelStrimziPool:    pool.GetName(),
				v1alpha1.LabelExperiment:     pool.GetLabels()[v1alpha1.LabelExperiment],
			}, nil)
		}
	}
	for _, kafka := range l.foreign(contract.KafkaKind("v1")) {
		if l.outside.lost[kafka.GetUID()] {
			l.setStatus(&kafka, map[string]any{"conditions": []any{map[string]any{"type": "NotReady", "status": "True", "reason": "Creating"}}})
			continue
		}
		l.setStatus(&kafka, map[string]any{
			"observedGeneration": kafka.GetGeneration(), "kafkaVersion": "4.3.1",
			"listeners":  []any{map[string]any{"name": "plain", "bootstrapServers": kafka.GetName() + "-kafka-bootstrap:9092"}},
			"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
		})
	}
}

// playPostgres makes every PostgreSQL ready as declared, and its PgBouncers.
func (l *lab) playPostgres() {
	l.t.Helper()
	for _, cluster := range l.foreign(contract.PostgresClusterKind) {
		if l.outside.lost[cluster.GetUID()] {
			l.setStatus(&cluster, map[string]any{"phase": "Creating a new replica"})
			continue
		}
		instances, _, _ := unstructured.NestedInt64(cluster.Object, "spec", "instances")
		synchronous, _, _ := unstructured.NestedInt64(cluster.Object, "spec", "postgresql", "synchronous", "number")
		for n := range instances {
			name := fmt.Sprintf("%s-%d", cluster.GetName(), n+1)
			address := l.ensureInstance(name, &cluster)
			if _, reported := l.databases.get(address); !reported {
				l.databases.put(address, contract.PostgresMetrics{
					InRecovery: ptr.To(n > 0), StreamingReplicas: ptr.To(int32(instances - 1)),
					SynchronousReplicas: ptr.To(int32(synchronous)), RowsRead: ptr.To[int64](7),
				})
			}
		}
		primary := cmp.Or((contract.PostgresCluster{Object: &cluster}).TargetPrimary(), cluster.GetName()+"-1")
		status := map[string]any{
			"phase": "Cluster in healthy state", "instances": instances, "readyInstances": instances,
			"currentPrimary": primary, "targetPrimary": primary,
			"conditions": []any{map[string]any{
				"type": "Ready", "status": "True", "reason": "ClusterIsReady", "message": "Cluster is Ready",
				"lastTransitionTime": "2026-03-01T12:00:00Z",
			}},
		}
		if since := (contract.PostgresCluster{Object: &cluster}).TargetSince(); !since.IsZero() {
			status["targetPrimaryTimestamp"] = since.Format(metav1.RFC3339Micro)
		}
		if l.outside.namesInstances {
			status["instanceNames"] = []any{primary}
		}
		l.setStatus(&cluster, status)
	}
	for _, pooler := range l.foreign(contract.PostgresPoolerKind) {
		cluster, _, _ := unstructured.NestedString(pooler.Object, "spec", "cluster", "name")
		l.ensurePod(pooler.GetName()+"-x", &pooler, map[string]string{
			contract.LabelPostgresCluster: cluster, contract.LabelPostgresPooler: pooler.GetName(),
		}, nil)
		l.setStatus(&pooler, map[string]any{"phase": "active"})
	}
}

// ensureInstance creates the pod of an instance and returns the address of its metrics.
func (l *lab) ensureInstance(name string, cluster *unstructured.Unstructured) string {
	l.t.Helper()
	l.ensurePod(name, cluster, map[string]string{
		contract.LabelPostgresCluster: cluster.GetName(), contract.LabelPostgresRole: contract.PostgresRoleInstance,
		v1alpha1.LabelExperiment: cluster.GetLabels()[v1alpha1.LabelExperiment],
	}, nil)
	return "http://" + l.podAddress(name) + ":9187/metrics"
}

// podAddress returns the address of a pod, and assigns one if it has none.
func (l *lab) podAddress(name string) string {
	l.t.Helper()
	pod := &corev1.Pod{}
	expect.NoError(l.t, l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: name}, pod), "reading pod %s", name)
	if pod.Status.PodIP == "" {
		l.addresses++
		pod.Status.PodIP = fmt.Sprintf("10.9.%d.%d", l.addresses/250, l.addresses%250+1)
		pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
		l.writeStatus(pod)
	}
	return pod.Status.PodIP
}

// playModules simulates the controllers of Deployments and StatefulSets and the kubelet.
func (l *lab) playModules() {
	l.t.Helper()
	deployments := &appsv1.DeploymentList{}
	l.list(deployments)
	for i := range deployments.Items {
		deployment := &deployments.Items[i]
		replicas := *deployment.Spec.Replicas
		l.playPods(deployment, deployment.Spec.Template, replicas)
		changeStatus(l, deployment, &deployment.Status, appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation,
			Replicas:           replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		})
	}
	sets := &appsv1.StatefulSetList{}
	l.list(sets)
	for i := range sets.Items {
		set := &sets.Items[i]
		replicas := *set.Spec.Replicas
		l.playPods(set, set.Spec.Template, replicas)
		changeStatus(l, set, &set.Status, appsv1.StatefulSetStatus{
			ObservedGeneration: set.Generation,
			Replicas:           replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		})
	}
}

// playPods creates a workload's pods from its template and deletes those of another one.
func (l *lab) playPods(workload client.Object, template corev1.PodTemplateSpec, replicas int32) {
	l.t.Helper()
	revision := revisionOf(template.Annotations)
	for _, pod := range l.pods(template.Labels) {
		if l.outside.moduleLog != "" {
			l.logs.put(pod.Name, []byte(l.outside.moduleLog))
		}
		if revisionOf(pod.Annotations) != revision {
			l.remove(&pod)
		}
	}
	for n := range replicas {
		l.ensurePod(fmt.Sprintf("%s-%.5s-%d", workload.GetName(), revision, n), workload, template.Labels, template.Annotations)
	}
}

// restartedAt is the annotation of kubectl rollout restart.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// revisionOf identifies a pod template by the annotations that change with it.
func revisionOf(annotations map[string]string) string {
	fingerprint, restarted := annotations[v1alpha1.AnnotationFingerprint], annotations[restartedAt]
	if restarted == "" {
		return fingerprint
	}
	return environment.Fingerprint([]string{fingerprint, restarted})
}

// playRestores ends every Job that restores data. No module is up while it runs, unless it needs one.
func (l *lab) playRestores() {
	l.t.Helper()
	jobs := &batchv1.JobList{}
	l.list(jobs)
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if l.outside.unrestored || !strings.HasSuffix(job.Name, "-restore") || len(job.Status.Conditions) > 0 {
			continue
		}
		calls := job.Spec.Template.Spec.Containers[0].Command[0] == "curl"
		if up := len(l.pods(naming.ComponentLabels("small", environment.ComponentModule))); (up > 0) != calls {
			l.t.Errorf("%d pods of modules are up while data is brought back by %q", up, job.Spec.Template.Spec.Containers[0].Command)
		}
		l.restored = append(l.restored, job.Name)
		l.endJob(job, l.outside.restores)
	}
}

func (l *lab) endJob(job *batchv1.Job, exit int32) {
	l.t.Helper()
	at := metav1.NewTime(l.now)
	conditions := []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
	job.Status = batchv1.JobStatus{StartTime: &at, CompletionTime: &at, Succeeded: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
	if exit != 0 {
		conditions = []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
		job.Status = batchv1.JobStatus{StartTime: &at, Failed: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
		l.endPod(job, exit)
	}
	for _, condition := range conditions {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: condition, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonBackoffLimitExceeded, LastTransitionTime: at, LastProbeTime: at,
		})
	}
	l.writeStatus(job)
}

// endPod leaves the pod of a failed Job.
func (l *lab) endPod(job *batchv1.Job, exit int32) {
	l.t.Helper()
	name := job.Name + "-x"
	l.ensurePod(name, job, podLabels(job), nil)
	pod := l.pods(map[string]string{batchv1.JobNameLabel: job.Name})[0]
	pod.Status.Phase = corev1.PodFailed
	pod.Status.ContainerStatuses[0].Ready = false
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit}}
	l.writeStatus(&pod)
}

// collectGarbage simulates Kubernetes' garbage collector.
func (l *lab) collectGarbage() {
	l.t.Helper()
	kinds := []schema.GroupVersionKind{
		v1alpha1.GroupVersion.WithKind("PerfRun"), contract.TestRunKind,
		batchv1.SchemeGroupVersion.WithKind("Job"), corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	}
	for _, kind := range kinds {
		for _, object := range l.foreign(kind) {
			if owner := metav1.GetControllerOf(&object); owner != nil && !l.exists(owner) {
				l.remove(&object)
			}
		}
	}
}

func (l *lab) exists(owner *metav1.OwnerReference) bool {
	l.t.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind))
	err := l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: owner.Name}, found)
	if client.IgnoreNotFound(err) != nil {
		l.t.Fatalf("looking for %s %s: %v", owner.Kind, owner.Name, err)
	}
	return err == nil && found.GetUID() == owner.UID
}

// foreign lists objects of any kind.
func (l *lab) foreign(kind schema.GroupVersionKind) []unstructured.Unstructured {
	l.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	l.list(list)
	return list.Items
}

func (l *lab) pods(labels map[string]string) []corev1.Pod {
	l.t.Helper()
	list := &corev1.PodList{}
	l.list(list, client.MatchingLabels(labels))
	return list.Items
}

// ensurePod creates a ready pod, unless it exists.
func (l *lab) ensurePod(name string, owner client.Object, labels, annotations map[string]string) {
	l.t.Helper()
	kind, err := l.admin.GroupVersionKindFor(owner)
	expect.NoError(l.t, err)
	container := cmp.Or(labels[v1alpha1.LabelModule], contract.RunnerContainer)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, Name: name, Labels: maps.Clone(labels), Annotations: maps.Clone(annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: container, Image: "example.org/any:1"}},
			NodeName:   l.outside.node,
		},
	}
	err = l.admin.Get(l.t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{})
	if err == nil {
		return
	}
	if client.IgnoreNotFound(err) != nil {
		l.t.Fatalf("reading pod %s: %v", name, err)
	}
	expect.NoError(l.t, l.admin.Create(l.t.Context(), pod), "making pod %s", name)
	pod.Status = corev1.PodStatus{
		Phase:      corev1.PodRunning,
		StartTime:  &metav1.Time{Time: l.now},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: container, Ready: true, ImageID: "example.org/any@sha256:1",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(l.now)}},
		}},
	}
	l.writeStatus(pod)
}

func (l *lab) setStatus(object *unstructured.Unstructured, status map[string]any) {
	l.t.Helper()
	if equality.Semantic.DeepEqual(object.Object["status"], any(status)) {
		return
	}
	object.Object["status"] = status
	l.writeStatus(object)
}

// changeStatus writes an object's status unless it is already as wanted.
func changeStatus[Status any](l *lab, object client.Object, current *Status, wanted Status) {
	l.t.Helper()
	if equality.Semantic.DeepEqual(*current, wanted) {
		return
	}
	*current = wanted
	l.writeStatus(object)
}

func (l *lab) writeStatus(object client.Object) {
	l.t.Helper()
	// On a conflict the next round retries.
	if err := l.admin.Status().Update(l.t.Context(), object); err != nil && !apierrors.IsConflict(err) {
		l.t.Fatalf("writing the status of %s: %v", object.GetName(), err)
	}
}

func (l *lab) update(object client.Object) {
	l.t.Helper()
	if err := l.admin.Update(l.t.Context(), object); err != nil && !apierrors.IsConflict(err) {
		l.t.Fatalf("changing %s: %v", object.GetName(), err)
	}
}

func (l *lab) remove(object client.Object) {
	l.t.Helper()
	err := l.admin.Delete(l.t.Context(), object, client.GracePeriodSeconds(0), client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		l.t.Fatalf("deleting %s: %v", object.GetName(), err)
	}
}

// environmentKinds are the kinds of an environment's objects.
var environmentKinds = []schema.GroupVersionKind{
	contract.KafkaKind("v1"), contract.KafkaNodePoolKind("v1"), contract.PostgresClusterKind, contract.PostgresPoolerKind,
	appsv1.SchemeGroupVersion.WithKind("Deployment"), corev1.SchemeGroupVersion.WithKind("Pod"),
}
