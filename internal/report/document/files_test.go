// SPDX-License-Identifier: Apache-2.0

package document_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/testing/expect"
)

// No two charts have the same file, even if a file system ignores case.
func TestChartsHaveDistinctFiles(t *testing.T) {
	var all []document.Chart
	for _, name := range []string{"runs-a-b/c", "runs-a/b-c", "runs-A/b-c", "runs-a/d"} {
		all = append(all, document.Chart{}.Named(name))
	}
	page := document.Document{Sections: []document.Section{{Blocks: []document.Block{{Charts: all}}}}}
	page.Finish()
	expect.Equal(t, "runs-a-d", all[3].Name)
	distinct := map[string]bool{}
	for _, one := range all {
		distinct[strings.ToLower(one.Name)] = true
	}
	expect.Equal(t, len(all), len(distinct), "%v", all)
}
