// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
)

// Mean returns the mean of a sample with its one-sample t interval (Student 1908).
func Mean(values []float64) Estimate {
	summary := Describe(values)
	estimate := Estimate{
		Value:            summary.Mean,
		StandardError:    summary.StandardDeviation / math.Sqrt(float64(summary.N)),
		DegreesOfFreedom: max(summary.N-1, 0),
	}
	switch {
	case summary.N < 2:
		estimate.Warnings = []Warning{WarningNoInterval}
	case summary.StandardDeviation <= noise*math.Abs(summary.Mean):
		estimate.StandardError = 0
		estimate.Warnings = []Warning{WarningNoSpread}
	}
	return estimate
}

// Slowdown is the effect of background load on a measurement.
type Slowdown struct {
	// Reference is the logarithm of the ratio "under load" to "alone" in the
	// reference arm.
	Reference Estimate
	// Model holds the difference of each arm's logarithmic ratio to that of
	// the reference arm: the difference in differences.
	Model BlockModel
}

// DifferenceInDifferences compares the effect of background load on arms (Card and Krueger 1994, on
// logarithms, so that the effects are ratios). alone and loaded are the values without and with the
// load; a cell counts if it is in both and above zero. The ratio is taken within a run or block
// first, which cancels shared effects.
func DifferenceInDifferences(alone, loaded []Cell, arms, blocks, reference int) (Slowdown, error) {
	type place struct{ arm, block int }
	before := map[place]float64{}
	for _, cell := range alone {
		if cell.Value > 0 {
			before[place{cell.Arm, cell.Block}] = math.Log(cell.Value)
		}
	}
	var ratios []Cell
	var ofReference []float64
	for _, cell := range loaded {
		base, both := before[place{cell.Arm, cell.Block}]
		if !both || cell.Value <= 0 {
			continue
		}
		ratio := math.Log(cell.Value) - base
		ratios = append(ratios, Cell{Arm: cell.Arm, Block: cell.Block, Value: ratio})
		if cell.Arm == reference {
			ofReference = append(ofReference, ratio)
		}
	}
	model, err := FitBlocks(ratios, arms, blocks, reference)
	if err != nil {
		return Slowdown{}, err
	}
	return Slowdown{Reference: Mean(ofReference), Model: model}, nil
}

// MainEffect is the effect of a factor's level against its level 0, on average over the levels of
// all other factors.
type MainEffect struct {
	Factor, Level int
	Estimate
}

// Interaction is the change of the effect of one factor's level by another factor's level. Zero
// means that the two effects add up.
type Interaction struct {
	Factors, Levels [2]int
	Estimate
}

// MainEffects returns the main effects of a full matrix of factors (Box, Hunter and Hunter,
// Statistics for Experimenters, chapter 5). levels holds, per arm, its level in each factor,
// counted from zero. It fails if a combination is missing or repeated, because the average would
// then mix factors.
func MainEffects(model *BlockModel, levels [][]int) ([]MainEffect, error) {
	counts, err := fullMatrix(levels)
	if err != nil {
		return nil, err
	}
	var effects []MainEffect
	for factor, count := range counts {
		for level := 1; level < count; level++ {
			weights := map[int]float64{}
			share := float64(count) / float64(len(levels))
			for arm, combination := range levels {
				weights[arm] = share * step(combination[factor], level)
			}
			effects = append(effects, MainEffect{factor, level, model.Contrast(weights)})
		}
	}
	return effects, nil
}

// Interactions returns those of every two factors of a full matrix, with levels as in MainEffects.
func Interactions(model *BlockModel, levels [][]int) ([]Interaction, error) {
	counts, err := fullMatrix(levels)
	if err != nil {
		return nil, err
	}
	var found []Interaction
	for f := range counts {
		for g := f + 1; g < len(counts); g++ {
			share := float64(counts[f]*counts[g]) / float64(len(levels))
			for l := 1; l < counts[f]; l++ {
				for k := 1; k < counts[g]; k++ {
					weights := map[int]float64{}
					for arm, combination := range levels {
						weights[arm] = share * step(combination[f], l) * step(combination[g], k)
					}
					found = append(found, Interaction{[2]int{f, g}, [2]int{l, k}, model.Contrast(weights)})
				}
			}
		}
	}
	return found, nil
}

// step is 1 at the level, -1 at level 0.
func step(at, level int) float64 {
	switch at {
	case level:
		return 1
	case 0:
		return -1
	}
	return 0
}

// fullMatrix counts the levels of each factor.
func fullMatrix(levels [][]int) ([]int, error) {
	if len(levels) == 0 {
		return nil, fmt.Errorf("a matrix of factors needs arms")
	}
	counts := make([]int, len(levels[0]))
	seen := map[string]bool{}
	for arm, combination := range levels {
		if len(combination) != len(counts) {
			return nil, fmt.Errorf("arm %d has levels of %d factors, the first has %d", arm, len(combination), len(counts))
		}
		if key := fmt.Sprint(combination); seen[key] {
			return nil, fmt.Errorf("two arms have the levels %v", combination)
		} else {
			seen[key] = true
		}
		for factor, level := range combination {
			if level < 0 {
				return nil, fmt.Errorf("arm %d has level %d: levels start at zero", arm, level)
			}
			counts[factor] = max(counts[factor], level+1)
		}
	}
	combinations := 1
	for _, count := range counts {
		combinations *= count
	}
	if combinations != len(levels) {
		return nil, fmt.Errorf("the matrix has %d of %d combinations: main effects need all", len(levels), combinations)
	}
	return counts, nil
}
