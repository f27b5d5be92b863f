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

// MeasuredVersion stands in what Encode writes.
const MeasuredVersion = "perflab.dev/measured/v1"

// measuredOpening is how that begins.
const measuredOpening = `{"version":"` + MeasuredVersion + `",`

const (
	// mostWhole is the size, in bytes, up to which all that was measured is written. Of
	// more than that, what servers used goes first, then single requests and windows.
	// A history reads three hundred of them.
	mostWhole = 256 << 10
	// mostOfLoads is the size up to which all that loads measured is written: that of some
	// thousands of runs.
	mostOfLoads = 4 << 20
	// MostMeasured is the size, in bytes, that nothing exceeds which Encode writes or
	// Decode reads: room for the primary metrics of the largest experiment there can be.
	MostMeasured = 16 << 20
	// What the API lets an experiment have.
	mostArms, mostScenarios, mostName = 65, 16, 253
)

var (
	// ErrNoPoint says that there are no values to write.
	ErrNoPoint = errors.New("it has no complete block")
	// ErrNotMeasured says that what is read is not what Encode wrote.
	ErrNotMeasured = errors.New("not what an experiment measured, as this version knows it")
)

// written is how a Measured is written.
type written struct {
	Version   string     `json:"version"`
	Namespace string     `json:"namespace"`
	Name      string     `json:"name"`
	UID       string     `json:"uid,omitempty"`
	Release   string     `json:"release"`
	Tool      string     `json:"tool,omitempty"`
	Began     time.Time  `json:"began"`
	Blocks    int32      `json:"blocks"`
	Question  Question   `json:"question"`
	Arms      []Arm      `json:"arms"`
	Systems   systems    `json:"systems"`
	Scenarios []Scenario `json:"scenarios"`
	LeftOut   int        `json:"leftOut,omitempty"`
}

// Encode writes it as JSON, the same bytes for the same experiment. Of an experiment
// that measured more than fits into 256 KiB it leaves metrics out and counts them in
// LeftOut: what servers used, single requests, windows; and where the rest exceeds
// 4 MiB, of what loads measured as well, but never a primary one. It fails with
// ErrNoPoint.
func (m *Measured) Encode() ([]byte, error) {
	if !m.IsPoint() {
		return nil, fmt.Errorf("experiment %q: %w", m.Name, ErrNoPoint)
	}
	whole := written{
		MeasuredVersion, m.Namespace, m.Name, m.UID, m.Release, m.Tool, m.Began, m.Blocks, m.Question, m.Arms, m.systems, m.Scenarios, m.LeftOut,
	}
	text, err := whole.encode()
	if err != nil || len(text) <= mostWhole {
		return text, err
	}
	out, err := m.superfluous(len(text))
	if err != nil {
		return nil, err
	}
	whole.Scenarios, whole.LeftOut = nil, m.LeftOut+len(out)
	for _, scenario := range m.Scenarios {
		scenario.Metrics = slices.DeleteFunc(slices.Clone(scenario.Metrics), func(one Metric) bool { return out[one.Name] })
		whole.Scenarios = append(whole.Scenarios, scenario)
	}
	if text, err = whole.encode(); err == nil && len(text) > MostMeasured {
		err = fmt.Errorf("what experiment %q measured takes %d bytes even without what is not primary, and %d at most", m.Name, len(text), MostMeasured)
	}
	return text, err
}

func (w *written) encode() ([]byte, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encoding what experiment %q measured: %w", w.Name, err)
	}
	return text, nil
}

// superfluous are the metrics without which the text of so many bytes gets small
// enough: those that matter least, each under all scenarios.
func (m *Measured) superfluous(size int) (map[string]bool, error) {
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
		rank, most := m.Question.rank(name), mostWhole
		if rank == ofLoad {
			most = mostOfLoads
		}
		if rank == ofQuestion || size <= most {
			continue
		}
		out[name], size = true, size-sizes[name]
	}
	return out, nil
}

// Ranks of metrics, the most important one first.
const (
	ofQuestion = iota
	ofLoad
	ofDetail
	ofServer
)

func (q *Question) rank(name string) int {
	switch parsed := metric.Parse(name); {
	case slices.Contains(q.Primary, name):
		return ofQuestion
	case parsed.IsServer():
		return ofServer
	case parsed.Request != "" || parsed.Window != "":
		return ofDetail
	}
	return ofLoad
}

// Decode reads what Encode wrote, and fails with ErrNotMeasured where it is something
// else, or too much.
func Decode(text []byte) (Measured, error) {
	return DecodeOnly(text, func(string) bool { return true })
}

// read is how a Measured is read: most values are of metrics that nobody asks for.
type read struct {
	written
	Scenarios []struct {
		Declared v1alpha1.Scenario `json:"declared"`
		Metrics  []struct {
			Name   string          `json:"name"`
			Unit   string          `json:"unit"`
			Values json.RawMessage `json:"values"`
		} `json:"metrics"`
	} `json:"scenarios"`
}

// DecodeOnly reads the metrics that are wanted, and the names of all.
func DecodeOnly(text []byte, wanted func(metric string) bool) (Measured, error) {
	bad := func(why string, values ...any) (Measured, error) {
		return Measured{}, fmt.Errorf("%w: %s", ErrNotMeasured, fmt.Sprintf(why, values...))
	}
	if len(text) > MostMeasured {
		return bad("it has %d bytes, and %d at most", len(text), MostMeasured)
	}
	if !bytes.HasPrefix(text, []byte(measuredOpening)) {
		return bad("it begins with %.80q, and what this version reads with %q", text, measuredOpening)
	}
	var read read
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return bad("%v", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return bad("there is more behind it")
	}
	made := Measured{
		read.Namespace, read.Name, read.UID, read.Release, read.Tool, read.Began.UTC(), read.Blocks, read.Question, read.Arms, nil, read.LeftOut, read.Systems,
	}
	for _, of := range read.Scenarios {
		made.Scenarios = append(made.Scenarios, Scenario{Declared: of.Declared})
	}
	if why := made.wrong(); why != "" {
		return bad("%s", why)
	}
	for at, of := range read.Scenarios {
		last := ""
		for _, one := range of.Metrics {
			if one.Name <= last {
				return bad("its metric %.80q is out of order", one.Name)
			}
			if last = one.Name; !wanted(one.Name) {
				continue
			}
			metric := Metric{Name: one.Name, Unit: one.Unit}
			if err := json.Unmarshal(one.Values, &metric.Values); err != nil || len(metric.Values) != len(made.Arms) {
				return bad("its metric %.80q has not the values of each arm", one.Name)
			}
			made.Scenarios[at].Metrics = append(made.Scenarios[at].Metrics, metric)
		}
	}
	return made, nil
}

// wrong says what can't be in what was measured; empty: nothing.
func (m *Measured) wrong() string {
	switch {
	case !m.IsPoint():
		return "it has no complete block, or no time"
	case len(m.Arms) == 0 || len(m.Arms) > mostArms || len(m.Scenarios) == 0 || len(m.Scenarios) > mostScenarios:
		return fmt.Sprintf("it has %d arms and %d scenarios", len(m.Arms), len(m.Scenarios))
	case !isName(m.Namespace) && m.Namespace != "", !isName(m.Name), !isName(m.UID) && m.UID != "", !isName(m.Release), !isName(m.Tool) && m.Tool != "":
		return "a name in it is none"
	case len([]rune(m.Release)) > mostLabel && m.Release != m.Name:
		return "its release's label is too long"
	case len(m.systems.Others) != len(m.Arms)-1:
		return fmt.Sprintf("it has the settings of %d arms, of %d", len(m.systems.Others)+1, len(m.Arms))
	}
	for at, arm := range m.Arms {
		if !isName(arm.Name) || m.arm(arm.Name) != at {
			return fmt.Sprintf("its arm %.80q has no name of its own", arm.Name)
		}
	}
	for at := range m.Scenarios {
		if name := m.Scenarios[at].Declared.Name; !isName(name) || m.scenario(name) != &m.Scenarios[at] {
			return fmt.Sprintf("its scenario %.80q has no name of its own", name)
		}
	}
	return ""
}

// isName: it can be told in one line.
func isName(text string) bool {
	return text != "" && len(text) <= mostName && !strings.ContainsFunc(text, unicode.IsControl)
}
