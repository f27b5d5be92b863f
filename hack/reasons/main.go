// SPDX-License-Identifier: Apache-2.0

// Command reasons writes docs/reasons.md from the comments of the API's conditions and
// reasons (api/v1alpha1/condition_types.go).
//
//	go run ./hack/reasons > docs/reasons.md
package main

import (
	"fmt"
	"os"
)

func main() {
	page, err := reference(".")
	if err == nil {
		_, err = os.Stdout.WriteString(page)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reasons:", err)
		os.Exit(1)
	}
}
