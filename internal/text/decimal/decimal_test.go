// SPDX-License-Identifier: Apache-2.0

package decimal_test

import (
	"math"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/decimal"
)

func TestFormat(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 1: "1", 0.1 + 0.2: "0.3", 1234567: "1234570", 123.456789: "123.457", -2.5: "-2.5",
		1e-7: "0.0000001", 1e15: "1000000000000000", 99.99999: "100",
	} {
		expect.Equal(t, want, decimal.Format(value), "%g is written", value)
	}
}

func TestParseReadsWhatFormatWrote(t *testing.T) {
	for _, value := range []float64{0, 1, -1, math.Pi, 1e-12, 123456, 6.02e23} {
		read, err := decimal.Parse(decimal.Format(value))
		if err != nil || math.Abs(read-value) > 1e-5*math.Abs(value) {
			t.Errorf("%g came back as %g (%v)", value, read, err)
		}
	}
	if _, err := decimal.Parse("many"); err == nil {
		t.Error(`"many" was read as a number`)
	}
}
