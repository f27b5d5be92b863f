// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

const experiments = "perfexperiments.perflab.dev"

func administrator(t *testing.T) client.Client {
	t.Helper()
	return apiserver.Client(t, server.Config(t), apiextensionsv1.AddToScheme)
}

// helm returns a configuration that uses the test's API server and stores releases in a
// namespace.
func helm(t *testing.T, namespace string) *action.Configuration {
	t.Helper()
	config := server.Config(t)
	flags := genericclioptions.NewConfigFlags(false).WithWrapConfigFn(func(*rest.Config) *rest.Config { return rest.CopyConfig(config) })
	flags.APIServer, flags.Namespace = &config.Host, &namespace
	configuration := &action.Configuration{}
	expect.NoError(t, configuration.Init(flags, namespace, "secret", t.Logf), "setting Helm up")
	return configuration
}

func install(t *testing.T, namespace string, of *chart.Chart, given values) {
	t.Helper()
	installing := action.NewInstall(helm(t, namespace))
	installing.ReleaseName, installing.Namespace, installing.CreateNamespace = "perflab", namespace, true
	// Kinds that another release has left are adopted.
	installing.TakeOwnership = true
	if _, err := installing.RunWithContext(t.Context(), of, given); err != nil {
		t.Fatalf("installing into %s: %v", namespace, err)
	}
}

func uninstall(t *testing.T, namespace string) {
	t.Helper()
	if _, err := action.NewUninstall(helm(t, namespace)).Run("perflab"); err != nil {
		t.Errorf("uninstalling from %s: %v", namespace, err)
	}
}

// older returns the chart with other names for two columns of the kind.
func older(t *testing.T) *chart.Chart {
	t.Helper()
	loaded := loadChart(t)
	found := false
	for _, file := range loaded.Files {
		if strings.HasSuffix(file.Name, "crd/perflab.dev_perfexperiments.yaml") {
			found = true
			file.Data = bytes.Replace(file.Data, []byte("name: Progress"), []byte("name: Formerly"), 1)
			file.Data = bytes.Replace(file.Data, []byte("name: Runs\n"), []byte("name: Formerly\n"), 1)
		}
	}
	if !found {
		t.Fatal("the chart does not carry the kinds")
	}
	return loaded
}

func TestInstallUpgradeUninstall(t *testing.T) {
	admin := administrator(t)
	install(t, home, older(t), nil)
	if !columns(t, admin)["Formerly"] {
		t.Fatalf("the older kind was not installed: %v", columns(t, admin))
	}
	checkRelease(t, admin)

	upgrading := action.NewUpgrade(helm(t, home))
	upgrading.Namespace = home
	if _, err := upgrading.RunWithContext(t.Context(), "perflab", loadChart(t), nil); err != nil {
		t.Fatalf("upgrading: %v", err)
	}
	if columns(t, admin)["Formerly"] {
		t.Errorf("the upgrade left the older kind: %v", columns(t, admin))
	}

	back := action.NewRollback(helm(t, home))
	back.Version = 1
	expect.NoError(t, back.Run("perflab"), "rolling back")
	if !columns(t, admin)["Formerly"] {
		t.Errorf("the rollback left the newer kind: %v", columns(t, admin))
	}

	uninstall(t, home)
	if len(columns(t, admin)) == 0 {
		t.Error("uninstalling deleted the kinds, and so the experiments")
	}
	for key, object := range mustRender(t, home, nil) {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if kept := object.GetKind() == "CustomResourceDefinition"; kept != (err == nil) || !kept && !apierrors.IsNotFound(err) {
			t.Errorf("%s after uninstalling: %v", key, err)
		}
	}
}

// checkRelease checks the size of the release: Helm stores it with its chart in one Secret,
// which can have at most 1 MiB.
func checkRelease(t *testing.T, admin client.Client) {
	t.Helper()
	secret := &corev1.Secret{}
	expect.NoError(t, admin.Get(t.Context(), client.ObjectKey{Namespace: home, Name: "sh.helm.release.v1.perflab.v1"}, secret))
	const most = 512 << 10
	size := len(secret.Data["release"])
	t.Logf("the release takes %d KiB", size>>10)
	if size > most {
		t.Errorf("the release takes %d bytes: a Secret can hold %d, and half of that should be left for kinds that grow", size, corev1.MaxSecretSize)
	}
}

func columns(t *testing.T, admin client.Client) map[string]bool {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	expect.NoError(t, client.IgnoreNotFound(admin.Get(t.Context(), client.ObjectKey{Name: experiments}, definition)))
	found := map[string]bool{}
	for _, version := range definition.Spec.Versions {
		for _, column := range version.AdditionalPrinterColumns {
			found[column.Name] = true
		}
	}
	return found
}

func TestTwoNamespacedOperators(t *testing.T) {
	admin := administrator(t)
	install(t, "team-a", loadChart(t), values{"scope": "Namespaced"})
	t.Cleanup(func() { uninstall(t, "team-a") })
	install(t, "team-b", loadChart(t), values{"scope": "Namespaced", "crds": values{"install": false}})
	t.Cleanup(func() { uninstall(t, "team-b") })

	for _, c := range []struct {
		namespace, group, resource, verb string
		may                              bool
	}{
		{"team-a", "perflab.dev", "perfruns", "create", true},
		{"team-a", "apps", "deployments", "patch", true},
		{"team-b", "perflab.dev", "perfruns", "create", false},
		{"team-b", "", "pods", "list", false},
		{"", "", "nodes", "get", true},
		{"", "", "nodes", "list", false},
		{"team-a", "", "secrets", "list", false},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:team-a:perflab-operator",
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: c.namespace, Group: c.group, Resource: c.resource, Verb: c.verb},
		}}
		eventually(t, admin, review, c.may)
		expect.Equal(t, c.may, review.Status.Allowed, "team-a's operator may %s %s in %q", c.verb, c.resource, c.namespace)
	}
}

func TestKustomizationsInstall(t *testing.T) {
	admin := administrator(t)
	for _, object := range installOrder(build(t, "default")) {
		if err := admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"), client.ForceOwnership); err != nil {
			t.Errorf("applying %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
	if !columns(t, admin)["Phase"] {
		t.Errorf("columns %v", columns(t, admin))
	}
	deployment := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: home, Name: "perflab-operator"}, deployment); err != nil {
		t.Error(err)
	}
	// Delete the objects, because the other test installs a release.
	for _, object := range build(t, "default") {
		if object.GetKind() == "Namespace" || object.GetKind() == "CustomResourceDefinition" {
			continue
		}
		if err := admin.Delete(t.Context(), object); err != nil {
			t.Errorf("deleting %s: %v", object.GetName(), err)
		}
	}
}

// eventually waits until the API server applies the rights.
func eventually(t *testing.T, admin client.Client, review *authorizationv1.SubjectAccessReview, want bool) {
	t.Helper()
	await.Until(t.Context(), t, 10*time.Second, fmt.Sprintf("the answer to be %t", want), func() (bool, string) {
		asked := review.DeepCopy()
		expect.NoError(t, admin.Create(t.Context(), asked))
		review.Status = asked.Status
		return asked.Status.Allowed == want, asked.Status.Reason
	})
}

// installOrder sorts namespaces and kinds before objects that need them.
func installOrder(all objects) []*unstructured.Unstructured {
	ordered := slices.Collect(maps.Values(all))
	slices.SortFunc(ordered, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(rank(a)+a.GetKind()+a.GetName(), rank(b)+b.GetKind()+b.GetName())
	})
	return ordered
}

func rank(object *unstructured.Unstructured) string {
	switch object.GetKind() {
	case "Namespace":
		return "0"
	case "CustomResourceDefinition":
		return "1"
	default:
		return "2"
	}
}

// tryInstall runs helm install, and returns its error.
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

// Two operators that watch the same namespace would conflict.
func TestOneOperatorPerNamespace(t *testing.T) {
	const advice = "use that one, give both scope: Namespaced with a watchNamespace of its own, or uninstall it first"
	t.Run("with one of the whole cluster", func(t *testing.T) {
		expectAnswer(t, "the first", tryInstall(t, home, nil), "")
		expectAnswer(t, "the second", tryInstall(t, "team-e", values{"scope": "Namespaced", "crds": values{"install": false}}),
			"PerfLab's operator in namespace perflab-system works in the whole cluster already")
		upgrading := action.NewUpgrade(helm(t, home))
		upgrading.Namespace = home
		_, err := upgrading.RunWithContext(t.Context(), "perflab", loadChart(t), nil)
		expectAnswer(t, "upgrading the first", err, "")
	})
	t.Run("under other names", func(t *testing.T) {
		renamed := values{"fullnameOverride": "lab", "crds": values{"install": false}}
		expectAnswer(t, "the first", tryInstall(t, home, renamed), "")
		expectAnswer(t, "one with the default names", tryInstall(t, "team-e", nil), "PerfLab's operator in namespace perflab-system works in the whole cluster already")
		second := action.NewInstall(helm(t, home))
		second.ReleaseName, second.Namespace = "second", home
		_, err := second.RunWithContext(t.Context(), loadChart(t), values{"crds": values{"install": false}})
		expectAnswer(t, "another release in the same namespace", err, "PerfLab's operator in namespace perflab-system works in the whole cluster already")
		upgrading := action.NewUpgrade(helm(t, home))
		upgrading.Namespace = home
		_, err = upgrading.RunWithContext(t.Context(), "perflab", loadChart(t), values{"fullnameOverride": "bench", "crds": values{"install": false}})
		expectAnswer(t, "renaming the first", err, "")
	})
	t.Run("with one of a namespace", func(t *testing.T) {
		makeNamespace(t, administrator(t), "lab-e")
		watching := values{"scope": "Namespaced", "watchNamespace": "lab-e"}
		expectAnswer(t, "the first", tryInstall(t, "team-f", watching), "")
		err := tryInstall(t, "team-g", watching)
		expectAnswer(t, "the second of the namespace", err, "PerfLab's operator in namespace team-f works in namespace lab-e already")
		if err != nil && !strings.Contains(err.Error(), advice) {
			t.Errorf("the error has no advice: %v", err)
		}
		expectAnswer(t, "one of the whole cluster", tryInstall(t, home, nil), "PerfLab's operator in namespace team-f works in namespace lab-e already")
		expectAnswer(t, "one of another namespace", tryInstall(t, "team-g", values{"scope": "Namespaced", "crds": values{"install": false}}), "")
	})
}
