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

// ExperimentRuns is an experiment and its runs.
type ExperimentRuns struct {
	Experiment *v1alpha1.PerfExperiment
	Runs       []v1alpha1.PerfRun
}

// Measurements are what a history needs of one experiment: the values of the runs of its
// complete blocks, and the settings to describe differences. Measure extracts them; Encode and
// Decode write and read them.
type Measurements struct {
	Namespace, Name, UID string
	// Release is the experiment's annotation perflab.dev/release, in one line that fits a
	// table, or its name.
	Release string
	// Tool that generated the load of an imported experiment; empty for PerfLab.
	Tool string
	// Began is when the first load started, in UTC; zero if none did.
	Began time.Time
	// Blocks counts the complete blocks.
	Blocks    int32
	Question  Question
	Arms      []Arm
	Scenarios []Scenario
	// OmittedMetrics counts the metrics that were not encoded because of their size.
	OmittedMetrics int

	// settings of the arms stay encoded: they are large and needed only at changes.
	settings armSettings
}

// Question has the fields of the experiment's question that a history needs.
type Question struct {
	// Primary metrics.
	Primary []string `json:"primary"`
	// MarginPercent is the equivalence margin.
	MarginPercent int32 `json:"marginPercent"`
	// Higher and Lower are the custom metrics with a declared direction.
	Higher []string `json:"higher,omitempty"`
	Lower  []string `json:"lower,omitempty"`
}

// Arm is a compared configuration.
type Arm struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline,omitempty"`
	Twin     bool   `json:"twin,omitempty"`
	// Environment of the arm's first valid run, by name: undeclared versions, nodes and images.
	Environment map[string]string `json:"met,omitempty"`
}

// Scenario is a workload and its measurements.
type Scenario struct {
	Declared v1alpha1.Scenario `json:"declared"`
	// Metrics by name.
	Metrics []Metric `json:"metrics"`
}

// Metric has the values of a scenario's runs.
type Metric struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	// Values of the runs of complete blocks, for each arm in order.
	Values [][]float64 `json:"values"`
}

// armSettings are the declared settings: those of the first arm, and for each other arm those
// that differ. null means that a setting is absent.
type armSettings struct {
	First  json.RawMessage   `json:"first"`
	Others []json.RawMessage `json:"others"`
}

// Measure extracts what a history needs of an experiment. Without a complete block there are
// no values, and HasCompleteBlock is false.
func Measure(record ExperimentRuns) (Measurements, error) {
	experiment, compared := record.Experiment, arms.Recorded(record.Experiment.Status.Arms)
	question := analysisplan.New(&experiment.Spec)
	made := Measurements{
		Namespace: experiment.Namespace, Name: experiment.Name, UID: string(experiment.UID),
		Release:  ReleaseName(experiment),
		Tool:     provenance.Tool(&experiment.Spec),
		Began:    firstLoadStart(record.Runs),
		Question: Question{Primary: question.Primary, MarginPercent: question.MarginPercent, Higher: question.Higher, Lower: question.Lower},
	}
	if len(compared) > 0 {
		made.Blocks = analysis.CompleteBlocks(compared, experiment.Spec.Scenarios, record.Runs)
	}
	if !made.HasCompleteBlock() {
		return made, nil
	}
	for _, arm := range compared {
		made.Arms = append(made.Arms, Arm{Name: arm.Name, Baseline: arm.Baseline, Twin: arm.Twin, Environment: armEnvironment(record.Runs, arm.Name)})
	}
	for _, scenario := range experiment.Spec.Scenarios {
		made.Scenarios = append(made.Scenarios, Scenario{Declared: scenario, Metrics: made.metrics(scenario.Name, record.Runs)})
	}
	var err error
	made.settings, err = newArmSettings(made.Arms, record.Runs)
	return made, err
}

// HasCompleteBlock reports whether the experiment has values for a history.
func (m *Measurements) HasCompleteBlock() bool { return m.Blocks > 0 && !m.Began.IsZero() }

// KeepScenarios removes all other scenarios.
func (m *Measurements) KeepScenarios(scenarios []string) {
	m.Scenarios = slices.DeleteFunc(m.Scenarios, func(s Scenario) bool { return !slices.Contains(scenarios, s.Declared.Name) })
}

func firstLoadStart(runs []v1alpha1.PerfRun) time.Time {
	var first time.Time
	for i := range runs {
		start := runs[i].Status.Timings.LoadStart
		if start != nil && (first.IsZero() || start.Time.Before(first)) {
			first = start.Time
		}
	}
	return first.UTC()
}

// metrics of a scenario in the runs of complete blocks. Unreadable values are omitted; the
// experiment's own warnings report them.
func (m *Measurements) metrics(scenario string, runs []v1alpha1.PerfRun) []Metric {
	var reader observation.Reader
	by := map[string]*Metric{}
	for i := range runs {
		run := &runs[i]
		arm := m.armIndex(run.Spec.Arm)
		if arm < 0 || run.Spec.Block > m.Blocks || run.Spec.Scenario.Name != scenario {
			continue
		}
		reader.Read(run.Name, observation.OfValidRun(run), func(measured *v1alpha1.Observation, value float64) error {
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

// armIndex returns the index of an arm, or -1.
func (m *Measurements) armIndex(name string) int {
	return slices.IndexFunc(m.Arms, func(arm Arm) bool { return arm.Name == name })
}

// scenario returns a scenario by its name, or nil.
func (m *Measurements) scenario(name string) *Scenario {
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

// analysisQuestion converts the question for the analysis.
func (m *Measurements) analysisQuestion() analysisplan.Question {
	q := &m.Question
	return analysisplan.Question{Primary: q.Primary, MarginPercent: q.MarginPercent, Higher: q.Higher, Lower: q.Lower, Imported: m.Tool != ""}
}

// newArmSettings encodes the settings of each arm's first run.
func newArmSettings(all []Arm, runs []v1alpha1.PerfRun) (armSettings, error) {
	var made armSettings
	var first map[string]string
	for at, arm := range all {
		// Every arm has a run, because there is a complete block.
		settings := arms.Settings(*arms.RecordedSystem(runs, arm.Name))
		if at == 0 {
			first = settings
			text, err := json.Marshal(first)
			if err != nil {
				return armSettings{}, fmt.Errorf("encoding settings of arm %q: %w", arm.Name, err)
			}
			made.First = text
			continue
		}
		text, err := json.Marshal(settingsDiff(first, settings))
		if err != nil {
			return armSettings{}, fmt.Errorf("encoding settings of arm %q: %w", arm.Name, err)
		}
		made.Others = append(made.Others, text)
	}
	return made, nil
}

// settingsDiff returns the settings that differ from others; nil means that it is absent.
func settingsDiff(others, settings map[string]string) map[string]*string {
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

// settings decodes the settings of an arm by its index.
func (s *armSettings) settings(arm int) (map[string]string, error) {
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

// maxLabelLength limits the label of a release, in characters.
const maxLabelLength = 40

// Label formats a text as one line that fits a table.
func Label(text string) string {
	letters := []rune(strings.Join(strings.FieldsFunc(text, func(letter rune) bool { return unicode.IsSpace(letter) || unicode.IsControl(letter) }), " "))
	if len(letters) > maxLabelLength {
		return string(letters[:maxLabelLength-1]) + "…"
	}
	return string(letters)
}
