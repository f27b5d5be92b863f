// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/prose"
)

// topicPatience is how long topics in somebody else's brokers may take to be
// deleted, credentials that are gone included. After that they are left there,
// and people are told: nobody's experiment hangs on brokers that are not ours.
const topicPatience = time.Minute

// reasonTopicsLeft is the event that tells of topics that could not be deleted.
const reasonTopicsLeft = "TopicsLeft"

// deleteExternalTopics deletes the experiment's topics in somebody else's
// brokers and says true when nothing is left to do about them.
func (r *Reconciler) deleteExternalTopics(ctx context.Context, s *scope) (bool, error) {
	ledgers := &corev1.ConfigMapList{}
	err := r.Live.List(ctx, ledgers, client.InNamespace(s.experiment.Namespace),
		client.MatchingLabels(naming.ComponentLabels(s.experiment.Name, environment.ComponentTopic)))
	if err != nil {
		return false, fmt.Errorf("listing the notes of external topics: %w", err)
	}
	ledgers.Items = slices.DeleteFunc(ledgers.Items, func(ledger corev1.ConfigMap) bool { return !metav1.IsControlledBy(&ledger, s.experiment) })
	for i := range ledgers.Items {
		if err := r.workOff(ctx, s, &ledgers.Items[i]); err != nil {
			return false, err
		}
	}
	return len(ledgers.Items) == 0, nil
}

// workOff deletes the topics a ledger tells of, and then the ledger. Its
// deletion timestamp says since when that has been tried.
func (r *Reconciler) workOff(ctx context.Context, s *scope, ledger *corev1.ConfigMap) error {
	deleted := ledger.GetDeletionTimestamp()
	if deleted == nil {
		return r.Cluster.Delete(ctx, s.experiment, ledger)
	}
	left, trouble := r.deleteNoted(ctx, ledger)
	if left == 0 && trouble == "" {
		return r.release(ctx, ledger)
	}
	if trouble == "" {
		trouble = fmt.Sprintf("%d of them %s still there", left, prose.Verb(left, "is", "are"))
	}
	if s.now.Sub(deleted.Time) <= topicPatience {
		s.leftover = "its topics in the external Kafka to be gone: " + trouble
		return nil
	}
	if err := r.release(ctx, ledger); err != nil {
		return err
	}
	r.Events.Eventf(s.experiment, nil, corev1.EventTypeWarning, reasonTopicsLeft, "Delete",
		"topics of this experiment stay in the external Kafka; delete them there yourself. %s", prose.Sentence(trouble))
	return nil
}

// deleteNoted says how many topics are left, or what is in the way.
func (r *Reconciler) deleteNoted(ctx context.Context, ledger *corev1.ConfigMap) (left int, trouble string) {
	noted, err := kafka.ReadLedger(ledger)
	if err != nil {
		return 0, err.Error()
	}
	brokers, unknown, err := component.ExternalBrokers(ctx, r.Live, ledger.GetNamespace(), noted.Brokers)
	if err != nil {
		return 0, err.Error()
	}
	if unknown != nil {
		return 0, unknown.Message
	}
	left, err = r.Kafka.DeleteTopics(ctx, brokers, noted.IsOurs)
	if err != nil {
		return 0, err.Error()
	}
	return left, ""
}

func (r *Reconciler) release(ctx context.Context, ledger *corev1.ConfigMap) error {
	before := ledger.DeepCopy()
	ledger.SetFinalizers(nil)
	return client.IgnoreNotFound(r.Cluster.Patch(ctx, ledger, before))
}
