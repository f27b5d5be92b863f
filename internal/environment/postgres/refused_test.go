// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/internal/testing/crds"
)

// listed returns the quoted texts of a list in CloudNativePG's source.
func listed(t *testing.T, file, list, entry string) []string {
	t.Helper()
	// The definitions are in config/crd/bases of the module.
	source, err := os.ReadFile(filepath.Join(crds.CloudNativePG(t), "..", "..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(list).FindSubmatch(source)
	if found == nil {
		t.Fatalf("%s has no list %s", file, list)
	}
	var names []string
	for _, parts := range regexp.MustCompile(entry).FindAllSubmatch(found[1], -1) {
		names = append(names, string(parts[1]))
	}
	slices.Sort(names)
	return names
}

func TestRefusedParametersMatchCloudNativePG(t *testing.T) {
	want := listed(t, "pkg/postgres/configuration.go", `(?s)FixedConfigurationParameters = map\[string\]string\{(.*?)\n\t\}`, `(?m)^\t\t"([^"]+)":`)
	if diff := cmp.Diff(want, fixed); diff != "" {
		t.Errorf("fixed parameters (-CloudNativePG +known):\n%s", diff)
	}
	want = listed(t, "internal/webhook/v1/pooler_webhook.go", `(?s)AllowedPgbouncerGenericConfigurationParameters = stringset.From\(\[\]string\{(.*?)\}\)`, `"([^"]+)"`)
	if diff := cmp.Diff(want, pooled); diff != "" {
		t.Errorf("parameters of PgBouncer (-CloudNativePG +known):\n%s", diff)
	}
}

func TestFaults(t *testing.T) {
	for _, tc := range []struct{ name, value, want string }{
		{"work_mem", "4MB", ""},
		{"port", "5433", "CloudNativePG sets port itself: remove it"},
		{"archive_mode", "on", ""},
		{"archive_mode", "off", "CloudNativePG sets archive_mode itself: remove it"},
	} {
		if got := ParameterFault(tc.name, tc.value); got != tc.want {
			t.Errorf("%s = %s: %q, want %q", tc.name, tc.value, got, tc.want)
		}
	}
	for name, want := range map[string]string{
		"default_pool_size": "", "default_pool_sizes": "CloudNativePG does not support it for PgBouncer: did you mean default_pool_size?",
		"listen_port": "CloudNativePG does not support it for PgBouncer: remove it",
	} {
		if got := PoolerFault(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
