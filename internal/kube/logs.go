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
	if err == nil {
		return unbroken{stream, pod}, nil
	}
	err = fmt.Errorf("opening the log of pod %q: %w", pod, err)
	if code := codeOf(err); code == 0 || IsPassing(err) {
		err = &Unread{err}
	}
	return nil, err
}

// Unread is a log that could not be read for now: its node or the API server did
// not answer, or stopped in the middle. It says nothing of what the log holds.
type Unread struct{ Err error }

// Error says what went wrong.
func (u *Unread) Error() string { return u.Err.Error() }

// Unwrap gives what went wrong.
func (u *Unread) Unwrap() error { return u.Err }

// IsUnread reports whether a log may be read later that could not be read now.
func IsUnread(err error) bool {
	var unread *Unread
	return errors.As(err, &unread)
}

// unbroken is a log that tells its end from one that broke off.
type unbroken struct {
	io.ReadCloser
	pod string
}

func (u unbroken) Read(into []byte) (int, error) {
	n, err := u.ReadCloser.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &Unread{fmt.Errorf("reading the log of pod %q: %w", u.pod, err)}
	}
	return n, err
}
