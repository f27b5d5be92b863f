// SPDX-License-Identifier: Apache-2.0

// Package component holds what a run stands on: Kafka, PostgreSQL, modules and the
// rest, one type each behind one interface, and the list of them that conditions,
// waits, proofs and teardown come from. It is below the controllers of runs and of
// experiments, which don't know each other.
package component
