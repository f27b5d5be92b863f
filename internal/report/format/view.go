// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"

	"perflab.dev/perflab/internal/report/document"
)

// view is a document with what only a browser needs: an address for each of its parts.
type view struct {
	document.Document
	// Sections replace the document's.
	Sections []viewSection
}

type viewSection struct {
	document.Section
	// Blocks replace the section's.
	Blocks []viewBlock
}

// viewBlock has the address of its heading or table; charts use their names.
type viewBlock struct {
	document.Block
	ID string
}

// large is the number of tables and groups of charts from which a browser lays them out only near
// the screen.
const large = 150

// IsLarge reports whether the page is large.
func (v view) IsLarge() bool {
	parts := 0
	for _, section := range v.Sections {
		for _, block := range section.Blocks {
			if block.Table != nil || block.Charts != nil {
				parts++
			}
		}
	}
	return parts > large
}

func newView(page *document.Document) view {
	shown := view{Document: *page}
	taken := addresses{}
	for _, one := range page.Sections {
		shown.Sections = append(shown.Sections, viewSection{one, taken.addressedBlocks(one)})
	}
	return shown
}

// addresses counts the requests for each address.
type addresses map[string]int

// addressedBlocks derives addresses from the text above each block, so that links to a part stay
// valid if other parts are added or removed.
func (a addresses) addressedBlocks(one document.Section) []viewBlock {
	blocks := make([]viewBlock, 0, len(one.Blocks))
	under := one.ID
	for _, block := range one.Blocks {
		address := ""
		switch {
		case block.Heading != "":
			address = a.take(one.ID + "-" + document.Slug(block.Heading))
			under = address
		case block.Table != nil:
			address = a.take(under + "-" + document.Slug(block.Table.Caption))
		}
		blocks = append(blocks, viewBlock{block, address})
	}
	return blocks
}

// take reserves an address; a duplicate gets a number.
func (a addresses) take(address string) string {
	a[address]++
	for a[address] > 1 {
		numbered := fmt.Sprintf("%s-%d", address, a[address])
		if a[numbered] == 0 {
			a[numbered]++
			return numbered
		}
		a[address]++
	}
	return address
}
