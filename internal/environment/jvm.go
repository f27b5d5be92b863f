// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/jvm"
)

// JVMSettings returns the declared settings of a JVM as options. Size and percentage are
// never both set: the JVM would ignore the percentage.
func JVMSettings(declared *v1alpha1.JVM) jvm.Settings {
	if declared == nil {
		return jvm.Settings{}
	}
	settings := jvm.Settings{Options: declared.Options}
	if heap := declared.Heap; heap != nil {
		settings.MaxHeap = bytes(heap.Max)
		settings.MaxRAMPercentage = heap.MaxRAMPercentage
	}
	if metaspace := declared.Metaspace; metaspace != nil {
		settings.Metaspace, settings.MaxMetaspace = bytes(metaspace.Initial), bytes(metaspace.Max)
	}
	return settings
}

func bytes(size *resource.Quantity) int64 {
	if size == nil {
		return 0
	}
	return size.Value()
}
