// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// completionTimeout limits the wait after Tab is pressed.
const completionTimeout = 3 * time.Second

// CompleteExperiment completes the names of experiments in the cluster. Without
// a cluster it completes nothing, because an error would end up in the line
// being typed.
func CompleteExperiment(c *Cluster) cobra.CompletionFunc {
	return func(command *cobra.Command, arguments []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(arguments) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(command.Context(), completionTimeout)
		defer cancel()
		return c.experimentNames(ctx), cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *Cluster) experimentNames(ctx context.Context) []string {
	reader, namespace, err := c.Reader()
	if err != nil {
		return nil
	}
	// The metadata suffices, and the status is large.
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PerfExperimentList"))
	if err := reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// CompleteExperiments completes several names, without duplicates.
func CompleteExperiments(c *Cluster) cobra.CompletionFunc {
	return func(command *cobra.Command, arguments []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names, directive := CompleteExperiment(c)(command, nil, typed)
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(arguments, name) }), directive
	}
}
