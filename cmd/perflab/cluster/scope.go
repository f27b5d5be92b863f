// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// Kinds that commands read and write.
const (
	ExperimentKind = "PerfExperiment"
	ScheduleKind   = "PerfSchedule"
)

// Scope is one namespace or, with -A, all, as in kubectl.
type Scope struct{ AllNamespaces bool }

// AddFlags adds -A.
func (s *Scope) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, "all namespaces, regardless of --namespace")
}

// ListNamespace is the namespace to list: the user's, or all.
func (s *Scope) ListNamespace(namespace string) string {
	if s.AllNamespaces {
		return metav1.NamespaceAll
	}
	return namespace
}

// ListExperiments lists the experiments of a namespace; empty: of all.
func ListExperiments(ctx context.Context, reader client.Reader, namespace string) ([]v1alpha1.PerfExperiment, error) {
	experiments := &v1alpha1.PerfExperimentList{}
	err := reader.List(ctx, experiments, client.InNamespace(namespace))
	switch {
	case isUnserved(err):
		return nil, fmt.Errorf("%w: run kubectl perflab doctor for the fix", errNotInstalled)
	case apierrors.IsForbidden(err) && namespace == "":
		return nil, fmt.Errorf("you can't list experiments in all namespaces: select one with --namespace: %w", err)
	case err != nil:
		return nil, fmt.Errorf("listing the experiments: %w", err)
	}
	return experiments.Items, nil
}

// ReadError describes why an object could not be read.
func ReadError(err error, kind string, key client.ObjectKey) error {
	switch {
	case apierrors.IsNotFound(err) && kind == ScheduleKind:
		return fmt.Errorf("PerfSchedule %q not found in namespace %q: list schedules with kubectl get perfschedules -A", key.Name, key.Namespace)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("PerfExperiment %q %w in namespace %q: list experiments with kubectl get perfexperiments -A", key.Name, ErrNotFound, key.Namespace)
	case isUnserved(err):
		return fmt.Errorf("%w: run kubectl perflab doctor for the fix", errNotInstalled)
	}
	return fmt.Errorf("reading %s %q: %w", kind, key.Name, err)
}
