// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
)

// tryInstall is helm install, and what it says.
func tryInstall(t *testing.T, namespace string, given values) error {
	t.Helper()
	installing := action.NewInstall(helm(t, namespace))
	installing.ReleaseName, installing.Namespace, installing.CreateNamespace, installing.TakeOwnership = "perflab", namespace, true, true
	_, err := installing.RunWithContext(t.Context(), loadChart(t), given)
	if err == nil {
		t.Cleanup(func() { uninstall(t, namespace) })
	}
	return err
}

// Two operators that watch a namespace would be in each other's way.
func TestNoTwoOperatorsWatchANamespace(t *testing.T) {
	const advice = "use that one, give both scope: Namespaced with a watchNamespace of its own, or uninstall it first"
	t.Run("beside one of the whole cluster", func(t *testing.T) {
		answered(t, "the first", tryInstall(t, home, nil), "")
		answered(t, "the second", tryInstall(t, "team-e", values{"scope": "Namespaced", "crds": values{"install": false}}),
			"PerfLab's operator in namespace perflab-system works in the whole cluster already")
		upgrading := action.NewUpgrade(helm(t, home))
		upgrading.Namespace = home
		_, err := upgrading.RunWithContext(t.Context(), "perflab", loadChart(t), nil)
		answered(t, "upgrading the first", err, "")
	})
	t.Run("beside one of a namespace", func(t *testing.T) {
		makeNamespace(t, administrator(t), "lab-e")
		watching := values{"scope": "Namespaced", "watchNamespace": "lab-e"}
		answered(t, "the first", tryInstall(t, "team-f", watching), "")
		err := tryInstall(t, "team-g", watching)
		answered(t, "the second of the namespace", err, "PerfLab's operator in namespace team-f works in namespace lab-e already")
		if err != nil && !strings.Contains(err.Error(), advice) {
			t.Errorf("nobody is told what to do: %v", err)
		}
		answered(t, "one of the whole cluster", tryInstall(t, home, nil), "PerfLab's operator in namespace team-f works in namespace lab-e already")
		answered(t, "one of another namespace", tryInstall(t, "team-g", values{"scope": "Namespaced", "crds": values{"install": false}}), "")
	})
}
