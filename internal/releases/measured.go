// SPDX-License-Identifier: Apache-2.0

package releases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/runs/provenance"
)

// Record is an experiment and its runs.
type Record struct {
	Experiment *v1alpha1.PerfExperiment
	Runs       []v1alpha1.PerfRun
}

// Measured is what a history needs of one experiment: the values of the runs of its
// complete blocks, and what is needed to say what differs from another one. Measure
// makes it; Encode and Decode write and read it.
type Measured struct {
	Namespace, Name, UID string
	// Release is the experiment's annotation perflab.dev/release, in one line that fits
	// a table, or its name.
	Release string
	// Tool that put the loads on where PerfLab did not; empty: PerfLab did.
	Tool string
	// Began is when the first load did, in UTC; zero where none did.
	Began time.Time
	// Blocks that are complete. 0: nothing of it counts.
	Blocks    int32
	Question  Question
	Arms      []Arm
	Scenarios []Scenario
	// LeftOut are metrics that were not written, because all would have been too much.
	LeftOut int

	// systems are the arms' settings as they are written: they are long, and needed
	// at changes only.
	systems systems
}

// Question is what a history takes of the experiment's.
type Question struct {
	// Primary metrics.
	Primary []string `json:"primary"`
	// MarginPercent is the difference that does not matter.
	MarginPercent int32 `json:"marginPercent"`
	// Higher and Lower are the custom metrics that are said to get better so.
	Higher []string `json:"higher,omitempty"`
	Lower  []string `json:"lower,omitempty"`
}

// Arm is a configuration that was compared.
type Arm struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline,omitempty"`
	Twin     bool   `json:"twin,omitempty"`
	// Met is what its first run that counts met though nobody declared it, by name.
	Met map[string]string `json:"met,omitempty"`
}

// Scenario is a workload and what was measured under it.
type Scenario struct {
	Declared v1alpha1.Scenario `json:"declared"`
	// Metrics by name.
	Metrics []Metric `json:"metrics"`
}

// Metric is what the runs of a scenario measured.
type Metric struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	// Values of the runs of complete blocks: for each of the experiment's arms, in
	// their order.
	Values [][]float64 `json:"values"`
}

// systems are what is declared for arms: the first one's settings, and for each of the
// others those that differ, where null stands for one that is not set.
type systems struct {
	First  json.RawMessage   `json:"first"`
	Others []json.RawMessage `json:"others"`
}

// Measure takes of a record what a history needs. Of one without a complete block
// there are no values, and IsPoint is false.
func Measure(record Record) (Measured, error) {
	experiment, compared := record.Experiment, arms.Recorded(record.Experiment.Status.Arms)
	asked := analysisplan.New(&experiment.Spec)
	made := Measured{
		Namespace: experiment.Namespace, Name: experiment.Name, UID: string(experiment.UID),
		Release:  NameOf(experiment),
		Tool:     provenance.Tool(&experiment.Spec),
		Began:    began(record.Runs),
		Question: Question{Primary: asked.Primary, MarginPercent: asked.MarginPercent, Higher: asked.Higher, Lower: asked.Lower},
	}
	if len(compared) > 0 {
		made.Blocks = analysis.CompleteBlocks(compared, experiment.Spec.Scenarios, record.Runs)
	}
	if !made.IsPoint() {
		return made, nil
	}
	for _, arm := range compared {
		made.Arms = append(made.Arms, Arm{Name: arm.Name, Baseline: arm.Baseline, Twin: arm.Twin, Met: met(record.Runs, arm.Name)})
	}
	for _, scenario := range experiment.Spec.Scenarios {
		made.Scenarios = append(made.Scenarios, Scenario{Declared: scenario, Metrics: made.metrics(scenario.Name, record.Runs)})
	}
	var err error
	made.systems, err = systemsOf(made.Arms, record.Runs)
	return made, err
}

// IsPoint reports whether the experiment has values to put into a history.
func (m *Measured) IsPoint() bool { return m.Blocks > 0 && !m.Began.IsZero() }

// Keep scenarios of these names, and no others.
func (m *Measured) Keep(scenarios []string) {
	m.Scenarios = slices.DeleteFunc(m.Scenarios, func(s Scenario) bool { return !slices.Contains(scenarios, s.Declared.Name) })
}

func began(runs []v1alpha1.PerfRun) time.Time {
	var first time.Time
	for i := range runs {
		start := runs[i].Status.Timings.LoadStart
		if start != nil && (first.IsZero() || start.Time.Before(first)) {
			first = start.Time
		}
	}
	return first.UTC()
}

// metrics that the runs of complete blocks measured under a scenario. What can't be
// read is left out: it is in the experiment's own warnings.
func (m *Measured) metrics(scenario string, runs []v1alpha1.PerfRun) []Metric {
	var reader observation.Reader
	by := map[string]*Metric{}
	for i := range runs {
		run := &runs[i]
		arm := m.arm(run.Spec.Arm)
		if arm < 0 || run.Spec.Block > m.Blocks || run.Spec.Scenario.Name != scenario {
			continue
		}
		reader.Read(run.Name, observation.Counted(run), func(measured *v1alpha1.Observation, value float64) error {
			one := by[measured.Metric]
			if one == nil {
				one = &Metric{Name: measured.Metric, Values: make([][]float64, len(m.Arms))}
				by[measured.Metric] = one
			}
			one.Unit, one.Values[arm] = measured.Unit, append(one.Values[arm], value)
			return nil
		})
	}
	metrics := make([]Metric, 0, len(by))
	for _, name := range slices.Sorted(maps.Keys(by)) {
		metrics = append(metrics, *by[name])
	}
	return metrics
}

// arm's place by its name; -1: it has none of the name.
func (m *Measured) arm(name string) int {
	return slices.IndexFunc(m.Arms, func(arm Arm) bool { return arm.Name == name })
}

// scenario by its name; nil: it has none of the name.
func (m *Measured) scenario(name string) *Scenario {
	at := slices.IndexFunc(m.Scenarios, func(s Scenario) bool { return s.Declared.Name == name })
	if at < 0 {
		return nil
	}
	return &m.Scenarios[at]
}

// values of a metric in an arm, and their unit.
func (s *Scenario) values(name string, arm int) (values []float64, unit string) {
	at, found := slices.BinarySearchFunc(s.Metrics, name, func(m Metric, name string) int { return cmp.Compare(m.Name, name) })
	if !found || arm < 0 {
		return nil, ""
	}
	return s.Metrics[at].Values[arm], s.Metrics[at].Unit
}

// asked is the question as those who answer it take it.
func (m *Measured) asked() analysisplan.Question {
	q := &m.Question
	return analysisplan.Question{Primary: q.Primary, MarginPercent: q.MarginPercent, Higher: q.Higher, Lower: q.Lower, Imported: m.Tool != ""}
}

// systemsOf the arms, each as its first run was given it.
func systemsOf(all []Arm, runs []v1alpha1.PerfRun) (systems, error) {
	var made systems
	var first map[string]string
	for at, arm := range all {
		// Of an arm without a run there is no complete block.
		settings := arms.Settings(*arms.RecordedSystem(runs, arm.Name))
		if at == 0 {
			first = settings
			text, err := json.Marshal(first)
			if err != nil {
				return systems{}, fmt.Errorf("encoding what is declared for arm %q: %w", arm.Name, err)
			}
			made.First = text
			continue
		}
		text, err := json.Marshal(beside(first, settings))
		if err != nil {
			return systems{}, fmt.Errorf("encoding what is declared for arm %q: %w", arm.Name, err)
		}
		made.Others = append(made.Others, text)
	}
	return made, nil
}

// beside other settings those that differ; nil: it is not set.
func beside(others, settings map[string]string) map[string]*string {
	differ := map[string]*string{}
	for name, value := range settings {
		if other, set := others[name]; !set || other != value {
			differ[name] = &value
		}
	}
	for name := range others {
		if _, set := settings[name]; !set {
			differ[name] = nil
		}
	}
	return differ
}

// settings that are declared for an arm, by its place.
func (s *systems) settings(arm int) (map[string]string, error) {
	settings := map[string]string{}
	if err := json.Unmarshal(s.First, &settings); err != nil {
		return nil, err
	}
	if arm == 0 {
		return settings, nil
	}
	var differ map[string]*string
	if err := json.Unmarshal(s.Others[arm-1], &differ); err != nil {
		return nil, err
	}
	for name, value := range differ {
		if value == nil {
			delete(settings, name)
			continue
		}
		settings[name] = *value
	}
	return settings, nil
}

// mostLabel is the longest label of a release, in letters.
const mostLabel = 40

// Label is what a person wrote, in one line that fits a table.
func Label(text string) string {
	letters := []rune(strings.Join(strings.FieldsFunc(text, func(letter rune) bool { return unicode.IsSpace(letter) || unicode.IsControl(letter) }), " "))
	if len(letters) > mostLabel {
		return string(letters[:mostLabel-1]) + "…"
	}
	return string(letters)
}
