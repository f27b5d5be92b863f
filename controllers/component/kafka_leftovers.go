// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// externalTopics deletes the experiment's topics in somebody else's brokers.
func (d *Demolition) externalTopics(ctx context.Context) (Departure, error) {
	ledgers := &corev1.ConfigMapList{}
	err := d.Live.List(ctx, ledgers, client.InNamespace(d.Experiment.Namespace),
		client.MatchingLabels(naming.ComponentLabels(d.Experiment.Name, environment.ComponentTopic)))
	if err != nil {
		return Leaving, fmt.Errorf("listing the notes of external topics: %w", err)
	}
	ledgers.Items = slices.DeleteFunc(ledgers.Items, func(ledger corev1.ConfigMap) bool { return !metav1.IsControlledBy(&ledger, d.Experiment) })
	for i := range ledgers.Items {
		if err := d.workOff(ctx, &ledgers.Items[i]); err != nil {
			return Leaving, fmt.Errorf("deleting external topics: %w", err)
		}
	}
	if len(ledgers.Items) > 0 {
		return Leaving, nil
	}
	return Gone, nil
}

// workOff deletes the topics a ledger tells of, and then the ledger. Its
// deletion timestamp says since when that has been tried.
func (d *Demolition) workOff(ctx context.Context, ledger *corev1.ConfigMap) error {
	deleted := ledger.GetDeletionTimestamp()
	if deleted == nil {
		return d.Cluster.Delete(ctx, d.Experiment, ledger)
	}
	left, trouble := d.deleteNoted(ctx, ledger)
	if left == 0 && trouble == "" {
		return d.release(ctx, ledger)
	}
	if trouble == "" {
		trouble = fmt.Sprintf("%d of them %s still there", left, prose.Verb(left, "is", "are"))
	}
	if d.Now.Sub(deleted.Time) <= topicPatience {
		d.Leftover = "its topics in the external Kafka to be gone: " + trouble
		return nil
	}
	if err := d.release(ctx, ledger); err != nil {
		return err
	}
	d.Events.Eventf(d.Experiment, nil, corev1.EventTypeWarning, reasonTopicsLeft, "Delete",
		"topics of this experiment stay in the external Kafka; delete them there yourself. %s", prose.Sentence(trouble))
	return nil
}

// deleteNoted says how many topics are left, or what is in the way.
func (d *Demolition) deleteNoted(ctx context.Context, ledger *corev1.ConfigMap) (left int, trouble string) {
	external, err := kafka.ReadLedger(ledger, d.Experiment.Status.TopicLedgers)
	if err != nil {
		return 0, err.Error()
	}
	brokers, unknown, err := ExternalBrokers(ctx, d.Live, ledger.GetNamespace(), external)
	if err != nil {
		return 0, err.Error()
	}
	if unknown != nil {
		return 0, unknown.Message
	}
	left, err = d.Kafka.DeleteTopics(ctx, brokers, func(topic string) bool { return kafka.IsTopicOf(d.Experiment, topic) })
	if err != nil {
		return 0, err.Error()
	}
	return left, ""
}

func (d *Demolition) release(ctx context.Context, ledger *corev1.ConfigMap) error {
	before := ledger.DeepCopy()
	ledger.SetFinalizers(nil)
	return client.IgnoreNotFound(d.Cluster.Patch(ctx, ledger, before))
}
