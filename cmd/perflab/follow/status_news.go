// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"cmp"
	"fmt"

	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/view/progress"
)

// news returns the lines of a log: phases, waits, problems and results. They
// have no times or changing numbers, so the same line means the same state.
func (s snapshot) news() []string {
	status := &s.experiment.Status
	lines := []string{s.phase()}
	if counts := status.Runs; counts != nil {
		line := prose.Partly(counts.Done, counts.Planned, "run") + " done"
		if counts.Invalid > 0 {
			line += fmt.Sprintf(", %d invalid", counts.Invalid)
		}
		lines = append(lines, line)
	}
	for _, condition := range progress.Problems(status) {
		lines = append(lines, fmt.Sprintf("%s: %s", condition.Type, condition.Message))
	}
	for _, invalid := range status.InvalidRuns {
		lines = append(lines, fmt.Sprintf("run %s is invalid: %s (%s)", invalid.Run, invalid.Message, invalid.Reason))
	}
	lines = append(lines, s.currentNews()...)
	for i, line := range lines {
		lines[i] = s.experiment.Name + ": " + line
	}
	return lines
}

// currentNews is what the experiment does, or its results.
func (s snapshot) currentNews() []string {
	status := &s.experiment.Status
	var lines []string
	if s.isOver() {
		if ended := s.stopMessage(); ended != "" {
			lines = append(lines, ended)
		}
		for _, found := range status.Comparisons {
			if found.Primary {
				lines = append(lines, comparisonLine(found, status.Analysis).String())
			}
		}
		return lines
	}
	if waits := s.waitingFor(); waits != "" {
		lines = append(lines, waits)
	}
	if current := status.Current; current != nil {
		line := fmt.Sprintf("run %s: %s", current.Run, cmp.Or(string(current.Phase), "about to begin"))
		if doing := s.activity(); doing != "" {
			line += ": " + doing
		}
		lines = append(lines, line)
	}
	return lines
}

func (s snapshot) waitingFor() string { return progress.WaitMessage(&s.experiment.Status) }

// activity is the message of the current run. While loads run, it has times and counts, so their
// states replace it.
func (s snapshot) activity() string {
	if run := progress.CurrentRun(&s.experiment, s.runs); run != nil {
		return cmp.Or(progress.LoadStates(run), run.Status.Message)
	}
	return s.experiment.Status.Current.Message
}
