// SPDX-License-Identifier: Apache-2.0

package releases

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
)

// EncodingVersion is the version of the encoding.
const EncodingVersion = "perflab.dev/measured/v1"

// encodingPrefix starts each encoded document.
const encodingPrefix = `{"version":"` + EncodingVersion + `",`

const (
	// maxCompleteBytes is the size up to which all metrics are encoded. Above it, metrics of
	// servers are omitted first, then those of single requests and windows. A history reads
	// three hundred documents.
	maxCompleteBytes = 256 << 10
	// maxLoadMetricBytes is the size up to which all metrics of loads are encoded: those of
	// some thousands of runs.
	maxLoadMetricBytes = 4 << 20
	// MaxEncodedBytes is the maximum size of a document. It fits the primary metrics of the
	// largest possible experiment.
	MaxEncodedBytes = 16 << 20
	// Limits of the API.
	maxArms, maxScenarios, maxNameLength = 65, 16, 253
)

var (
	// ErrNoCompleteBlock means that there are no values to encode.
	ErrNoCompleteBlock = errors.New("no complete block")
	// ErrInvalidEncoding means that Encode of this version did not write the document.
	ErrInvalidEncoding = errors.New("invalid measurements")
)

// document is the encoded form of Measurements.
type document struct {
	Version        string      `json:"version"`
	Namespace      string      `json:"namespace"`
	Name           string      `json:"name"`
	UID            string      `json:"uid,omitempty"`
	Release        string      `json:"release"`
	Tool           string      `json:"tool,omitempty"`
	Began          time.Time   `json:"began"`
	Blocks         int32       `json:"blocks"`
	Question       Question    `json:"question"`
	Arms           []Arm       `json:"arms"`
	Systems        armSettings `json:"systems"`
	Scenarios      []Scenario  `json:"scenarios"`
	OmittedMetrics int         `json:"leftOut,omitempty"`
}

// Encode returns the measurements as JSON, the same bytes for the same experiment. Above 256
// KiB it omits metrics and counts them in OmittedMetrics: those of servers, single requests
// and windows first; above 4 MiB also those of loads, but never a primary metric. It fails
// with ErrNoCompleteBlock.
func (m *Measurements) Encode() ([]byte, error) {
	if !m.HasCompleteBlock() {
		return nil, fmt.Errorf("experiment %q: %w", m.Name, ErrNoCompleteBlock)
	}
	whole := document{
		EncodingVersion, m.Namespace, m.Name, m.UID, m.Release, m.Tool, m.Began, m.Blocks, m.Question, m.Arms, m.settings, m.Scenarios, m.OmittedMetrics,
	}
	text, err := whole.encode()
	if err != nil || len(text) <= maxCompleteBytes {
		return text, err
	}
	out, err := m.metricsToOmit(len(text))
	if err != nil {
		return nil, err
	}
	whole.Scenarios, whole.OmittedMetrics = nil, m.OmittedMetrics+len(out)
	for _, scenario := range m.Scenarios {
		scenario.Metrics = slices.DeleteFunc(slices.Clone(scenario.Metrics), func(one Metric) bool { return out[one.Name] })
		whole.Scenarios = append(whole.Scenarios, scenario)
	}
	if text, err = whole.encode(); err == nil && len(text) > MaxEncodedBytes {
		err = fmt.Errorf("measurements of experiment %q: %d bytes of primary metrics exceed the limit of %d", m.Name, len(text), MaxEncodedBytes)
	}
	return text, err
}

func (w *document) encode() ([]byte, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encoding measurements of experiment %q: %w", w.Name, err)
	}
	return text, nil
}

// metricsToOmit returns the least important metrics whose omission makes a document of this
// size small enough. A metric is omitted under all scenarios.
func (m *Measurements) metricsToOmit(size int) (map[string]bool, error) {
	sizes := map[string]int{}
	for _, scenario := range m.Scenarios {
		for _, one := range scenario.Metrics {
			text, err := json.Marshal(one)
			if err != nil {
				return nil, fmt.Errorf("encoding %s: %w", one.Name, err)
			}
			sizes[one.Name] += len(text) + len(",")
		}
	}
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Question.rank(b), m.Question.rank(a)), cmp.Compare(b, a))
	})
	out := map[string]bool{}
	for _, name := range names {
		rank, most := m.Question.rank(name), maxCompleteBytes
		if rank == rankLoad {
			most = maxLoadMetricBytes
		}
		if rank == rankPrimary || size <= most {
			continue
		}
		out[name], size = true, size-sizes[name]
	}
	return out, nil
}

// Ranks of metrics, the most important first.
const (
	rankPrimary = iota
	rankLoad
	rankDetail
	rankServer
)

func (q *Question) rank(name string) int {
	switch parsed := metric.Parse(name); {
	case slices.Contains(q.Primary, name):
		return rankPrimary
	case parsed.IsServer():
		return rankServer
	case parsed.Request != "" || parsed.Window != "":
		return rankDetail
	}
	return rankLoad
}

// Decode reads what Encode wrote. It fails with ErrInvalidEncoding.
func Decode(text []byte) (Measurements, error) {
	return DecodeMetrics(text, func(string) bool { return true })
}

// partialDocument leaves the values encoded: most metrics are not requested.
type partialDocument struct {
	document
	Scenarios []struct {
		Declared v1alpha1.Scenario `json:"declared"`
		Metrics  []struct {
			Name   string          `json:"name"`
			Unit   string          `json:"unit"`
			Values json.RawMessage `json:"values"`
		} `json:"metrics"`
	} `json:"scenarios"`
}

// DecodeMetrics decodes the wanted metrics, and checks the names of all.
func DecodeMetrics(text []byte, wanted func(metric string) bool) (Measurements, error) {
	bad := func(why string, values ...any) (Measurements, error) {
		return Measurements{}, fmt.Errorf("%w: %s", ErrInvalidEncoding, fmt.Sprintf(why, values...))
	}
	if len(text) > MaxEncodedBytes {
		return bad("%d bytes exceed the limit of %d", len(text), MaxEncodedBytes)
	}
	if !bytes.HasPrefix(text, []byte(encodingPrefix)) {
		return bad("unsupported version: begins with %.80q, want %q", text, encodingPrefix)
	}
	var read partialDocument
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return bad("%v", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return bad("unexpected data after the document")
	}
	made := Measurements{
		read.Namespace, read.Name, read.UID, read.Release, read.Tool, read.Began.UTC(), read.Blocks, read.Question, read.Arms, nil, read.OmittedMetrics, read.Systems,
	}
	for _, of := range read.Scenarios {
		made.Scenarios = append(made.Scenarios, Scenario{Declared: of.Declared})
	}
	if why := made.problem(); why != "" {
		return bad("%s", why)
	}
	for at, of := range read.Scenarios {
		last := ""
		for _, one := range of.Metrics {
			if one.Name <= last {
				return bad("metric %.80q is out of order", one.Name)
			}
			if last = one.Name; !wanted(one.Name) {
				continue
			}
			metric := Metric{Name: one.Name, Unit: one.Unit}
			if err := json.Unmarshal(one.Values, &metric.Values); err != nil || len(metric.Values) != len(made.Arms) {
				return bad("metric %.80q needs values for each arm", one.Name)
			}
			made.Scenarios[at].Metrics = append(made.Scenarios[at].Metrics, metric)
		}
	}
	return made, nil
}

// problem describes why the measurements are invalid; it is empty if they are valid.
func (m *Measurements) problem() string {
	switch {
	case !m.HasCompleteBlock():
		return "no complete block or no start time"
	case len(m.Arms) == 0 || len(m.Arms) > maxArms || len(m.Scenarios) == 0 || len(m.Scenarios) > maxScenarios:
		return fmt.Sprintf("%d arms and %d scenarios are out of range", len(m.Arms), len(m.Scenarios))
	case !isValidName(m.Namespace) && m.Namespace != "", !isValidName(m.Name), !isValidName(m.UID) && m.UID != "", !isValidName(m.Release), !isValidName(m.Tool) && m.Tool != "":
		return "invalid name"
	case len([]rune(m.Release)) > maxLabelLength && m.Release != m.Name:
		return "release label too long"
	case len(m.settings.Others) != len(m.Arms)-1:
		return fmt.Sprintf("settings of %d arms, want %d", len(m.settings.Others)+1, len(m.Arms))
	}
	for at, arm := range m.Arms {
		if !isValidName(arm.Name) || m.armIndex(arm.Name) != at {
			return fmt.Sprintf("arm %.80q has an invalid or duplicate name", arm.Name)
		}
	}
	for at := range m.Scenarios {
		if name := m.Scenarios[at].Declared.Name; !isValidName(name) || m.scenario(name) != &m.Scenarios[at] {
			return fmt.Sprintf("scenario %.80q has an invalid or duplicate name", name)
		}
	}
	return ""
}

// isValidName reports whether a text fits in one line.
func isValidName(text string) bool {
	return text != "" && len(text) <= maxNameLength && !strings.ContainsFunc(text, unicode.IsControl)
}
