// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/naming"
)

const (
	// turn is the polling interval.
	turn = 150 * time.Millisecond
	// playedNode is the node of all pods.
	playedNode = "played"
)

// world simulates everything but the operator: the controllers of Deployments and Jobs, the
// scheduler, the kubelet of one node, and k6-operator. It is not an emulator: it immediately
// does what the operator waits for, and nothing else.
type world struct {
	cluster *cluster
	kubelet *kubelet
	// lengths are the lengths of loads, by namespace.
	mutex   sync.Mutex
	lengths map[string]time.Duration
	// began is the start time of each pod. rolled is the template from which a Deployment's
	// pods were created.
	began  map[string]time.Time
	rolled map[types.UID]string
	ended  chan error
}

// startWorld simulates the cluster until the context ends.
func startWorld(ctx context.Context, c *cluster) (*world, error) {
	w := &world{cluster: c, lengths: map[string]time.Duration{}, began: map[string]time.Time{}, rolled: map[types.UID]string{}, ended: make(chan error, 1)}
	var err error
	if w.kubelet, err = startKubelet(); err != nil {
		return nil, err
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: playedNode}}
	if err := c.admin.Create(ctx, node); err != nil {
		return nil, err
	}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = w.kubelet.port
	if err := c.admin.Status().Update(ctx, node); err != nil {
		return nil, err
	}
	go func() { w.ended <- w.play(ctx) }()
	return w, nil
}

// setLength sets the length of a namespace's loads.
func (w *world) setLength(namespace string, length time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.lengths[namespace] = length
}

func (w *world) lengthIn(namespace string) time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.lengths[namespace]
}

func (w *world) play(ctx context.Context) error {
	for {
		for _, part := range []func(context.Context) error{w.images, w.deployments, w.collectors, w.testRuns} {
			// The next turn retries conflicts with the operator.
			if err := part(ctx); err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && ctx.Err() == nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(turn):
		}
	}
}

// images completes pods that only pull images.
func (w *world) images(ctx context.Context) error {
	pods := &corev1.PodList{}
	if err := w.cluster.admin.List(ctx, pods, client.MatchingLabels{v1alpha1.LabelComponent: environment.ComponentImages}); err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase == corev1.PodSucceeded {
			continue
		}
		pod.Status = corev1.PodStatus{Phase: corev1.PodSucceeded, StartTime: &metav1.Time{Time: time.Now()}}
		for _, container := range pod.Spec.Containers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, ended(container.Name, time.Now()))
		}
		if err := w.cluster.admin.Status().Update(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

// ended returns the status of a container that has succeeded.
func ended(name string, began time.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: name, ImageID: "example.org/any@sha256:" + digest(name),
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: metav1.NewTime(began), FinishedAt: metav1.Now()}},
	}
}

// deployments creates the pods of Deployments, and deletes outdated ones.
func (w *world) deployments(ctx context.Context) error {
	list := &appsv1.DeploymentList{}
	if err := w.cluster.admin.List(ctx, list); err != nil {
		return err
	}
	there := map[types.UID]bool{}
	for i := range list.Items {
		there[list.Items[i].UID] = true
		if err := w.deployment(ctx, &list.Items[i]); err != nil {
			return err
		}
	}
	return w.collectGarbage(ctx, there)
}

// collectGarbage deletes the pods of deleted Deployments.
func (w *world) collectGarbage(ctx context.Context, there map[types.UID]bool) error {
	pods := &corev1.PodList{}
	if err := w.cluster.admin.List(ctx, pods, client.MatchingLabels{v1alpha1.LabelComponent: environment.ComponentModule}); err != nil {
		return err
	}
	for i := range pods.Items {
		owner := metav1.GetControllerOf(&pods.Items[i])
		if owner == nil || there[owner.UID] {
			continue
		}
		if err := w.cluster.admin.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) deployment(ctx context.Context, deployment *appsv1.Deployment) error {
	replicas, template := *deployment.Spec.Replicas, digest(deployment.Spec.Template)[:10]
	if status := deployment.Status; w.rolled[deployment.UID] == template && status.ObservedGeneration == deployment.Generation && status.ReadyReplicas == replicas {
		return nil
	}
	pods := &corev1.PodList{}
	if err := w.cluster.admin.List(ctx, pods, client.InNamespace(deployment.Namespace), client.MatchingLabels(deployment.Spec.Selector.MatchLabels)); err != nil {
		return err
	}
	for i := range pods.Items {
		if pods.Items[i].Labels["pod-template-hash"] != template {
			if err := w.cluster.admin.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)); err != nil {
				return err
			}
		}
	}
	for n := range replicas {
		pod := podFrom(deployment.Spec.Template, fmt.Sprintf("%s-%s-%d", deployment.Name, template, n), deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))
		pod.Labels["pod-template-hash"] = template
		if err := w.run(ctx, pod); err != nil {
			return err
		}
	}
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
	if err := w.cluster.admin.Status().Update(ctx, deployment); err != nil {
		return err
	}
	w.rolled[deployment.UID] = template
	return nil
}

// podFrom returns a pod of a workload on the simulated node.
func podFrom(template corev1.PodTemplateSpec, name string, owner client.Object, kind schema.GroupVersionKind) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Namespace, pod.Name, pod.Spec.NodeName = owner.GetNamespace(), name, playedNode
	pod.Spec.ServiceAccountName, pod.Spec.AutomountServiceAccountToken = "", nil
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)}
	return pod
}

// run creates a ready pod, unless it exists.
func (w *world) run(ctx context.Context, pod *corev1.Pod) error {
	err := w.cluster.admin.Create(ctx, pod)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating pod %q: %w", pod.Name, err)
	}
	now := metav1.Now()
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Ready: true, Image: container.Image, ImageID: container.Image + "@sha256:" + digest(container.Image),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	w.began[client.ObjectKeyFromObject(pod).String()] = time.Now()
	return w.cluster.admin.Status().Update(ctx, pod)
}

// finish completes a pod successfully.
func (w *world) finish(ctx context.Context, pod *corev1.Pod) error {
	pod.Status.Phase = corev1.PodSucceeded
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i] = ended(pod.Status.ContainerStatuses[i].Name, w.began[client.ObjectKeyFromObject(pod).String()])
	}
	return w.cluster.admin.Status().Update(ctx, pod)
}

// collectors starts the pods of collectors, and completes them when the operator ends them.
func (w *world) collectors(ctx context.Context) error {
	of := client.MatchingLabels{v1alpha1.LabelComponent: collector.Container}
	jobs, pods := &batchv1.JobList{}, &corev1.PodList{}
	if err := errors.Join(w.cluster.admin.List(ctx, jobs, of), w.cluster.admin.List(ctx, pods, of)); err != nil {
		return err
	}
	for i := range jobs.Items {
		job := &jobs.Items[i]
		pod := podFrom(job.Spec.Template, job.Name+"-x", job, batchv1.SchemeGroupVersion.WithKind("Job"))
		pod.Labels[batchv1.JobNameLabel] = job.Name
		if _, runs := w.began[client.ObjectKeyFromObject(pod).String()]; runs {
			continue
		}
		if err := w.run(ctx, pod); err != nil {
			return err
		}
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if _, reported := pod.Annotations[v1alpha1.AnnotationEnd]; !reported || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		text, err := sampled(pod, w.began[client.ObjectKeyFromObject(pod).String()])
		if err != nil {
			return err
		}
		w.kubelet.print(client.ObjectKeyFromObject(pod), text)
		if err := w.finish(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

// testRuns starts TestRuns, and ends them when their runners have ended.
func (w *world) testRuns(ctx context.Context) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(contract.TestRunKind.GroupVersion().WithKind(contract.TestRunKind.Kind + "List"))
	if err := w.cluster.admin.List(ctx, list); err != nil {
		return err
	}
	var failures []error
	for i := range list.Items {
		testRun := &list.Items[i]
		switch (contract.TestRun{Object: testRun}).Stage() {
		case "":
			failures = append(failures, w.startRunner(ctx, testRun))
		case contract.StageStarted:
			failures = append(failures, w.endRunner(ctx, testRun))
		default:
			// The TestRun has finished.
		}
	}
	return errors.Join(failures...)
}

// startRunner creates the Job and the pod of a load's only runner.
func (w *world) startRunner(ctx context.Context, testRun *unstructured.Unstructured) error {
	name := naming.RunnerJob(testRun.GetName(), 1)
	labels := map[string]string{contract.LabelTestRun: testRun.GetName(), contract.LabelRunner: "true", "app": "k6"}
	maps.Copy(labels, testRun.GetLabels())
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: contract.RunnerContainer, Image: "example.org/k6:1"}}},
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: testRun.GetNamespace(), Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(testRun, contract.TestRunKind)},
	}, Spec: batchv1.JobSpec{Template: template}}
	if err := w.cluster.admin.Create(ctx, job); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	pod := podFrom(template, name+"-x", job, batchv1.SchemeGroupVersion.WithKind("Job"))
	pod.Labels[batchv1.JobNameLabel] = name
	if err := w.run(ctx, pod); err != nil {
		return err
	}
	return w.stage(ctx, testRun, contract.StageStarted)
}

func (w *world) stage(ctx context.Context, testRun *unstructured.Unstructured, stage contract.Stage) error {
	testRun.Object["status"] = map[string]any{"stage": string(stage)}
	return w.cluster.admin.Status().Update(ctx, testRun)
}

// endRunner ends a load after its length, and writes the results to its log.
func (w *world) endRunner(ctx context.Context, testRun *unstructured.Unstructured) error {
	pod := &corev1.Pod{}
	key := client.ObjectKey{Namespace: testRun.GetNamespace(), Name: naming.RunnerJob(testRun.GetName(), 1) + "-x"}
	began := w.began[key.String()]
	if time.Since(began) < w.lengthIn(key.Namespace) {
		report, err := progressed(began)
		w.kubelet.print(key, report)
		return err
	}
	if err := w.cluster.admin.Get(ctx, key, pod); err != nil {
		return err
	}
	text, err := printed(pod, began)
	if err != nil {
		return err
	}
	w.kubelet.print(client.ObjectKeyFromObject(pod), text)
	return errors.Join(w.finish(ctx, pod), w.stage(ctx, testRun, contract.StageFinished))
}
