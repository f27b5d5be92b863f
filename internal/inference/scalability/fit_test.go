// SPDX-License-Identifier: Apache-2.0

package scalability_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"perflab.dev/perflab/internal/inference/scalability"
)

// search returns the points of runs that look for a capacity as experiments do: the first spans the
// range, later ones surround the capacity. Runs spread, and so do their levels.
func search(throughput func(users float64) float64, runSpread, levelSpread float64, random *rand.Rand) [][]scalability.Point {
	const runs, levels, capacity = 7, 6, 300
	var all [][]scalability.Point
	for run := range runs {
		low, high := 10.0, 1000.0
		if run > 0 {
			low, high = capacity/2.2, capacity*2.2
		}
		factor := math.Exp(runSpread * random.NormFloat64())
		var points []scalability.Point
		for level := range levels {
			at := (float64(level) + random.Float64() - 0.5) / (levels - 1)
			users := math.Round(low * math.Pow(high/low, min(max(at, 0), 1)))
			points = append(points, scalability.Point{Users: users, Throughput: factor * throughput(users) * math.Exp(levelSpread*random.NormFloat64())})
		}
		all = append(all, points)
	}
	return all
}

func TestFromRunsRecoversTheLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, law := range []scalability.Law{
		{Lambda: 0.22},
		{Lambda: 0.22, Sigma: 0.001},
		{Lambda: 0.22, Kappa: 1e-6},
		{Lambda: 0.22, Sigma: 0.001, Kappa: 1e-6},
		{Lambda: 950, Sigma: 0.05, Kappa: 2e-4},
	} {
		fit, err := scalability.FromRuns(search(law.At, 0, 0, random), 0.95)
		if err != nil || !near(fit.Lambda, law.Lambda, 1e-6*law.Lambda) || !near(fit.Sigma, law.Sigma, 1e-9) || !near(fit.Kappa, law.Kappa, 1e-12) {
			t.Errorf("%+v, want %+v; %v", fit.Law, law, err)
		}
		if fit.Deviation > 1e-9 || fit.Points != 42 || fit.Runs != 7 {
			t.Errorf("%+v", fit)
		}
	}
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// Intervals of 95 % have the parameters in about 95 % of simulated experiments, and few of these
// contradict the law.
func TestIntervalsCover(t *testing.T) {
	for _, runSpread := range []float64{0, 0.03} {
		for _, law := range []scalability.Law{
			{Lambda: 0.22, Sigma: 0.002, Kappa: 4e-6},
			{Lambda: 0.22, Sigma: 0.0005, Kappa: 1e-5},
			{Lambda: 0.22, Sigma: 0.005},
		} {
			covers(t, law, runSpread)
		}
	}
}

func covers(t *testing.T, law scalability.Law, runSpread float64) {
	t.Helper()
	const systems = 300
	random := rand.New(rand.NewPCG(3, 4))
	var lambda, sigma, kappa, peak, misfits int
	for range systems {
		fit, err := scalability.FromRuns(search(law.At, runSpread, 0.03, random), 0.95)
		if err != nil {
			misfits++
		}
		lambda += count(fit.LambdaInterval, law.Lambda)
		sigma += count(fit.SigmaInterval, law.Sigma)
		kappa += count(fit.KappaInterval, law.Kappa)
		peak += count(fit.PeakInterval, law.Peak())
	}
	for name, covered := range map[string]int{"λ": lambda, "σ": sigma, "κ": kappa, "peak": peak} {
		if share := float64(covered) / float64(systems-misfits); share < 0.93 {
			t.Errorf("%+v, runs that spread by %g: %.3f of the intervals have %s", law, runSpread, share, name)
		}
	}
	if misfits > systems/20 {
		t.Errorf("%+v, runs that spread by %g: %d of %d systems contradict it", law, runSpread, misfits, systems)
	}
}

func count(in scalability.Interval, value float64) int {
	if in.Low <= value && value <= in.High {
		return 1
	}
	return 0
}

func TestUnitsAndOrderDoNotMatter(t *testing.T) {
	law := scalability.Law{Lambda: 0.22, Sigma: 0.002, Kappa: 4e-6}
	runs := search(law.At, 0.03, 0.03, rand.New(rand.NewPCG(5, 6)))
	want, err := scalability.FromRuns(runs, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(runs)
	for _, run := range runs {
		slices.Reverse(run)
		for i := range run {
			run[i].Throughput *= 60
		}
	}
	got, err := scalability.FromRuns(runs, 0.95)
	if err != nil || !near(got.Lambda, 60*want.Lambda, 1e-9) || !near(got.Sigma, want.Sigma, 1e-12) || !near(got.Kappa, want.Kappa, 1e-15) ||
		!near(got.PeakInterval.Low, want.PeakInterval.Low, 1e-6) {
		t.Errorf("%+v, want %+v; %v", got, want, err)
	}
}

func TestFromRunsSaysWhatDoesNotFit(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	line := points(1, 2, 2.8)
	for name, c := range map[string]struct {
		runs [][]scalability.Point
		want error
	}{
		"no run":           {nil, scalability.ErrFewLevels},
		"three levels":     {[][]scalability.Point{line, line, line}, scalability.ErrFewLevels},
		"no throughput":    {[][]scalability.Point{points(0, 0, 0, 0)}, scalability.ErrFewLevels},
		"constant":         {search(func(float64) float64 { return 5 }, 0, 0.01, random), nil},
		"steep fall":       {search(func(n float64) float64 { return math.Pow(n, -3) }, 0.03, 0.03, random), scalability.ErrMisfit},
		"negative σ":       {search(scalability.Law{Lambda: 1, Sigma: -0.0009, Kappa: 1e-6}.At, 0.03, 0.03, random), scalability.ErrMisfit},
		"superlinear":      {search(func(n float64) float64 { return n * math.Sqrt(n) }, 0.03, 0.03, random), scalability.ErrMisfit},
		"sudden limit":     {search(func(n float64) float64 { return math.Min(n, 300) }, 0.03, 0.03, random), scalability.ErrMisfit},
		"sudden collapse":  {search(func(n float64) float64 { return n / (1 + math.Pow(n/400, 6)) }, 0.03, 0.03, random), scalability.ErrMisfit},
		"a run, no spread": {[][]scalability.Point{points(1, 2, 2.8, 3.4)}, nil},
	} {
		fit, err := scalability.FromRuns(c.runs, 0.95)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v; %+v", name, err, c.want, fit)
		}
		if len(c.runs) < 3 && err == nil && !math.IsNaN(fit.SigmaInterval.Low) {
			t.Errorf("%s: an interval %+v", name, fit.SigmaInterval)
		}
	}
}

// points have the throughput of 1 user, 2 users and so on.
func points(throughput ...float64) []scalability.Point {
	var all []scalability.Point
	for i, one := range throughput {
		all = append(all, scalability.Point{Users: float64(i + 1), Throughput: one})
	}
	return all
}

func TestPeak(t *testing.T) {
	for law, want := range map[scalability.Law]float64{
		{Lambda: 1}:                           math.Inf(1),
		{Lambda: 1, Sigma: 0.5}:               math.Inf(1),
		{Lambda: 1, Sigma: 0.19, Kappa: 1e-4}: 90,
		{Lambda: 1, Sigma: 1}:                 1,
		{Lambda: 1, Sigma: 0.5, Kappa: 2}:     1,
	} {
		if got := law.Peak(); got != want && !near(got, want, 1e-9) {
			t.Errorf("the peak of %+v is %g, want %g", law, got, want)
		}
	}
}
