// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

var server = &apiserver.Server{}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API server:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

var configMap = corev1.SchemeGroupVersion.WithKind("ConfigMap")

func cluster(t *testing.T) (made kube.Cluster, namespace string) {
	t.Helper()
	c, err := client.New(server.Config(t), client.Options{})
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	return kube.Cluster{Client: c}, apiserver.Namespace(t, c)
}

func intent(t *testing.T, namespace, name, value string) *unstructured.Unstructured {
	t.Helper()
	made := yamlcmp.Object(t, fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, labels: {owner: test}}
data: {key: %q}`, name, value))
	made.SetNamespace(namespace)
	return made
}

// apply applies an intent and returns the object it makes.
func apply(t *testing.T, c kube.Cluster, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	if err := c.Apply(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	return get(t, c, wanted)
}

func get(t *testing.T, c kube.Cluster, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	found, err := c.Get(t.Context(), configMap, client.ObjectKeyFromObject(wanted))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestApplyTwiceWritesOnce(t *testing.T) {
	c, namespace := cluster(t)
	wanted := intent(t, namespace, "a", "one")
	before := wanted.DeepCopy()
	first := apply(t, c, wanted)
	if second := apply(t, c, wanted); second.GetResourceVersion() != first.GetResourceVersion() {
		t.Errorf("the second time wrote version %s over %s", second.GetResourceVersion(), first.GetResourceVersion())
	}
	yamlcmp.Equal(t, wanted.Object, yaml(t, before))
}

func TestApplyWritesWhatHasChanged(t *testing.T) {
	c, namespace := cluster(t)
	first := apply(t, c, intent(t, namespace, "a", "one"))
	second := apply(t, c, intent(t, namespace, "a", "two"))
	if second.GetUID() != first.GetUID() {
		t.Error("the object was made anew")
	}
	yamlcmp.Equal(t, second.Object["data"], `key: two`)
}

func TestApplyTakesAwayWhatIsNoLongerWanted(t *testing.T) {
	c, namespace := cluster(t)
	wanted := intent(t, namespace, "a", "one")
	wanted.Object["data"].(map[string]any)["other"] = "gone soon"
	apply(t, c, wanted)
	yamlcmp.Equal(t, apply(t, c, intent(t, namespace, "a", "one")).Object["data"], `key: one`)
}

func TestGetOfWhatIsNotThere(t *testing.T) {
	c, namespace := cluster(t)
	if found := get(t, c, intent(t, namespace, "none", "")); found != nil {
		t.Errorf("found %v", found)
	}
}

func TestDeleteTakesExactlyTheObjectItWasGiven(t *testing.T) {
	c, namespace := cluster(t)
	wanted := intent(t, namespace, "a", "one")
	earlier := apply(t, c, wanted)
	for _, what := range []string{"the object", "an object that is gone"} {
		if err := c.Delete(t.Context(), earlier); err != nil {
			t.Fatalf("deleting %s: %v", what, err)
		}
	}
	if found := get(t, c, wanted); found != nil {
		t.Fatal("the object is still there")
	}
	later := apply(t, c, wanted)
	if err := c.Delete(t.Context(), earlier); err != nil {
		t.Fatalf("deleting one that was made anew since: %v", err)
	}
	if found := get(t, c, wanted); found == nil || found.GetUID() != later.GetUID() {
		t.Error("the object of the same name that was made since is gone")
	}
}

func TestDeleteLeavesAnObjectThatIsGoing(t *testing.T) {
	c, namespace := cluster(t)
	wanted := intent(t, namespace, "a", "one")
	wanted.SetFinalizers([]string{"perflab.dev/test"})
	if err := c.Delete(t.Context(), apply(t, c, wanted)); err != nil {
		t.Fatal(err)
	}
	going := get(t, c, wanted)
	if going == nil || going.GetDeletionTimestamp() == nil {
		t.Fatalf("with a finalizer the object is %v, want it going", going)
	}
	if err := c.Delete(t.Context(), going); err != nil {
		t.Errorf("deleting it again: %v", err)
	}
}

func TestListIsSortedAndKeepsToItsLabels(t *testing.T) {
	c, namespace := cluster(t)
	for _, name := range []string{"b", "c", "a"} {
		apply(t, c, intent(t, namespace, name, ""))
	}
	other := intent(t, namespace, "other", "")
	other.SetLabels(map[string]string{"owner": "somebody"})
	apply(t, c, other)
	found, err := c.List(t.Context(), configMap, namespace, map[string]string{"owner": "test"})
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, object := range found {
		names += object.GetName()
	}
	if names != "abc" {
		t.Errorf("listed %q, want abc", names)
	}
}

func TestAKindThatIsNotServed(t *testing.T) {
	c, namespace := cluster(t)
	kind := schema.GroupVersionKind{Group: "kafka.strimzi.io", Version: "v1", Kind: "Kafka"}
	if found, err := c.List(t.Context(), kind, namespace, nil); err != nil || len(found) != 0 {
		t.Errorf("listing it gave %v and %v, want nothing", found, err)
	}
	if version, served, err := c.Serves(kind.GroupKind()); err != nil || served {
		t.Errorf("it is served as %q (%v), want it not to be", version, err)
	}
	if version, served, err := c.Serves(schema.GroupKind{Group: "apps", Kind: "Deployment"}); err != nil || !served || version != "v1" {
		t.Errorf("Deployment is served as %q: %t (%v), want v1", version, served, err)
	}
}

func TestPodLogsAreThoseOfTheContainer(t *testing.T) {
	var asked string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		_, _ = io.WriteString(w, "a line\n")
	}))
	defer api.Close()
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: api.URL})
	if err != nil {
		t.Fatal(err)
	}
	log, err := kube.PodLogs{Clientset: clientset}.Log(t.Context(), "lab", "pod-1", "k6")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	text, err := io.ReadAll(log)
	if err != nil || string(text) != "a line\n" || asked != "/api/v1/namespaces/lab/pods/pod-1/log?container=k6" {
		t.Errorf("asked %s and read %q (%v)", asked, text, err)
	}
}

func yaml(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	text, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
