// SPDX-License-Identifier: AGPL-3.0-only

// Command k6 is Grafana k6 with PerfLab's output and its module for MARC files. It takes the
// arguments of k6. "--out perflab" enables the output.
package main

import (
	"perflab.dev/perflab/k6/internal/start"

	_ "perflab.dev/perflab/k6/marc/jsmodule"
	_ "perflab.dev/perflab/k6/output"
)

func main() { start.Execute() }
