// SPDX-License-Identifier: Apache-2.0

package repair_test

import (
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/internal/planning/repair"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestRepairs(t *testing.T) {
	for name, test := range map[string]struct {
		repair func(string) string
		cases  map[string]string
	}{
		"a duration": {repair.Duration, map[string]string{
			"15": "15s", "0": "0s", "1.5": "1.5s", "15sec": "15s", "15 s": "15s", "15S": "15s", " 15s": "15s", "15 seconds": "15s", "300ms": "", "300 msec": "300ms",
			"5min": "5m", "5 M": "5m", "5 mins": "5m", "1 minute": "1m", "2hrs": "2h", "1 hour": "1h", "1,5h": "1.5h",
			"1d": "24h", "0.5d": "12h", "2 days": "48h", "1w": "168h", "1d12h": "36h", "1w 2d": "216h", "1h30": "1h30m", "1m30": "1m30s", "1h 30m": "1h30m", "1 hour and 30 minutes": "1h30m", "1h, 30m": "1h30m",
			"PT5M": "5m", "P1DT2H": "26h", "PT1H30M5S": "1h30m5s",
			"": "", "s": "", "five": "", "-5s": "", "5y": "", "5us": "", "P": "", "1:30": "", "15s": "", "1h30m": "",
		}},
		"bytes": {repair.Bytes, map[string]string{
			"512": "512Mi", "512MB": "512Mi", "512m": "512Mi", "512M": "512Mi", "512mb": "512Mi", "512MiB": "512Mi", "512 Mi": "512Mi", "512mi": "512Mi", "512 megabytes": "512Mi",
			"4gb": "4Gi", "1,5Gi": "1.5Gi", "1.5 GB": "1.5Gi", "1.5": "1.5Gi", "64kb": "64Ki", "1TB": "1Ti", "1024 bytes": "1024", "512Mi": "", "half": "", "": "", "-1Gi": "", "5%": "",
		}},
		"cores": {repair.Cores, map[string]string{
			"0.5": "500m", "1,5": "1500m", "1.0": "1", "1core": "1", "2 cores": "2", "2vCPU": "2", "500M": "500m", "500 m": "500m", "500milli": "500m", "500 millicores": "500m", "50%": "500m", "150 %": "1500m", "0.1": "100m", "0.3": "300m",
			"2": "", "500m": "", "half": "", "": "", "1Gi": "",
		}},
		"a whole number": {repair.Whole, map[string]string{
			"5": "5", "5%": "5", "5 %": "5", "5 percent": "5", "5.0": "5", "1,000": "1000", "1 000 000": "1000000", "1_000": "1000", "5k": "5000", "100 K": "100000", "5.5": "", "five": "", "": "", "-5": "",
		}},
		"seconds": {repair.Seconds, map[string]string{"1h": "3600", "1h30m": "5400", "2 days": "172800", "30s": "30", "90": "90", "500ms": "", "soon": "", "-1h": ""}},
		"percent": {repair.Percent, map[string]string{"5%": "5", "0.05": "5", "0,05": "5", "0.055": "", "0.1": "10", "5": "5", "1.5": "", "five": ""}},
		"a number": {repair.Number, map[string]string{
			"2,5": "2.5", "2.5%": "2.5", "5 percent": "5", "5": "", "1,000": "1000", "1,00": "1.00", "1,000,000": "1000000", "many": "", "": "",
		}},
		"true or false": {repair.Bool, map[string]string{"yes": "true", "On": "true", "true": "true", "1": "true", "no": "false", "FALSE": "false", "maybe": "", "": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			for written, want := range test.cases {
				expect.Equal(t, want, test.repair(written), "instead of %q", written)
			}
		})
	}
}

// The API accepts every suggestion, which leads to no further one.
func FuzzRepairs(f *testing.F) {
	for _, text := range []string{"15", "PT5M", "1h30", "1d", "512MB", "1,5 GB", "50%", "0.05", "1,000", "1 hour and 30 minutes"} {
		f.Add(text)
	}
	duration := regexp.MustCompile(`^([0-9]+([.][0-9]+)?(ms|s|m|h))+$`)
	f.Fuzz(func(t *testing.T, text string) {
		if made := repair.Duration(text); made != "" && (!duration.MatchString(made) || repair.Duration(made) != "") {
			t.Errorf("instead of the duration %q: %q", text, made)
		}
		for _, of := range []func(string) string{repair.Bytes, repair.Cores} {
			if made := of(text); made != "" {
				_, err := resource.ParseQuantity(made)
				expect.NoError(t, err, "instead of %q: %q", text, made)
			}
		}
	})
}
