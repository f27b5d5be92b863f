// SPDX-License-Identifier: Apache-2.0

// Package published asks of every row of the five published comparisons whether a
// report of their sample has a cell for it. Testdata says what rows there are, as
// facts without their values; pages_test.go says which cell is whose. What each run
// of a sample would measure is made up here, but passed through what makes the
// operator's observations and its report.
package published
