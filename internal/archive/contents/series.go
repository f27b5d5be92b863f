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
	// kindMeasured is the item that a series needs of an experiment.
	kindMeasured      = "Measured"
	mediaTypeMeasured = "application/json"
)

// place gives an experiment's record what a history needs of it, and its place in the
// series of its scenarios. One without a complete block has none.
func place(record *archive.Record, experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) error {
	measured, err := releases.Measure(releases.Record{Experiment: experiment, Runs: runs})
	if err != nil {
		return err
	}
	text, err := measured.Encode()
	if errors.Is(err, releases.ErrNoPoint) {
		return nil
	}
	if err != nil {
		return err
	}
	record.Items = append(record.Items, archive.Item{Kind: kindMeasured, Name: experiment.Name, MediaType: mediaTypeMeasured, Bytes: text})
	record.Place = &archive.Place{At: measured.Began, Item: archive.Sum(text)}
	for i := range measured.Scenarios {
		series, err := seriesOf(&measured.Scenarios[i].Declared)
		if err != nil {
			return err
		}
		record.Place.Series = append(record.Place.Series, series)
	}
	return nil
}

// seriesOf a scenario is its name and a digest of its declaration: numbers under other
// declarations are not of the same load.
func seriesOf(scenario *v1alpha1.Scenario) (string, error) {
	const digits = 32
	text, err := json.Marshal(scenario)
	if err != nil {
		return "", fmt.Errorf("encoding scenario %q: %w", scenario.Name, err)
	}
	sum := archive.Sum(text)
	return scenario.Name + "." + hex.EncodeToString(sum[:])[:digits], nil
}

// scenarioOf a series is the name of its scenario.
func scenarioOf(series string) string { return series[:max(strings.LastIndex(series, "."), 0)] }

// Indexed says what became of the experiments' records of an archive.
type Indexed struct {
	// Entered are those that stand in the index, Measured those of them of which what a
	// history needs was not kept before.
	Entered, Measured int
	// Without a complete block.
	Without int
}

// Restored says what became of the manifests of an archive.
type Restored struct {
	// Restored are those that have a reference now. Broken are records that were never
	// kept to the end, or are not whole any more.
	Restored, Broken int
}

// Restore makes the references of all records anew from the objects. It can end anywhere
// and be done again.
func Restore(ctx context.Context, store *archive.Store) (Restored, error) {
	var sum Restored
	restore := func(ctx context.Context, kept archive.Kept) (bool, error) {
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

// Index makes the index of series anew from the records that are kept. Of experiments
// that were kept before there was an index it reads the runs, and keeps them once more
// with what a history needs. It can end anywhere and be done again.
func Index(ctx context.Context, store *archive.Store) (Indexed, error) {
	var sum Indexed
	for one, err := range archive.InParallel(ctx, store.Groups(ctx, archive.ExperimentsPrefix), func(ctx context.Context, group []archive.Kept) (Indexed, error) { return index(ctx, store, group) }) {
		if err != nil {
			return sum, err
		}
		sum.Entered, sum.Measured, sum.Without = sum.Entered+one.Entered, sum.Measured+one.Measured, sum.Without+one.Without
	}
	return sum, nil
}

// index the records of one experiment.
func index(ctx context.Context, store *archive.Store, group []archive.Kept) (Indexed, error) {
	for _, kept := range group {
		if err := store.Index(ctx, kept); err != nil {
			return Indexed{}, err
		}
	}
	last := slices.MaxFunc(group, archive.Kept.Compare)
	if last.Manifest.Place != nil {
		return Indexed{Entered: 1}, nil
	}
	record, err := store.Load(ctx, last.Reference)
	if err != nil {
		return Indexed{}, err
	}
	recorded, err := readRuns(ctx, store, record)
	if err != nil {
		return Indexed{}, fmt.Errorf("measuring %s: %w", last.Reference, err)
	}
	if err := place(&record, &recorded.Experiment, recorded.Runs); err != nil || record.Place == nil {
		return Indexed{Without: 1}, err
	}
	if _, err := store.Keep(ctx, record); err != nil {
		return Indexed{}, err
	}
	return Indexed{Entered: 1, Measured: 1}, nil
}

// readRuns gives an experiment with its runs, without their raw results.
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

// ErrNoIndex says that an archive has experiments, and none of them in its index.
var ErrNoIndex = errors.New("the archive has no index of its series")

// Asked says what of an archive a history is to tell of.
type Asked struct {
	Namespace string
	// Experiment whose series are meant; empty: those of the one that was measured last.
	Experiment string
	// Scenarios and Metrics by name; empty: all of the experiment's, and the primary ones.
	Scenarios, Metrics []string
}

// Found is what an archive has of it.
type Found struct {
	// Measured in the order of their times, without the metrics that were not asked for.
	Measured []releases.Measured
	// Notes are sentences on what is left out.
	Notes []string
}

// History reads what a history needs: of each series the points that are looked at, and
// no run. It fails with releases.ErrNothing or ErrNoIndex where there is none.
func History(ctx context.Context, store *archive.Store, asked Asked) (Found, error) {
	h := &history{store: store, asked: asked, series: map[string]*series{}, indexed: map[string]bool{}}
	if err := h.list(ctx); err != nil {
		return Found{}, err
	}
	if err := h.choose(ctx); err != nil {
		return Found{}, err
	}
	points, err := h.points(ctx)
	if err != nil {
		return Found{}, err
	}
	err = h.read(ctx, points)
	return h.found, err
}

// history that is being read.
type history struct {
	store *archive.Store
	asked Asked
	// series of the namespace by their names, and those that are told of.
	series map[string]*series
	chosen []string
	// indexed are the UIDs of experiments that have a point.
	indexed map[string]bool
	found   Found
}

// series of points, of which the last ones are looked at.
type series struct {
	last  []entry
	total int
}

// entry is a point, which may have been kept several times with other contents.
type entry struct {
	archive.Point
	others []archive.Digest
}

func (h *history) say(format string, values ...any) {
	h.found.Notes = append(h.found.Notes, fmt.Sprintf(format, values...))
}

// list the index of the namespace. In memory is no more than what is looked at.
func (h *history) list(ctx context.Context) error {
	for point, err := range h.store.Points(ctx, h.asked.Namespace, "") {
		if err != nil {
			return err
		}
		h.indexed[point.ExperimentUID] = true
		one := h.series[point.Series]
		if one == nil {
			one = &series{}
			h.series[point.Series] = one
		}
		one.add(point)
	}
	unindexed := map[string]bool{}
	for reference, err := range h.store.List(ctx, archive.ExperimentsPrefix+h.asked.Namespace+"/") {
		if err != nil {
			return err
		}
		if !h.indexed[reference.ExperimentUID] {
			unindexed[reference.ExperimentUID] = true
		}
	}
	const build = "perflab archive index enters what has one"
	switch {
	case len(unindexed) == 0 && len(h.series) == 0:
		return fmt.Errorf("%w: the archive %s has no experiment of namespace %q", releases.ErrNothing, h.store, h.asked.Namespace)
	case len(h.series) == 0:
		return fmt.Errorf("%w: %s of namespace %q in %s, without a complete block or kept before there was an index; %s", ErrNoIndex, prose.Counted(len(unindexed), "experiment"), h.asked.Namespace, h.store, build)
	case len(unindexed) > 0:
		h.say("%s of the archive %s left out: without a complete block, or kept before there was an index; %s", prose.Counted(len(unindexed), "experiment"), prose.Verb(len(unindexed), "is", "are"), build)
	}
	return nil
}

func (s *series) add(point archive.Point) {
	if n := len(s.last); n > 0 && s.last[n-1].ExperimentUID == point.ExperimentUID {
		s.last[n-1].others = append(s.last[n-1].others, point.Item)
		return
	}
	s.total++
	if len(s.last) == releases.MostPoints {
		s.last = append(s.last[:0], s.last[1:]...)
	}
	s.last = append(s.last, entry{Point: point})
}

// choose the series of the experiment that is named, or was measured last.
func (h *history) choose(ctx context.Context) error {
	of, err := h.named(ctx)
	if err != nil {
		return err
	}
	for _, name := range of {
		if len(h.asked.Scenarios) == 0 || slices.Contains(h.asked.Scenarios, scenarioOf(name)) {
			h.chosen = append(h.chosen, name)
		}
	}
	if len(h.chosen) == 0 {
		var scenarios []string
		for _, name := range of {
			scenarios = append(scenarios, scenarioOf(name))
		}
		return fmt.Errorf("%w: the experiment has no scenario %s, but %s", releases.ErrNothing, strings.Join(h.asked.Scenarios, ", "), strings.Join(scenarios, ", "))
	}
	for _, name := range h.chosen {
		h.tellOthers(name)
	}
	return nil
}

// named are the series of the experiment that is named, or was measured last.
func (h *history) named(ctx context.Context) ([]string, error) {
	if h.asked.Experiment == "" {
		return h.latest(), nil
	}
	last, err := h.store.Last(ctx, archive.Identity{Namespace: h.asked.Namespace, Experiment: h.asked.Experiment}.Prefix())
	if err != nil {
		return nil, err
	}
	name := h.asked.Namespace + "/" + h.asked.Experiment
	switch {
	case last == nil:
		return nil, fmt.Errorf("%w: the archive %s does not have experiment %q: list what it has with perflab archive list", releases.ErrNothing, h.store, name)
	case last.Manifest.Place == nil:
		return nil, fmt.Errorf("%w: experiment %q has no complete block, or was kept before there was an index: perflab archive index enters what has one", ErrNoIndex, name)
	case h.series[last.Manifest.Place.Series[0]] == nil:
		return nil, fmt.Errorf("%w: experiment %q is not in it: perflab archive index rebuilds it", ErrNoIndex, name)
	}
	return last.Manifest.Place.Series, nil
}

// latest are the series in which the point is that was measured last.
func (h *history) latest() []string {
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

// tellOthers says how much of a scenario is left out of a series.
func (h *history) tellOthers(name string) {
	one, scenario := h.series[name], scenarioOf(name)
	if one == nil {
		return
	}
	if more := one.total - len(one.last); more > 0 {
		h.say("the first %d of %d points under scenario %q are left out: changes are sought among %d", more, one.total, scenario, len(one.last))
	}
	differently := 0
	for other, of := range h.series {
		if other != name && scenarioOf(other) == scenario {
			differently += of.total
		}
	}
	if differently > 0 {
		h.say("%s of the archive %s scenario %q differently: their numbers are not of the same load and are left out", prose.Counted(differently, "more experiment"), prose.Verb(differently, "declares", "declare"), scenario)
	}
}

// points of the chosen series, one of each experiment, in the order of their times.
func (h *history) points(ctx context.Context) ([]archive.Point, error) {
	found := map[string]entry{}
	for _, name := range h.chosen {
		if one := h.series[name]; one != nil {
			for _, point := range one.last {
				found[point.ExperimentUID] = point
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: the experiment's scenarios are not in it: perflab archive index rebuilds it", ErrNoIndex)
	}
	points := make([]archive.Point, 0, len(found))
	for _, one := range found {
		if len(one.others) > 0 {
			stands, err := h.standing(ctx, one)
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

// standing is what the record that stands has of an experiment of which several were
// kept.
func (h *history) standing(ctx context.Context, of entry) (archive.Digest, error) {
	measured, err := h.measured(ctx, of.Point, none)
	if err != nil {
		return archive.Digest{}, err
	}
	identity := archive.Identity{Namespace: measured.Namespace, Experiment: measured.Name, ExperimentUID: measured.UID}
	last, err := h.store.Last(ctx, identity.Prefix())
	if err != nil {
		return archive.Digest{}, err
	}
	if last == nil || last.Manifest.Place == nil {
		return of.Item, nil
	}
	return last.Manifest.Place.Item, nil
}

// read the points, the last one first: it says what is wanted of the others.
func (h *history) read(ctx context.Context, points []archive.Point) error {
	last, err := h.measured(ctx, points[len(points)-1], none)
	if err != nil {
		return err
	}
	metrics, scenarios := h.asked.Metrics, []string{}
	if len(metrics) == 0 {
		metrics = last.Question.Primary
	}
	for _, name := range h.chosen {
		scenarios = append(scenarios, scenarioOf(name))
	}
	each := func(yield func(archive.Point, error) bool) {
		for _, point := range points {
			if !yield(point, nil) {
				return
			}
		}
	}
	gone := 0
	for one, err := range archive.InParallel(ctx, each, func(ctx context.Context, point archive.Point) (releases.Measured, error) {
		return h.measured(ctx, point, func(metric string) bool { return slices.Contains(metrics, metric) })
	}) {
		switch {
		case errors.Is(err, archive.ErrNotFound):
			gone++
		case err != nil:
			return err
		default:
			one.Keep(scenarios)
			h.found.Measured = append(h.found.Measured, one)
		}
	}
	if gone > 0 {
		h.say("%s %s to what is not in the archive any more, and %s left out", prose.Counted(gone, "point"), prose.Verb(gone, "leads", "lead"), prose.Verb(gone, "is", "are"))
	}
	return nil
}

// none of the metrics.
func none(string) bool { return false }

// measured is what a point leads to, with the metrics that are wanted.
func (h *history) measured(ctx context.Context, point archive.Point, wanted func(metric string) bool) (releases.Measured, error) {
	text, err := h.store.Get(ctx, point.Item)
	if err != nil {
		return releases.Measured{}, err
	}
	measured, err := releases.DecodeOnly(text, wanted)
	if err != nil {
		return releases.Measured{}, fmt.Errorf("reading %s of the archive %s: %w; read it with the version of PerfLab that wrote it, or a later one", point, h.store, err)
	}
	if measured.Namespace != point.Namespace || measured.UID != point.ExperimentUID {
		return releases.Measured{}, fmt.Errorf("%w: %s of the archive %s leads to experiment %q, UID %q; delete that key", releases.ErrNotMeasured, point, h.store, measured.Namespace+"/"+measured.Name, measured.UID)
	}
	return measured, nil
}
