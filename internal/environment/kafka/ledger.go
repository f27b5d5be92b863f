// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// Entries of the ledger.
const (
	ledgerBrokers = "brokers.json"
	ledgerPrefix  = "prefix"
)

// Ledger is the note, a ConfigMap, that the experiment has topics in brokers
// that are somebody else's. It is made before the first of them and kept by
// its finalizer until the last is gone, whatever becomes of the runs. It holds
// no secret.
func Ledger(req environment.Request) *corev1.ConfigMap {
	external := req.System.Kafka.External
	encoded, err := json.Marshal(external)
	if err != nil {
		// Only API values come here; they always marshal.
		panic(fmt.Sprintf("encoding %T: %v", external, err))
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       req.Namespace,
			Name:            req.Names.TopicLedger(req.Experiment, external),
			Labels:          naming.ComponentLabels(req.Experiment, environment.ComponentTopic),
			OwnerReferences: []metav1.OwnerReference{req.Owner},
			Finalizers:      []string{v1alpha1.Finalizer},
		},
		Data: map[string]string{ledgerBrokers: string(encoded), ledgerPrefix: externalPrefix(req)},
	}
}

// Noted is what a ledger tells.
type Noted struct {
	Brokers *v1alpha1.ExternalKafka
	prefix  string
}

// ReadLedger reads a ledger.
func ReadLedger(ledger *corev1.ConfigMap) (Noted, error) {
	noted := Noted{Brokers: &v1alpha1.ExternalKafka{}, prefix: ledger.Data[ledgerPrefix]}
	if err := json.Unmarshal([]byte(ledger.Data[ledgerBrokers]), noted.Brokers); err != nil {
		return Noted{}, fmt.Errorf("reading ConfigMap %q: %w", ledger.Name, err)
	}
	return noted, nil
}

// IsOurs reports whether a topic was made for the experiment, in whatever
// layout.
func (n Noted) IsOurs(topic string) bool {
	rest, found := strings.CutPrefix(topic, n.prefix)
	if !found || n.prefix == "" {
		return false
	}
	digest, _, found := strings.Cut(rest, ".")
	return found && layoutDigest.MatchString(digest)
}

// layoutDigest is the digest of a layout; those of earlier versions have six digits.
var layoutDigest = regexp.MustCompile(`^[0-9a-f]{6}([0-9a-f]{4})?$`)
