// SPDX-License-Identifier: Apache-2.0

// Command kubeadm is kubeadm, which the nodes of kind need.
package main

import (
	"os"

	"k8s.io/kubernetes/cmd/kubeadm/app"
)

func main() {
	if err := app.Run(); err != nil {
		os.Exit(1)
	}
}
