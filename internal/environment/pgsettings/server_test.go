// SPDX-License-Identifier: Apache-2.0

package pgsettings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"perflab.dev/perflab/internal/environment/pgsettings"
)

// servers returns the PostgreSQL installations of this machine.
func servers(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skip("there is no postgres to ask")
	}
	return found
}

func releaseOf(t *testing.T, server string) int {
	t.Helper()
	said, err := exec.Command(server, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	release, err := strconv.Atoi(string(regexp.MustCompile(`[0-9]+`).Find(said)))
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// Check accepts a parameter exactly if PostgreSQL does.
func TestCheckMatchesPostgreSQL(t *testing.T) {
	values := map[string][]string{
		"shared_buffers":              {"1GB", "0.5GB", " 512 MB ", "16384", "512m", "512Mi", "1gb", "64kB", "-1", "1e4", "0x4000", "many", "", "1.5", "128MBB", "1,000"},
		"work_mem":                    {"4MB", "64", "63", "4194304B", "3TB", "+64MB", "1 TB", "4MiB"},
		"max_connections":             {"300", "0", "300MB", "200000", "262144", "100.4", "0x100", "1e2", "3 00"},
		"wal_buffers":                 {"-1", "-2", "16MB", "2GB", "3GB"},
		"statement_timeout":           {"30s", "30sec", "30", "5min", "5m", "1h", "1d", "0", "-1", "500us", "1500us"},
		"checkpoint_timeout":          {"15min", "29s", "30s", "2d", "90000", "15m"},
		"log_min_duration_statement":  {"-1", "0", "250ms", "-2"},
		"random_page_cost":            {"1.1", "4", "-1", "1e308", "1.1ms", "nan"},
		"vacuum_cost_delay":           {"2ms", "0.5", "2000us", "101", "1s"},
		"jit":                         {"on", "off", "of", "o", "t", "TRUE", "y", "1", "2", "enabled", ""},
		"wal_level":                   {"replica", "LOGICAL", "full", "archive", "on"},
		"huge_pages":                  {"try", "true", "0", "perhaps"},
		"synchronous_commit":          {"remote_apply", "on", "false", "remote"},
		"client_min_messages":         {"notice", "debug", "debug3", "info", "panic"},
		"autovacuum_vacuum_threshold": {"50", "50.6", "fifty"},
		"shared_buffer":               {"1GB"},
		"io_method":                   {"worker"},
		"force_parallel_mode":         {"on"},
		"unknown_setting":             {"1"},
		"block_size":                  {"8192"},
		"Work_Mem":                    {"4MB"},
		"an_extension.setting":        {"1"},
	}
	for _, server := range servers(t) {
		release := releaseOf(t, server)
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, "postgresql.conf"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for name, all := range values {
			for _, value := range all {
				said, refused := exec.Command(server, "-C", "port", "-D", data, "-c", name+"="+value).CombinedOutput()
				if err := pgsettings.Check(name, value, release); (err == nil) != (refused == nil) {
					t.Errorf("PostgreSQL %d with %s = %q: %v, and it says %s", release, name, value, err, said)
				}
			}
		}
	}
}
