// SPDX-License-Identifier: Apache-2.0

// Package published checks that the report of a sample has a cell for every row of the five
// published comparisons. Testdata lists the rows without values, and pages_test.go maps
// them to cells. The tests generate the values of a sample's runs, and process them with
// the code of the operator's observations and report.
package published
