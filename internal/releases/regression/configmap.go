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

// Keys of an experiment's history ConfigMap.
const (
	// KeyMeasured has the experiment's measurements, gzipped.
	KeyMeasured = "measured.json.gz"
	// KeyHistory has the end of its history, as the report shows it.
	KeyHistory = "history.json"
	// KeyChanges has the reported changes, as in the status.
	KeyChanges = "changes.json"
)

const (
	version = "perflab.dev/history/v1"
	// maxDataBytes limits the size of a history and of changes.
	maxDataBytes = 512 << 10
)

// ErrInvalidConfigMap means that a ConfigMap has no valid history.
var ErrInvalidConfigMap = errors.New("invalid history")

// NewConfigMap encodes the measurements for later comparisons, and the result of comparing
// them. The experiment owns the ConfigMap.
func NewConfigMap(experiment *v1alpha1.PerfExperiment, this releases.Measurements, history *releases.History, changes []v1alpha1.SeriesChange) (*corev1.ConfigMap, error) {
	text, err := this.Encode()
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err = writer.Write(text)
	if err = errors.Join(err, writer.Close()); err != nil {
		return nil, fmt.Errorf("compressing measurements: %w", err)
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
	for _, digest := range ScenarioDigests(&this) {
		kept.Labels[v1alpha1.LabelSeries+digest] = ""
	}
	if changes == nil {
		changes = []v1alpha1.SeriesChange{}
	}
	for key, value := range map[string]any{KeyChanges: changes, KeyHistory: newHistoryDocument(history)} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encoding %s: %w", key, err)
		}
		kept.Data[key] = string(text)
	}
	return kept, nil
}

// NoDigest is the status's digest of an experiment without a ConfigMap.
const NoDigest = "none"

// Digest of a ConfigMap's data.
func Digest(kept *corev1.ConfigMap) string { return naming.Hash(kept.Data, kept.BinaryData) }

// IsAuthentic reports whether the operator wrote the ConfigMap for this experiment; other
// users may be allowed to write ConfigMaps. A ConfigMap of an operator without digests is
// accepted.
func IsAuthentic(experiment *v1alpha1.PerfExperiment, kept *corev1.ConfigMap) bool {
	status := &experiment.Status
	isOlder := status.HistoryDigest == "" && status.Settled != ""
	return metav1.IsControlledBy(kept, experiment) && (isOlder || status.HistoryDigest == Digest(kept))
}

// DecodeMeasurements decodes the measurements with the given metrics only, which saves memory;
// nil: all metrics.
func DecodeMeasurements(kept *corev1.ConfigMap, metrics []string) (releases.Measurements, error) {
	reader, err := gzip.NewReader(bytes.NewReader(kept.BinaryData[KeyMeasured]))
	if err != nil {
		return releases.Measurements{}, fmt.Errorf("%w: ConfigMap %q: %w", ErrInvalidConfigMap, kept.Name, err)
	}
	text, err := io.ReadAll(io.LimitReader(reader, releases.MaxEncodedBytes+1))
	if err != nil {
		return releases.Measurements{}, fmt.Errorf("%w: ConfigMap %q: %w", ErrInvalidConfigMap, kept.Name, err)
	}
	measured, err := releases.Decode(text)
	if err != nil {
		return releases.Measurements{}, fmt.Errorf("%w: ConfigMap %q: %w", ErrInvalidConfigMap, kept.Name, err)
	}
	if measured.Namespace != kept.Namespace && kept.Namespace != "" || kept.Name != naming.History(measured.Name) {
		return releases.Measurements{}, fmt.Errorf("%w: ConfigMap %q has measurements of %q in %q", ErrInvalidConfigMap, kept.Name, measured.Name, measured.Namespace)
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

// DecodeChanges decodes the reported changes.
func DecodeChanges(kept *corev1.ConfigMap) ([]v1alpha1.SeriesChange, error) {
	var changes []v1alpha1.SeriesChange
	text := kept.Data[KeyChanges]
	if len(text) > maxDataBytes {
		return nil, fmt.Errorf("%w: %s of ConfigMap %q has %d bytes", ErrInvalidConfigMap, KeyChanges, kept.Name, len(text))
	}
	if err := json.Unmarshal([]byte(text), &changes); err != nil {
		return nil, fmt.Errorf("%w: %s of ConfigMap %q: %w", ErrInvalidConfigMap, KeyChanges, kept.Name, err)
	}
	for i := range changes {
		if len(changes[i].Experiments) != 2 || len(changes) > MaxChanges {
			return nil, fmt.Errorf("%w: %s of ConfigMap %q", ErrInvalidConfigMap, KeyChanges, kept.Name)
		}
	}
	return changes, nil
}

// historyDocument is the encoded end of a history. Values that are not finite are absent.
type historyDocument struct {
	Version          string           `json:"version"`
	ErrorRatePercent float64          `json:"errorRatePercent"`
	Looks            int              `json:"looks"`
	Remarks          []string         `json:"remarks,omitempty"`
	Series           []seriesDocument `json:"series,omitempty"`
}

type seriesDocument struct {
	Scenario string           `json:"scenario"`
	Metric   string           `json:"metric"`
	Arm      string           `json:"arm"`
	Unit     string           `json:"unit,omitempty"`
	Ratio    bool             `json:"ratio,omitempty"`
	Points   []pointDocument  `json:"points"`
	Changes  []changeDocument `json:"changes,omitempty"`
}

type pointDocument struct {
	Release    string    `json:"release"`
	Experiment string    `json:"experiment"`
	Namespace  string    `json:"namespace"`
	Time       time.Time `json:"time"`
	Center     float64   `json:"center"`
	// Low and High are the interval; absent for a single run.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

type changeDocument struct {
	At          int      `json:"at"`
	Delta       float64  `json:"delta"`
	Low         float64  `json:"low"`
	High        float64  `json:"high"`
	P           float64  `json:"p"`
	Verdict     string   `json:"verdict"`
	Differences []string `json:"differences,omitempty"`
}

func newHistoryDocument(history *releases.History) historyDocument {
	made := historyDocument{Version: version}
	if history == nil {
		return made
	}
	made.ErrorRatePercent, made.Looks, made.Remarks = history.ErrorRatePercent, history.Analyses, history.Notes
	for i := range history.Series {
		series := &history.Series[i]
		one := seriesDocument{Scenario: series.Scenario, Metric: series.Metric, Arm: series.Arm, Unit: series.Unit, Ratio: series.Scale == comparison.Ratio}
		for _, point := range series.Points {
			one.Points = append(one.Points, pointDocument{
				point.Release, point.Experiment, point.Namespace, point.Time.UTC(), point.Center, finiteOrNil(point.Low), finiteOrNil(point.High),
			})
		}
		for _, change := range series.Changes {
			document := changeDocument{change.At, change.Delta, change.Low, change.High, change.P, string(change.Verdict), nil}
			for _, difference := range change.Differences {
				document.Differences = append(document.Differences, truncate(difference))
			}
			one.Changes = append(one.Changes, document)
		}
		made.Series = append(made.Series, one)
	}
	return made
}

func finiteOrNil(value float64) *float64 {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	return &value
}

// DecodeHistory decodes the end of the experiment's history, or returns nil if it has none.
func DecodeHistory(kept *corev1.ConfigMap) (*releases.History, error) {
	text := kept.Data[KeyHistory]
	if len(text) > maxDataBytes {
		return nil, fmt.Errorf("%w: %s of ConfigMap %q has %d bytes", ErrInvalidConfigMap, KeyHistory, kept.Name, len(text))
	}
	var read historyDocument
	if err := json.Unmarshal([]byte(text), &read); err != nil || read.Version != version {
		return nil, fmt.Errorf("%w: %s of ConfigMap %q has version %.40q, want %q", ErrInvalidConfigMap, KeyHistory, kept.Name, read.Version, version)
	}
	if len(read.Series) == 0 {
		return nil, nil //nolint:nilnil // A first experiment has no history, and that is no error.
	}
	history := &releases.History{ErrorRatePercent: read.ErrorRatePercent, Analyses: max(1, read.Looks), Notes: read.Remarks}
	for i := range read.Series {
		series, sound := read.Series[i].decode()
		if !sound {
			return nil, fmt.Errorf("%w: %s of ConfigMap %q: a series without points, or a change outside its points", ErrInvalidConfigMap, KeyHistory, kept.Name)
		}
		history.Series = append(history.Series, series)
	}
	return history, nil
}

func (s *seriesDocument) decode() (made releases.Series, sound bool) {
	made = releases.Series{Scenario: s.Scenario, Metric: s.Metric, Arm: s.Arm, Unit: s.Unit, Scale: comparison.Difference}
	if s.Ratio {
		made.Scale = comparison.Ratio
	}
	for _, point := range s.Points {
		made.Points = append(made.Points, releases.Point{
			Release: point.Release, Experiment: point.Experiment, Namespace: point.Namespace, Time: point.Time,
			Center: point.Center, Low: valueOrNaN(point.Low), High: valueOrNaN(point.High),
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
	return made, len(s.Points) > 0 && len(s.Points) <= MaxPoints
}

func valueOrNaN(value *float64) float64 {
	if value == nil {
		return math.NaN()
	}
	return *value
}
