// SPDX-License-Identifier: Apache-2.0

package sqltext

import (
	"strings"
	"testing"
	"time"
)

// BenchmarkWithoutLiterals tells what a statement costs.
func BenchmarkWithoutLiterals(b *testing.B) {
	columns := strings.Repeat("t.some_column = $1 AND ", 20)
	for name, text := range map[string]string{
		"short":       `SELECT * FROM items WHERE id = $1`,
		"usual":       `SELECT t.id, t.jsonb FROM tenant_mod_inventory_storage.item t WHERE ` + columns + `t.jsonb->>'barcode' = $2 ORDER BY 1 LIMIT $3`,
		"utility":     `ALTER ROLE a PASSWORD 'hunter2'`,
		"unreadable":  `SELECT 'hunter2`,
		"longest":     `INSERT INTO t VALUES ($1)` + strings.Repeat(",($1)", (MaxText-30)/5),
		"not a query": strings.Repeat("a ", MaxText/2),
	} {
		b.Run(name, func(b *testing.B) {
			prepare()
			for b.Loop() {
				WithoutLiterals(text)
			}
		})
	}
}

// BenchmarkPrepare tells what making the parser ready takes. It is done once in
// a process, so the figures are right when it runs alone and once.
func BenchmarkPrepare(b *testing.B) {
	before, begin := memory(b, "VmHWM"), time.Now()
	prepare()
	took := time.Since(begin)
	for b.Loop() {
		prepare()
	}
	b.ReportMetric(took.Seconds(), "s-to-prepare")
	b.ReportMetric(memory(b, "VmHWM")-before, "MiB-at-most")
	b.ReportMetric(memory(b, "VmRSS")-before, "MiB-that-stay")
}
