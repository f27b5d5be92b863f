// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/faults"
)

// Fault describes a fault of a scenario's runs.
type Fault struct {
	Scenario string `json:"scenario"`
	Name     string `json:"name"`
	// Effect is what the fault does.
	Effect string `json:"effect"`
	// From and To bound the time of its begin, since the start of Load or of the scenario.
	From Duration `json:"from"`
	To   Duration `json:"to"`
	Load string   `json:"load,omitempty"`
	// Observe is how long its cost is measured.
	Observe Duration `json:"observe"`
	// Objective is the longest response time of a transaction that counts as done; 0: any.
	Objective Duration `json:"objective,omitempty"`
	// when describes the time.
	when string
}

func newFaults(spec *v1alpha1.PerfExperimentSpec) []Fault {
	var all []Fault
	for _, scenario := range spec.Scenarios {
		for _, fault := range scenario.Faults {
			from := Duration(fault.After.Duration)
			all = append(all, Fault{
				Scenario: scenario.Name, Name: fault.Name, Effect: fault.Effect(),
				From: from, To: from + Duration(fault.WithinOrDefault()), Load: fault.Load, Observe: Duration(fault.ObserveOrDefault()),
				Objective: Duration(scenario.Objective(fault.Name)), when: faults.When(fault),
			})
		}
	}
	return all
}

// String describes the fault in a sentence.
func (f Fault) String() string {
	when := f.when
	if f.To > f.From {
		when += ", at the same time in all arms of a block"
	}
	text := fmt.Sprintf("%s: fault %s %s, %s; its cost is measured for %s", f.Scenario, f.Name, f.Effect, when, f.Observe)
	if f.Objective > 0 {
		text += fmt.Sprintf(", and transactions that take longer than %s count as missing", f.Objective)
	}
	return text
}
