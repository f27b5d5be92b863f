// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// elsewhere is the namespace of unrelated pods.
const elsewhere = "elsewhere"

// unrelatedPods measures a cluster with unrelated pods, then with twice as many, and then with
// one complete experiment in addition.
func (b *bench) unrelatedPods(ctx context.Context, c *cluster) error {
	if err := c.namespace(ctx, elsewhere); err != nil {
		return err
	}
	var starts [2]*started
	for i := range starts {
		b.progress("pods: creating %d unrelated pods", b.pods)
		if err := b.makePods(ctx, c, i*b.pods); err != nil {
			return err
		}
		var err error
		if starts[i], err = b.start(ctx, c, nil); err != nil {
			return err
		}
	}
	declared, err := demoDeclaration()
	if err != nil {
		return err
	}
	filler, err := newFiller(ctx, c, declared)
	if err != nil {
		return err
	}
	if err := filler.fill(ctx, lab, 1); err != nil {
		return err
	}
	b.progress("pods: measuring the operator with %d unrelated pods and an experiment", 2*b.pods)
	beside, err := b.start(ctx, c, nil)
	if err != nil {
		return err
	}
	b.table.addPods(b.pods, starts, beside)
	return nil
}

// makePods creates as many pods as the size specifies, with numbers that start at from.
func (b *bench) makePods(ctx context.Context, c *cluster, from int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4 * hands)
	for n := range b.pods {
		name := podName(fmt.Sprintf("service-%02d", n%40), from+n)
		group.Go(func() error { return create(ctx, c.admin, newPod(elsewhere, name, nil)) })
	}
	return group.Wait()
}

// create creates a pod, and reports that it runs, as its kubelet does.
func create(ctx context.Context, admin client.Client, pod *corev1.Pod) error {
	status := pod.Status.DeepCopy()
	if err := admin.Create(ctx, pod); err != nil {
		return fmt.Errorf("creating pod %q: %w", pod.Name, err)
	}
	pod.Status = *status
	if err := admin.Status().Update(ctx, pod); err != nil {
		return fmt.Errorf("writing the status of pod %q: %w", pod.Name, err)
	}
	return nil
}

// newPod returns a pod like the running pod of a service's Deployment. Its name and the names
// of its parts are unique.
func newPod(namespace, name string, labels map[string]string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop", "pod-template-hash": digest(name)[:10]},
			Annotations: map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "8080", "checksum/config": digest("config", name)},
		},
		Spec: corev1.PodSpec{
			NodeName: nodeName(len(name)), ServiceAccountName: "default", AutomountServiceAccountToken: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](10001)},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)},
				{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)},
			},
			Volumes: []corev1.Volume{
				{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "service"}}}},
			},
			Containers: []corev1.Container{service("main", 8080), service("proxy", 8081)},
		},
	}
	for key, value := range labels {
		pod.Labels[key] = value
	}
	pod.Status = running(pod)
	return pod
}

func service(name string, port int32) corev1.Container {
	probe := func() *corev1.Probe {
		return &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/admin/health", Port: intstr.FromInt32(port)}}}
	}
	made := corev1.Container{
		Name: name, Image: "registry.example.org/shop/" + name + ":1.42.0", Args: []string{"--config=/etc/service/config.yaml", fmt.Sprintf("--port=%d", port)},
		Ports: []corev1.ContainerPort{{Name: name, ContainerPort: port}}, LivenessProbe: probe(), ReadinessProbe: probe(),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}, {Name: "config", MountPath: "/etc/service"}},
	}
	for n := range 12 {
		made.Env = append(made.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", n), Value: digest(name, n)[:24]})
	}
	return made
}

// running returns the status of a ready pod.
func running(pod *corev1.Pod) corev1.PodStatus {
	at := metav1.NewTime(began)
	status := corev1.PodStatus{Phase: corev1.PodRunning, HostIP: "10.0.0.10", PodIP: "10.1.2.3", StartTime: &at, QOSClass: corev1.PodQOSBurstable}
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	for _, container := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Ready: true, Started: ptr.To(true), Image: container.Image,
			ImageID:     container.Image + "@sha256:" + digest(container.Image),
			ContainerID: "containerd://" + digest(pod.Name, container.Name),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began.Add(time.Second))}},
		})
	}
	return status
}
