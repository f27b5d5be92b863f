// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// Annotations of an entry's Lease.
const (
	annotationExperiment = "perflab.dev/experiment"
	annotationUID        = "perflab.dev/experiment-uid"
	annotationLane       = "perflab.dev/lane"
	annotationEnded      = "perflab.dev/turn-ended"
)

// LeaseName returns the name of the Lease of the experiment with this UID.
func LeaseName(experiment types.UID) string {
	return "perflab-turn-" + naming.Hash(string(experiment))[:16]
}

// Write stores the entry in its Lease, and keeps the Lease's name and namespace. The
// experiment holds the Lease while it measures.
func (t *Entry) Write(lease *coordinationv1.Lease) error {
	taken, err := json.Marshal(t.Lane)
	if err != nil {
		return fmt.Errorf("writing the queue entry of experiment %q: %w", t.Experiment, err)
	}
	metav1.SetMetaDataLabel(&lease.ObjectMeta, v1alpha1.LabelTurn, "true")
	for key, value := range map[string]string{
		annotationExperiment: t.Experiment.String(), annotationUID: string(t.UID), annotationLane: string(taken),
	} {
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, key, value)
	}
	if !t.Released.IsZero() {
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, annotationEnded, t.Released.UTC().Format(time.RFC3339Nano))
	}
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(Lifetime / time.Second))
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(t.Renewed))
	lease.Spec.HolderIdentity, lease.Spec.AcquireTime = nil, nil
	if !t.Acquired.IsZero() {
		lease.Spec.HolderIdentity = ptr.To(t.Experiment.String())
		lease.Spec.AcquireTime = ptr.To(metav1.NewMicroTime(t.Acquired))
	}
	return nil
}

// Read parses the entry of a Lease. An unreadable lane is the whole cluster, until the
// entry expires.
func Read(lease *coordinationv1.Lease) Entry {
	notes := lease.Annotations
	namespace, name, _ := strings.Cut(notes[annotationExperiment], string(types.Separator))
	ticket := Entry{
		Experiment: types.NamespacedName{Namespace: namespace, Name: name}, UID: types.UID(notes[annotationUID]),
		Queued: lease.CreationTimestamp.Time,
	}
	if err := json.Unmarshal([]byte(notes[annotationLane]), &ticket.Lane); err != nil {
		ticket.Lane = Lane{}
	}
	if ended, err := time.Parse(time.RFC3339Nano, notes[annotationEnded]); err == nil {
		ticket.Released = ended
	}
	if renewed := lease.Spec.RenewTime; renewed != nil {
		ticket.Renewed = renewed.Time
	}
	if held := lease.Spec.AcquireTime; held != nil && ptr.Deref(lease.Spec.HolderIdentity, "") != "" {
		ticket.Acquired = held.Time
	}
	return ticket
}
