// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Cell is the value of one arm in one block. Arms and blocks are counted from
// zero.
type Cell struct {
	Arm, Block int
	Value      float64
}

// BlockModel is the additive model value = arm + block + error, fitted by least squares. Blocks
// remove effects common to all arms, such as drift between blocks. The residual is pooled over all
// arms, which assumes that they spread alike (Montgomery, Design and Analysis of Experiments,
// chapter 4; unbalanced data as in Searle, Linear Models, chapter 7).
type BlockModel struct {
	// Reference is the arm that effects are reported against.
	Reference int
	// Deviation is the standard deviation of the residual; NaN without
	// degrees of freedom.
	Deviation float64
	// DegreesOfFreedom are (A-1)(B-1) for A arms in B complete blocks.
	DegreesOfFreedom int
	// Residuals are in the order of the cells; NaN for cells of arms that are
	// not connected to the reference.
	Residuals []float64

	// effect and factor are by place; place is by arm, -1 for the reference and for arms that are
	// not connected to it.
	place      []int
	connected  []bool
	effect     *mat.VecDense
	factor     *mat.Cholesky
	covariance *mat.SymDense
	// size of the largest value.
	size float64
}

// noise is the share of the values' own size below which a residual, or an effect, is only the
// rounding of float64.
const noise = 1e-12

// FitBlocks fits the model to one value per arm and block, in any order and
// with any cells missing. Arms that no chain of shared blocks connects to the
// reference have no effect. It fails on an arm or block out of range.
func FitBlocks(cells []Cell, arms, blocks, reference int) (BlockModel, error) {
	if reference < 0 || reference >= arms {
		return BlockModel{}, fmt.Errorf("reference arm %d is not among %d arms", reference, arms)
	}
	for _, cell := range cells {
		if cell.Arm < 0 || cell.Arm >= arms || cell.Block < 0 || cell.Block >= blocks {
			return BlockModel{}, fmt.Errorf("arm %d in block %d is not among %d arms and %d blocks", cell.Arm, cell.Block, arms, blocks)
		}
	}
	model := BlockModel{Reference: reference, Deviation: math.NaN()}
	model.connected = connect(cells, arms, blocks, reference)
	model.place = make([]int, arms)
	unknown := 0
	for arm := range arms {
		model.place[arm] = -1
		if arm != reference && model.connected[arm] {
			model.place[arm] = unknown
			unknown++
		}
	}
	sums := blockSums(cells, blocks, model.connected)
	if unknown > 0 {
		if err := model.solve(cells, sums, unknown); err != nil {
			return BlockModel{}, err
		}
	}
	model.judge(cells, sums, unknown)
	return model, nil
}

// connect marks the arms that share a block with the reference, or with an arm that does, and
// so on.
func connect(cells []Cell, arms, blocks, reference int) []bool {
	inBlock := make([][]int, blocks)
	ofArm := make([][]int, arms)
	for _, cell := range cells {
		inBlock[cell.Block] = append(inBlock[cell.Block], cell.Arm)
		ofArm[cell.Arm] = append(ofArm[cell.Arm], cell.Block)
	}
	connected, seen := make([]bool, arms), make([]bool, blocks)
	connected[reference] = true
	open := []int{reference}
	for len(open) > 0 {
		arm := open[len(open)-1]
		open = open[:len(open)-1]
		for _, block := range ofArm[arm] {
			if seen[block] {
				continue
			}
			seen[block] = true
			for _, next := range inBlock[block] {
				if !connected[next] {
					connected[next] = true
					open = append(open, next)
				}
			}
		}
	}
	return connected
}

// blockSum is the sum of the connected arms of a block.
type blockSum struct {
	arms  []int
	total float64
}

func blockSums(cells []Cell, blocks int, connected []bool) []blockSum {
	sums := make([]blockSum, blocks)
	for _, cell := range cells {
		if connected[cell.Arm] {
			sum := &sums[cell.Block]
			sum.arms = append(sum.arms, cell.Arm)
			sum.total += cell.Value
		}
	}
	return sums
}

// solve eliminates the blocks from the normal equations, which leaves one equation per arm: its
// runs, less its share in each block.
func (m *BlockModel) solve(cells []Cell, sums []blockSum, unknown int) error {
	normal := mat.NewSymDense(unknown, nil)
	right := mat.NewVecDense(unknown, nil)
	for _, cell := range cells {
		i := m.place[cell.Arm]
		if i < 0 {
			continue
		}
		sum := sums[cell.Block]
		share := 1 / float64(len(sum.arms))
		right.SetVec(i, right.AtVec(i)+cell.Value-sum.total*share)
		normal.SetSym(i, i, normal.At(i, i)+1)
		for _, other := range sum.arms {
			if j := m.place[other]; j >= i {
				normal.SetSym(i, j, normal.At(i, j)-share)
			}
		}
	}
	m.factor = &mat.Cholesky{}
	if !m.factor.Factorize(normal) {
		return fmt.Errorf("fitting %d arms: the equations have no unique solution", unknown+1)
	}
	m.effect = mat.NewVecDense(unknown, nil)
	if err := m.factor.SolveVecTo(m.effect, right); err != nil {
		return fmt.Errorf("fitting %d arms: %w", unknown+1, err)
	}
	m.covariance = mat.NewSymDense(unknown, nil)
	if err := m.factor.InverseTo(m.covariance); err != nil {
		return fmt.Errorf("fitting %d arms: %w", unknown+1, err)
	}
	return nil
}

// judge computes the residuals and their spread.
func (m *BlockModel) judge(cells []Cell, sums []blockSum, unknown int) {
	filled, used := 0, 0
	means := make([]float64, len(sums))
	for block, sum := range sums {
		if len(sum.arms) == 0 {
			continue
		}
		filled++
		used += len(sum.arms)
		rest := sum.total
		for _, arm := range sum.arms {
			rest -= m.at(arm)
		}
		means[block] = rest / float64(len(sum.arms))
	}
	var squares float64
	m.Residuals = make([]float64, len(cells))
	for i, cell := range cells {
		if !m.connected[cell.Arm] {
			m.Residuals[i] = math.NaN()
			continue
		}
		residual := cell.Value - m.at(cell.Arm) - means[cell.Block]
		m.Residuals[i] = residual
		squares += residual * residual
		m.size = math.Max(m.size, math.Abs(cell.Value))
	}
	m.DegreesOfFreedom = max(used-filled-unknown, 0)
	if m.DegreesOfFreedom == 0 {
		return
	}
	m.Deviation = math.Sqrt(squares / float64(m.DegreesOfFreedom))
	if m.Deviation <= noise*m.size {
		m.Deviation = 0
	}
}

// at returns the fitted effect of a connected arm.
func (m *BlockModel) at(arm int) float64 {
	if i := m.place[arm]; i >= 0 {
		return m.effect.AtVec(i)
	}
	return 0
}

// Effect returns the estimated difference between an arm and the reference.
func (m *BlockModel) Effect(arm int) Estimate {
	if arm == m.Reference || !m.connected[arm] {
		return m.Contrast(map[int]float64{arm: 1})
	}
	i := m.place[arm]
	return m.estimate(m.effect.AtVec(i), m.covariance.At(i, i))
}

// Contrast returns a weighted sum of arm effects, such as the difference of two arms other than the
// reference. The weights apply to effects against the reference, whose own effect is zero.
func (m *BlockModel) Contrast(weights map[int]float64) Estimate {
	var value, variance float64
	for arm, weight := range weights {
		if weight != 0 && !m.connected[arm] {
			return Estimate{Value: math.NaN(), StandardError: math.NaN(), Warnings: []Warning{WarningUnconnected}}
		}
	}
	for a := range m.place {
		i, weight := m.place[a], weights[a]
		if i < 0 || weight == 0 {
			continue
		}
		value += weight * m.effect.AtVec(i)
		for b := range m.place {
			if j := m.place[b]; j >= 0 && weights[b] != 0 {
				variance += weight * weights[b] * m.covariance.At(i, j)
			}
		}
	}
	return m.estimate(value, variance)
}

func (m *BlockModel) estimate(value, unscaledVariance float64) Estimate {
	if math.Abs(value) <= noise*m.size {
		value = 0
	}
	estimate := Estimate{
		Value:            value,
		StandardError:    m.Deviation * math.Sqrt(unscaledVariance),
		DegreesOfFreedom: m.DegreesOfFreedom,
	}
	switch {
	case m.DegreesOfFreedom == 0:
		estimate.StandardError = math.NaN()
		estimate.Warnings = []Warning{WarningNoInterval}
	case m.Deviation == 0:
		estimate.Warnings = []Warning{WarningNoSpread}
	}
	return estimate
}
