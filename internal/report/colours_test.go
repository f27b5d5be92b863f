// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
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
		expect.NoError(t, err)
	}
	if read == 0 {
		t.Fatal("there is no chart to look at")
	}
}

// A picture on its own has its title above the chart.
func TestChartsOnTheirOwnHaveTheirTitles(t *testing.T) {
	charts := reportOf(t, recorded.Experiment(seed)).Charts()
	above := regexp.MustCompile(`viewBox="0 -(\d+) `)
	words := regexp.MustCompile(`<text x="4" y="-(\d+)" style="font-size:12px;font-weight:bold;[^>]*>([^<]+)</text>`)
	for name, svg := range charts {
		room, lines := above.FindSubmatch(svg), words.FindAllSubmatch(svg, -1)
		if room == nil || len(lines) == 0 {
			t.Errorf("%s has no title", name)
			continue
		}
		top, _ := strconv.Atoi(string(room[1]))
		for _, line := range lines {
			if up, _ := strconv.Atoi(string(line[1])); up >= top || up <= 0 || len([]rune(string(line[2]))) > 80 {
				t.Errorf("%s: the line %q stands at -%d of -%d", name, line[2], up, top)
			}
		}
	}
	if len(charts) < 10 {
		t.Errorf("only %d charts", len(charts))
	}
}
