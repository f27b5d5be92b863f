// SPDX-License-Identifier: Apache-2.0

package payload

// sampleMerge adds samples to a sum. It indexes the content of the sum, so that the time of an
// addition depends only on the size of the added samples.
type sampleMerge struct {
	sum        *Samples
	series     seriesIndex
	containers map[[2]string]int
	nodes      map[string]int
	failures   map[string]int
	notes      map[string]bool
}

func newSampleMerge(sum *Samples) sampleMerge {
	return sampleMerge{
		sum: sum, series: newSeriesIndex(sum), containers: map[[2]string]int{}, nodes: map[string]int{},
		failures: map[string]int{}, notes: map[string]bool{},
	}
}

func (m sampleMerge) add(part *Samples) {
	for _, own := range part.Series {
		into := m.series.get(own.Component, own.Instance, own.Resource, own.Unit)
		into.Points = append(into.Points, own.Points...)
		into.Reach = max(into.Reach, own.Reach)
	}
	for _, container := range part.Containers {
		*findIndex(m.containers, [2]string{container.Component, container.Instance}, &m.sum.Containers) = container
	}
	for _, node := range part.Nodes {
		findIndex(m.nodes, node.Name, &m.sum.Nodes).add(node)
	}
	for _, failure := range part.Failures {
		if len(failure.At) == 0 {
			continue
		}
		into := findIndex(m.failures, failure.Source, &m.sum.Failures)
		into.Source, into.Message = failure.Source, shortened(failure.Message)
		into.At = append(into.At, failure.At...)
	}
	m.sum.Ends = append(m.sum.Ends, part.Ends...)
	m.sum.Statements = append(m.sum.Statements, part.Statements...)
	for id, text := range part.Texts {
		m.sum.SetText(id, text)
	}
	for _, note := range part.Notes {
		if note = shortened(note); !m.notes[note] {
			m.notes[note] = true
			m.sum.Notes = append(m.sum.Notes, note)
		}
	}
}

// findIndex returns the element of a list that has a key, and appends it if it is new. The result
// is valid until the next call.
func findIndex[K comparable, V any](places map[K]int, key K, list *[]V) *V {
	at, known := places[key]
	if !known {
		at = len(*list)
		places[key] = at
		var added V
		*list = append(*list, added)
	}
	return &(*list)[at]
}
