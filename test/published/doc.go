// SPDX-License-Identifier: Apache-2.0

// Package published checks for every row of the five published comparisons that the
// report of their sample has a cell for it. Testdata lists the rows, without values;
// pages_test.go maps them to cells. The values of a sample's runs are generated here, but
// pass through the code that makes the operator's observations and report.
package published
