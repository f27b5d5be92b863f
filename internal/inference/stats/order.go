// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// FTest is the result of a test whether a factor explains anything.
type FTest struct {
	// F is the ratio of the explained variance to the residual, each by degree of freedom.
	F float64
	// Between and Within are the degrees of freedom of both.
	Between, Within int
	// P is the p-value; NaN if the factor can't be distinguished from arms and blocks, or no
	// residual remains.
	P float64
}

// AddedFactor tests whether a further factor explains the residual of arm and block (extra sum of
// squares; Draper and Smith, Applied Regression Analysis, chapter 6). With a run's position in its
// block, or the arm that ran before it, it detects carry-over; without an effect, p is below 5 %
// once in twenty. levels holds the factor's level per cell. It fails if there are more or fewer
// levels than cells, and if FitBlocks fails.
func AddedFactor(cells []Cell, levels []int, arms, blocks, reference int) (FTest, error) {
	if len(levels) != len(cells) {
		return FTest{}, fmt.Errorf("%d cells have %d levels of the added factor", len(cells), len(levels))
	}
	model, err := FitBlocks(cells, arms, blocks, reference)
	if err != nil {
		return FTest{}, err
	}
	undetermined := FTest{F: math.NaN(), P: math.NaN()}
	before := model.Deviation * model.Deviation * float64(model.DegreesOfFreedom)
	if model.DegreesOfFreedom < 2 || model.Deviation == 0 {
		return undetermined, nil
	}
	explained, rank, err := model.explainedBy(cells, levels, blocks)
	if err != nil {
		return FTest{}, err
	}
	after := math.Max(before-explained, 0)
	test := FTest{Between: rank, Within: model.DegreesOfFreedom - rank, F: math.NaN(), P: math.NaN()}
	if test.Between < 1 || test.Within < 1 {
		return undetermined, nil
	}
	test.F = math.Max(before-after, 0) / float64(test.Between) / (after / float64(test.Within))
	test.P = distuv.F{D1: float64(test.Between), D2: float64(test.Within)}.Survival(test.F)
	return test, nil
}

// explainedBy returns the part of the residual sum of squares that a further factor explains, and
// the number of its levels that arms and blocks leave free (Frisch and Waugh 1933: the factor's
// columns are first reduced by arms and blocks, then made orthogonal one by one).
func (m *BlockModel) explainedBy(cells []Cell, levels []int, blocks int) (squares float64, rank int, err error) {
	residual := slices.Clone(m.Residuals)
	for i, cell := range cells {
		if !m.connected[cell.Arm] {
			residual[i] = 0
		}
	}
	var basis [][]float64
	// Columns consist of zeros and ones: smaller values are rounding errors.
	const smallest = 1e-8
	for _, level := range distinct(levels) {
		column, err := m.residualOf(cells, levels, level, blocks)
		if err != nil {
			return 0, 0, err
		}
		for _, direction := range basis {
			floats.AddScaled(column, -floats.Dot(column, direction), direction)
		}
		length := floats.Norm(column, 2)
		if length < smallest {
			continue
		}
		floats.Scale(1/length, column)
		basis = append(basis, column)
		along := floats.Dot(residual, column)
		squares += along * along
	}
	return squares, len(basis), nil
}

// distinct returns the levels, in order.
func distinct(levels []int) []int {
	list := slices.Clone(levels)
	slices.Sort(list)
	return slices.Compact(list)
}

// residualOf returns the residual, after arms and blocks, of a column that is one at the level and
// zero elsewhere; zero if the arm is not connected.
func (m *BlockModel) residualOf(cells []Cell, levels []int, level, blocks int) ([]float64, error) {
	column := make([]Cell, len(cells))
	for i, cell := range cells {
		column[i] = Cell{Arm: cell.Arm, Block: cell.Block}
		if levels[i] == level {
			column[i].Value = 1
		}
	}
	sums := blockSums(column, blocks, m.connected)
	effect := make([]float64, len(m.place))
	if m.factor != nil {
		right, solved := mat.NewVecDense(m.effect.Len(), nil), mat.NewVecDense(m.effect.Len(), nil)
		for _, cell := range column {
			if i := m.place[cell.Arm]; i >= 0 {
				sum := sums[cell.Block]
				right.SetVec(i, right.AtVec(i)+cell.Value-sum.total/float64(len(sum.arms)))
			}
		}
		if err := m.factor.SolveVecTo(solved, right); err != nil {
			return nil, fmt.Errorf("fitting a further factor to %d cells: %w", len(cells), err)
		}
		for arm, i := range m.place {
			if i >= 0 {
				effect[arm] = solved.AtVec(i)
			}
		}
	}
	means := make([]float64, blocks)
	for block, sum := range sums {
		rest := sum.total
		for _, arm := range sum.arms {
			rest -= effect[arm]
		}
		means[block] = rest / float64(max(len(sum.arms), 1))
	}
	residuals := make([]float64, len(cells))
	for i, cell := range column {
		if m.connected[cell.Arm] {
			residuals[i] = cell.Value - effect[cell.Arm] - means[cell.Block]
		}
	}
	return residuals, nil
}
