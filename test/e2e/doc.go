// SPDX-License-Identifier: Apache-2.0

// Package e2e runs real experiments on the cluster of KUBECONFIG and checks the
// results. It does not depend on emulators: the same tests pass with the real
// operators. Run it with `make e2e`.
package e2e
