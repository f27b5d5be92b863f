// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/testing/expect"
)

// onPath puts stubs of helm and kubectl first on the PATH. They log their arguments and exit with
// the code.
func onPath(t *testing.T, exitCode string) (log string) {
	t.Helper()
	directory := t.TempDir()
	log = filepath.Join(directory, "log")
	for _, program := range []string{"helm", "kubectl"} {
		script := "#!/bin/sh\necho " + program + " \"$@\" >> " + log + "\nexit " + exitCode + "\n"
		expect.NoError(t, os.WriteFile(filepath.Join(directory, program), []byte(script), 0o700)) //nolint:gosec // A program.
	}
	t.Setenv("PATH", directory+":"+os.Getenv("PATH"))
	return log
}

// The commands are those of the tested versions, for the same cluster. Nothing runs without --run.
func TestDoctorFix(t *testing.T) {
	lab := measured(t)
	log := onPath(t, "0")
	lab.must(t, "", "doctor", "--fix").shows(
		"# k6-operator 1.6.0\nhelm upgrade --install k6-operator k6-operator --repo https://grafana.github.io/helm-charts --version 4.6.0 --namespace k6-operator-system --create-namespace --set namespace.create=false --kubeconfig "+lab.kubeconfig+"\n",
		"# Strimzi 1.2.0\nhelm upgrade --install strimzi strimzi-kafka-operator --repo https://strimzi.io/charts/ --version 1.2.0",
		"# CloudNativePG 1.30.0\nhelm upgrade --install cloudnative-pg cloudnative-pg --repo https://cloudnative-pg.github.io/charts --version 0.29.0",
		"# metrics-server 0.9.0\nkubectl apply --server-side -f https://github.com/kubernetes-sigs/metrics-server/releases/download/v0.9.0/components.yaml --kubeconfig "+lab.kubeconfig+"\n",
	)
	if _, err := os.Stat(log); err == nil {
		t.Error("commands ran without --run")
	}
	printed := lab.must(t, "", "doctor", "--fix=k6-operator,metrics-server", "--run")
	ran, err := os.ReadFile(log)
	expect.NoError(t, err)
	var commands []string
	for line := range strings.Lines(printed.out) {
		if !strings.HasPrefix(line, "#") {
			commands = append(commands, line)
		}
	}
	expect.Equal(t, strings.Join(commands, ""), string(ran), "commands that ran")
	if len(commands) != 2 {
		t.Errorf("%d commands, want those of k6-operator and metrics-server: %q", len(commands), commands)
	}
}

func TestDoctorFixFails(t *testing.T) {
	lab := measured(t)
	onPath(t, "3")
	for want, arguments := range map[string][]string{
		"installing k6-operator: helm: exit status 3": {"--fix=k6-operator", "--run"},
		"--run needs --fix":                           {"--run"},
		`unknown component "kafka"`:                   {"--fix=kafka"},
		"--fix prints commands":                       {"--fix", "-o", "json"},
	} {
		lab.perflab(t, "", append([]string{"doctor"}, arguments...)...).ends(exit.Failed).warns(want)
	}
}
