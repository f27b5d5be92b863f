// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// PodLogs reads the logs of pods.
type PodLogs struct{ Clientset kubernetes.Interface }

// Log opens a container's log from its beginning. The caller closes it.
func (l PodLogs) Log(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error) {
	return l.open(ctx, namespace, pod, &corev1.PodLogOptions{Container: container})
}

// Recent opens the recent log of a container. The caller closes it.
func (l PodLogs) Recent(ctx context.Context, namespace, pod, container string, since time.Duration) (io.ReadCloser, error) {
	seconds := int64(since.Seconds())
	return l.open(ctx, namespace, pod, &corev1.PodLogOptions{Container: container, SinceSeconds: &seconds})
}

func (l PodLogs) open(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	stream, err := l.Clientset.CoreV1().Pods(namespace).GetLogs(pod, options).Stream(ctx)
	if err == nil {
		return logStream{stream, pod}, nil
	}
	err = fmt.Errorf("opening the log of pod %q: %w", pod, err)
	if code := statusCode(err); code == 0 || IsTransient(err) {
		err = &LogUnavailable{err}
	}
	return nil, err
}

// LogUnavailable is the error of a log that is temporarily unavailable: its node or the API
// server did not answer, or the connection broke. The log's contents are unknown.
type LogUnavailable struct{ Err error }

// Error returns the message of the cause.
func (u *LogUnavailable) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *LogUnavailable) Unwrap() error { return u.Err }

// IsLogUnavailable reports whether reading the log may succeed later.
func IsLogUnavailable(err error) bool {
	var unread *LogUnavailable
	return errors.As(err, &unread)
}

// logStream distinguishes the end of a log from a broken connection.
type logStream struct {
	io.ReadCloser
	pod string
}

func (u logStream) Read(into []byte) (int, error) {
	n, err := u.ReadCloser.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &LogUnavailable{fmt.Errorf("reading the log of pod %q: %w", u.pod, err)}
	}
	return n, err
}
