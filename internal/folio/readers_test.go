// SPDX-License-Identifier: Apache-2.0

package folio_test

import (
	"testing"

	"perflab.dev/perflab/internal/folio"
)

func TestReadsFromReplica(t *testing.T) {
	cases := map[string]struct{ known, reads, database bool }{
		"mod-inventory-storage":     {known: true, reads: true, database: true},
		"mod-source-record-manager": {known: true, reads: true, database: true},
		"mod-source-record-storage": {known: true, database: true},
		"mod-search":                {known: true, database: true},
		"mod-inventory":             {known: true},
		"edge-patron":               {known: true},
		"gateway":                   {database: true},
	}
	for module, want := range cases {
		known, reads := folio.ReadsFromReplica(module)
		if known != want.known || reads != want.reads || folio.HasDatabase(module) != want.database {
			t.Errorf("%s: known %t, reads %t, database %t, want %+v", module, known, reads, folio.HasDatabase(module), want)
		}
	}
}
