// SPDX-License-Identifier: Apache-2.0

// Package schedule creates the experiments of PerfSchedules: it observes, lets package
// recurrence decide, records the decision and executes it. It does not control the experiments.
package schedule
