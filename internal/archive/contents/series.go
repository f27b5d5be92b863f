// SPDX-License-Identifier: Apache-2.0

package contents

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// kindMeasured is the item with an experiment's measurements for series.
	kindMeasured      = "Measured"
	mediaTypeMeasured = "application/json"
)

// addSeriesEntry adds the measurements to an experiment's record, and its entry in the series
// of its scenarios. An experiment without a complete block has none.
func addSeriesEntry(record *archive.Record, experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) error {
	measured, err := releases.Measure(releases.ExperimentRuns{Experiment: experiment, Runs: runs})
	if err != nil {
		return err
	}
	text, err := measured.Encode()
	if errors.Is(err, releases.ErrNoCompleteBlock) {
		return nil
	}
	if err != nil {
		return err
	}
	record.Items = append(record.Items, archive.Item{Kind: kindMeasured, Name: experiment.Name, MediaType: mediaTypeMeasured, Bytes: text})
	record.SeriesEntry = &archive.SeriesEntry{At: measured.Began, Item: archive.Sum(text)}
	for i := range measured.Scenarios {
		series, err := seriesName(&measured.Scenarios[i].Declared)
		if err != nil {
			return err
		}
		record.SeriesEntry.Series = append(record.SeriesEntry.Series, series)
	}
	return nil
}

// seriesName is the name of a scenario and a digest of its declaration: measurements under
// other declarations are not comparable.
func seriesName(scenario *v1alpha1.Scenario) (string, error) {
	const digits = 32
	text, err := json.Marshal(scenario)
	if err != nil {
		return "", fmt.Errorf("encoding scenario %q: %w", scenario.Name, err)
	}
	sum := archive.Sum(text)
	return scenario.Name + "." + hex.EncodeToString(sum[:])[:digits], nil
}

// scenarioName returns the name of a series' scenario.
func scenarioName(series string) string { return series[:max(strings.LastIndex(series, "."), 0)] }

// IndexResult counts the indexed records of experiments.
type IndexResult struct {
	// Entered are the current records in the index; Measured those whose measurements were
	// added.
	Entered, Measured int
	// Incomplete counts experiments without a complete block.
	Incomplete int
}

// RestoreResult counts the manifests of an archive.
type RestoreResult struct {
	// Restored have a reference now. Broken records were never completed or lost objects.
	Restored, Broken int
}

// Restore rebuilds the references of all records from the objects. It can be interrupted and
// repeated.
func Restore(ctx context.Context, store *archive.Store) (RestoreResult, error) {
	var sum RestoreResult
	restore := func(ctx context.Context, kept archive.StoredRecord) (bool, error) {
		err := store.Restore(ctx, kept.Reference)
		if errors.Is(err, archive.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	for whole, err := range archive.InParallel(ctx, store.WalkObjects(ctx), restore) {
		switch {
		case err != nil:
			return sum, err
		case whole:
			sum.Restored++
		default:
			sum.Broken++
		}
	}
	return sum, nil
}

// Index rebuilds the index of series from the stored records. For experiments that were stored
// before there was an index, it reads the runs and stores a record with measurements. It can
// be interrupted and repeated.
func Index(ctx context.Context, store *archive.Store) (IndexResult, error) {
	var sum IndexResult
	for one, err := range archive.InParallel(ctx, store.Groups(ctx, archive.ExperimentsPrefix), func(ctx context.Context, group []archive.StoredRecord) (IndexResult, error) {
		return index(ctx, store, group)
	}) {
		if err != nil {
			return sum, err
		}
		sum.Entered, sum.Measured, sum.Incomplete = sum.Entered+one.Entered, sum.Measured+one.Measured, sum.Incomplete+one.Incomplete
	}
	return sum, nil
}

// index the records of one experiment.
func index(ctx context.Context, store *archive.Store, group []archive.StoredRecord) (IndexResult, error) {
	for _, kept := range group {
		if err := store.Index(ctx, kept); err != nil {
			return IndexResult{}, err
		}
	}
	last := slices.MaxFunc(group, archive.StoredRecord.Compare)
	if last.Manifest.SeriesEntry != nil {
		return IndexResult{Entered: 1}, nil
	}
	record, err := store.Load(ctx, last.Reference)
	if err != nil {
		return IndexResult{}, err
	}
	recorded, err := readRuns(ctx, store, record)
	if err != nil {
		return IndexResult{}, fmt.Errorf("measuring %s: %w", last.Reference, err)
	}
	if err := addSeriesEntry(&record, &recorded.Experiment, recorded.Runs); err != nil || record.SeriesEntry == nil {
		return IndexResult{Incomplete: 1}, err
	}
	if _, err := store.Keep(ctx, record); err != nil {
		return IndexResult{}, err
	}
	return IndexResult{Entered: 1, Measured: 1}, nil
}

// readRuns reads an experiment with its runs, without raw results.
func readRuns(ctx context.Context, store *archive.Store, record archive.Record) (report.Input, error) {
	var reader report.Reader
	if err := add(&reader, record); err != nil {
		return report.Input{}, err
	}
	for _, run := range record.Runs {
		manifest, err := store.Manifest(ctx, run)
		if err != nil {
			return report.Input{}, err
		}
		for _, entry := range manifest.Items {
			if entry.Kind != kindRun {
				continue
			}
			body, err := store.Item(ctx, entry)
			if err != nil {
				return report.Input{}, err
			}
			if err := add(&reader, archive.Record{Items: []archive.Item{{Kind: entry.Kind, Name: entry.Name, MediaType: entry.MediaType, Bytes: body}}}); err != nil {
				return report.Input{}, err
			}
		}
	}
	inputs, err := reader.Inputs()
	if err != nil {
		return report.Input{}, err
	}
	return inputs[0], nil
}

const kindRun = "PerfRun"

// ErrNoIndex means that an archive has experiments, but none in its index.
var ErrNoIndex = errors.New("the archive has no index of its series")

// HistoryQuery selects the series of a history.
type HistoryQuery struct {
	Namespace string
	// Experiment whose series are read; empty: the latest.
	Experiment string
	// Scenarios and Metrics by name; empty: all scenarios, the primary metrics.
	Scenarios, Metrics []string
}

// HistoryData is the stored data of a history.
type HistoryData struct {
	// Measurements sorted by time, with the selected metrics only.
	Measurements []releases.Measurements
	// Notes on omitted data.
	Notes []string
}

// History reads the measurements of a history: the newest points of each series, and no run.
// It fails with releases.ErrNoHistory or ErrNoIndex.
func History(ctx context.Context, store *archive.Store, query HistoryQuery) (HistoryData, error) {
	h := &historyReader{store: store, query: query, series: map[string]*seriesPoints{}, indexed: map[string]bool{}}
	if err := h.listIndex(ctx); err != nil {
		return HistoryData{}, err
	}
	if err := h.chooseSeries(ctx); err != nil {
		return HistoryData{}, err
	}
	points, err := h.points(ctx)
	if err != nil {
		return HistoryData{}, err
	}
	err = h.read(ctx, points)
	return h.data, err
}

// historyReader reads a history.
type historyReader struct {
	store *archive.Store
	query HistoryQuery
	// series of the namespace by name, and the chosen ones.
	series map[string]*seriesPoints
	chosen []string
	// indexed are the UIDs of experiments with a point.
	indexed map[string]bool
	data    HistoryData
}

// seriesPoints are the newest points of a series.
type seriesPoints struct {
	last  []entry
	total int
}

// entry is a point, which may be stored in several versions.
type entry struct {
	archive.Point
	others []archive.Digest
}

func (h *historyReader) addNote(format string, values ...any) {
	h.data.Notes = append(h.data.Notes, fmt.Sprintf(format, values...))
}

// listIndex lists the index of the namespace. It keeps only the newest points in memory.
func (h *historyReader) listIndex(ctx context.Context) error {
	for point, err := range h.store.Points(ctx, h.query.Namespace, "") {
		if err != nil {
			return err
		}
		h.indexed[point.ExperimentUID] = true
		one := h.series[point.Series]
		if one == nil {
			one = &seriesPoints{}
			h.series[point.Series] = one
		}
		one.add(point)
	}
	unindexed := map[string]bool{}
	for reference, err := range h.store.List(ctx, archive.ExperimentsPrefix+h.query.Namespace+"/") {
		if err != nil {
			return err
		}
		if !h.indexed[reference.ExperimentUID] {
			unindexed[reference.ExperimentUID] = true
		}
	}
	const build = "perflab archive index adds those with a complete block"
	switch {
	case len(unindexed) == 0 && len(h.series) == 0:
		return fmt.Errorf("%w: the archive %s has no experiment of namespace %q", releases.ErrNoHistory, h.store, h.query.Namespace)
	case len(h.series) == 0:
		return fmt.Errorf("%w: %s of namespace %q in %s without a complete block or archived before the index existed; %s", ErrNoIndex, prose.Counted(len(unindexed), "experiment"), h.query.Namespace, h.store, build)
	case len(unindexed) > 0:
		h.addNote("%s of the archive %s left out: without a complete block, or archived before the index existed; %s", prose.Counted(len(unindexed), "experiment"), prose.Verb(len(unindexed), "is", "are"), build)
	}
	return nil
}

func (s *seriesPoints) add(point archive.Point) {
	if n := len(s.last); n > 0 && s.last[n-1].ExperimentUID == point.ExperimentUID {
		s.last[n-1].others = append(s.last[n-1].others, point.Item)
		return
	}
	s.total++
	if len(s.last) == releases.MaxPoints {
		s.last = append(s.last[:0], s.last[1:]...)
	}
	s.last = append(s.last, entry{Point: point})
}

// chooseSeries chooses the series of the named or the latest experiment.
func (h *historyReader) chooseSeries(ctx context.Context) error {
	of, err := h.seriesOfExperiment(ctx)
	if err != nil {
		return err
	}
	for _, name := range of {
		if len(h.query.Scenarios) == 0 || slices.Contains(h.query.Scenarios, scenarioName(name)) {
			h.chosen = append(h.chosen, name)
		}
	}
	if len(h.chosen) == 0 {
		var scenarios []string
		for _, name := range of {
			scenarios = append(scenarios, scenarioName(name))
		}
		return fmt.Errorf("%w: the experiment does not have scenario %s, only %s", releases.ErrNoHistory, strings.Join(h.query.Scenarios, ", "), strings.Join(scenarios, ", "))
	}
	for _, name := range h.chosen {
		h.noteOtherSeries(name)
	}
	return nil
}

// seriesOfExperiment returns the series of the named or the latest experiment.
func (h *historyReader) seriesOfExperiment(ctx context.Context) ([]string, error) {
	if h.query.Experiment == "" {
		return h.latestSeries(), nil
	}
	last, err := h.store.Latest(ctx, archive.Identity{Namespace: h.query.Namespace, Experiment: h.query.Experiment}.Prefix())
	if err != nil {
		return nil, err
	}
	name := h.query.Namespace + "/" + h.query.Experiment
	switch {
	case last == nil:
		return nil, fmt.Errorf("%w: the archive %s does not have experiment %q: list its experiments with perflab archive list", releases.ErrNoHistory, h.store, name)
	case last.Manifest.SeriesEntry == nil:
		return nil, fmt.Errorf("%w: experiment %q has no complete block, or was archived before the index existed: perflab archive index adds it if it has a complete block", ErrNoIndex, name)
	case h.series[last.Manifest.SeriesEntry.Series[0]] == nil:
		return nil, fmt.Errorf("%w: experiment %q is not in the index: rebuild it with perflab archive index", ErrNoIndex, name)
	}
	return last.Manifest.SeriesEntry.Series, nil
}

// latestSeries returns the series with the latest point.
func (h *historyReader) latestSeries() []string {
	var latest archive.Point
	for _, one := range h.series {
		end := one.last[len(one.last)-1].Point
		if cmp.Or(end.At.Compare(latest.At), cmp.Compare(end.ExperimentUID, latest.ExperimentUID)) > 0 {
			latest = end
		}
	}
	var names []string
	for name, one := range h.series {
		if one.last[len(one.last)-1].ExperimentUID == latest.ExperimentUID {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// noteOtherSeries notes which points of a scenario are in another series.
func (h *historyReader) noteOtherSeries(name string) {
	one, scenario := h.series[name], scenarioName(name)
	if one == nil {
		return
	}
	if more := one.total - len(one.last); more > 0 {
		h.addNote("the first %d of %d points of scenario %q are left out: the search for changes uses the latest %d", more, one.total, scenario, len(one.last))
	}
	differently := 0
	for other, of := range h.series {
		if other != name && scenarioName(other) == scenario {
			differently += of.total
		}
	}
	if differently > 0 {
		h.addNote("%s of the archive %s scenario %q differently: results under another load are left out", prose.Counted(differently, "more experiment"), prose.Verb(differently, "declares", "declare"), scenario)
	}
}

// points of the chosen series, one for each experiment, sorted by time.
func (h *historyReader) points(ctx context.Context) ([]archive.Point, error) {
	found := map[string]entry{}
	for _, name := range h.chosen {
		if one := h.series[name]; one != nil {
			for _, point := range one.last {
				found[point.ExperimentUID] = point
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: the experiment's scenarios are not in the index: rebuild it with perflab archive index", ErrNoIndex)
	}
	points := make([]archive.Point, 0, len(found))
	for _, one := range found {
		if len(one.others) > 0 {
			stands, err := h.currentItem(ctx, one)
			if err != nil {
				return nil, err
			}
			one.Item = stands
		}
		points = append(points, one.Point)
	}
	slices.SortFunc(points, func(a, b archive.Point) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ExperimentUID, b.ExperimentUID))
	})
	return points, nil
}

// currentItem returns the item in the current record of an experiment with several points.
func (h *historyReader) currentItem(ctx context.Context, of entry) (archive.Digest, error) {
	measured, err := h.readMeasurements(ctx, of.Point, noMetric)
	if err != nil {
		return archive.Digest{}, err
	}
	identity := archive.Identity{Namespace: measured.Namespace, Experiment: measured.Name, ExperimentUID: measured.UID}
	last, err := h.store.Latest(ctx, identity.Prefix())
	if err != nil {
		return archive.Digest{}, err
	}
	if last == nil || last.Manifest.SeriesEntry == nil {
		return of.Item, nil
	}
	return last.Manifest.SeriesEntry.Item, nil
}

// read the points, the latest first: it determines the wanted metrics of the others.
func (h *historyReader) read(ctx context.Context, points []archive.Point) error {
	last, err := h.readMeasurements(ctx, points[len(points)-1], noMetric)
	if err != nil {
		return err
	}
	metrics, scenarios := h.query.Metrics, []string{}
	if len(metrics) == 0 {
		metrics = last.Question.Primary
	}
	for _, name := range h.chosen {
		scenarios = append(scenarios, scenarioName(name))
	}
	each := func(yield func(archive.Point, error) bool) {
		for _, point := range points {
			if !yield(point, nil) {
				return
			}
		}
	}
	gone := 0
	for one, err := range archive.InParallel(ctx, each, func(ctx context.Context, point archive.Point) (releases.Measurements, error) {
		return h.readMeasurements(ctx, point, func(metric string) bool { return slices.Contains(metrics, metric) })
	}) {
		switch {
		case errors.Is(err, archive.ErrNotFound):
			gone++
		case err != nil:
			return err
		default:
			one.KeepScenarios(scenarios)
			h.data.Measurements = append(h.data.Measurements, one)
		}
	}
	if gone > 0 {
		h.addNote("%s %s to data that is no longer in the archive, and %s left out", prose.Counted(gone, "point"), prose.Verb(gone, "refers", "refer"), prose.Verb(gone, "is", "are"))
	}
	return nil
}

// noMetric selects no metric.
func noMetric(string) bool { return false }

// readMeasurements reads the measurements of a point with the wanted metrics.
func (h *historyReader) readMeasurements(ctx context.Context, point archive.Point, wanted func(metric string) bool) (releases.Measurements, error) {
	text, err := h.store.Get(ctx, point.Item)
	if err != nil {
		return releases.Measurements{}, err
	}
	measured, err := releases.DecodeMetrics(text, wanted)
	if err != nil {
		return releases.Measurements{}, fmt.Errorf("reading %s of the archive %s: %w; read it with the version of PerfLab that wrote it, or a later one", point, h.store, err)
	}
	if measured.Namespace != point.Namespace || measured.UID != point.ExperimentUID {
		return releases.Measurements{}, fmt.Errorf("%w: %s of the archive %s refers to experiment %q, UID %q; delete that key", releases.ErrInvalidEncoding, point, h.store, measured.Namespace+"/"+measured.Name, measured.UID)
	}
	return measured, nil
}
