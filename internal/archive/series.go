// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"
)

// SeriesPrefix is where the index of series is.
const SeriesPrefix = "series/"

const (
	// maxSeries is more than the scenarios that an experiment can have.
	maxSeries = 64
	pointTime = "20060102T150405Z"
)

// Place is where a record of an experiment stands among others: the series in which it
// has a point. By it an index finds what a series needs without reading every record.
type Place struct {
	// Series by their names, each in one element of a key.
	Series []string `json:"series"`
	// At is when what the points are of began. Points are listed in its order.
	At time.Time `json:"at"`
	// Item that a series needs of the record: the digest of one of its items.
	Item Digest `json:"item"`
}

// Point is an experiment's entry in a series of a namespace.
type Point struct {
	Namespace, Series string
	At                time.Time
	ExperimentUID     string
	// Item of the experiment's record that the series needs.
	Item Digest
}

// String is the key of the point's object: series/NAMESPACE/SERIES/TIME.UID/sha256-...
func (p Point) String() string {
	return seriesPrefix(p.Namespace, p.Series) + p.At.UTC().Format(pointTime) + "." + p.ExperimentUID + "/" + referencePrefix + p.Item.hex()
}

// seriesPrefix is that of the points of a series, or of all of a namespace.
func seriesPrefix(namespace, series string) string {
	prefix := SeriesPrefix + namespace + "/"
	if series != "" {
		prefix += series + "/"
	}
	return prefix
}

// parsePoint reads what String gives.
func parsePoint(key string) (Point, bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 5 || parts[0]+"/" != SeriesPrefix {
		return Point{}, false
	}
	at, uid, dotted := strings.Cut(parts[3], ".")
	digits, named := strings.CutPrefix(parts[4], referencePrefix)
	began, noTime := time.Parse(pointTime, at)
	item, noDigest := ParseDigest(digestPrefix + digits)
	point := Point{Namespace: parts[1], Series: parts[2], At: began, ExperimentUID: uid, Item: item}
	return point, dotted && named && noTime == nil && noDigest == nil && point.String() == key
}

// content of the point's object.
func (p Point) content() []byte { return []byte(p.Item.String() + "\n") }

// points of a record in the index.
func (m *Manifest) points() []Point {
	if m.Place == nil {
		return nil
	}
	points := make([]Point, 0, len(m.Place.Series))
	for _, series := range m.Place.Series {
		points = append(points, Point{Namespace: m.Identity.Namespace, Series: series, At: m.Place.At, ExperimentUID: m.Identity.ExperimentUID, Item: m.Place.Item})
	}
	return points
}

func checkPlace(of Identity, place *Place, items []Entry) error {
	if place == nil {
		return nil
	}
	if of.Run != "" {
		return badRecord("a run has no place in a series: leave it out")
	}
	if place.At.IsZero() || len(place.Series) == 0 || len(place.Series) > maxSeries {
		return badRecord("its place has no time, or is in %d series: give one to %d", len(place.Series), maxSeries)
	}
	for _, series := range place.Series {
		if !element.MatchString(series) {
			return badRecord("%.80q is no name of a series: write letters, digits, dots and dashes", series)
		}
	}
	for _, entry := range items {
		if entry.Digest == place.Item {
			return nil
		}
	}
	return badRecord("what a series needs of it is none of its items: give that item, too")
}

// index writes what leads to a record from its series. It can end anywhere and be done
// again.
func (s *Store) index(ctx context.Context, manifest *Manifest) error {
	for _, point := range manifest.points() {
		if err := s.keep(ctx, point.String(), point.content(), "text/plain"); err != nil {
			return fmt.Errorf("entering it in the series %q: %w", point.Series, err)
		}
	}
	return nil
}

// Index enters in the index of series a record that is kept, as keeping it does. Of a
// record without a place it writes nothing.
func (s *Store) Index(ctx context.Context, kept Kept) error { return s.index(ctx, kept.Manifest) }

// Points gives those of a series, or of all series of a namespace where the series is
// empty: of each series in the order of their times. Of an experiment whose record
// changed there may be several; the record that stands says which of them is right.
// What was found was not read: Get gives a point's item.
func (s *Store) Points(ctx context.Context, namespace, series string) iter.Seq2[Point, error] {
	return func(yield func(Point, error) bool) {
		for object, err := range s.objects(ctx, seriesPrefix(namespace, series)) {
			if err != nil {
				yield(Point{}, err)
				return
			}
			if point, ok := parsePoint(object.Key); ok && !yield(point, nil) {
				return
			}
		}
	}
}
