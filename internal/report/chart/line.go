// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"cmp"
	"math"
	"slices"
)

// MinPoints is the minimum number of points of a line: two points would show a trend that was not
// measured.
const MinPoints = 3

// Line is a quantity over a run, for one series.
type Line struct {
	Series Series
	// Block of the run.
	Block  int32
	Points []Point
	// Around are the extremes of all runs at the points; nil without any.
	Around []Extent
	// Batches are the batch loads that ran beside the load.
	Batches []Band
	// Marks are moments of the run: notes, and containers that restarted.
	Marks []Band
}

// Point is the mean of an interval, with the extremes of the means of its parts.
type Point struct {
	// Minutes since the load began.
	Minutes, Value float64
	Extent
}

// Extent is a range of values.
type Extent struct{ Low, High float64 }

// SinglePoint is the point of one value.
func SinglePoint(minutes, value float64) Point { return Point{minutes, value, Extent{value, value}} }

// With is the extent of both.
func (e Extent) With(other Extent) Extent {
	return Extent{math.Min(e.Low, other.Low), math.Max(e.High, other.High)}
}

func (e Extent) times(factor float64) Extent { return Extent{e.Low * factor, e.High * factor} }

// Band is a part of a run, in minutes since the load began.
type Band struct {
	Name     string
	From, To float64
}

// Times multiplies all values, for another unit.
func (l Line) Times(factor float64) Line {
	l.Points, l.Around = slices.Clone(l.Points), slices.Clone(l.Around)
	for i := range l.Points {
		l.Points[i].Value *= factor
		l.Points[i].Extent = l.Points[i].times(factor)
	}
	for i := range l.Around {
		l.Around[i] = l.Around[i].times(factor)
	}
	return l
}

// marksInOrder are the marks in chronological order, in which they are numbered.
func (l Line) marksInOrder() []Band {
	return slices.SortedStableFunc(slices.Values(l.Marks), func(a, b Band) int { return cmp.Compare(a.From, b.From) })
}

// end is the last point.
func (l Line) end() Point { return l.Points[len(l.Points)-1] }

// Lowest value of the points.
func Lowest(points []Point) float64 { return slices.MinFunc(points, ComparePoints).Value }

// Highest value of the points.
func Highest(points []Point) float64 { return slices.MaxFunc(points, ComparePoints).Value }

// ComparePoints orders points by value.
func ComparePoints(a, b Point) int { return cmp.Compare(a.Value, b.Value) }

// HighestAmong is the highest value of all lines.
func HighestAmong(lines []Line) float64 {
	top := 0.0
	for _, one := range lines {
		top = math.Max(top, Highest(one.Points))
	}
	return top
}

// lastMinute is when the last of the lines ends.
func lastMinute(lines []Line) float64 {
	last := 0.0
	for _, one := range lines {
		last = math.Max(last, one.end().Minutes)
	}
	return last
}
