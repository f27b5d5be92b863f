// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A colour without opacity has no hexadecimal form: the canvas wrote a negative number.
func TestNoChartHasANegativeColour(t *testing.T) {
	read := 0
	for _, folder := range []string{"testdata", "../../docs/examples"} {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || (!strings.HasSuffix(path, ".svg") && !strings.HasSuffix(path, ".html")) {
				return err
			}
			text, err := os.ReadFile(path)
			read++
			if strings.Contains(string(text), ":#-8") {
				t.Errorf("%s has a colour that is none", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read == 0 {
		t.Fatal("there is no chart to look at")
	}
}
