// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"perflab.dev/perflab/internal/inference/stats"
)

// The levels agree with those that another algorithm computes from the joint distribution.
func TestInterimAnalysisLevels(t *testing.T) {
	for _, plan := range readReference(t).Looks {
		interim := stats.InterimAnalyses{First: plan.First, Last: plan.Last}
		for i, want := range plan.Boundaries {
			level := interim.At(plan.First + i).Level(plan.Alpha)
			if got := -distuv.UnitNormal.Quantile(level / 2); math.Abs(got-want) > 1e-3 {
				t.Errorf("interim analyses %+v at %v, analysis %d: boundary %.5f, want %.5f", interim, plan.Alpha, i+1, got, want)
			}
		}
	}
}

// All interim analyses together have the requested error rate, whatever the plan.
func TestInterimAnalysesShareErrorRate(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 1))
	const experiments = 40000
	for _, interim := range []stats.InterimAnalyses{{First: 6, Last: 20}, {First: 6, Last: 100}, {First: 19, Last: 20}, {First: 1, Last: 40}} {
		for _, alpha := range []float64{0.05, 0.3} {
			erred := 0
			boundaries := make([]float64, interim.Last+1)
			for blocks := interim.First; blocks <= interim.Last; blocks++ {
				boundaries[blocks] = -distuv.UnitNormal.Quantile(interim.At(blocks).Level(alpha) / 2)
			}
			for range experiments {
				sum := 0.0
				for blocks := 1; blocks <= interim.Last; blocks++ {
					sum += random.NormFloat64()
					if blocks >= interim.First && math.Abs(sum)/math.Sqrt(float64(blocks)) > boundaries[blocks] {
						erred++
						break
					}
				}
			}
			got, chance := float64(erred)/experiments, 4*math.Sqrt(alpha*(1-alpha)/experiments)
			if math.Abs(got-alpha) > chance {
				t.Errorf("interim analyses %+v at %v err in %.4f", interim, alpha, got)
			}
		}
	}
}

// A p-value that is adjusted for all interim analyses is below a level exactly if the analysis
// rejects at it.
func TestAdjustInvertsLevel(t *testing.T) {
	for _, interim := range []stats.InterimAnalyses{{First: 6, Last: 20}, {First: 6, Last: 100}} {
		for blocks := interim.First; blocks <= interim.Last; blocks += 7 {
			current := interim.At(blocks)
			last := 0.0
			for _, all := range []float64{1e-9, 1e-6, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.3, 0.6, 0.9} {
				level := current.Level(all)
				if back := current.Adjust(level); math.Abs(back-all) > 3e-3*all {
					t.Errorf("analysis %d of %+v: %v becomes %v becomes %v", blocks, interim, all, level, back)
				}
				if level <= last || level > all {
					t.Errorf("analysis %d of %+v: level %v for %v, %v for less", blocks, interim, level, all, last)
				}
				last = level
			}
			if current.Adjust(1) != 1 || !math.IsNaN(current.Adjust(math.NaN())) || current.Adjust(0) > 1e-11 {
				t.Errorf("analysis %d of %+v: 1 becomes %v, 0 becomes %v", blocks, interim, current.Adjust(1), current.Adjust(0))
			}
		}
	}
}

func TestSingleAnalysis(t *testing.T) {
	for _, only := range []stats.Analysis{{}, stats.InterimAnalyses{}.At(7), stats.InterimAnalyses{First: 6, Last: 6}.At(6), stats.InterimAnalyses{First: 6, Last: 20}.At(5)} {
		if only.Level(0.05) != 0.05 || only.Adjust(0.03) != 0.03 {
			t.Errorf("%+v: level %v, p %v", only, only.Level(0.05), only.Adjust(0.03))
		}
	}
	plan := stats.InterimAnalyses{First: 6, Last: 20}
	if plan.At(21) != plan.At(20) {
		t.Error("beyond the last analysis there is another")
	}
}

// An experiment without effect stops early, within the margin; the larger an effect beyond it, the
// sooner.
func TestMeanBlocks(t *testing.T) {
	design := stats.Design{Arms: 2, Deviation: 0.04, Alpha: 0.05}
	interim := stats.InterimAnalyses{First: 6, Last: 20}
	mean := map[string]float64{}
	for name, effect := range map[string]float64{"none": 0, "margin": 0.05, "twice": 0.1, "large": 0.5} {
		blocks, decided := design.MeanBlocks(interim, effect, -0.05, 0.05)
		mean[name] = blocks
		if blocks < 6 || blocks > 20 || decided < 0 || decided > 1+1e-9 {
			t.Errorf("%s: %.1f blocks, %.2f decided", name, blocks, decided)
		}
	}
	if mean["none"] > 16 || mean["twice"] > 16 || mean["large"] > 11 || mean["twice"] > mean["margin"] {
		t.Errorf("mean blocks %v", mean)
	}
	many := design
	many.Family = 6
	if blocks, _ := many.MeanBlocks(interim, 0, -0.05, 0.05); blocks <= mean["none"] {
		t.Errorf("six comparisons take %.1f blocks, one %.1f", blocks, mean["none"])
	}
}
