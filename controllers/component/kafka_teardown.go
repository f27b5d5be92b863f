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

// topicDeletionTimeout bounds the deletion of topics in external brokers, also when credentials
// are gone. After it, an event names the topics that stay: brokers of others must not block the
// deletion of an experiment.
const topicDeletionTimeout = time.Minute

// reasonTopicsLeft is the reason of the event about topics that could not be deleted.
const reasonTopicsLeft = "TopicsLeft"

// maxLedgers bounds the ledgers per reconcile. Anyone may create ConfigMaps that look like one.
const maxLedgers = 64

// ledgerPageSize is small because the metadata of a ConfigMap can be a megabyte.
const ledgerPageSize = 16

// externalTopics deletes the experiment's topics in external brokers.
func (d *Teardown) externalTopics(ctx context.Context) (TeardownState, error) {
	ledgers, err := d.ledgers(ctx)
	if err != nil {
		return TeardownPending, fmt.Errorf("listing the ledgers of external topics: %w", err)
	}
	for i := range ledgers {
		if err := d.deleteLedger(ctx, &ledgers[i]); err != nil {
			return TeardownPending, fmt.Errorf("deleting external topics: %w", err)
		}
	}
	if len(ledgers) > 0 {
		return TeardownPending, nil
	}
	return TeardownComplete, nil
}

// ledgers lists the metadata of the first ledgers. Their data may exceed the operator's memory.
func (d *Teardown) ledgers(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	var ledgers []metav1.PartialObjectMetadata
	err := kube.Pages(ctx, d.Live, metadata, ledgerPageSize, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			if metav1.IsControlledBy(&page.Items[i], d.Experiment) {
				ledgers = append(ledgers, page.Items[i])
			}
		}
		if len(ledgers) >= maxLedgers {
			return kube.ErrStop
		}
		return nil
	}, client.InNamespace(d.Experiment.Namespace), client.MatchingLabels(naming.ComponentLabels(d.Experiment.Name, environment.ComponentTopic)))
	return ledgers, err
}

// deleteLedger deletes the topics of a ledger, and then the ledger. Its deletion timestamp is
// the start of the timeout.
func (d *Teardown) deleteLedger(ctx context.Context, ledger *metav1.PartialObjectMetadata) error {
	deleted := ledger.GetDeletionTimestamp()
	if deleted == nil {
		return d.Cluster.Delete(ctx, d.Experiment, ledger)
	}
	left, problem := d.deleteLedgerTopics(ctx, client.ObjectKeyFromObject(ledger))
	if left == 0 && problem == "" {
		return d.removeFinalizers(ctx, ledger)
	}
	if problem == "" {
		problem = prose.Counted(left, "topic") + " left"
	}
	if d.Now.Sub(deleted.Time) <= topicDeletionTimeout {
		d.Leftover = "waiting for its topics in the external Kafka to be deleted: " + problem
		return nil
	}
	if err := d.removeFinalizers(ctx, ledger); err != nil {
		return err
	}
	d.Events.Eventf(d.Experiment, nil, corev1.EventTypeWarning, reasonTopicsLeft, "Delete",
		"topics of this experiment remain in the external Kafka: delete them there. %s", prose.Sentence(problem))
	return nil
}

// deleteLedgerTopics returns how many topics are left, or the problem.
func (d *Teardown) deleteLedgerTopics(ctx context.Context, key client.ObjectKey) (left int, problem string) {
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

func (d *Teardown) removeFinalizers(ctx context.Context, ledger *metav1.PartialObjectMetadata) error {
	before := ledger.DeepCopy()
	ledger.SetFinalizers(nil)
	return client.IgnoreNotFound(d.Cluster.Patch(ctx, ledger, before))
}
