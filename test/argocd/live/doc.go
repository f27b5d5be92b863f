// SPDX-License-Identifier: Apache-2.0

// Package live runs a real Argo CD against a cluster: its application controller and its repo
// server run as processes outside the cluster, on a Git repository with this project's
// charts, config and experiments. make e2e-argocd starts it.
package live
