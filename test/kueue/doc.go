// SPDX-License-Identifier: Apache-2.0

// Package kueue has a real Kueue say when blocks begin: its controller, as a process
// beside a real API server. make test-kueue builds and starts it.
package kueue
