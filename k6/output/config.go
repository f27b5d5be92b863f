// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"fmt"
	"strings"
	"time"
)

const defaultCheckpoint = time.Minute

// parseConfig reads what follows "--out perflab=".
func parseConfig(text string) (checkpoint time.Duration, err error) {
	checkpoint = defaultCheckpoint
	if text == "" {
		return checkpoint, nil
	}
	for _, option := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(option, "=")
		if name != "checkpoint" {
			return 0, fmt.Errorf(`output perflab: unknown option %q, the only one is "checkpoint=1m"`, option)
		}
		checkpoint, err = time.ParseDuration(value)
		if err != nil || checkpoint < time.Second {
			return 0, fmt.Errorf("output perflab: checkpoint %q is not a duration of at least 1s", value)
		}
	}
	return checkpoint, nil
}
