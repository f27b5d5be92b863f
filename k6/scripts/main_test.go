// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"testing"

	"perflab.dev/perflab/k6/internal/k6test"
)

func TestMain(m *testing.M) { k6test.Main(m) }

// environment returns the operator's environment for every runner, and then a test's own.
func environment(baseURL string, own ...string) []string {
	return append([]string{
		"BASE_URL=" + baseURL, "TENANT=diku", "OKAPI_USERNAME=diku_admin", "OKAPI_PASSWORD=secret",
		"PERFLAB_LOAD=the-load", "PERFLAB_RUN=run-1", "SEED=7",
	}, own...)
}
