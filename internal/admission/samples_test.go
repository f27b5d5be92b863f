// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// The samples are accepted unchanged from users with the role edit who may write
// experiments.
func TestSamplesAreAccepted(t *testing.T) {
	seen, editor := 0, editor(t)
	for _, dir := range []string{"samples", "systems"} {
		err := filepath.WalkDir(apiserver.Root("config", dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".yaml") || entry.Name() == "kustomization.yaml" {
				return err
			}
			seen++
			t.Run(dir+"/"+entry.Name(), func(t *testing.T) { acceptFile(t, path, editor) })
			return nil
		})
		expect.NoError(t, err)
	}
	if seen == 0 {
		t.Error("there is no sample")
	}
}

// editor binds the roles that edit aggregates: the test server does not aggregate roles.
func editor(t *testing.T) *author {
	t.Helper()
	a := writer(t)
	for _, role := range []string{"system:aggregate-to-edit", "system:aggregate-to-view"} {
		a.bind(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role})
	}
	a.await(t, right{"get", "", "secrets", ""})
	a.await(t, right{"get", "", "configmaps", ""})
	return a
}

func acceptFile(t *testing.T, path string, editor *author) {
	t.Helper()
	content, err := os.ReadFile(path)
	expect.NoError(t, err)
	editor.told.told = nil
	for _, document := range strings.Split(string(content), "\n---\n") {
		object := rules.Object(t, document)
		rules.Verdict(t, editor.ask(object), "", "")
	}
	for _, warning := range editor.told.told {
		t.Logf("warning: %s", warning)
	}
}
