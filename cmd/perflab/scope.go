// SPDX-License-Identifier: Apache-2.0

package main

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
	experimentKind = "PerfExperiment"
	scheduleKind   = "PerfSchedule"
)

// scope is one namespace or, with -A, all, as in kubectl.
type scope struct{ allNamespaces bool }

func (s *scope) addFlags(flags *pflag.FlagSet) {
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "all namespaces, regardless of --namespace")
}

// listNamespace is the namespace to list: the user's, or all.
func (s *scope) listNamespace(namespace string) string {
	if s.allNamespaces {
		return metav1.NamespaceAll
	}
	return namespace
}

// listExperiments lists the experiments of a namespace; empty: of all.
func listExperiments(ctx context.Context, reader client.Reader, namespace string) ([]v1alpha1.PerfExperiment, error) {
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
