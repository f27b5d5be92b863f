// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"

	"perflab.dev/perflab/internal/inference/changepoint"
)

//go:embed otava.py
var otavaScript string

// otavaDefault is the default p-value below which Apache Otava reports a change.
const otavaDefault = 0.001

// otavas returns Apache Otava with its default p-value, and with the p-value at which at most
// one in twenty histories without a change has a false positive. It returns none if Otava is
// not installed.
func (s *suite) otavas(count int) ([]rival, error) {
	if s.python == "" {
		_, err := fmt.Fprintln(s.out, "\nNot compared to Apache Otava: make bench-stats installs it; -python sets a Python that has it")
		return nil, err
	}
	rivals := []rival{{fmt.Sprintf("Otava, p %g", otavaDefault), s.otava(otavaDefault)}}
	// The tables use other histories than this calibration.
	points, _ := course{noise: normal, points: 24}.histories(count, s.seed<<16)
	for _, p := range []float64{0.01, 0.005, 0.002, 0.0005, 0.0002, 0.0001, 0.00005} {
		places, err := s.otava(p)(points)
		if err != nil {
			return nil, err
		}
		alarms := 0
		for i := range places {
			if len(places[i]) > 0 {
				alarms++
			}
		}
		if float64(alarms) <= alpha*float64(count) {
			return append(rivals, rival{fmt.Sprintf("Otava, p %g", p), s.otava(p)}), nil
		}
	}
	return rivals, nil
}

// otava passes only the means of points, because Otava does not support several runs per point.
func (s *suite) otava(p float64) procedure {
	return func(histories [][]changepoint.Point) ([][]int, error) {
		input := struct {
			P      float64     `json:"p"`
			Series [][]float64 `json:"series"`
		}{P: p}
		for _, history := range histories {
			means := make([]float64, len(history))
			for i, point := range history {
				for _, value := range point.Values {
					means[i] += value / float64(len(point.Values))
				}
			}
			input.Series = append(input.Series, means)
		}
		text, err := json.Marshal(input)
		if err != nil {
			return nil, err
		}
		command := exec.Command(s.python, "-c", otavaScript)
		command.Stdin = bytes.NewReader(text)
		var reported bytes.Buffer
		command.Stderr = &reported
		answer, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("running Apache Otava: %w\n%s", err, reported.String())
		}
		var places [][]int
		if err := json.Unmarshal(answer, &places); err != nil {
			return nil, fmt.Errorf("reading Apache Otava's output: %w", err)
		}
		return places, nil
	}
}
