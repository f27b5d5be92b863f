// SPDX-License-Identifier: Apache-2.0

// Command chartdoc writes the README of the chart from the comments of its values.
//
//	go run ./hack/chartdoc > charts/perflab/README.md
package main

import (
	"fmt"
	"os"
)

func main() {
	page, err := readme("charts/perflab")
	if err == nil {
		_, err = os.Stdout.WriteString(page)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chartdoc:", err)
		os.Exit(1)
	}
}
