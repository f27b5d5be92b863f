// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/folio"
)

// ReadsFromReplicas reports whether a module uses PostgreSQL's replicas: the split is
// enabled, does not exclude the module, and the module is not known to be unable to.
func ReadsFromReplicas(postgres *v1alpha1.Postgres, module v1alpha1.Module) bool {
	if postgres == nil {
		return false
	}
	split := postgres.ReadWriteSplit
	if split == nil || !split.Enabled || slices.Contains(split.Exclude, module.Name) {
		return false
	}
	if module.ReadsFromReplica != nil {
		return *module.ReadsFromReplica
	}
	known, reads := folio.ReadsFromReplica(module.Name)
	return reads || !known
}
