// SPDX-License-Identifier: Apache-2.0

package component

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// podStartGrace is how long a pod may fail its probes before its events are read.
	podStartGrace = 20 * time.Second
	// jobPodGrace is how long a Job may be without pods before its events are read.
	jobPodGrace = 5 * time.Second
	// maxEventObjects bounds the objects whose events one reconcile reads.
	maxEventObjects = 3
	// maxEvents bounds the events that are read of an object.
	maxEvents = 100
)

// +kubebuilder:rbac:groups="",resources=events,verbs=create;list;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// BoundedEvents truncates notes to the length that the API server accepts; it drops longer
// events.
type BoundedEvents struct{ events.EventRecorder }

// maxNoteBytes is the length of an event's note, in bytes.
const maxNoteBytes = 1024

// Eventf records an event.
func (b BoundedEvents) Eventf(regarding, related runtime.Object, kind, reason, action, note string, words ...any) {
	b.EventRecorder.Eventf(regarding, related, kind, reason, action, "%s", prose.Cut(fmt.Sprintf(note, words...), maxNoteBytes))
}

// PodEvents reads the events of pods that stay unready: only events have the response of a
// probe, or why a volume cannot be mounted. It reads a few from the API server, because a
// namespace may have more events than other objects. Events only improve messages, so it logs
// errors and returns what it has.
func (t *Tools) PodEvents(ctx context.Context, pods []corev1.Pod, now time.Time) []corev1.Event {
	late := slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool {
		started := pod.Status.StartTime
		return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || environment.PodReady(pod) ||
			started == nil || now.Sub(started.Time) < podStartGrace
	})
	slices.SortFunc(late, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	uids := make([]types.UID, 0, maxEventObjects)
	for _, pod := range late[:min(len(late), maxEventObjects)] {
		uids = append(uids, pod.UID)
	}
	return t.ListEvents(ctx, podsNamespace(pods), uids...)
}

func podsNamespace(pods []corev1.Pod) string {
	if len(pods) == 0 {
		return ""
	}
	return pods[0].Namespace
}

// ListEvents reads the events of objects.
func (t *Tools) ListEvents(ctx context.Context, namespace string, uids ...types.UID) []corev1.Event {
	var events []corev1.Event
	for _, uid := range uids {
		list := &corev1.EventList{}
		err := t.Live.List(ctx, list, client.InNamespace(namespace),
			client.MatchingFields{"involvedObject.uid": string(uid)}, client.Limit(maxEvents))
		if err != nil {
			log.FromContext(ctx).Info("Failed to list events", "of", uid, "error", err.Error())
			return events
		}
		events = append(events, list.Items...)
	}
	return events
}

// PodRefusal returns why the API server refuses the pods of Jobs that have none after a while,
// or an empty string. A Job reports it in events only.
func (t *Tools) PodRefusal(ctx context.Context, pods []corev1.Pod, now time.Time, jobs ...metav1.Object) string {
	if len(pods) > 0 {
		return ""
	}
	for _, job := range jobs {
		if now.Sub(job.GetCreationTimestamp().Time) < jobPodGrace {
			continue
		}
		if refusal := environment.Refusal(t.ListEvents(ctx, job.GetNamespace(), job.GetUID())); refusal != "" {
			return refusal
		}
	}
	return ""
}
