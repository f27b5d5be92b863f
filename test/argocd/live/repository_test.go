//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root = "../../.."
	// experiments is the file of the experiments in config/argocd.
	experiments = "config/samples/demo.yaml"
)

// repository is a user's clone of this project. It has its own address, and its experiments
// are where config/argocd expects them.
type repository struct {
	directory string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	made := &repository{directory: filepath.Join(t.TempDir(), "perflab.git")}
	for _, part := range []string{"charts", "config"} {
		if err := os.CopyFS(filepath.Join(made.directory, part), os.DirFS(filepath.Join(root, part))); err != nil {
			t.Fatal(err)
		}
	}
	applications := "config/argocd/applications"
	for _, file := range []string{"config/argocd/root.yaml", applications + "/perflab.yaml", applications + "/environment.yaml", applications + "/experiments.yaml"} {
		made.edit(t, file, "https://example.org/perflab.git", "file://"+made.directory)
	}
	made.withoutTheInternet(t)
	made.write(t, experiments, read(t, filepath.Join(root, "config/samples/local/library.yaml"))+read(t, "testdata/heap.yaml")+read(t, "testdata/parked.yaml"))
	made.git(t, "init", "-q", "-b", "main")
	made.commit(t, "Begin")
	return made
}

// withoutTheInternet removes what would be downloaded: the other operators, as applications
// and as dependencies of the chart. The cluster already has them.
func (r *repository) withoutTheInternet(t *testing.T) {
	t.Helper()
	if err := os.Remove(filepath.Join(r.directory, "config/argocd/applications/operators.yaml")); err != nil {
		t.Fatal(err)
	}
	chart := read(t, filepath.Join(r.directory, "charts/perflab/Chart.yaml"))
	before, _, found := strings.Cut(chart, "dependencies:\n")
	if !found {
		t.Fatal("the chart has no dependencies")
	}
	r.write(t, "charts/perflab/Chart.yaml", before)
}

// edit replaces existing text.
func (r *repository) edit(t *testing.T, file, before, after string) {
	t.Helper()
	content := read(t, filepath.Join(r.directory, file))
	if !strings.Contains(content, before) {
		t.Fatalf("%s has no %q", file, before)
	}
	r.write(t, file, strings.ReplaceAll(content, before, after))
}

// append appends content to a file.
func (r *repository) append(t *testing.T, file, content string) {
	t.Helper()
	r.write(t, file, read(t, filepath.Join(r.directory, file))+content)
}

func (r *repository) write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.directory, file), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// commit publishes the edits to Argo CD.
func (r *repository) commit(t *testing.T, subject string) {
	t.Helper()
	r.git(t, "add", "--all")
	r.git(t, "-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "commit", "-q", "-m", subject)
}

func (r *repository) git(t *testing.T, arguments ...string) {
	t.Helper()
	output(t, r.directory, "git", arguments...)
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
