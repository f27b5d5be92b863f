// SPDX-License-Identifier: Apache-2.0

// Package plan turns an experiment's declaration into the ordered list of its
// runs. It is pure: the same declaration and seed give the same plan, and more
// blocks only append to it.
package plan

import (
	"math/rand/v2"
	"strconv"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
)

// Plan holds every run of an experiment in order.
type Plan struct {
	// Seed of the random order.
	Seed int64
	// Hash identifies the conditions under which runs are compared. More blocks, suspend
	// and cleanup don't change it.
	Hash string
	// Arms to compare.
	Arms []arms.Arm
	// Blocks is the number of planned blocks.
	Blocks int32
	Runs   []Run
}

// Run is one planned run.
type Run struct {
	Arm      string
	Scenario string
	// Block the run belongs to, from 1.
	Block int32
	// Position in the plan, from 1.
	Position int32
}

// From plans an experiment: each block contains every arm under every scenario once, shuffled
// within the block unless the order is fixed. This is the randomised complete block design
// (randomised multiple interleaved trials: Abedi and Brecht, ICPE 2017).
//
// The system is the experiment's own, or a copy of the one it refers to.
func From(spec *v1alpha1.PerfExperimentSpec, system v1alpha1.System, seed int64) Plan {
	planned := Plan{Seed: seed, Hash: hash(spec, arms.Defaulted(spec, system), seed), Arms: arms.All(spec, system)}
	planned.Grow(spec, spec.DesignOrDefault().Blocks)
	return planned
}

// Grow appends blocks up to this number. It removes none.
func (p *Plan) Grow(spec *v1alpha1.PerfExperimentSpec, blocks int32) {
	for p.Blocks < blocks {
		p.Blocks++
		for _, run := range ordered(p.Arms, spec, p.Seed, p.Blocks) {
			run.Position = int32(len(p.Runs)) + 1
			p.Runs = append(p.Runs, run)
		}
	}
}

// Seed returns the experiment's declared seed, or else one derived from its UID.
func Seed(experiment *v1alpha1.PerfExperiment) int64 {
	if seed := experiment.Spec.Design.Seed; seed != nil {
		return *seed
	}
	// 28 bits: short enough to read and type.
	seed, err := strconv.ParseInt(naming.Hash(experiment.UID)[:7], 16, 64)
	if err != nil {
		panic("a digest is hexadecimal: " + err.Error())
	}
	return seed
}

func ordered(all []arms.Arm, spec *v1alpha1.PerfExperimentSpec, seed int64, block int32) []Run {
	runs := make([]Run, 0, len(all)*len(spec.Scenarios))
	for _, arm := range all {
		for _, scenario := range spec.Scenarios {
			runs = append(runs, Run{Arm: arm.Name, Scenario: scenario.Name, Block: block})
		}
	}
	if spec.Design.Order == v1alpha1.OrderFixed {
		return runs
	}
	// Each block has its own generator, so that its order does not depend on the number of
	// blocks.
	random := rand.New(rand.NewPCG(uint64(seed), uint64(block)))
	random.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	return runs
}

func hash(spec *v1alpha1.PerfExperimentSpec, system v1alpha1.System, seed int64) string {
	return naming.Hash(system, spec.Arms, spec.Matrix, spec.Scenarios, spec.Design.Order, spec.Design.Calibrate, seed, analysisplan.New(spec),
		spec.Measurement, spec.Reset, spec.Restore, spec.KeepWarm, spec.Cost, spec.Validity, spec.Deadlines)[:16]
}
