//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// soon is the time limit for Argo CD to act on a change.
	soon = time.Minute
	// runLimit is the time limit for building the first environment, and between any two
	// runs.
	runLimit = 6 * time.Minute
)

// TestGitOps performs the changes that owners of a repository make: create everything from
// one Application, change objects in Git and manually, delete an experiment, delete
// everything. Each step builds on the previous ones.
func TestGitOps(t *testing.T) {
	s := newStory(t)
	t.Cleanup(func() {
		if t.Failed() {
			describe(t)
		}
	})
	for _, step := range []struct {
		what string
		do   func(*testing.T)
	}{
		{"the waves are synced in order", s.wavesSyncInOrder},
		{"the active experiment is reported", s.activeIsReported},
		{"reports alone start no comparison with Git", s.reportsStartNoComparison},
		{"a sync, and restarts on both sides, leave the run alone", s.restartsLeaveTheRunAlone},
		{"what was changed by hand is put back", s.changesByHandArePutBack},
		{"what Git does not mention stays as it was set by hand", s.unmentionedStays},
		{"a changed question is refused, with the reason", s.changedQuestionIsRefused},
		{"what a schedule makes stays, though Git does not have it", s.scheduledStays},
		{"a template that is changed in Git holds for the next one", s.changedTemplateIsForTheNext},
		{"removing a schedule from Git deletes its experiments", s.scheduleIsPruned},
		{"a finished experiment is healthy", s.finishedIsHealthy},
		{"removing an experiment from Git deletes it", s.removedIsDeleted},
		{"deleting the first application deletes all, the experiments first", s.deletingDeletesAll},
	} {
		if !t.Run(step.what, step.do) {
			t.FailNow()
		}
	}
}

// story is the state of the steps.
type story struct {
	// whole is the parent test of all steps.
	whole      *testing.T
	repository *repository
	argo       *argo
	// stop ends the application controller.
	stop func()
	// loaded has the runs that were under load before any change.
	loaded map[string]string
}

func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{whole: t, repository: newRepository(t), argo: startArgo(t)}
	kubectl(t, "-n", "argocd", "apply", "--server-side", "--field-manager=perflab", "-f", filepath.Join(root, "config/argocd/argocd-cm.yaml"))
	s.stop = s.argo.controller(t)
	return s
}

func (s *story) wavesSyncInOrder(t *testing.T) {
	kubectl(t, "apply", "-f", filepath.Join(s.repository.directory, "config/argocd/root.yaml"))
	comesAfter(t, "perflab-environment", "perflab-operator")
	comesAfter(t, "perflab-experiments", "perflab-environment")
}

func (s *story) activeIsReported(t *testing.T) {
	awaitLoad(t)
	s.loaded = attempts(t)
	synced(t, "perflab-experiments")
	if heap := experimentHealth(t, "heap"); heap.Status != "Progressing" || !strings.Contains(heap.Message, "0/4 runs done; waiting for: Loading") {
		t.Errorf("the experiment is %+v", heap)
	}
	if parked := experimentHealth(t, "parked"); parked.Status != "Suspended" || !strings.Contains(parked.Message, "0/4 runs done; waiting for: spec.suspend") {
		t.Errorf("the suspended one is %+v", parked)
	}
}

// reportsStartNoComparison checks that status updates do not start a comparison. It starts
// right after a comparison, because Argo CD starts the next one on its own two minutes
// later.
func (s *story) reportsStartNoComparison(t *testing.T) {
	compared := application(t, "perflab-experiments").Status.ReconciledAt
	for range 3 {
		told := resourceVersion(t, "heap")
		eventually(t, soon, "the experiment's status to change", func() (bool, string) {
			return resourceVersion(t, "heap") != told, told
		})
	}
	if again := application(t, "perflab-experiments").Status.ReconciledAt; !again.Equal(compared) {
		t.Errorf("compared at %s and again at %s", compared, again)
	}
}

func (s *story) restartsLeaveTheRunAlone(t *testing.T) {
	kubectl(t, "-n", "perflab-system", "delete", "pod", "--all", "--wait=false")
	s.stop()
	s.stop = s.argo.controller(s.whole)
	syncAgain(t, "perflab-experiments")
	assertKept(t, s.loaded)
}

func (s *story) changesByHandArePutBack(t *testing.T) {
	kubectl(t, "-n", "lab", "label", "perfexperiment", "heap", "--overwrite", "team=nobody")
	eventually(t, soon, "the label to be Git's again", func() (bool, string) {
		team := experiment(t, "heap").GetLabels()["team"]
		return team == "circulation", team
	})
	assertKept(t, s.loaded)
}

func (s *story) unmentionedStays(t *testing.T) {
	suspend(t, "true")
	syncAgain(t, "perflab-experiments")
	if suspended, _, _ := unstructured.NestedBool(experiment(t, "heap").Object, "spec", "suspend"); !suspended {
		t.Error("the sync reverted suspend")
	}
	suspend(t, "null")
}

func (s *story) changedQuestionIsRefused(t *testing.T) {
	s.repository.edit(t, experiments, "max: 112Mi", "max: 144Mi")
	s.repository.commit(t, "Change the question")
	eventually(t, soon, "the sync to be refused", func() (bool, string) {
		refresh(t, "perflab-experiments")
		said := operation(t, "perflab-experiments")
		return strings.Contains(said, "restore spec.arms, or give the changed experiment a new name"), said
	})
	s.repository.edit(t, experiments, "max: 144Mi", "max: 112Mi")
	s.repository.commit(t, "Restore the question")
	synced(t, "perflab-experiments")
	assertKept(t, s.loaded)
}

// scheduledStays checks that Argo CD keeps experiments that a schedule has created. The
// schedule creates one per minute, unless one is running. The experiments are suspended and
// do not queue.
func (s *story) scheduledStays(t *testing.T) {
	s.repository.append(t, experiments, read(t, "testdata/nightly.yaml"))
	s.repository.commit(t, "Measure every night")
	synced(t, "perflab-experiments")
	made := ""
	eventually(t, 2*time.Minute, "the schedule to make an experiment", func() (bool, string) {
		made = scheduled(t)
		return made != "", kubectl(t, "-n", "lab", "get", "perfschedules")
	})
	before := experiment(t, made)
	syncAgain(t, "perflab-experiments")
	if after := experiment(t, made); after.GetUID() != before.GetUID() || after.GetDeletionTimestamp() != nil {
		t.Errorf("%s was %s and is %s, deleted %v", made, before.GetUID(), after.GetUID(), after.GetDeletionTimestamp())
	}
	if health := healthIn(t, "PerfSchedule", "nightly"); health.Status != "Healthy" {
		t.Errorf("the schedule is %+v", health)
	}
	if health := experimentHealth(t, made); health.Status != "" {
		t.Errorf("%s counts as one of the application's: %+v", made, health)
	}
}

func (s *story) changedTemplateIsForTheNext(t *testing.T) {
	earlier := scheduled(t)
	s.repository.edit(t, experiments, "users: 3", "users: 4")
	s.repository.commit(t, "Use more users every night")
	synced(t, "perflab-experiments")
	if users := loadUsers(t, earlier); users != "3" {
		t.Errorf("the one that was made before has %s users", users)
	}
	// The schedule creates none while one is running.
	kubectl(t, "-n", "lab", "delete", "perfexperiment", earlier)
	eventually(t, 2*time.Minute, "the next one, of the new template", func() (bool, string) {
		next := scheduled(t)
		if next == "" || next == earlier {
			return false, next
		}
		users := loadUsers(t, next)
		return users == "4", users
	})
}

func (s *story) scheduleIsPruned(t *testing.T) {
	s.repository.edit(t, experiments, strings.ReplaceAll(read(t, "testdata/nightly.yaml"), "users: 3", "users: 4"), "")
	s.repository.commit(t, "Measure no more at night")
	refresh(t, "perflab-experiments")
	eventually(t, 2*time.Minute, "the schedule and its experiments to be deleted", func() (bool, string) {
		left := names(t, "lab", "perfschedules") + scheduled(t)
		return left == "", left
	})
	synced(t, "perflab-experiments")
	assertKept(t, s.loaded)
}

func (s *story) finishedIsHealthy(t *testing.T) {
	eventually(t, 4*runLimit, "the experiment to complete", func() (bool, string) {
		health := experimentHealth(t, "heap")
		return health.Status == "Healthy" && strings.Contains(health.Message, "every planned run"), fmt.Sprint(health)
	})
	assertKept(t, s.loaded)
	if all := attempts(t); len(all) != 4 {
		t.Errorf("%d runs, want 4, none repeated: %v", len(all), all)
	}
	synced(t, "perflab-experiments")
}

func (s *story) removedIsDeleted(t *testing.T) {
	if built := names(t, "lab", "deployments,clusters.postgresql.cnpg.io,kafkas.kafka.strimzi.io"); built == "" {
		t.Error("nothing exists to delete")
	}
	s.repository.edit(t, experiments, read(t, "testdata/heap.yaml"), "")
	s.repository.commit(t, "Have done with heap")
	refresh(t, "perflab-experiments")
	eventually(t, 4*time.Minute, "the experiment, its runs and its environment to be deleted", func() (bool, string) {
		left := names(t, "lab", "perfexperiments,perfruns,deployments,clusters.postgresql.cnpg.io,kafkas.kafka.strimzi.io,pods")
		return left == "perfexperiment.perflab.dev/parked", left
	})
	synced(t, "perflab-experiments")
}

func (s *story) deletingDeletesAll(t *testing.T) {
	kubectl(t, "-n", "argocd", "delete", "application", "perflab", "--wait=false")
	eventually(t, 4*time.Minute, "the applications to be deleted", func() (bool, string) {
		left := names(t, "argocd", "applications")
		if strings.Contains(left, "perflab-experiments") && !strings.Contains(left, "perflab-operator") {
			t.Error("the operator was deleted before the experiments")
		}
		return left == "", left
	})
	if left := names(t, "perflab-system", "deployments"); left != "" {
		t.Errorf("left: %s", left)
	}
	if left := kubectl(t, "get", "namespace", "lab"); !strings.Contains(left, "Active") {
		t.Errorf("the namespace the experiments were in: %s", left)
	}
}

// comesAfter waits for an application and checks that it was not created before another one
// existed and was healthy.
func comesAfter(t *testing.T, later, earlier string) {
	t.Helper()
	eventually(t, 5*time.Minute, later+" to be made", func() (bool, string) {
		made := names(t, "argocd", "applications")
		return strings.Contains(made, later), made
	})
	if status := application(t, earlier).Status; status.Health.Status != "Healthy" || status.Sync.Status != v1alpha1.SyncStatusCodeSynced {
		t.Errorf("%s was made while %s was %s and %s", later, earlier, status.Health.Status, status.Sync.Status)
	}
}

func application(t *testing.T, name string) *v1alpha1.Application {
	t.Helper()
	found := &v1alpha1.Application{}
	if err := json.Unmarshal([]byte(kubectl(t, "-n", "argocd", "get", "application", name, "-o", "json")), found); err != nil {
		t.Fatal(err)
	}
	return found
}

// operation returns the result of an application's last sync.
func operation(t *testing.T, name string) string {
	t.Helper()
	state := application(t, name).Status.OperationState
	if state == nil {
		return "none yet"
	}
	said := fmt.Sprintf("%s: %s", state.Phase, state.Message)
	if state.SyncResult != nil {
		for _, resource := range state.SyncResult.Resources {
			said += "; " + resource.Message
		}
	}
	return said
}

// experimentHealth returns Argo CD's health of an experiment.
func experimentHealth(t *testing.T, experiment string) v1alpha1.HealthStatus {
	t.Helper()
	return healthIn(t, "PerfExperiment", experiment)
}

func healthIn(t *testing.T, kind, name string) v1alpha1.HealthStatus {
	t.Helper()
	for _, resource := range application(t, "perflab-experiments").Status.Resources {
		if resource.Kind == kind && resource.Name == name && resource.Health != nil {
			return *resource.Health
		}
	}
	return v1alpha1.HealthStatus{}
}

// refresh makes Argo CD read Git now.
func refresh(t *testing.T, name string) {
	t.Helper()
	kubectl(t, "-n", "argocd", "annotate", "application", name, "--overwrite", "argocd.argoproj.io/refresh=hard")
}

// synced waits until the cluster is in sync with Git's current state.
func synced(t *testing.T, name string) {
	t.Helper()
	refresh(t, name)
	// A rejected sync is retried for some minutes before another sync starts.
	eventually(t, 5*time.Minute, name+" to be synced", func() (bool, string) {
		current := application(t, name)
		_, asked := current.Annotations["argocd.argoproj.io/refresh"]
		return !asked && current.Status.Sync.Status == v1alpha1.SyncStatusCodeSynced && current.Operation == nil,
			fmt.Sprintf("%s, %s", current.Status.Sync.Status, operation(t, name))
	})
}

// syncAgain applies everything, even if it does not differ.
func syncAgain(t *testing.T, name string) {
	t.Helper()
	asked := time.Now().Add(-time.Second)
	kubectl(t, "-n", "argocd", "patch", "application", name, "--type=merge", "-p",
		`{"operation": {"initiatedBy": {"username": "somebody"}, "sync": {"revision": "main", "prune": true}}}`)
	eventually(t, soon, name+" to be synced once more", func() (bool, string) {
		status := application(t, name).Status
		state := status.OperationState
		return state != nil && state.FinishedAt != nil && state.StartedAt.After(asked) && state.Phase == "Succeeded" &&
				status.Sync.Status == v1alpha1.SyncStatusCodeSynced,
			operation(t, name)
	})
}

func experiment(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	found := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(kubectl(t, "-n", "lab", "get", "perfexperiment", name, "-o", "json")), &found.Object); err != nil {
		t.Fatal(err)
	}
	return found
}

// scheduled returns the name of the experiment that the schedule has created, or "" if
// there is none.
func scheduled(t *testing.T) string {
	t.Helper()
	return strings.TrimPrefix(strings.TrimSpace(kubectl(t, "-n", "lab", "get", "perfexperiments", "-l", "perflab.dev/schedule=nightly", "-o", "name")), "perfexperiment.perflab.dev/")
}

// loadUsers returns the number of users of an experiment's load.
func loadUsers(t *testing.T, experiment string) string {
	t.Helper()
	return kubectl(t, "-n", "lab", "get", "perfexperiment", experiment, "-o", "jsonpath={.spec.scenarios[0].loads[0].checkInCheckOut.users}")
}

func resourceVersion(t *testing.T, name string) string {
	t.Helper()
	return experiment(t, name).GetResourceVersion()
}

// names returns the names of the objects of some kinds, one per line.
func names(t *testing.T, namespace, kinds string) string {
	t.Helper()
	return strings.TrimSpace(kubectl(t, "-n", namespace, "get", kinds, "-o", "name"))
}

func suspend(t *testing.T, value string) {
	t.Helper()
	kubectl(t, "-n", "lab", "patch", "perfexperiment", "heap", "--type=merge", "-p", `{"spec": {"suspend": `+value+`}}`)
}

// attempts returns the runs that were under load, with their identity.
func attempts(t *testing.T) map[string]string {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	if err := json.Unmarshal([]byte(kubectl(t, "-n", "lab", "get", "perfruns", "-o", "json")), list); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, run := range list.Items {
		loads, _, err := unstructured.NestedSlice(run.Object, "status", "loads")
		if err != nil {
			t.Fatal(err)
		}
		for _, load := range loads {
			// The start time of the load is corrected when its results are read.
			if created, _, _ := unstructured.NestedString(load.(map[string]any), "createTime"); created != "" {
				found[run.GetName()] = fmt.Sprintf("%s, loaded since %s", run.GetUID(), created)
			}
		}
	}
	return found
}

// assertKept checks that no run was deleted or restarted.
func assertKept(t *testing.T, loaded map[string]string) {
	t.Helper()
	if len(loaded) == 0 {
		t.Fatal("no run was under load")
	}
	now := attempts(t)
	for name, before := range loaded {
		if now[name] != before {
			t.Errorf("run %s was %s and is %q", name, before, now[name])
		}
	}
}

// awaitLoad waits until the load of a run has started.
func awaitLoad(t *testing.T) {
	t.Helper()
	eventually(t, runLimit, "a run to be under load", func() (bool, string) {
		started := kubectl(t, "-n", "lab", "get", "perfruns", "-o", "jsonpath={.items[*].status.loads[*].startTime}")
		return started != "", kubectl(t, "-n", "lab", "get", "perfexperiments,perfruns")
	})
}

// describe logs the state of the applications after a failure.
func describe(t *testing.T) {
	t.Helper()
	for _, name := range strings.Fields(names(t, "argocd", "applications")) {
		_, name, _ = strings.Cut(name, "/")
		for _, resource := range application(t, name).Status.Resources {
			if resource.Status == v1alpha1.SyncStatusCodeOutOfSync {
				t.Logf("of %s, %s %s is out of sync", name, resource.Kind, resource.Name)
			}
		}
	}
	for _, arguments := range [][]string{
		{"-n", "argocd", "get", "applications", "-o", "custom-columns=NAME:.metadata.name,SYNC:.status.sync.status,HEALTH:.status.health.status,CONDITIONS:.status.conditions,OPERATION:.status.operationState.message"},
		{"-n", "lab", "get", "perfexperiments,perfruns,pods", "-o", "wide"},
		{"-n", "perflab-system", "get", "pods", "-o", "wide"},
	} {
		said, err := tried("", os.Getenv("KUBECTL"), arguments...)
		if err != nil {
			said = err.Error()
		}
		t.Logf("%s", said)
	}
}
