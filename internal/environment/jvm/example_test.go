// SPDX-License-Identifier: Apache-2.0

package jvm_test

import (
	"fmt"

	"perflab.dev/perflab/internal/environment/jvm"
)

func ExampleMaxHeap() {
	heap, err := jvm.MaxHeap("-XX:MaxRAMPercentage=66.0", jvm.Machine{Memory: 1 << 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(heap.Bytes>>20, "MiB by", heap.Source)
	// Output: 676 MiB by MaxRAMPercentage
}
