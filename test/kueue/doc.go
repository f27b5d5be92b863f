// SPDX-License-Identifier: Apache-2.0

// Package kueue tests the admission of blocks by a real Kueue: its controller runs as a
// process beside a real API server. make test-kueue builds and starts it.
package kueue
