// SPDX-License-Identifier: AGPL-3.0-only

// Package jsmodule lets k6 scripts generate MARC files. It registers the module
// "k6/x/perflab/marc".
//
//	import marc from 'k6/x/perflab/marc';
//	const file = marc.file({ kind: 'Bibliographic', seed: '1', run: 'r', import: 1, records: 100000 });
//	for (let part = file.next(5 << 20); part; part = file.next(5 << 20)) …   // or file.rest()
//
// Parts are ArrayBuffers of whole records. Only the script holds them.
package jsmodule

import (
	"bytes"
	"errors"

	"github.com/grafana/sobek"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"

	"perflab.dev/perflab/k6/marc"
)

func init() { modules.Register("k6/x/perflab/marc", module{}) }

type module struct{}

// NewModuleInstance returns an instance per user.
func (module) NewModuleInstance(vu modules.VU) modules.Instance { return &instance{vu} }

type instance struct{ vu modules.VU }

// Exports returns what a script can import.
func (i *instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{
		"file": i.file, "count": i.count, "maxRecords": marc.MaxRecords, "maxImports": marc.MaxImports,
	}}
}

// order is marc.Options as an object of a script.
type order struct {
	Kind      string   `js:"kind"`
	Seed      string   `js:"seed"`
	Run       string   `js:"run"`
	Import    int      `js:"import"`
	Records   int      `js:"records"`
	Instances []string `js:"instances"`
	Location  string   `js:"location"`
}

func (i *instance) file(wanted sobek.Value) *file {
	runtime := i.vu.Runtime()
	var o order
	if common.IsNullish(wanted) {
		common.Throw(runtime, errors.New("marc.file needs an object with the options of the file"))
	}
	if err := runtime.ExportTo(wanted, &o); err != nil {
		common.Throw(runtime, err)
	}
	made, err := marc.NewFile(marc.Options{
		Kind: marc.Kind(o.Kind), Seed: o.Seed, Run: o.Run, Import: o.Import, Records: o.Records,
		Instances: o.Instances, Location: o.Location,
	})
	if err != nil {
		common.Throw(runtime, err)
	}
	return &file{vu: i.vu, made: made}
}

// count counts the records of a file by their terminators.
func (i *instance) count(file sobek.ArrayBuffer) int {
	return bytes.Count(file.Bytes(), []byte{marc.RecordEnd})
}

// file is the object that marc.file returns.
type file struct {
	vu   modules.VU
	made *marc.File
}

// slack is space for the last record of a part.
const slack = 8 << 10

// Next returns the next part, or null after the end of the file. A part has at least this many
// bytes, except the last one.
func (f *file) Next(atLeast int) sobek.Value {
	if atLeast < 1 {
		common.Throw(f.vu.Runtime(), errors.New("a part of a MARC file needs at least 1 byte"))
	}
	return f.buffer(f.made.Next(make([]byte, 0, atLeast+slack), atLeast))
}

// Rest returns the rest of the file, or null.
func (f *file) Rest() sobek.Value { return f.buffer(f.made.Rest()) }

func (f *file) buffer(part []byte) sobek.Value {
	if len(part) == 0 {
		return sobek.Null()
	}
	return f.vu.Runtime().ToValue(f.vu.Runtime().NewArrayBuffer(part))
}
