//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// assertImport imports an experiment's results into another namespace with the command
// line. It checks that the report is the same, and that the operator, which restarts
// meanwhile, builds nothing for it.
func assertImport(ctx context.Context, t *testing.T, experiment *v1alpha1.PerfExperiment) {
	t.Helper()
	perflab, elsewhere := commandLine(t), namespace(t)
	exported := filepath.Join(t.TempDir(), "small.yaml")
	recorded := perflab.must(t, "export", experiment.Name, "-n", experiment.Namespace)
	expect.NoError(t, os.WriteFile(exported, []byte(recorded), 0o600))
	perflab.must(t, "import", "-f", exported, "-n", elsewhere)

	killOperator(ctx, t)
	awaitOperator(ctx, t, elsewhere)
	record := experiment.DeepCopy()
	record.Namespace = elsewhere
	if phase := get(ctx, t, record).Status.Phase; phase != v1alpha1.ExperimentComplete {
		t.Errorf("the record is %s", phase)
	}
	built := &appsv1.DeploymentList{}
	expect.NoError(t, cluster.List(ctx, built, client.InNamespace(elsewhere)))
	if len(built.Items) > 0 {
		t.Errorf("the operator built %d Deployments for a record", len(built.Items))
	}
	reported := perflab.must(t, "report", experiment.Name, "-n", elsewhere, "-o", "html")
	if diff := cmp.Diff(perflab.must(t, "report", "-f", exported, "-o", "html"), reported); diff != "" {
		t.Errorf("the report of the record (-file +cluster):\n%s", diff)
	}

	// Two blocks are too few to calibrate.
	_, err := perflab.run(ctx, "compare", experiment.Namespace+"/"+experiment.Name, elsewhere+"/"+experiment.Name)
	if exit := (&exec.ExitError{}); !errors.As(err, &exit) || exit.ExitCode() != 5 {
		t.Errorf("comparing the experiment with its record: %v, want exit code 5", err)
	}
}

// awaitOperator waits until the operator has reconciled the objects of a namespace: it
// creates an experiment last and waits for its status. Until the operator responds, the API
// server rejects the experiment.
func awaitOperator(ctx context.Context, t *testing.T, namespace string) {
	t.Helper()
	last := &v1alpha1.PerfExperiment{}
	for _, object := range objects(t, "testdata/experiment.yaml") {
		if object.GetKind() == "PerfExperiment" {
			last = typed(t, object)
		}
	}
	last.Namespace, last.Name, last.Spec.Suspend = namespace, "last", true
	await.Until(ctx, t, 2*time.Minute, "the operator to answer", func() (bool, string) {
		err := cluster.Create(ctx, last)
		return err == nil, fmt.Sprint(err)
	})
	await.Until(ctx, t, time.Minute, "the operator to reconcile the last experiment", func() (bool, string) {
		phase := get(ctx, t, last).Status.Phase
		return phase == v1alpha1.ExperimentSuspended, string(phase)
	})
}

// program is the perflab command.
type program string

func commandLine(t *testing.T) program {
	t.Helper()
	built := filepath.Join(t.TempDir(), "perflab")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-o", built, "../../cmd/perflab").CombinedOutput(); err != nil {
		t.Fatalf("building perflab: %v: %s", err, said)
	}
	return program(built)
}

// run returns the output of the command. Its error contains the standard error.
func (p program) run(ctx context.Context, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, string(p), arguments...)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return out.String(), errors.Join(err, errors.New(strings.TrimSpace(problems.String())))
	}
	return out.String(), nil
}

func (p program) must(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := p.run(t.Context(), arguments...)
	if err != nil {
		t.Fatalf("perflab %s: %v", strings.Join(arguments, " "), err)
	}
	return out
}
