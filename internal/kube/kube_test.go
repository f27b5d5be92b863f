// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

var server = &apiserver.Server{}

func TestMain(m *testing.M) { apiserver.Main(m) }

var configMap = corev1.SchemeGroupVersion.WithKind("ConfigMap")

func cluster(t *testing.T) (made kube.Cluster, namespace string) {
	t.Helper()
	c := apiserver.Client(t, server.Config(t))
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

// apply applies an intent and returns the resulting object.
func apply(t *testing.T, c kube.Cluster, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	expect.NoError(t, c.Apply(t.Context(), wanted))
	return get(t, c, wanted)
}

func get(t *testing.T, c kube.Cluster, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	found, err := c.Get(t.Context(), configMap, client.ObjectKeyFromObject(wanted))
	expect.NoError(t, err)
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
		t.Error("the object was recreated")
	}
	yamlcmp.Equal(t, second.Object["data"], `key: two`)
}

func TestApplyOnceKeepsExistingObject(t *testing.T) {
	c, namespace := cluster(t)
	for _, text := range []string{"one", "two"} {
		wanted := owned(t, namespace, "a", text, "1")
		expect.NoError(t, c.ApplyOnce(t.Context(), wanted))
		yamlcmp.Equal(t, get(t, c, wanted).Object["data"], `key: one`)
	}
	refusal := kube.AsRefusal(c.ApplyOnce(t.Context(), owned(t, namespace, "a", "one", "2")))
	if refusal == nil {
		t.Error("one that has another owner was taken for ours")
	}
}

func TestApplyRemovesDroppedFields(t *testing.T) {
	c, namespace := cluster(t)
	wanted := intent(t, namespace, "a", "one")
	wanted.Object["data"].(map[string]any)["other"] = "gone soon"
	apply(t, c, wanted)
	yamlcmp.Equal(t, apply(t, c, intent(t, namespace, "a", "one")).Object["data"], `key: one`)
}

func TestGetReturnsNilForMissingObject(t *testing.T) {
	c, namespace := cluster(t)
	if found := get(t, c, intent(t, namespace, "none", "")); found != nil {
		t.Errorf("found %v", found)
	}
}

// owned returns an intent of an owner with this UID.
func owned(t *testing.T, namespace, name, value, uid string) *unstructured.Unstructured {
	t.Helper()
	made := intent(t, namespace, name, value)
	made.SetOwnerReferences([]metav1.OwnerReference{naming.Owner("PerfExperiment", owner(uid))})
	return made
}

func owner(uid string) *v1alpha1.PerfExperiment {
	return &v1alpha1.PerfExperiment{ObjectMeta: metav1.ObjectMeta{Name: "experiment", UID: types.UID(uid)}}
}

func TestDeleteChecksUID(t *testing.T) {
	c, namespace := cluster(t)
	wanted, ours := owned(t, namespace, "a", "one", "1"), owner("1")
	earlier := apply(t, c, wanted)
	for _, what := range []string{"the object", "an object that is gone"} {
		expect.NoError(t, c.Delete(t.Context(), ours, earlier), "deleting %s", what)
	}
	if found := get(t, c, wanted); found != nil {
		t.Fatal("the object is still there")
	}
	later := apply(t, c, wanted)
	expect.NoError(t, c.Delete(t.Context(), ours, earlier), "deleting one that was recreated since")
	if found := get(t, c, wanted); found == nil || found.GetUID() != later.GetUID() {
		t.Error("the object of the same name that was made since is gone")
	}
}

func TestDeleteSkipsTerminatingObject(t *testing.T) {
	c, namespace := cluster(t)
	wanted, ours := owned(t, namespace, "a", "one", "1"), owner("1")
	wanted.SetFinalizers([]string{"perflab.dev/test"})
	expect.NoError(t, c.Delete(t.Context(), ours, apply(t, c, wanted)))
	going := get(t, c, wanted)
	if going == nil || going.GetDeletionTimestamp() == nil {
		t.Fatalf("with a finalizer the object is %v, want it going", going)
	}
	if err := c.Delete(t.Context(), ours, going); err != nil {
		t.Errorf("deleting it again: %v", err)
	}
}

// An object with another owner, or none, is neither overwritten, nor listed as ours,
// nor deleted.
func TestApplyRefusesOtherOwner(t *testing.T) {
	for name, theirs := range map[string]struct {
		uid   string
		owner kube.Ownership
	}{
		"without an owner": {"", kube.OwnerOther}, "an earlier one's": {"0", kube.OwnerEarlier},
	} {
		t.Run(name, func(t *testing.T) {
			c, namespace := cluster(t)
			object := intent(t, namespace, "a", "theirs")
			if theirs.uid != "" {
				object = owned(t, namespace, "a", "theirs", theirs.uid)
			}
			expect.NoError(t, c.Client.Create(t.Context(), object))
			wanted := owned(t, namespace, "a", "ours", "1")
			refusal := kube.AsRefusal(c.Apply(t.Context(), wanted))
			if refusal == nil || refusal.Owner != theirs.owner || refusal.Kind != "ConfigMap" || refusal.Name != "a" {
				t.Errorf("applying over it: %v", refusal)
			}
			ours := owner("1")
			ours.Namespace = namespace
			if listed, err := c.ListOwned(t.Context(), ours, configMap, nil); err != nil || len(listed) != 0 {
				t.Errorf("%d are listed as ours (%v)", len(listed), err)
			}
			if err := c.Delete(t.Context(), owner("1"), get(t, c, wanted)); err != nil {
				t.Error(err)
			}
			if found := get(t, c, wanted); found == nil || found.GetResourceVersion() != object.GetResourceVersion() {
				t.Errorf("it is now %v", found)
			}
		})
	}
}

// blind is a cache that does not have an object yet.
type blind struct{ client.Client }

func (blind) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func TestApplyConflictsWithConcurrentCreate(t *testing.T) {
	c, namespace := cluster(t)
	object := intent(t, namespace, "a", "theirs")
	expect.NoError(t, c.Client.Create(t.Context(), object))
	wanted := owned(t, namespace, "a", "ours", "1")
	if err := (kube.Cluster{Client: blind{c.Client}}).Apply(t.Context(), wanted); !apierrors.IsConflict(err) {
		t.Errorf("applying over what the cache does not show: %v, want a conflict", err)
	}
	if found := get(t, c, wanted); found == nil || found.GetResourceVersion() != object.GetResourceVersion() {
		t.Errorf("it is now %v", found)
	}
}

// replaced is a cache with an object that was deleted or replaced since.
type replaced struct {
	client.Client
	seen *unstructured.Unstructured
}

func (r replaced) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	r.seen.DeepCopyInto(object.(*unstructured.Unstructured))
	return nil
}

func TestApplyConflictsWithReplacedObject(t *testing.T) {
	c, namespace := cluster(t)
	seen := apply(t, c, owned(t, namespace, "a", "ours", "1"))
	expect.NoError(t, c.Delete(t.Context(), owner("1"), seen))
	wanted := owned(t, namespace, "a", "ours again", "1")
	old := kube.Cluster{Client: replaced{c.Client, seen}}
	if err := old.Apply(t.Context(), wanted); !apierrors.IsConflict(err) || get(t, c, wanted) != nil {
		t.Errorf("applying over what is gone: %v, want a conflict and nothing made", err)
	}
	object := intent(t, namespace, "a", "theirs")
	expect.NoError(t, c.Client.Create(t.Context(), object))
	if err := old.Apply(t.Context(), wanted); err == nil {
		t.Error("applying over what was put in its place went through")
	}
	if found := get(t, c, wanted); found.GetResourceVersion() != object.GetResourceVersion() {
		t.Errorf("it is now %v", found)
	}
}

func TestRefusalsArePermanentOrTransient(t *testing.T) {
	configMaps := schema.GroupResource{Resource: "configmaps"}
	status := func(code int32) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Message: "no"}}
	}
	for name, answer := range map[string]struct {
		err              error
		lasting, passing bool
	}{
		"forbidden":        {apierrors.NewForbidden(configMaps, "a", errors.New("no")), true, false},
		"invalid":          {apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", nil), true, false},
		"bad request":      {apierrors.NewBadRequest("no"), true, false},
		"too large":        {apierrors.NewRequestEntityTooLargeError("no"), true, false},
		"a webhook's own":  {status(http.StatusTeapot), true, false},
		"no namespace":     {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "gone"), true, false},
		"a kind not there": {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Kafka"}}, true, false},
		"an object gone":   {apierrors.NewNotFound(configMaps, "a"), false, false},
		"conflict":         {apierrors.NewConflict(configMaps, "a", errors.New("changed")), false, false},
		"too many":         {apierrors.NewTooManyRequestsError("later"), false, true},
		"a silent webhook": {apierrors.NewInternalError(errors.New("failed calling webhook")), false, true},
		"timeout":          {apierrors.NewServerTimeout(configMaps, "apply", 1), false, true},
		"no answer":        {errors.New("connection refused"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := kube.Cluster{Client: interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
					return answer.err
				},
			})}
			err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
			refusal := kube.AsRefusal(err)
			if lasting := refusal != nil; lasting != answer.lasting || kube.IsTransient(err) != answer.passing {
				t.Errorf("lasting %t, passing %t: %v", lasting, kube.IsTransient(err), err)
			}
			if refusal != nil && (!strings.Contains(refusal.Error(), `to create ConfigMap "a"`) || !errors.Is(err, answer.err)) {
				t.Errorf("it says %q", refusal)
			}
		})
	}
}

func TestListIsSortedAndSelectsLabels(t *testing.T) {
	c, namespace := cluster(t)
	for _, name := range []string{"b", "c", "a"} {
		apply(t, c, intent(t, namespace, name, ""))
	}
	other := intent(t, namespace, "other", "")
	other.SetLabels(map[string]string{"owner": "somebody"})
	apply(t, c, other)
	found, err := c.List(t.Context(), configMap, namespace, map[string]string{"owner": "test"})
	expect.NoError(t, err)
	names := ""
	for _, object := range found {
		names += object.GetName()
	}
	expect.Equal(t, "abc", names, "listed")
}

func TestUnservedKindHasNoObjects(t *testing.T) {
	c, namespace := cluster(t)
	kind := schema.GroupVersionKind{Group: "kafka.strimzi.io", Version: "v1", Kind: "Kafka"}
	if found, err := c.List(t.Context(), kind, namespace, nil); err != nil || len(found) != 0 {
		t.Errorf("listing it gave %v and %v, want nothing", found, err)
	}
	if found, err := c.Get(t.Context(), kind, client.ObjectKey{Namespace: namespace, Name: "any"}); err != nil || found != nil {
		t.Errorf("reading one gave %v and %v, want nothing", found, err)
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
	expect.NoError(t, err)
	log, err := kube.PodLogs{Clientset: clientset}.Log(t.Context(), "lab", "pod-1", "k6")
	expect.NoError(t, err)
	defer func() { _ = log.Close() }()
	text, err := io.ReadAll(log)
	if err != nil || string(text) != "a line\n" || asked != "/api/v1/namespaces/lab/pods/pod-1/log?container=k6" {
		t.Errorf("asked %s and read %q (%v)", asked, text, err)
	}
}

func yaml(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	text, err := object.MarshalJSON()
	expect.NoError(t, err)
	return string(text)
}
