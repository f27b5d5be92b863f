// SPDX-License-Identifier: Apache-2.0

// Package format writes a document as HTML, Markdown, Confluence storage format and CSV.
package format

import (
	"fmt"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/report/elements"
)

// HTML writes a page as one self-contained file with styles, charts and scripts. It follows the
// reader's preference for light or dark, and prints. It is complete without its scripts. Insets
// are shown if pictures is true.
func HTML(page *document.Document, pictures bool) ([]byte, error) {
	indexes := map[string]int{}
	for i, one := range page.Series {
		indexes[one.Name] = i
	}
	written, err := elements.Bytes(pageWriter{indexes, pictures}.page(newView(page)))
	if err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return written, nil
}
