// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// PodLogs reads the logs of pods.
type PodLogs struct{ Clientset kubernetes.Interface }

// Log opens the log of a pod's container from its beginning. The caller
// closes it.
func (l PodLogs) Log(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error) {
	return l.open(ctx, namespace, pod, &corev1.PodLogOptions{Container: container})
}

// Recent opens what a pod's container has written of late. The caller closes
// it.
func (l PodLogs) Recent(ctx context.Context, namespace, pod, container string, since time.Duration) (io.ReadCloser, error) {
	seconds := int64(since.Seconds())
	return l.open(ctx, namespace, pod, &corev1.PodLogOptions{Container: container, SinceSeconds: &seconds})
}

func (l PodLogs) open(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	stream, err := l.Clientset.CoreV1().Pods(namespace).GetLogs(pod, options).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening the log of pod %q: %w", pod, err)
	}
	return stream, nil
}
