// SPDX-License-Identifier: AGPL-3.0-only

// Package marc generates MARC 21 files for imports: bibliographic, holdings and authority
// records in ISO 2709, as UTF-8. It generates a file in parts while it is read, so that its
// size does not matter.
//
// The content of a record is a function of the file's seed, its run and the record's
// number. Imports of one run differ only by their keys, so that each is the same work. Keys
// are unique across runs, imports and records.
package marc

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// Kind is the kind of a file's records.
type Kind string

// The kinds of records.
const (
	Bibliographic Kind = "Bibliographic"
	Holdings      Kind = "Holdings"
	Authority     Kind = "Authority"
)

// Limits of the keys.
const (
	MaxRecords = 999_999
	MaxImports = 999
)

// perInstance is the number of consecutive holdings records per instance, as in the files
// of FOLIO's performance team.
const perInstance = 1000

// Options are the properties of a file.
type Options struct {
	Kind      Kind
	Seed, Run string
	Import    int // from 1
	Records   int

	// Instances are HRIDs and Location is the code of a location, for holdings records.
	// Instances repeat if there are too few.
	Instances []string
	Location  string
}

// File is a MARC file that is generated while it is read.
type File struct {
	order  Options
	made   int
	run    string // digits of all keys of the run
	seed   uint64
	pcg    *rand.PCG
	words  words
	record record
	write  func(n int)
	status status
}

// NewFile validates the options; it generates nothing yet.
func NewFile(order Options) (*File, error) {
	if order.Records < 1 || order.Records > MaxRecords {
		return nil, fmt.Errorf("a MARC file of %d records: it can have 1 to %d", order.Records, MaxRecords)
	}
	if order.Import < 1 || order.Import > MaxImports {
		return nil, fmt.Errorf("a MARC file for import %d: imports are numbered 1 to %d", order.Import, MaxImports)
	}
	f := &File{order: order, seed: hash(order.Seed + "/" + order.Run), pcg: rand.NewPCG(0, 0)}
	f.run = fmt.Sprintf("%014d", hash(order.Run)%uint64(power(14)))
	f.words = words{rand.New(f.pcg)}
	switch order.Kind {
	case Bibliographic:
		f.status, f.write = status{"cam a", " a "}, f.bibliographic
	case Authority:
		f.status, f.write = status{"nz  a", "n  "}, f.authority
	case Holdings:
		if len(order.Instances) == 0 || order.Location == "" {
			return nil, fmt.Errorf("a MARC file of holdings needs the HRID of an instance and the code of a location")
		}
		f.status, f.write = status{"nx  a", "4n "}, f.holdings
	default:
		return nil, fmt.Errorf("a MARC file of kind %q: it can be %s, %s or %s", order.Kind, Bibliographic, Holdings, Authority)
	}
	return f, nil
}

// Next appends whole records to a part until it has at least this many bytes or the file
// ends. An empty part means the end.
func (f *File) Next(part []byte, atLeast int) []byte {
	for f.made < f.order.Records && len(part) < atLeast {
		f.made++
		part = f.append(part, f.made)
	}
	return part
}

// Rest returns all remaining records.
func (f *File) Rest() []byte {
	const sample = 1000
	var file []byte
	for range min(sample, f.order.Records-f.made) {
		f.made++
		file = f.append(file, f.made)
	}
	// Growing by doubling would temporarily need three times the size.
	left := f.order.Records - f.made
	whole := make([]byte, 0, len(file)+left*(len(file)/sample+len(file)/sample/16+1))
	return f.Next(append(whole, file...), int(^uint(0)>>1))
}

func (f *File) append(to []byte, n int) []byte {
	// The seeds are far apart, because generators with adjacent seeds start with similar numbers.
	f.pcg.Seed(f.seed, uint64(n)*0x9e3779b97f4a7c15)
	f.record.reset()
	f.write(n)
	return f.record.appendTo(to, f.status)
}

// key returns the key of a record: the numbers of its run, its import and the record.
func (f *File) key(n int) string {
	key := make([]byte, 0, 23)
	key = digits(append(key, f.run...), f.order.Import, 3)
	return string(digits(key, n, 6))
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}
