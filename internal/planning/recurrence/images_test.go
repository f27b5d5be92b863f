// SPDX-License-Identifier: Apache-2.0

package recurrence_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/recurrence"
	"perflab.dev/perflab/internal/testing/expect"
)

const rolledOut = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: okapi, generation: 3}
spec:
  replicas: 2
  template: {spec: {initContainers: [{name: i, image: "init:9"}], containers: [{name: okapi, image: "okapi:1"}, {name: proxy, image: "proxy:7"}]}}
status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, readyReplicas: 2}
`

func workload(t *testing.T, changes ...string) *unstructured.Unstructured {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(strings.NewReplacer(changes...).Replace(rolledOut)))
	expect.NoError(t, err)
	object := &unstructured.Unstructured{}
	// Integers stay integers, as in the API server's objects.
	expect.NoError(t, object.UnmarshalJSON(encoded))
	return object
}

func TestObserveWorkload(t *testing.T) {
	all := v1alpha1.ImageSource{Kind: "Deployment", Name: "okapi"}
	one := v1alpha1.ImageSource{Kind: "Deployment", Name: "okapi", Container: "okapi"}
	for reason, c := range map[string]struct {
		source           v1alpha1.ImageSource
		object           *unstructured.Unstructured
		images           []string
		waiting, missing string
	}{
		"it has rolled out":              {source: all, object: workload(t), images: []string{"okapi:1", "proxy:7"}},
		"one container counts":           {source: one, object: workload(t), images: []string{"okapi:1"}},
		"it is not there":                {source: all, missing: `there is no Deployment "okapi" in the namespace`},
		"it has no such container":       {source: one, object: workload(t, "name: okapi, image", "name: main, image"), missing: `has no container "okapi"`},
		"the change is not observed yet": {source: one, object: workload(t, "observedGeneration: 3", "observedGeneration: 2"), images: []string{"okapi:1"}, waiting: "has not rolled out"},
		"an old pod is still there":      {source: one, object: workload(t, "status: {observedGeneration: 3, replicas: 2", "status: {observedGeneration: 3, replicas: 3"), images: []string{"okapi:1"}, waiting: "has not rolled out"},
		"a pod is not ready":             {source: one, object: workload(t, "readyReplicas: 2", "readyReplicas: 1"), images: []string{"okapi:1"}, waiting: "has not rolled out"},
		"an experiment has adopted it":   {source: one, object: workload(t, "generation: 3}", "generation: 3, annotations: {perflab.dev/borrowed-by: lab/x}}"), waiting: "experiment lab/x has adopted"},
		"its image's name is no image's": {source: one, object: workload(t, "okapi:1", strings.Repeat("a", 513)), missing: "more than 512 characters"},
		"its pods can't be read":         {source: one, object: workload(t, "{name: okapi, image: \"okapi:1\"}", "7"), missing: "can't be read"},
	} {
		t.Run(reason, func(t *testing.T) {
			seen := recurrence.ObserveWorkload(c.source, c.object)
			var images []string
			for _, image := range seen.Images {
				images = append(images, image.Image)
			}
			expect.Equal(t, c.images, images, "images")
			if !strings.Contains(seen.Waiting, c.waiting) || c.waiting == "" && seen.Waiting != "" || !strings.Contains(seen.Missing, c.missing) || c.missing == "" && seen.Missing != "" {
				t.Errorf("waiting %q, missing %q", seen.Waiting, seen.Missing)
			}
			if seen.IsSettled() != (c.waiting == "" && c.missing == "") {
				t.Errorf("settled: %v", seen.IsSettled())
			}
		})
	}
}

// seen is a workload with one container that has rolled out, unless a reason is given.
func seen(name, image, waiting, missing string) recurrence.Workload {
	found := recurrence.Workload{Source: v1alpha1.ImageSource{Kind: "Deployment", Name: name}, Waiting: waiting, Missing: missing}
	if image != "" {
		found.Images = []v1alpha1.SeenImage{{Kind: "Deployment", Name: name, Container: "c", Image: image}}
	}
	return found
}

func TestImages(t *testing.T) {
	remembered := []v1alpha1.SeenImage{
		{Kind: "Deployment", Name: "a", Container: "c", Image: "a:1"}, {Kind: "Deployment", Name: "b", Container: "c", Image: "b:1@sha256:0123456789abcdef"},
	}
	on := []recurrence.Child{{Name: "on"}}
	const same = "b:1@sha256:0123456789abcdef"
	for reason, c := range map[string]struct {
		remembered []v1alpha1.SeenImage
		workloads  []recurrence.Workload
		children   []recurrence.Child
		suspend    bool
		release    string
		// made is the release of the created experiment; empty: none. images are the recorded ones
		// afterwards.
		made, held, images string
	}{
		"the first look makes nothing":                        {workloads: []recurrence.Workload{seen("a", "a:1", "", "")}, images: "a:1"},
		"nothing has changed":                                 {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:1", "", ""), seen("b", same, "", "")}, images: "a:1 " + same},
		"one has changed":                                     {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:2", "", ""), seen("b", same, "", "")}, made: "2", images: "a:2 " + same},
		"it is another digest":                                {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:1", "", ""), seen("b", "b@sha256:fedcba9876543210", "", "")}, made: "fedcba987654", images: "a:1 b@sha256:fedcba9876543210"},
		"the same digest has another tag":                     {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:1", "", ""), seen("b", "b:2@sha256:0123456789abcdef", "", "")}, images: "a:1 b:2@sha256:0123456789abcdef"},
		"both have changed to one tag":                        {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:2", "", ""), seen("b", "b:2", "", "")}, made: "2", images: "a:2 b:2"},
		"both have changed":                                   {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:2", "", ""), seen("b", "host:5000/b", "", "")}, made: "2, latest", images: "a:2 host:5000/b"},
		"one has changed, another one rolls out":              {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:2", "", ""), seen("b", "b:2", "has not rolled out", "")}, images: "a:1 " + same},
		"one has changed, another one is gone":                {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:2", "", ""), seen("b", "", "", "is not there")}, made: "2", images: "a:2 " + same},
		"one is no longer looked at":                          {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:1", "", "")}, images: "a:1"},
		"one is looked at for the first time beside a change": {remembered: remembered[:1], workloads: []recurrence.Workload{seen("a", "a:2", "", ""), seen("b", "b:1", "", "")}, made: "2", images: "a:2 b:1"},
		"an earlier one is on":                                {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:2", "", ""), seen("b", same, "", "")}, children: on, held: `the experiment for the image change to "2" waits for on to finish: concurrencyPolicy is Forbid`, images: "a:1 " + same},
		"it is suspended":                                     {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:2", "", ""), seen("b", same, "", "")}, suspend: true, images: "a:1 " + same},
		"the release is named":                                {remembered: remembered, workloads: []recurrence.Workload{seen("a", "a:2", "", ""), seen("b", same, "", "")}, release: "okapi {tags} of {date}, {time}", made: "okapi 2 of 2026-03-01, 2026-03-01T13:00", images: "a:2 " + same},
	} {
		t.Run(reason, func(t *testing.T) {
			schedule := nightly(t)
			schedule.Spec.Schedule, schedule.Spec.Suspend, schedule.Spec.Release = "", c.suspend, c.release
			schedule.Status.Images = c.remembered
			d := decide(t, recurrence.View{Schedule: schedule, Children: c.children, Workloads: c.workloads, Now: at(t, "2026-03-01T13:00:00Z")})
			made := ""
			if d.Create {
				made = d.Due.Release
			}
			var images []string
			for _, image := range d.Images {
				images = append(images, image.Image)
			}
			if made != c.made || d.Blocked != c.held || strings.Join(images, " ") != c.images {
				t.Errorf("made %q, held %q, images %q", made, d.Blocked, images)
			}
			if !d.Requeue.IsZero() {
				t.Errorf("looks again at %s, though nothing changes by time", d.Requeue)
			}
		})
	}
}

// An image that returns is another change, with its own experiment.
func TestReturningImageIsAChange(t *testing.T) {
	schedule := nightly(t)
	schedule.Spec.Schedule = ""
	names := map[string]bool{}
	for _, image := range []string{"a:1", "a:2", "a:1", "a:2"} {
		d := decide(t, recurrence.View{Schedule: schedule, Workloads: []recurrence.Workload{seen("a", image, "", "")}, Now: at(t, "2026-03-01T13:00:00Z")})
		schedule.Status.Images, schedule.Status.ImageChanges = d.Images, d.ImageChanges
		if d.Create {
			names[d.Due.Name] = true
		}
	}
	if len(names) != 3 {
		t.Errorf("%v, want three names", names)
	}
}

// A change that was recorded and is blocked is replaced by a later change, but a scheduled time
// does not replace it.
func TestLatestChangeReplacesWaitingOne(t *testing.T) {
	schedule := nightly(t)
	schedule.Status.Images = []v1alpha1.SeenImage{{Kind: "Deployment", Name: "a", Container: "c", Image: "a:2"}}
	schedule.Status.Making = &v1alpha1.DueExperiment{Name: "nightly-i0000000", Trigger: v1alpha1.TriggerImageChange, Release: "2"}
	for image, want := range map[string]string{"a:2": "2", "a:3": "3"} {
		d := decide(t, recurrence.View{Schedule: schedule, Workloads: []recurrence.Workload{seen("a", image, "", "")}, Now: at(t, "2026-03-02T02:00:00Z")})
		if !d.Create || d.Due.Release != want {
			t.Errorf("with %s: %+v", image, d.Due)
		}
	}
}

// An experiment has the metadata of the template, except what makes other tools adopt it.
func TestExperiment(t *testing.T) {
	schedule := nightly(t)
	schedule.Namespace = "lab"
	schedule.Spec.Template.Metadata = v1alpha1.TemplateMetadata{
		Labels:      map[string]string{"team": "a", "app.kubernetes.io/instance": "app", "argocd.argoproj.io/instance": "app"},
		Annotations: map[string]string{"why": "b", "argocd.argoproj.io/tracking-id": "app:x", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
	}
	schedule.Spec.Template.Spec.Question = "Does it get slower?"
	made := recurrence.Experiment(schedule, "nightly-1", "Schedule", "2026.1")
	expect.Equal(t, map[string]string{"team": "a", "perflab.dev/schedule": "nightly"}, made.Labels, "labels")
	expect.Equal(t, map[string]string{"why": "b", "perflab.dev/trigger": "Schedule", "perflab.dev/release": "2026.1"}, made.Annotations, "annotations")
	if !recurrence.Follows(made, schedule) {
		t.Error("what the schedule makes does not follow it")
	}
	for reason, other := range map[string]func() bool{
		"its spec was changed": func() bool { c := made.DeepCopy(); c.Spec.KeepWarm = true; return recurrence.Follows(c, schedule) },
		"it has another owner": func() bool {
			c := made.DeepCopy()
			c.OwnerReferences[0].UID = "v"
			return recurrence.Follows(c, schedule)
		},
		"it has none": func() bool { c := made.DeepCopy(); c.OwnerReferences = nil; return recurrence.Follows(c, schedule) },
		"the template was changed": func() bool {
			c := schedule.DeepCopy()
			c.Spec.Template.Spec.Question = ""
			return recurrence.Follows(made, c)
		},
		"the owner is not in control": func() bool {
			c, no := made.DeepCopy(), false
			c.OwnerReferences[0].Controller = &no
			return recurrence.Follows(c, schedule)
		},
	} {
		if other() {
			t.Errorf("it follows the schedule, though %s", reason)
		}
	}
}

// A release name fits into an experiment's name, and is unique.
func TestExperimentNamesFit(t *testing.T) {
	schedule := nightly(t)
	schedule.Name = strings.Repeat("a", 23)
	schedule.Status.Images = []v1alpha1.SeenImage{{Kind: "Deployment", Name: "a", Container: "c", Image: "a:1"}}
	d := decide(t, recurrence.View{Schedule: schedule, Workloads: []recurrence.Workload{seen("a", "a:2", "", "")}, Now: at(t, "2159-12-31T00:00:00Z")})
	if name := d.Due.Name; len(name) > 32 {
		t.Errorf("%q has %d characters, and 32 are allowed", name, len(name))
	}
	schedule.Spec.Schedule, schedule.Status.Images = "", []v1alpha1.SeenImage{{Kind: "Deployment", Name: "a", Container: "c", Image: "a:1"}}
	d = decide(t, recurrence.View{Schedule: schedule, Workloads: []recurrence.Workload{seen("a", "a:2", "", "")}, Now: at(t, "2159-12-31T00:00:00Z")})
	if name := d.Due.Name; len(name) != 32 {
		t.Errorf("%q has %d characters, want 32", name, len(name))
	}
}
