// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload/label"
)

// goBench reads the output of go test -bench, and other files in Go's benchmark format.
type goBench struct{}

func (goBench) Name() string  { return "gobench" }
func (goBench) Tool() string  { return "go test" }
func (goBench) Reads() string { return "the output of go test -bench (Go's benchmark data format)" }

// benchSeconds is benchfmt's unit for ns/op.
const benchSeconds = "sec/op"

// benchFile is the parsed part of a file.
type benchFile struct {
	from *Source
	// totals of benchmarks by package and full name, including the suffix with the number
	// of processors.
	totals map[string]*benchTotals
	units  benchfmt.UnitMetadataMap
	// infinite and NaN values were left out.
	infinite int64
}

// benchTotals sums all repetitions of a benchmark in a file.
type benchTotals struct {
	// iterations and repetitions by unit.
	iterations, repetitions map[string]int64
	// sums of the values times the iterations.
	sums map[string]float64
}

func (goBench) Read(from Source) (*Measured, error) {
	reader := benchfmt.NewReader(newLineStream(from.In), "the file")
	file := benchFile{from: &from, totals: map[string]*benchTotals{}}
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, atLine(record.Line, refuse("%s: the expected form is \"BenchmarkA-8 100 2500 ns/op\"; write other output of benchmarks with b.Log, or to standard error", record.Msg))
		case *benchfmt.Result:
			_, line := record.Pos()
			if err := file.add(record); err != nil {
				return nil, atLine(line, err)
			}
		}
	}
	if err := reader.Err(); err != nil {
		return nil, streamFault(err)
	}
	if len(file.totals) == 0 {
		return nil, refuse("no line begins with Benchmark, as in the output of go test -bench, and matches --only")
	}
	file.units = reader.Units()
	return file.measured()
}

// benchName returns a benchmark's name with its package.
func benchName(result *benchfmt.Result) string {
	name := string(result.Name.Full())
	if in := result.GetConfig("pkg"); in != "" {
		return in + "." + name
	}
	return name
}

// benchPath splits a benchmark's name into its parents and itself.
func benchPath(name string) []string {
	if strings.Contains(name, "//") {
		return []string{name}
	}
	return strings.Split(name, "/")
}

func (f *benchFile) add(result *benchfmt.Result) error {
	name := benchName(result)
	if !f.from.wants(name) {
		return nil
	}
	if result.Iters < 1 {
		return refuse("%q has %d iterations", shorten(name), result.Iters)
	}
	totals := f.totals[name]
	if totals == nil {
		if len(f.totals) == mostTransactions {
			return refuse("%q exceeds the limit of %d benchmarks per run: select some with --only REGEXP", shorten(name), mostTransactions)
		}
		totals = &benchTotals{iterations: map[string]int64{}, repetitions: map[string]int64{}, sums: map[string]float64{}}
		f.totals[name] = totals
	}
	for _, value := range result.Values {
		switch {
		case math.IsNaN(value.Value), math.IsInf(value.Value, 0):
			f.infinite++
			continue
		case value.Value < 0 && (benchfmt.UnitMetadataMap{}).GetBetter(value.Unit) != 0:
			return refuse("%q is negative: %g %s", shorten(name), value.Value, value.Unit)
		}
		if err := totals.add(f.from, value, int64(result.Iters)); err != nil {
			return err
		}
	}
	return nil
}

func (t *benchTotals) add(from *Source, value benchfmt.Value, iterations int64) error {
	// A value of 0 keeps its original unit.
	_, unit := benchunit.Tidy(1, value.Unit)
	if t.repetitions[unit] == 0 {
		if err := from.Memory.Spend(costOfTransaction); err != nil {
			return err
		}
	}
	t.iterations[unit] += iterations
	t.repetitions[unit]++
	t.sums[unit] += value.Value * float64(iterations)
	return nil
}

func (f *benchFile) measured() (*Measured, error) {
	found, made := observationList{}, Measured{}
	names := distinct(slices.Collect(maps.Keys(f.totals)), func(name string) string { return metricName(name, longestName) })
	repeated := false
	for benchmark, totals := range f.totals {
		for unit, sum := range totals.sums {
			count := totals.iterations[unit]
			value := sum / float64(count)
			repeated = repeated || totals.repetitions[unit] > 1
			if unit == benchSeconds {
				value *= 1000
				found.add(metric.Name(f.from.Load, label.Join(benchPath(names[benchmark])...)), metric.Average, &value, count)
				made.Samples += count
				continue
			}
			name := metric.OwnName(names[benchmark], strings.ReplaceAll(unit, "/", " per "))
			found.addOwn(name, unit, value, count)
			f.direct(&made, name, unit)
		}
	}
	summed, err := found.measured("the file")
	if err != nil {
		return nil, err
	}
	made.Observations, made.Notes = summed.Observations, summed.Notes
	if repeated {
		made.Notes = append(made.Notes, "repetitions of a benchmark in one file (-count) are one run, because they share a process and a time: the value is their mean, weighted by iterations")
	}
	if f.infinite > 0 {
		made.Notes = append(made.Notes, leftOut(f.infinite, "value"))
	}
	return &made, nil
}

// direct notes the direction of a metric, from a line such as Unit hits better=higher.
func (f *benchFile) direct(made *Measured, name, unit string) {
	better := f.units.Get(unit, "better")
	switch {
	case better == nil:
	case better.Value == "higher":
		made.Higher = append(made.Higher, name)
	case better.Value == "lower":
		made.Lower = append(made.Lower, name)
	}
}
