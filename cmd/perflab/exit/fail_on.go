// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"errors"
	"fmt"
)

var errFailOn = errors.New("unknown outcome")

// FailOnWorse is the only value of --fail-on.
const FailOnWorse = "worse"

// FailOnHelp describes --fail-on.
const FailOnHelp = `"worse" exits with code 6 if a primary metric of an arm is Worse`

// CheckFailOn checks the value of --fail-on.
func CheckFailOn(value, only string) error {
	if value != "" && value != only {
		return fmt.Errorf("--fail-on %q: %w: use %q", value, errFailOn, only)
	}
	return nil
}
