// SPDX-License-Identifier: Apache-2.0

package section

import "perflab.dev/perflab/internal/report/document"

// underScenario is a part of a section that each scenario has.
type underScenario func(*Record, *scenario) []document.Block

// leadingColumns are the titles of the most important columns.
var leadingColumns = []string{"Verdict", "Equivalent", "Differs", "Status"}
