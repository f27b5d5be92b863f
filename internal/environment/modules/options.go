// SPDX-License-Identifier: Apache-2.0

package modules

import "perflab.dev/perflab/api/v1alpha1"

// JavaOptions are the flags a module's JVM is started with.
func JavaOptions(jvm *v1alpha1.JVM) []string { return javaOptions(jvm) }
