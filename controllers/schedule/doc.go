// SPDX-License-Identifier: Apache-2.0

// Package schedule makes experiments of PerfSchedules: it looks at what is there, has
// package recurrence decide, writes that down and does it. What the experiments then do
// is none of its business.
package schedule
