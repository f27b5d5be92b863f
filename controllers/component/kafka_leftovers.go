// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/text/prose"
)

// topicPatience is how long topics in somebody else's brokers may take to be
// deleted, credentials that are gone included. After that they are left there,
// and people are told: nobody's experiment hangs on brokers that are not ours.
const topicPatience = time.Minute

// reasonTopicsLeft is the event that tells of topics that could not be deleted.
const reasonTopicsLeft = "TopicsLeft"

// mostLedgers are looked at in a pass. Anybody may make ConfigMaps that claim to be some.
const mostLedgers = 64

// ledgerPage is how many are asked for at once: the metadata of one can be a megabyte.
const ledgerPage = 16

// externalTopics deletes the experiment's topics in somebody else's brokers.
func (d *Demolition) externalTopics(ctx context.Context) (Departure, error) {
	ledgers, err := d.ledgers(ctx)
	if err != nil {
		return Leaving, fmt.Errorf("listing the notes of external topics: %w", err)
	}
	for i := range ledgers {
		if err := d.workOff(ctx, &ledgers[i]); err != nil {
			return Leaving, fmt.Errorf("deleting external topics: %w", err)
		}
	}
	if len(ledgers) > 0 {
		return Leaving, nil
	}
	return Gone, nil
}

// ledgers are the first of what claims to be one, without what is in them: together that
// may take more memory than the operator has.
func (d *Demolition) ledgers(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	var ledgers []metav1.PartialObjectMetadata
	err := kube.Pages(ctx, d.Live, metadata, ledgerPage, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			if metav1.IsControlledBy(&page.Items[i], d.Experiment) {
				ledgers = append(ledgers, page.Items[i])
			}
		}
		if len(ledgers) >= mostLedgers {
			return kube.ErrStop
		}
		return nil
	}, client.InNamespace(d.Experiment.Namespace), client.MatchingLabels(naming.ComponentLabels(d.Experiment.Name, environment.ComponentTopic)))
	return ledgers, err
}

// workOff deletes the topics a ledger tells of, and then the ledger. Its
// deletion timestamp says since when that has been tried.
func (d *Demolition) workOff(ctx context.Context, ledger *metav1.PartialObjectMetadata) error {
	deleted := ledger.GetDeletionTimestamp()
	if deleted == nil {
		return d.Cluster.Delete(ctx, d.Experiment, ledger)
	}
	left, trouble := d.deleteNoted(ctx, client.ObjectKeyFromObject(ledger))
	if left == 0 && trouble == "" {
		return d.release(ctx, ledger)
	}
	if trouble == "" {
		trouble = fmt.Sprintf("%d of them %s still there", left, prose.Verb(left, "is", "are"))
	}
	if d.Now.Sub(deleted.Time) <= topicPatience {
		d.Leftover = "waiting for its topics in the external Kafka to be deleted: " + trouble
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
func (d *Demolition) deleteNoted(ctx context.Context, key client.ObjectKey) (left int, trouble string) {
	ledger := &corev1.ConfigMap{}
	if err := d.Live.Get(ctx, key, ledger); err != nil {
		return 0, err.Error()
	}
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
	left, err = d.Kafka.DeleteTopics(ctx, brokers, func(topic string) bool { return kafka.IsExperimentTopic(d.Experiment, topic) })
	if err != nil {
		return 0, err.Error()
	}
	return left, ""
}

func (d *Demolition) release(ctx context.Context, ledger *metav1.PartialObjectMetadata) error {
	before := ledger.DeepCopy()
	ledger.SetFinalizers(nil)
	return client.IgnoreNotFound(d.Cluster.Patch(ctx, ledger, before))
}
