// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"
)

// SeriesPrefix is the prefix of the index of series.
const SeriesPrefix = "series/"

const (
	// maxSeries exceeds the scenarios of any experiment.
	maxSeries = 64
	pointTime = "20060102T150405Z"
)

// SeriesEntry lists the series in which an experiment's record has a point. The index makes a
// series readable without reading each record.
type SeriesEntry struct {
	// Series names, each one element of a key.
	Series []string `json:"series"`
	// At is the start of the measurement. It orders the points.
	At time.Time `json:"at"`
	// Item is the digest of the record's item that a series needs.
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

// seriesPrefix is the prefix of a series, or of all series of a namespace.
func seriesPrefix(namespace, series string) string {
	prefix := SeriesPrefix + namespace + "/"
	if series != "" {
		prefix += series + "/"
	}
	return prefix
}

// parsePoint parses the output of String.
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
	if m.SeriesEntry == nil {
		return nil
	}
	points := make([]Point, 0, len(m.SeriesEntry.Series))
	for _, series := range m.SeriesEntry.Series {
		points = append(points, Point{Namespace: m.Identity.Namespace, Series: series, At: m.SeriesEntry.At, ExperimentUID: m.Identity.ExperimentUID, Item: m.SeriesEntry.Item})
	}
	return points
}

func checkPlace(of Identity, place *SeriesEntry, items []Entry) error {
	if place == nil {
		return nil
	}
	if of.Run != "" {
		return badRecord("a run can't be in a series: remove its series entry")
	}
	if place.At.IsZero() || len(place.Series) == 0 || len(place.Series) > maxSeries {
		return badRecord("its series entry has no time, or is in %d series: specify a time and 1 to %d series", len(place.Series), maxSeries)
	}
	for _, series := range place.Series {
		if !element.MatchString(series) {
			return badRecord("%.80q is not the name of a series: use letters, digits, dots and dashes", series)
		}
	}
	for _, entry := range items {
		if entry.Digest == place.Item {
			return nil
		}
	}
	return badRecord("it lacks the item that its series entry refers to: add that item")
}

// index writes the points of a record. It can be interrupted and repeated.
func (s *Store) index(ctx context.Context, manifest *Manifest) error {
	for _, point := range manifest.points() {
		if err := s.writeOnce(ctx, point.String(), point.content(), "text/plain"); err != nil {
			return fmt.Errorf("adding it to the series %q: %w", point.Series, err)
		}
	}
	return nil
}

// Index writes the points of a stored record, as Keep does.
func (s *Store) Index(ctx context.Context, kept StoredRecord) error {
	return s.index(ctx, kept.Manifest)
}

// Points returns the points of a series, or of all series of a namespace if the series is
// empty, sorted by time within each series. A changed experiment may have several points; its
// current record decides which is valid. The items are not read: use Get.
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
