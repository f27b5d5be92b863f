// SPDX-License-Identifier: Apache-2.0

// Package e2e runs real experiments on the cluster KUBECONFIG names and
// asserts on what came out. It knows nothing of emulators: the same tests pass
// with the real operators in their place. Run it with `make e2e`.
package e2e
