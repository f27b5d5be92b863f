// SPDX-License-Identifier: Apache-2.0

package pgsettings_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/environment/pgsettings"
)

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		name, value string
		release     int
		want        string
	}{
		"a number":                  {"max_connections", "300", 18, ""},
		"a size":                    {"shared_buffers", "1GB", 18, ""},
		"a size with a space":       {"shared_buffers", " 512 MB ", 18, ""},
		"a size in blocks":          {"shared_buffers", "16384", 18, ""},
		"a fraction":                {"shared_buffers", "0.5GB", 18, ""},
		"hexadecimal":               {"max_connections", "0x100", 18, ""},
		"a time":                    {"statement_timeout", "30s", 18, ""},
		"a time in minutes":         {"checkpoint_timeout", "15min", 18, ""},
		"none":                      {"log_min_duration_statement", "-1", 18, ""},
		"capitals in a name":        {"Work_Mem", "4MB", 18, ""},
		"a name with capitals":      {"datestyle", "iso, dmy", 18, ""},
		"a real":                    {"random_page_cost", "1.1", 18, ""},
		"on":                        {"jit", "off", 18, ""},
		"cut short":                 {"jit", "T", 18, ""},
		"a value of several":        {"wal_level", "Replica", 18, ""},
		"on for one of several":     {"huge_pages", "true", 18, ""},
		"an extension's":            {"pg_stat_statements.max", "10000", 18, ""},
		"a text":                    {"log_line_prefix", "%m [%p] ", 18, ""},
		"an unknown release":        {"unknown_setting", "1", 19, ""},
		"a release of no image":     {"io_method", "worker", 0, ""},
		"Kubernetes' milli":         {"shared_buffers", "512m", 18, `"512m" has a unit that PostgreSQL does not accept for shared_buffers: write 512MB`},
		"Kubernetes' mebi":          {"work_mem", "64Mi", 18, "write 64MB"},
		"small letters":             {"work_mem", "4gb", 18, "write 4GB"},
		"a letter":                  {"maintenance_work_mem", "2G", 18, "write 2GB"},
		"minutes as Go":             {"checkpoint_timeout", "5m", 18, "write 5min"},
		"seconds in words":          {"statement_timeout", "30sec", 18, "write 30s"},
		"a unit of a number":        {"max_connections", "300MB", 18, "write 300 without a unit"},
		"a unit of another kind":    {"statement_timeout", "30MB", 18, "write 30min"},
		"a comma":                   {"random_page_cost", "1,1", 18, `"1,1" is not a number for random_page_cost: write 1.1`},
		"words":                     {"max_connections", "many", 18, `"many" is not a number for max_connections: write a number`},
		"nothing":                   {"work_mem", "", 18, `"" is not a number for work_mem: write a number, for example 64MB`},
		"too little":                {"shared_buffers", "64kB", 18, `"64kB" is out of the range of shared_buffers: write 16 to 1073741823 blocks of 8kB`},
		"too much":                  {"max_connections", "1000000", 18, "write 1 to 262143"},
		"no switch":                 {"jit", "enabled", 18, `"enabled" is not a value of jit: write on or off`},
		"o alone":                   {"jit", "o", 18, "write on or off"},
		"none of several":           {"wal_level", "full", 18, `"full" is not a value of wal_level: write one of minimal, replica, logical`},
		"a slip of the pen":         {"shared_buffer", "1GB", 18, "PostgreSQL has no parameter shared_buffer: did you mean shared_buffers?"},
		"an invention":              {"buffers_of_everything", "1GB", 18, "PostgreSQL has no parameter buffers_of_everything: correct its name"},
		"an invention, any release": {"buffers_of_everything", "1GB", 0, "correct its name"},
		"of an earlier release":     {"force_parallel_mode", "on", 18, "PostgreSQL 18 has no parameter force_parallel_mode, which exists only in 14 to 15: remove it"},
		"of a later release":        {"io_method", "worker", 16, "PostgreSQL 16 has no parameter io_method, which exists only in 18"},
		"read-only":                 {"block_size", "8192", 18, "block_size cannot be set in PostgreSQL"},
		"no name":                   {"work mem", "4MB", 18, `"work mem" is not a valid parameter name`},
		"two dots":                  {"a.b.c", "1", 18, `is not a valid parameter name`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := pgsettings.Check(tc.name, tc.value, tc.release)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestBytes(t *testing.T) {
	for value, want := range map[string]int64{"16384": 128 << 20, "4GB": 4 << 30, "0.5GB": 512 << 20, "512m": 0, "": 0} {
		if got, _ := pgsettings.Bytes("shared_buffers", value); got != want {
			t.Errorf("%s is %d bytes, want %d", value, got, want)
		}
	}
	if _, is := pgsettings.Bytes("max_connections", "100"); is {
		t.Error("connections are memory")
	}
	if bytes, is := pgsettings.Bytes("max_wal_size", "512"); !is || bytes != 512<<20 {
		t.Errorf("%d bytes", bytes)
	}
	if number, is := pgsettings.Number("max_connections", "100"); !is || number != 100 {
		t.Errorf("%g connections", number)
	}
	if _, is := pgsettings.Number("unknown_setting", "100"); is {
		t.Error("a number of nothing")
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("shared_buffers", "512m", 18)
	f.Add("random_page_cost", "1e308", 0)
	f.Add("work_mem", "0xfffffffffffffffff", 17)
	f.Fuzz(func(_ *testing.T, name, value string, release int) {
		_ = pgsettings.Check(name, value, release)
		pgsettings.Bytes(name, value)
	})
}
