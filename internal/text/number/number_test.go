// SPDX-License-Identifier: Apache-2.0

package number_test

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"perflab.dev/perflab/internal/text/number"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]number.Number{
		"0": {0, 0}, "12": {12, 0}, "-12.50": {-12.5, 2}, "+3": {3, 0}, "−7.5": {-7.5, 1}, " 8 ": {8, 0}, ".5": {0.5, 1}, "5.": {5, 0}, "1.234": {1.234, 3},
		"106,5": {106.5, 1}, "0,125": {0.125, 3}, "1234,567": {1234.567, 3}, "1,2345": {1.2345, 4}, ",5": {0.5, 1},
		"1,234.5": {1234.5, 1}, "1.234,5": {1234.5, 1}, "1,234,567": {1234567, 0}, "1.234.567": {1234567, 0}, "1,234,567.125": {1234567.125, 3},
		"1 234": {1234, 0}, "1\u00a0234,567": {1234.567, 3}, "1\u202f234\u202f567": {1234567, 0}, "1’234.5": {1234.5, 1}, "12'345": {12345, 0}, "-1 234": {-1234, 0},
		"1.25e6": {1.25e6, -4}, "1.6E+12": {1.6e12, -11}, "1,6E+12": {1.6e12, -11}, "2e-3": {0.002, 3}, "1e3": {1000, -3},
	} {
		got, err := number.Parse(text)
		if err != nil || math.Abs(got.Value-want.Value) > 1e-9 || got.Decimals != want.Decimals {
			t.Errorf("%q is %+v, %v, want %+v", text, got, err, want)
		}
	}
}

// A text that is no number, or that is ambiguous, is rejected.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]error{
		"": number.ErrSyntax, "fast": number.ErrSyntax, "NaN": number.ErrSyntax, "Inf": number.ErrSyntax, "-": number.ErrSyntax, ".": number.ErrSyntax, "1e400": number.ErrSyntax,
		"0x10": number.ErrSyntax, "1_000": number.ErrSyntax, "1e": number.ErrSyntax, "e5": number.ErrSyntax, "1e2.5": number.ErrSyntax, "--1": number.ErrSyntax, "12 %": number.ErrSyntax,
		"12 34": number.ErrSyntax, "1234 567": number.ErrSyntax, "1,23,456": number.ErrSyntax, "1.2.3": number.ErrSyntax, "1,234.567.8": number.ErrSyntax, "1 234,567 8": number.ErrSyntax, "1,234 567": number.ErrSyntax,
		"1,234": number.ErrAmbiguous, "-101,500": number.ErrAmbiguous, "12,000": number.ErrAmbiguous,
	} {
		if got, err := number.Parse(text); !errors.Is(err, want) {
			t.Errorf("%q is %+v, %v, want %v", text, got, err, want)
		}
	}
}

// Numbers in Go's format are read unchanged.
func FuzzParse(f *testing.F) {
	f.Add("1.5")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := number.Parse(text)
		if err == nil && (math.IsNaN(got.Value) || math.IsInf(got.Value, 0)) {
			t.Errorf("%q is %g", text, got.Value)
		}
		again, err := number.Parse(strconv.FormatFloat(got.Value, 'g', -1, 64))
		if err != nil || again.Value != got.Value {
			t.Errorf("%g is %+v, %v", got.Value, again, err)
		}
	})
}
