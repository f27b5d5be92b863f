// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"fmt"
	"strings"
	"time"

	"perflab.dev/perflab/payload"
)

// config is the value of "--out perflab=".
type config struct {
	// checkpoint is the shortest time between two checkpoints.
	checkpoint time.Duration
	// progress is the time between two lines of progress.
	progress time.Duration
}

func parseConfig(text string) (config, error) {
	c := config{checkpoint: time.Minute, progress: payload.ProgressEvery}
	if text == "" {
		return c, nil
	}
	for _, option := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(option, "=")
		var into *time.Duration
		switch name {
		case "checkpoint":
			into = &c.checkpoint
		case "progress":
			into = &c.progress
		default:
			return config{}, fmt.Errorf(`output perflab: unknown option %q: write "checkpoint=1m" or "progress=10s"`, option)
		}
		every, err := time.ParseDuration(value)
		if err != nil || every < time.Second {
			return config{}, fmt.Errorf("output perflab: %s %q is not a duration of at least 1s", name, value)
		}
		*into = every
	}
	return c, nil
}
