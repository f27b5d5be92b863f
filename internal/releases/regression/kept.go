// SPDX-License-Identifier: Apache-2.0

package regression

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
)

// Keys of what is kept in an experiment's ConfigMap.
const (
	// KeyMeasured is what histories need of the experiment, gzipped.
	KeyMeasured = "measured.json.gz"
	// KeyHistory is the end of its own history, as the report shows it.
	KeyHistory = "history.json"
	// KeyChanges are the changes that were told of, as the status lists them.
	KeyChanges = "changes.json"
)

const (
	version = "perflab.dev/history/v1"
	// mostKept bounds, in bytes, what is read of a history and of changes.
	mostKept = 512 << 10
)

// ErrKept says that a ConfigMap does not hold what is kept of an experiment.
var ErrKept = errors.New("not what is kept of an experiment's history")

// Object is the ConfigMap that goes with its experiment, with what others are compared with
// and what came out when it was compared.
func Object(experiment *v1alpha1.PerfExperiment, this releases.Measured, history *releases.History, changes []v1alpha1.SeriesChange) (*corev1.ConfigMap, error) {
	text, err := this.Encode()
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err = writer.Write(text)
	if err = errors.Join(err, writer.Close()); err != nil {
		return nil, fmt.Errorf("compressing what was measured: %w", err)
	}
	kept := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: experiment.Namespace, Name: naming.History(experiment.Name), Labels: naming.Labels(experiment.Name),
			Annotations:     map[string]string{v1alpha1.AnnotationBegan: this.Began.UTC().Format(time.RFC3339Nano)},
			OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfExperiment", experiment)},
		},
		Data:       map[string]string{},
		BinaryData: map[string][]byte{KeyMeasured: packed.Bytes()},
	}
	for _, digest := range Series(&this) {
		kept.Labels[v1alpha1.LabelSeries+digest] = ""
	}
	if changes == nil {
		changes = []v1alpha1.SeriesChange{}
	}
	for key, value := range map[string]any{KeyChanges: changes, KeyHistory: written(history)} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", key, err)
		}
		kept.Data[key] = string(text)
	}
	return kept, nil
}

// NothingKept stands for the digest where nothing is kept.
const NothingKept = "none"

// Digest of what a ConfigMap keeps.
func Digest(kept *corev1.ConfigMap) string { return naming.Hash(kept.Data, kept.BinaryData) }

// IsOf reports whether the operator wrote, for this experiment, what a ConfigMap keeps:
// whoever may write ConfigMaps could have. What an operator without digests has written is
// taken as it is.
func IsOf(experiment *v1alpha1.PerfExperiment, kept *corev1.ConfigMap) bool {
	status := &experiment.Status
	isOlder := status.HistoryDigest == "" && status.Settled != ""
	return metav1.IsControlledBy(kept, experiment) && (isOlder || status.HistoryDigest == Digest(kept))
}

// Measured is what a ConfigMap keeps of an experiment, without the metrics that nobody
// asks for: the history of many takes little room.
func Measured(kept *corev1.ConfigMap, metrics []string) (releases.Measured, error) {
	reader, err := gzip.NewReader(bytes.NewReader(kept.BinaryData[KeyMeasured]))
	if err != nil {
		return releases.Measured{}, fmt.Errorf("%w: ConfigMap %q: %w", ErrKept, kept.Name, err)
	}
	text, err := io.ReadAll(io.LimitReader(reader, releases.MostMeasured+1))
	if err != nil {
		return releases.Measured{}, fmt.Errorf("%w: ConfigMap %q: %w", ErrKept, kept.Name, err)
	}
	measured, err := releases.Decode(text)
	if err != nil {
		return releases.Measured{}, fmt.Errorf("%w: ConfigMap %q: %w", ErrKept, kept.Name, err)
	}
	if measured.Namespace != kept.Namespace && kept.Namespace != "" || kept.Name != naming.History(measured.Name) {
		return releases.Measured{}, fmt.Errorf("%w: ConfigMap %q tells of %q in %q", ErrKept, kept.Name, measured.Name, measured.Namespace)
	}
	if metrics == nil {
		return measured, nil
	}
	for i := range measured.Scenarios {
		scenario := &measured.Scenarios[i]
		scenario.Metrics = slices.Clone(slices.DeleteFunc(scenario.Metrics, func(one releases.Metric) bool { return !slices.Contains(metrics, one.Name) }))
	}
	return measured, nil
}

// Changes are those that were told of.
func Changes(kept *corev1.ConfigMap) ([]v1alpha1.SeriesChange, error) {
	var changes []v1alpha1.SeriesChange
	text := kept.Data[KeyChanges]
	if len(text) > mostKept {
		return nil, fmt.Errorf("%w: %s of ConfigMap %q has %d bytes", ErrKept, KeyChanges, kept.Name, len(text))
	}
	if err := json.Unmarshal([]byte(text), &changes); err != nil {
		return nil, fmt.Errorf("%w: %s of ConfigMap %q: %w", ErrKept, KeyChanges, kept.Name, err)
	}
	for i := range changes {
		if len(changes[i].Experiments) != 2 || len(changes) > MostChanges {
			return nil, fmt.Errorf("%w: %s of ConfigMap %q", ErrKept, KeyChanges, kept.Name)
		}
	}
	return changes, nil
}

// shown is the end of a history, as it is written. Values that are not numbers are absent.
type shown struct {
	Version          string        `json:"version"`
	ErrorRatePercent float64       `json:"errorRatePercent"`
	Looks            int           `json:"looks"`
	Remarks          []string      `json:"remarks,omitempty"`
	Series           []shownSeries `json:"series,omitempty"`
}

type shownSeries struct {
	Scenario string        `json:"scenario"`
	Metric   string        `json:"metric"`
	Arm      string        `json:"arm"`
	Unit     string        `json:"unit,omitempty"`
	Ratio    bool          `json:"ratio,omitempty"`
	Points   []shownPoint  `json:"points"`
	Changes  []shownChange `json:"changes,omitempty"`
}

type shownPoint struct {
	Release    string    `json:"release"`
	Experiment string    `json:"experiment"`
	Namespace  string    `json:"namespace"`
	Time       time.Time `json:"time"`
	Center     float64   `json:"center"`
	// Low and High end the interval; absent of a single run.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

type shownChange struct {
	At          int      `json:"at"`
	Delta       float64  `json:"delta"`
	Low         float64  `json:"low"`
	High        float64  `json:"high"`
	P           float64  `json:"p"`
	Verdict     string   `json:"verdict"`
	Differences []string `json:"differences,omitempty"`
}

func written(history *releases.History) shown {
	made := shown{Version: version}
	if history == nil {
		return made
	}
	made.ErrorRatePercent, made.Looks, made.Remarks = history.ErrorRatePercent, history.Looks, history.Notes
	for i := range history.Series {
		series := &history.Series[i]
		one := shownSeries{Scenario: series.Scenario, Metric: series.Metric, Arm: series.Arm, Unit: series.Unit, Ratio: series.Scale == comparison.Ratio}
		for _, point := range series.Points {
			one.Points = append(one.Points, shownPoint{
				point.Release, point.Experiment, point.Namespace, point.Time.UTC(), point.Center, known(point.Low), known(point.High),
			})
		}
		for _, change := range series.Changes {
			told := shownChange{change.At, change.Delta, change.Low, change.High, change.P, string(change.Verdict), nil}
			for _, difference := range change.Differences {
				told.Differences = append(told.Differences, cut(difference))
			}
			one.Changes = append(one.Changes, told)
		}
		made.Series = append(made.Series, one)
	}
	return made
}

func known(value float64) *float64 {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	return &value
}

// History is the end of the experiment's history; nil: it has none.
func History(kept *corev1.ConfigMap) (*releases.History, error) {
	text := kept.Data[KeyHistory]
	if len(text) > mostKept {
		return nil, fmt.Errorf("%w: %s of ConfigMap %q has %d bytes", ErrKept, KeyHistory, kept.Name, len(text))
	}
	var read shown
	if err := json.Unmarshal([]byte(text), &read); err != nil || read.Version != version {
		return nil, fmt.Errorf("%w: %s of ConfigMap %q is of version %.40q, and this one reads %q", ErrKept, KeyHistory, kept.Name, read.Version, version)
	}
	if len(read.Series) == 0 {
		return nil, nil //nolint:nilnil // A first experiment has no history, and that is no error.
	}
	history := &releases.History{ErrorRatePercent: read.ErrorRatePercent, Looks: max(1, read.Looks), Notes: read.Remarks}
	for i := range read.Series {
		series, sound := read.Series[i].read()
		if !sound {
			return nil, fmt.Errorf("%w: %s of ConfigMap %q: a series has no points, or changes where it has none", ErrKept, KeyHistory, kept.Name)
		}
		history.Series = append(history.Series, series)
	}
	return history, nil
}

func (s *shownSeries) read() (made releases.Series, sound bool) {
	made = releases.Series{Scenario: s.Scenario, Metric: s.Metric, Arm: s.Arm, Unit: s.Unit, Scale: comparison.Difference}
	if s.Ratio {
		made.Scale = comparison.Ratio
	}
	for _, point := range s.Points {
		made.Points = append(made.Points, releases.Point{
			Release: point.Release, Experiment: point.Experiment, Namespace: point.Namespace, Time: point.Time,
			Center: point.Center, Low: number(point.Low), High: number(point.High),
		})
	}
	for _, change := range s.Changes {
		if change.At < 1 || change.At >= len(s.Points) {
			return made, false
		}
		made.Changes = append(made.Changes, releases.Change{
			At: change.At, Delta: change.Delta, Low: change.Low, High: change.High, P: change.P,
			Verdict: verdict.Verdict(change.Verdict), Differences: change.Differences,
		})
	}
	return made, len(s.Points) > 0 && len(s.Points) <= MostPoints
}

func number(value *float64) float64 {
	if value == nil {
		return math.NaN()
	}
	return *value
}
