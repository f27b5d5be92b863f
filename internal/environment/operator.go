// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
)

// Missing returns the readiness of an object that does not exist yet, by its title.
func Missing(title string) Readiness {
	return NotReady(v1alpha1.ReasonCreating, title+" does not exist yet")
}

// Replaced returns the readiness of an object of an earlier declaration.
func Replaced(title string) Readiness {
	return NotReady(v1alpha1.ReasonReplacing, title+" of an earlier configuration still exists")
}

// Silent returns the readiness of an object without a status from its operator.
func Silent(title, operator, namespace string) Readiness {
	return NotReady(v1alpha1.ReasonOperatorSilent, fmt.Sprintf(
		"no operator reconciles %s: it has no status; check that the %s operator runs and watches namespace %q", title, operator, namespace))
}

// Abandoned returns the readiness of an object that its operator stopped reconciling, with
// the progress so far.
func Abandoned(title, operator, progress string) Readiness {
	return NotReady(v1alpha1.ReasonOperatorSilent, fmt.Sprintf(
		"%s has made no progress since %s started to reconcile it: %s; if this persists, check that the %s operator is still running", title, operator, progress, operator))
}
