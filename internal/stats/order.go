// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// FTest is the outcome of a test whether a factor explains anything.
type FTest struct {
	// F is the ratio of what the factor explains to the residual, each by
	// degree of freedom.
	F float64
	// Between and Within are the degrees of freedom of both.
	Between, Within int
	// P is the p-value; NaN where the factor can't be told from arms and
	// blocks, or nothing is left for a residual.
	P float64
}

// AddedFactor tests whether a further factor explains what arm and block leave
// (extra sum of squares; Draper and Smith, Applied Regression Analysis, chapter
// 6). With a run's position in its block, or the arm that ran before it, it
// tells carry-over; with nothing to find, p is below 5 % once in twenty. levels
// holds the factor's level per cell. It fails where there are more or fewer
// levels than cells, and where FitBlocks fails.
func AddedFactor(cells []Cell, levels []int, arms, blocks, reference int) (FTest, error) {
	if len(levels) != len(cells) {
		return FTest{}, fmt.Errorf("%d cells have %d levels of the added factor", len(cells), len(levels))
	}
	model, err := FitBlocks(cells, arms, blocks, reference)
	if err != nil {
		return FTest{}, err
	}
	untold := FTest{F: math.NaN(), P: math.NaN()}
	before := model.Deviation * model.Deviation * float64(model.DegreesOfFreedom)
	if model.DegreesOfFreedom < 2 || model.Deviation == 0 {
		return untold, nil
	}
	after, rank, used, err := model.residualWith(cells, levels, arms, blocks)
	if err != nil {
		return FTest{}, err
	}
	test := FTest{Within: used - rank, F: math.NaN(), P: math.NaN()}
	test.Between = model.DegreesOfFreedom - test.Within
	if test.Between < 1 || test.Within < 1 {
		return untold, nil
	}
	test.F = math.Max(before-after, 0) / float64(test.Between) / (after / float64(test.Within))
	test.P = distuv.F{D1: float64(test.Between), D2: float64(test.Within)}.Survival(test.F)
	return test, nil
}

// residualWith is the residual sum of squares with the further factor, and the
// rank of the model. Factors may overlap in any way, so that it takes a
// singular value decomposition.
func (m *BlockModel) residualWith(cells []Cell, levels []int, arms, blocks int) (squares float64, rank, used int, err error) {
	columns := map[int]int{}
	var rows []int
	for i, cell := range cells {
		if m.connected[cell.Arm] {
			rows = append(rows, i)
			if _, known := columns[levels[i]]; !known {
				columns[levels[i]] = arms + blocks + len(columns)
			}
		}
	}
	design := mat.NewDense(len(rows), arms+blocks+len(columns), nil)
	values := mat.NewVecDense(len(rows), nil)
	for row, i := range rows {
		design.Set(row, cells[i].Arm, 1)
		design.Set(row, arms+cells[i].Block, 1)
		design.Set(row, columns[levels[i]], 1)
		// What arm and block explain is gone already, which keeps the digits.
		values.SetVec(row, m.Residuals[i])
	}
	var decomposed mat.SVD
	if !decomposed.Factorize(design, mat.SVDThinU) {
		return 0, 0, 0, fmt.Errorf("fitting a further factor to %d cells: no decomposition", len(rows))
	}
	const smallest = 1e-10
	rank = decomposed.Rank(smallest)
	var left mat.Dense
	decomposed.UTo(&left)
	squares = mat.Dot(values, values)
	for column := range rank {
		explained := mat.Dot(left.ColView(column), values)
		squares -= explained * explained
	}
	return math.Max(squares, 0), rank, len(rows), nil
}
