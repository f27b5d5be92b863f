// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
)

// Cluster reads data that is in no object: a Pod's log and whether a runner answers.
type Cluster interface {
	// Log returns the whole log of a container.
	Log(ctx context.Context, namespace, pod, container string) ([]byte, error)
	// Answers returns nil when k6's REST API answers at the address of a Service.
	Answers(ctx context.Context, address string) error
}

// InCluster is the Cluster as seen from one of its Pods.
type InCluster struct {
	Pods kubernetes.Interface
}

// Log reads the log through the API server.
func (c InCluster) Log(ctx context.Context, namespace, pod, container string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	text, err := c.Pods.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container}).DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the log of Pod %q: %w", pod, err)
	}
	return text, nil
}

// Answers gets the status of k6.
func (c InCluster) Answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	url := fmt.Sprintf("http://%s/v1/status", net.JoinHostPort(address, strconv.Itoa(apiPort)))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("getting the status of k6 at %s: %w", address, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("getting the status of k6 at %s: %w", address, err)
	}
	defer resp.Body.Close() //nolint:errcheck // Nothing was read, so nothing can be lost.
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("getting the status of k6 at %s: %s", address, resp.Status)
	}
	return nil
}

// requirements are the fields of k6 inspect's output that the operator needs.
type requirements struct {
	MaxVUs int64 `json:"maxVUs"`
}

// inspect returns the initializer's result; done is false while it runs.
func (r *TestRunReconciler) inspect(ctx context.Context, run *k6v1alpha1.TestRun) (found requirements, done bool, err error) {
	labels := runLabels(run.Name)
	labels["job-name"] = initializerName(run.Name)
	pods := &corev1.PodList{}
	if err := r.List(ctx, pods, client.InNamespace(run.Namespace), client.MatchingLabels(labels)); err != nil {
		return found, false, fmt.Errorf("listing the initializer of TestRun %q: %w", run.Name, err)
	}
	if len(pods.Items) == 0 {
		return found, false, nil
	}
	pod := pods.Items[0]
	switch pod.Status.Phase {
	case corev1.PodFailed:
		return found, true, errors.New("initializer job has failed")
	case corev1.PodSucceeded:
	default:
		return found, false, nil
	}
	text, err := r.Cluster.Log(ctx, run.Namespace, pod.Name, "k6")
	if err != nil {
		return found, true, err
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return found, true, fmt.Errorf("reading the output of k6 inspect: %w", err)
	}
	return found, true, nil
}

// runningRunners returns the Pods of the running runners.
func (r *TestRunReconciler) runningRunners(ctx context.Context, run *k6v1alpha1.TestRun) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := r.List(ctx, pods, client.InNamespace(run.Namespace), client.MatchingLabels(runnerLabels(run.Name))); err != nil {
		return nil, fmt.Errorf("listing the runners of TestRun %q: %w", run.Name, err)
	}
	return slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning }), nil
}

// retryDelay returns the delay before unreachable runners are retried. It equals the age of the
// youngest, so it doubles each time.
func retryDelay(runners []corev1.Pod, now time.Time) time.Duration {
	var since time.Time
	for _, pod := range runners {
		if pod.CreationTimestamp.After(since) {
			since = pod.CreationTimestamp.Time
		}
	}
	return min(max(now.Sub(since), startInterval), longestPause)
}

// answeringRunners returns the address of every runner, in order, or an error if one of
// them does not answer.
func (r *TestRunReconciler) answeringRunners(ctx context.Context, run *k6v1alpha1.TestRun) ([]string, error) {
	var addresses []string
	for index := 1; index <= int(run.Spec.Parallelism); index++ {
		service := &corev1.Service{}
		key := client.ObjectKey{Namespace: run.Namespace, Name: serviceName(run.Name, index)}
		if err := r.Get(ctx, key, service); err != nil {
			return nil, fmt.Errorf("reading Service %q: %w", key.Name, err)
		}
		if err := r.Cluster.Answers(ctx, service.Spec.ClusterIP); err != nil {
			return nil, err
		}
		addresses = append(addresses, service.Spec.ClusterIP)
	}
	return addresses, nil
}
