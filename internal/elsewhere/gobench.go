// SPDX-License-Identifier: Apache-2.0

package elsewhere

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"perflab.dev/perflab/internal/metric"
)

// goBench reads what go test -bench prints, and all else in Go's benchmark format.
type goBench struct{}

func (goBench) Name() string  { return "gobench" }
func (goBench) Tool() string  { return "go test" }
func (goBench) Reads() string { return "what go test -bench prints (Go's benchmark data format)" }

// benchSeconds is how benchfmt has ns/op.
const benchSeconds = "sec/op"

// benchTotals are those of a benchmark, of all repetitions in a file.
type benchTotals struct {
	// iterations and repetitions that it rests on, by unit.
	iterations, repetitions map[string]int64
	// sums of the values times the iterations.
	sums map[string]float64
}

func (goBench) Read(from Source) (*Measured, error) {
	reader := benchfmt.NewReader(newLineStream(from.In), "the file")
	all := map[string]*benchTotals{}
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, atLine(record.Line, refuse("%s", record.Msg))
		case *benchfmt.Result:
			_, line := record.Pos()
			if err := addBench(all, &from, record); err != nil {
				return nil, atLine(line, err)
			}
		}
	}
	if err := reader.Err(); err != nil {
		return nil, streamFault(err)
	}
	if len(all) == 0 {
		return nil, refuse("it holds no line that begins with Benchmark, as those of go test -bench do, and that --only matches")
	}
	return benchMeasured(all, from.Load)
}

func addBench(all map[string]*benchTotals, from *Source, result *benchfmt.Result) error {
	// The number of processors behind the name is that of the machine.
	name, processors := result.Name.Parts()
	full := nameOf(string(name))
	for _, part := range processors {
		if !strings.HasPrefix(string(part), "-") {
			full += string(part)
		}
	}
	if !from.wants(full) {
		return nil
	}
	if result.Iters < 1 {
		return refuse("%q has %d iterations", said(full), result.Iters)
	}
	totals := all[full]
	if totals == nil {
		if len(all) == mostTransactions {
			return refuse("%q is one benchmark more than the %d that a run has room for: choose some with --only REGEXP", said(full), mostTransactions)
		}
		totals = &benchTotals{iterations: map[string]int64{}, repetitions: map[string]int64{}, sums: map[string]float64{}}
		all[strings.Clone(full)] = totals
	}
	for _, value := range result.Values {
		if value.Value < 0 {
			return refuse("%q has %g %s, less than nothing", said(full), value.Value, value.Unit)
		}
		if totals.repetitions[value.Unit] == 0 {
			if err := from.Memory.Spend(costOfTransaction); err != nil {
				return err
			}
		}
		totals.iterations[value.Unit] += int64(result.Iters)
		totals.repetitions[value.Unit]++
		totals.sums[value.Unit] += value.Value * float64(result.Iters)
	}
	return nil
}

func benchMeasured(all map[string]*benchTotals, load string) (*Measured, error) {
	found := given{}
	repeated := false
	samples := int64(0)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		totals := all[name]
		for _, unit := range slices.Sorted(maps.Keys(totals.sums)) {
			count := totals.iterations[unit]
			value := totals.sums[unit] / float64(count)
			repeated = repeated || totals.repetitions[unit] > 1
			if unit == benchSeconds {
				value *= 1000
				found.add(metric.Name(load, name), metric.Average, &value, count)
				samples += count
				continue
			}
			found.addOwn(metric.Name(metric.Custom, strings.ReplaceAll(name, "@", "_"), strings.ReplaceAll(unit, "/", " per ")), unit, value, count)
		}
	}
	made, err := found.measured("the file")
	if err != nil {
		return nil, err
	}
	made.Samples = samples
	if repeated {
		made.Notes = append(made.Notes, "repetitions of a benchmark in one file (-count) are one run: they share its process and its hour, and their mean by iterations counts")
	}
	return made, nil
}
