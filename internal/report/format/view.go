// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"

	"perflab.dev/perflab/internal/report/document"
)

// view is a document with what only a page in a browser has: an address for each of
// its parts.
type view struct {
	document.Document
	// Sections stand for the document's.
	Sections []viewSection
}

type viewSection struct {
	document.Section
	// Blocks stand for the section's.
	Blocks []viewBlock
}

// viewBlock has the address of its heading or table; charts have their names.
type viewBlock struct {
	document.Block
	ID string
}

// large pages have so many tables and groups of charts that a browser had better lay
// them out only when they come near the screen.
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

// addresses that are taken, with how often they were asked for.
type addresses map[string]int

// addressedBlocks a section's blocks: made of the words above them, so that a link to a part
// stays good when another part comes or goes.
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

// take an address; a second of the same words gets a number.
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
