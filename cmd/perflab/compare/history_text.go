// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/text/prose"
)

func writeHistory(sheet *console.Sheet, history *releases.History) {
	for i := range history.Series {
		writeSeries(sheet, &history.Series[i])
	}
	sheet.Line("")
	sheet.Line("%s.", history.FalsePositiveRate())
	for _, remark := range history.AllNotes() {
		sheet.Line("Note: %s", remark)
	}
}

func writeSeries(sheet *console.Sheet, series *releases.Series) {
	sheet.Title(fmt.Sprintf("%s in arm %s  %s", series.DisplayName(), series.Arm, sparkline(series.Points)))
	changes := map[int]*releases.Change{}
	for i := range series.Changes {
		changes[series.Changes[i].At] = &series.Changes[i]
	}
	rows := [][]string{{"release", "measured", "runs", series.Scale.CenterWord(), "95 % interval", "change"}}
	for i := range series.Points {
		point := &series.Points[i]
		changeText := ""
		if change := changes[i]; change != nil {
			changeText = fmt.Sprintf("%s %s", cmp.Or(string(change.Verdict), "changed"), console.WithUnit(console.FormatSigned(change.Delta), series.DeltaUnit()))
		}
		rows = append(rows, []string{
			point.Release, point.Time.UTC().Format(time.DateOnly), fmt.Sprint(len(point.Values)),
			console.WithUnit(console.FormatRounded(point.Center), series.Unit), formatRange(point.Low, point.High), changeText,
		})
	}
	sheet.Rows(rows, "95 % interval", "runs")
	for i := range series.Changes {
		writeChange(sheet, series, &series.Changes[i])
	}
}

func formatRange(low, high float64) string {
	if math.IsNaN(low) {
		return "-"
	}
	return console.FormatRounded(low) + " to " + console.FormatRounded(high)
}

// writeChange describes a change and the differences at it.
func writeChange(sheet *console.Sheet, series *releases.Series, change *releases.Change) {
	sheet.Line("")
	verdictText := cmp.Or(string(change.Verdict), verdict.NoDirectionReason)
	if change.Verdict == verdict.Equivalent {
		verdictText = "within the margin"
	}
	sheet.Line("%s: %s.", series.Sentence(change), verdictText)
	if len(change.Differences) == 0 {
		sheet.Line("No recorded differences.")
		return
	}
	sheet.Line("%s:", prose.Counted(len(change.Differences), "recorded difference"))
	if sheet.Markdown {
		sheet.Line("")
	}
	for _, difference := range change.Differences {
		sheet.Line("- %s", difference)
	}
}

// sparkline draws the centers, one character each, from the lowest to the highest.
func sparkline(points []releases.Point) string {
	steps := []rune("▁▂▃▄▅▆▇█")
	low, high := math.Inf(1), math.Inf(-1)
	for i := range points {
		low, high = math.Min(low, points[i].Center), math.Max(high, points[i].Center)
	}
	var drawn strings.Builder
	for i := range points {
		at := 0
		if high > low {
			at = int((points[i].Center-low)/(high-low)*float64(len(steps)-1) + 0.5)
		}
		drawn.WriteRune(steps[at])
	}
	return drawn.String()
}

type pointJSON struct {
	Release    string    `json:"release"`
	Namespace  string    `json:"namespace"`
	Experiment string    `json:"experiment"`
	Measured   time.Time `json:"measured"`
	Values     []float64 `json:"values"`
	Center     *float64  `json:"center"`
	Low        *float64  `json:"low"`
	High       *float64  `json:"high"`
}

type changeJSON struct {
	From        string          `json:"from"`
	To          string          `json:"to"`
	Delta       *float64        `json:"delta"`
	Low         *float64        `json:"low"`
	High        *float64        `json:"high"`
	PValue      *float64        `json:"pValue"`
	Verdict     verdict.Verdict `json:"verdict"`
	Differences []string        `json:"differences"`
}

type seriesJSON struct {
	Scenario string       `json:"scenario"`
	Metric   string       `json:"metric"`
	Unit     string       `json:"unit"`
	Arm      string       `json:"arm"`
	Scale    string       `json:"scale"`
	Points   []pointJSON  `json:"points"`
	Changes  []changeJSON `json:"changes"`
}

func writeHistoryJSON(out io.Writer, history *releases.History) error {
	all := make([]seriesJSON, 0, len(history.Series))
	for i := range history.Series {
		series := &history.Series[i]
		made := seriesJSON{
			Scenario: series.Scenario, Metric: metric.Plain(series.Metric), Unit: series.Unit, Arm: series.Arm, Scale: string(series.Scale),
			Points: []pointJSON{}, Changes: []changeJSON{},
		}
		for j := range series.Points {
			point := &series.Points[j]
			made.Points = append(made.Points, pointJSON{
				Release: point.Release, Namespace: point.Namespace, Experiment: point.Experiment, Measured: point.Time.UTC(),
				Values: point.Values, Center: finiteOrNil(point.Center), Low: finiteOrNil(point.Low), High: finiteOrNil(point.High),
			})
		}
		for j := range series.Changes {
			change := &series.Changes[j]
			made.Changes = append(made.Changes, changeJSON{
				From: series.Points[change.At-1].Release, To: series.Points[change.At].Release,
				Delta: finiteOrNil(change.Delta), Low: finiteOrNil(change.Low), High: finiteOrNil(change.High), PValue: finiteOrNil(change.P),
				Verdict: change.Verdict, Differences: append([]string{}, change.Differences...),
			})
		}
		all = append(all, made)
	}
	return console.Encode(out, struct {
		ErrorRatePercent float64      `json:"errorRatePercent"`
		Analyses         int          `json:"analyses"`
		Series           []seriesJSON `json:"series"`
		Notes            []string     `json:"notes"`
	}{history.ErrorRatePercent, history.Analyses, all, append([]string{}, history.Notes...)})
}
