// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"perflab.dev/perflab/internal/inference/changepoint"
)

// course is a kind of history: points of several runs each, with a change at one point or none.
// Points have a standard deviation of 1. Half of the variance lies between points, the other
// half between the runs of a point.
type course struct {
	name   string
	noise  noise
	points int
	// step is the increase of all points from at on, in standard deviations of a point.
	step float64
	at   int
	// drift is the increase from the first point to the last, correlation that of adjacent
	// points.
	drift, correlation float64
	// missing is the share of points without a measurement. spikes is the share of single
	// outliers of six standard deviations.
	missing, spikes float64
	// fewer reduces the runs of points from at on to a quarter.
	fewer bool
}

const runsPerPoint = 4

// draw generates one history and returns the position of its change, 0 for none.
func (c course) draw(random *rand.Rand) (points []changepoint.Point, at int) {
	before := 0.0
	for i := range c.points {
		here := math.Sqrt(0.5)*(math.Sqrt(1-c.correlation*c.correlation)*c.noise.draw(random)) + c.correlation*before
		before = here
		lost, out := random.Float64() < c.missing, random.Float64() < c.spikes
		runs := runsPerPoint
		if c.fewer && i >= c.at {
			runs /= 4
		}
		var point changepoint.Point
		for range runs {
			value := here + math.Sqrt(0.5*runsPerPoint)*c.noise.draw(random) + c.drift*float64(i)/float64(c.points)
			if i >= c.at {
				value += c.step
			}
			if out {
				value += 6
			}
			point.Values = append(point.Values, value)
		}
		if lost {
			continue
		}
		if i < c.at {
			at = len(points) + 1
		}
		points = append(points, point)
	}
	if c.step == 0 || at == len(points) {
		at = 0
	}
	return points, at
}

// found holds a procedure's results for histories of a kind.
type found struct {
	// place counts changes that were found, at most one point off. other counts histories with
	// another reported change.
	place, other share
}

func (f *found) add(changes []int, at int) {
	isThere := func(change int) bool { return at > 0 && near(change, at) }
	if at > 0 {
		f.place.add(slices.ContainsFunc(changes, isThere))
	}
	f.other.add(slices.ContainsFunc(changes, func(change int) bool { return !isThere(change) }))
}

// near reports whether a change is at most one point off.
func near(change, at int) bool { return change >= at-1 && change <= at+1 }

// procedure finds changes in many histories at once.
type procedure func([][]changepoint.Point) ([][]int, error)

// ours is PerfLab's procedure at its default error rate.
var ours = oursAt(alpha)

// oursAt returns PerfLab's procedure at an error rate. It analyzes histories in parallel.
func oursAt(rate float64) procedure {
	return func(histories [][]changepoint.Point) ([][]int, error) { return findAll(histories, rate) }
}

func findAll(histories [][]changepoint.Point, rate float64) ([][]int, error) {
	options := changepoint.Options{ErrorRate: rate, Permutations: max(999, int(40/rate))}
	places := make([][]int, len(histories))
	err := parallel(len(histories), func(i int) error {
		changes, err := changepoint.Find(histories[i], options)
		for _, change := range changes {
			places[i] = append(places[i], change.At)
		}
		return err
	})
	return places, err
}

// histories draws count histories. The seed determines them.
func (c course) histories(count int, seed uint64) (points [][]changepoint.Point, at []int) {
	for i := range count {
		one, bends := c.draw(rand.New(rand.NewPCG(seed, uint64(i))))
		points, at = append(points, one), append(at, bends)
	}
	return points, at
}

func (c course) judge(count int, seed uint64, by procedure) (found, error) {
	points, at := c.histories(count, seed)
	changes, err := by(points)
	if err != nil {
		return found{}, err
	}
	var seen found
	for i := range changes {
		seen.add(changes[i], at[i])
	}
	return seen, nil
}

// without are histories without a step. Points of the last three are not exchangeable: their
// spread increases from one point on, or adjacent points are correlated. No procedure that
// permutes points tolerates that.
var without = []course{
	{name: "normal", noise: normal, points: 12},
	{name: "normal", noise: normal, points: 24},
	{name: "normal", noise: normal, points: 60},
	{name: "skewed", noise: skewed, points: 24},
	{name: "heavy-tailed", noise: heavy, points: 24},
	{name: "20 % of points missing", noise: normal, points: 24, missing: 0.2},
	{name: "10 % of points are outliers", noise: normal, points: 24, spikes: 0.1},
	{name: "a quarter of the runs later", noise: normal, points: 24, at: 12, fewer: true},
	{name: "neighbors correlate, 0.3", noise: normal, points: 24, correlation: 0.3},
	{name: "drift of 2 deviations", noise: normal, points: 24, drift: 2},
}

// exchangeable is the number of histories in without to which the promise applies.
const exchangeable = 7

// with are histories with one step. Each is simulated with steps of 1 to 4 deviations.
var with = []course{
	{name: "in the middle of 24", noise: normal, points: 24, at: 12},
	{name: "at the last 4 of 24", noise: normal, points: 24, at: 20},
	{name: "at the last 2 of 24", noise: normal, points: 24, at: 22},
	{name: "in the middle of 10", noise: normal, points: 10, at: 5},
	{name: "heavy-tailed, in the middle of 24", noise: heavy, points: 24, at: 12},
	{name: "20 % missing, in the middle of 24", noise: normal, points: 24, at: 12, missing: 0.2},
	{name: "10 % outliers, in the middle of 24", noise: normal, points: 24, at: 12, spikes: 0.1},
}

// changes compares PerfLab's change-point detection with Otava's, on the same histories.
func (s *suite) changes() error {
	count := max(40, s.experiments/10)
	others, err := s.otavas(count)
	if err != nil {
		return err
	}
	if err := s.alarms(count, others); err != nil {
		return err
	}
	if err := s.looks(max(20, count/4), others); err != nil {
		return err
	}
	if err := s.steps(count, others); err != nil {
		return err
	}
	return s.delays(max(20, count/4), others)
}

// rival is a procedure to compare with, and its name.
type rival struct {
	name string
	procedure
}

func (s *suite) alarms(count int, others []rival) error {
	header := "history\tpoints\tours %"
	for _, other := range others {
		header += "\t" + other.name + " %"
	}
	title := fmt.Sprintf("No change: false-positive rate (%d histories per line)", count)
	return s.table(title, header, func(line func(string, ...any)) error {
		for i, course := range without {
			own, rest, err := s.besides(course, count, others)
			if err != nil {
				return err
			}
			text := ""
			for _, other := range rest {
				text += fmt.Sprintf("\t%.1f", other.other.percent())
			}
			line("%s\t%d\t%.1f%s", course.name, course.points, own.other.percent(), text)
			if alarms := own.other.percent(); i < exchangeable {
				s.expect(alarms <= mostWrong+300*math.Sqrt(0.05*0.95/float64(count)), "change points, %s, %d points: %.1f %% false alarms", course.name, course.points, alarms)
			}
		}
		return nil
	})
}

func (s *suite) besides(of course, count int, others []rival) (own found, rest []found, err error) {
	s.lines++
	seed := s.seed<<16 + s.lines
	if own, err = of.judge(count, seed, ours); err != nil {
		return own, nil, err
	}
	for _, other := range others {
		seen, err := of.judge(count, seed, other.procedure)
		if err != nil {
			return own, nil, err
		}
		rest = append(rest, seen)
	}
	return own, rest, nil
}

// looks analyzes a history after each of several points, as users do at each release.
func (s *suite) looks(count int, others []rival) error {
	const before, looks = 4, 20
	rivals := append([]rival{{"PerfLab, the rate at each analysis", ours}, {"PerfLab, the rate shared", oursAt(alpha / looks)}}, others...)
	s.lines++
	points, _ := course{noise: normal, points: before + looks}.histories(count, s.seed<<16+s.lines)
	header, text := "", ""
	for i, by := range rivals {
		alarmed := make([]bool, count)
		for seen := before + 1; seen <= before+looks; seen++ {
			changes, err := by.procedure(prefixes(points, seen))
			if err != nil {
				return err
			}
			for at := range changes {
				alarmed[at] = alarmed[at] || len(changes[at]) > 0
			}
		}
		var reported share
		for _, one := range alarmed {
			reported.add(one)
		}
		header += "\t" + by.name + " %"
		text += fmt.Sprintf("\t%.1f", reported.percent())
		if i == 1 {
			s.expect(reported.percent() <= mostWrong+300*math.Sqrt(0.05*0.95/float64(count)), "change points, %d analyses: %.1f %% false positives", looks, reported.percent())
		}
	}
	title := fmt.Sprintf("No change, analyzed after each of %d points: histories with any false positive (%d)", looks, count)
	return s.table(title, "looks"+header, func(line func(string, ...any)) error {
		line("%d%s", looks, text)
		return nil
	})
}

// prefixes returns the first count points of each history.
func prefixes(histories [][]changepoint.Point, count int) [][]changepoint.Point {
	shown := make([][]changepoint.Point, len(histories))
	for i := range histories {
		shown[i] = histories[i][:count]
	}
	return shown
}

func (s *suite) steps(count int, others []rival) error {
	header := "step\tdeviations\tours: found %\tother %"
	for _, other := range others {
		header += fmt.Sprintf("\t%s: found %%\tother %%", other.name)
	}
	return s.table("A step: found, at most one point off, and another change reported", header, func(line func(string, ...any)) error {
		for _, course := range with {
			for _, course.step = range []float64{1, 2, 3, 4} {
				own, rest, err := s.besides(course, count, others)
				if err != nil {
					return err
				}
				text := ""
				for _, other := range rest {
					text += fmt.Sprintf("\t%.1f\t%.1f", other.place.percent(), other.other.percent())
				}
				line("%s\t%.0f\t%.1f\t%.1f%s", course.name, course.step, own.place.percent(), own.other.percent(), text)
			}
		}
		return nil
	})
}

// delays analyzes a history after each new point, and counts the points until detection.
func (s *suite) delays(count int, others []rival) error {
	header := "deviations\tours: median\tnever %"
	for _, other := range others {
		header += fmt.Sprintf("\t%s: median\tnever %%", other.name)
	}
	title := fmt.Sprintf("Delay: points after a step, with 12 before it, until it is found, with an analysis after each (of %d)", longestDelay)
	return s.table(title, header, func(line func(string, ...any)) error {
		for step := 1.0; step <= 4; step++ {
			s.lines++
			of := course{noise: normal, points: 12 + longestDelay, at: 12, step: step}
			points, _ := of.histories(count, s.seed<<16+s.lines)
			text := ""
			for _, by := range append([]rival{{"ours", ours}}, others...) {
				median, never, err := measureDelay(points, of.at, by.procedure)
				if err != nil {
					return err
				}
				text += fmt.Sprintf("\t%s\t%.1f", median, never)
			}
			line("%.0f%s", step, text)
		}
		return nil
	})
}

const longestDelay = 12

func measureDelay(histories [][]changepoint.Point, at int, by procedure) (median string, never float64, err error) {
	delays := make([]int, len(histories))
	for seen := 1; seen <= longestDelay; seen++ {
		changes, err := by(prefixes(histories, at+seen))
		if err != nil {
			return "", 0, err
		}
		for i := range changes {
			if delays[i] == 0 && slices.ContainsFunc(changes[i], func(change int) bool { return near(change, at) }) {
				delays[i] = seen
			}
		}
	}
	missed := 0
	for i := range delays {
		if delays[i] == 0 {
			delays[i] = math.MaxInt
			missed++
		}
	}
	slices.Sort(delays)
	median = "-"
	if middle := delays[len(delays)/2]; middle < math.MaxInt {
		median = fmt.Sprint(middle)
	}
	return median, 100 * float64(missed) / float64(len(delays)), nil
}
