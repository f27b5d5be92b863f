// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/folio"
)

// ReadsFromReplicas says whether a module is told of PostgreSQL's replicas: the
// split is on, does not leave it out, and nothing says that it could not use
// them.
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
