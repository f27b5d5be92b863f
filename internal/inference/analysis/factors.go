// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
)

// Effect is the average effect of a factor's level over the other factors, or the interaction of
// two levels.
type Effect struct {
	Scenario, Metric string
	// Name of the level, partitions=two, or of two levels.
	Name string
	// Levels are the one or two levels in the name.
	Levels []FactorLevel
	Scale  comparison.Scale
	// Estimate on the scale of the fit.
	Estimate stats.Estimate
}

// FactorLevel is a level of a factor, with the baseline level that it is compared with.
type FactorLevel struct{ Factor, Level, Baseline string }

// effects returns the main effects and interactions of a matrix's factors on primary metrics. It
// fails if combinations are left out.
func effects(question analysisplan.Question, table *comparison.Table, matrix *v1alpha1.Matrix, all []arms.Arm) ([]Effect, error) {
	if matrix == nil {
		return nil, nil
	}
	numbered := newNumbering(matrix)
	var found []Effect
	for _, scenario := range table.Scenarios() {
		for _, metric := range question.Primary {
			// The A/A control follows the combinations and does not change their numbers.
			fitted, ok := fit(table, scenario, metric, all)
			if !ok {
				continue
			}
			of, err := factorEffects(fitted, numbered)
			if err != nil {
				return nil, err
			}
			found = append(found, of...)
		}
	}
	return found, nil
}

func factorEffects(fitted fitted, numbered numbering) ([]Effect, error) {
	main, err := stats.MainEffects(&fitted.model, numbered.arms)
	if err != nil {
		return nil, err
	}
	var found []Effect
	add := func(estimate stats.Estimate, levels ...FactorLevel) {
		found = append(found, Effect{fitted.scenario, fitted.metric, effectName(levels), levels, fitted.series.Scale, estimate})
	}
	for _, effect := range main {
		add(effect.Estimate, numbered.level(effect.Factor, effect.Level))
	}
	together, err := stats.Interactions(&fitted.model, numbered.arms)
	if err != nil {
		return nil, err
	}
	for _, effect := range together {
		add(effect.Estimate, numbered.level(effect.Factors[0], effect.Levels[0]), numbered.level(effect.Factors[1], effect.Levels[1]))
	}
	return found, nil
}

// numbering numbers the levels of each factor, beginning with its baseline level.
type numbering struct {
	matrix *v1alpha1.Matrix
	// levels are, by factor, the levels in numerical order.
	levels [][]string
	// arms are, by combination, the numbers of its levels.
	arms [][]int
}

func newNumbering(matrix *v1alpha1.Matrix) numbering {
	numbered := numbering{matrix: matrix}
	for _, factor := range matrix.Factors {
		var names []string
		for _, level := range factor.Levels {
			if level.Baseline {
				names = slices.Insert(names, 0, level.Name)
				continue
			}
			names = append(names, level.Name)
		}
		numbered.levels = append(numbered.levels, names)
	}
	for _, combination := range arms.Combinations(matrix) {
		numbers := make([]int, len(combination.Levels))
		for i, level := range combination.Levels {
			numbers[i] = slices.Index(numbered.levels[i], level.Name)
		}
		numbered.arms = append(numbered.arms, numbers)
	}
	return numbered
}

func (n numbering) level(factor, level int) FactorLevel {
	return FactorLevel{n.matrix.Factors[factor].Name, n.levels[factor][level], n.levels[factor][0]}
}

func effectName(levels []FactorLevel) string {
	names := make([]string, 0, len(levels))
	for _, one := range levels {
		names = append(names, one.Factor+"="+one.Level)
	}
	return strings.Join(names, " x ")
}
