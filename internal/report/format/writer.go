// SPDX-License-Identifier: Apache-2.0

package format

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// pageWriter writes a page's parts.
type pageWriter struct {
	// indexes of the series, which the page's script uses.
	indexes map[string]int
	// pictures means that pictures within texts are shown.
	pictures bool
}

// seriesData marks an element as part of a series, for the page's script.
func (w pageWriter) seriesData(series string) g.Node {
	at, known := w.indexes[series]
	if !known {
		return nil
	}
	return h.Data("arm", strconv.Itoa(at))
}
