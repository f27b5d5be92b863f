// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/price"
)

// priceNodes records the nodes' prices if a price list is declared. A missing price is a
// condition: the run is valid without its cost.
func (r *Reconciler) priceNodes(ctx context.Context, s *scope, record *v1alpha1.EffectiveSystem) error {
	cost := s.run.Spec.Cost
	if cost == nil {
		return nil
	}
	list := &corev1.ConfigMap{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: s.run.Namespace, Name: cost.PriceList.Name}, list)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading the price list %q: %w", cost.PriceList.Name, err)
	}
	readiness := environment.Readiness{Ready: true, Reason: v1alpha1.ReasonPriced, Message: "all nodes have a price"}
	if problem := priceRecord(cost, list.Data, apierrors.IsNotFound(err), record); problem != "" {
		readiness = environment.NotReady(v1alpha1.ReasonPriceMissing, problem)
	}
	s.priced = &readiness
	return nil
}

// priceRecord prices the nodes and returns why their sum is unknown.
func priceRecord(cost *v1alpha1.Cost, entries map[string]string, absent bool, record *v1alpha1.EffectiveSystem) string {
	name := cost.PriceList.Name
	if absent {
		return fmt.Sprintf("the run's cost is unknown: ConfigMap %q not found; create it, with instance types as keys and prices per hour as values", name)
	}
	list, faults := price.Read(entries)
	missing := list.Mark(record.Nodes)
	switch {
	case len(record.Nodes) == 0:
		return "the run's cost is unknown: the nodes of its pods are unknown"
	case record.MoreNodes > 0:
		return fmt.Sprintf("the run's cost is unknown: its status omits %d of the nodes of its pods", record.MoreNodes)
	case len(missing) > 0:
		sentence := fmt.Sprintf("the run's cost is unknown: ConfigMap %q lacks the price of %s; add it", name, strings.Join(missing, ", "))
		return strings.Join(append([]string{sentence}, faults...), "; ")
	default:
		return ""
	}
}

// costObservations are the observations of what the run's nodes cost.
func (s *scope) costObservations() []v1alpha1.Observation {
	cost, effective := s.run.Spec.Cost, s.status().Effective
	if cost == nil || effective == nil || effective.MoreNodes > 0 {
		return nil
	}
	sum, known := price.PerHour(effective.Nodes)
	if !known {
		return nil
	}
	return []v1alpha1.Observation{{Metric: metric.Cost, Value: sum, Unit: metric.PerHour(cost.CurrencyOrDefault())}}
}
