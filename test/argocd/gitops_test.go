// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/argoproj/argo-cd/v3/applicationset/utils"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"
)

// gitOpsSample reads a sample. Unknown fields are errors.
func gitOpsSample(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../config/gitops", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, into); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
}

// TestGitOpsApplications checks that applications from a registry heal, prune and ignore
// differences as the application from Git does.
func TestGitOpsApplications(t *testing.T) {
	single, set := &v1alpha1.Application{}, &v1alpha1.ApplicationSet{}
	gitOpsSample(t, "argocd-application.yaml", single)
	gitOpsSample(t, "argocd-applicationset.yaml", set)
	template := &v1alpha1.Application{Spec: set.Spec.Template.Spec}
	template.Name, template.Finalizers = set.Spec.Template.Name, set.Spec.Template.Finalizers
	cluster := map[string]any{"nameNormalized": "lab-eu", "server": "https://lab.example.org"}
	generated, err := (&utils.Render{}).RenderTemplateParams(template, set.Spec.SyncPolicy, cluster, set.Spec.GoTemplate, set.Spec.GoTemplateOptions)
	if err != nil {
		t.Fatal(err)
	}
	if generated.Name != "perflab-lab-eu" || generated.Spec.Destination.Server != "https://lab.example.org" || generated.Spec.Source.Helm.ReleaseName != "perflab" {
		t.Errorf("the set makes %+v", generated)
	}
	fromGit := applications(t)["perflab-operator"]
	for _, sample := range []*v1alpha1.Application{single, generated} {
		if diff := cmp.Diff(fromGit.Spec.IgnoreDifferences, sample.Spec.IgnoreDifferences, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s ignores other fields (-Git +registry):\n%s", sample.Name, diff)
		}
		if diff := cmp.Diff(fromGit.Spec.SyncPolicy, sample.Spec.SyncPolicy, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s syncs otherwise (-Git +registry):\n%s", sample.Name, diff)
		}
		if !sample.CascadedDeletion() || !sample.Spec.Source.IsHelm() || sample.Spec.Source.Path != "" {
			t.Errorf("%s: %+v", sample.Name, sample.Spec.Source)
		}
	}
}
