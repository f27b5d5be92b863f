// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// halfDone is an experiment that the earlier operator has half finished.
type halfDone struct {
	*lab
	experiment v1alpha1.PerfExperiment
	runs       []v1alpha1.PerfRun
	// built are the running Kafkas, their pools and PostgreSQLs.
	built map[string]types.UID
}

// The operator of an earlier commit runs half of an experiment, and today's the rest, with only the
// objects in the API server.
func TestUpgradeDuringExperiments(t *testing.T) {
	commit := os.Getenv("UPGRADE_FROM")
	if commit == "" {
		t.Skip("needs an earlier commit and minutes: make test-upgrade")
	}
	remembered := t.TempDir()
	half := filepath.Join(apiserver.Root(), "controllers", "half_done_test.go")
	testEarlier(t, commit, half, "^TestExperimentsAreLeftHalfDone$", upgraded, remembered)
	installKinds(t)
	for _, name := range []string{"Building", "Loading", "Warm", "Shared", "Outside", "Borrowed", "Restoring", "Complete"} {
		t.Run(name, func(t *testing.T) {
			b := takeOver(t, filepath.Join(remembered, name+".json"))
			b.eachRound = b.checkNothingRebuilt
			b.outside.held["cico"] = name == "Loading"
			if name == "Outside" {
				b.allowHosts()
			}
			b.until("a complete experiment", func() bool {
				return b.lab.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
			})
			b.checkPlan()
			b.checkFinishedRuns()
			b.checkPositionsOnce()
			b.checkUnknownManifests()
			b.verifyChain("small")
			b.remove(b.lab.experiment("small"))
			b.until("the end of the experiment", func() bool { return len(b.experiments()) == 0 })
			b.checkNothingLeft()
		})
	}
}

// Today's operator runs half of an experiment, and that of an earlier commit the rest, with its own
// kinds, as after helm rollback.
func TestRollbackDuringExperiments(t *testing.T) {
	commit := os.Getenv("ROLLBACK_TO")
	if commit == "" {
		t.Skip("needs an earlier commit and minutes: make test-upgrade")
	}
	remembered := t.TempDir()
	t.Run("begin", func(t *testing.T) { leaveHalfDone(t, remembered) })
	testEarlier(t, commit, filepath.Join("testdata", "rollback", "finished_test.go"), "^TestExperimentsAreFinished$", complete, remembered)
}

// testEarlier adds a file to the tests of an earlier commit's controllers, and runs a test of it against
// a server.
func testEarlier(t *testing.T, commit, file, test string, server *apiserver.Server, remembered string) {
	t.Helper()
	earlier, archive := t.TempDir(), filepath.Join(t.TempDir(), "earlier.tar")
	command(t, apiserver.Root(), nil, "git", "archive", "--output", archive, commit)
	command(t, earlier, nil, "tar", "-xf", archive)
	text, err := os.ReadFile(file)
	expect.NoError(t, err)
	expect.NoError(t, os.WriteFile(filepath.Join(earlier, "controllers", filepath.Base(file)), text, 0o600))
	// It searches for its files where the compiler recorded its sources, which with -trimpath is a path
	// that starts with the module's name.
	beside := filepath.Join(earlier, "controllers", "perflab.dev")
	expect.NoError(t, errors.Join(os.Mkdir(beside, 0o700), os.Symlink(earlier, filepath.Join(beside, "perflab"))))
	command(t, filepath.Join(earlier, "controllers"), []string{
		"USE_EXISTING_CLUSTER=true", "KUBECONFIG=" + kubeconfig(t, server.Config(t)), "PERFLAB_HALF_DONE=" + remembered,
	}, "go", "test", "-count=1", "-run", test, ".")
}

func command(t *testing.T, dir string, environment []string, name string, arguments ...string) {
	t.Helper()
	running := exec.CommandContext(t.Context(), name, arguments...)
	running.Dir, running.Env = dir, append(os.Environ(), environment...)
	if out, err := running.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", running, err, out)
	}
}

// kubeconfig writes a file with the connection to an API server.
func kubeconfig(t *testing.T, config *rest.Config) string {
	t.Helper()
	const name = "test"
	written := clientcmdapi.NewConfig()
	written.CurrentContext = name
	written.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	written.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	if !strings.Contains(config.Host, "://") {
		written.Clusters[name].Server = "https://" + config.Host
	}
	written.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	expect.NoError(t, clientcmd.WriteToFile(*written, file))
	return file
}

// installKinds replaces the earlier kinds by today's, as an upgrade does, and waits until the API server
// uses them.
func installKinds(t *testing.T) {
	t.Helper()
	_, err := envtest.InstallCRDs(upgraded.Config(t), envtest.CRDInstallOptions{Paths: []string{apiserver.Root("config", "crd")}, ErrorIfPathMissing: true})
	expect.NoError(t, err, "upgrading the kinds")
	l := newLabAlone(t, upgraded)
	runs := &v1alpha1.PerfRunList{}
	if err := l.admin.List(t.Context(), runs); err != nil || len(runs.Items) == 0 {
		t.Fatalf("no runs were started: %v", err)
	}
	// Today's kind has an immutable spec of runs, the earlier one had not.
	changed := &runs.Items[0]
	changed.Spec.Seed++
	await.Until(t.Context(), t, time.Minute, "today's kinds to be served", func() (bool, string) {
		err := l.admin.Update(t.Context(), changed.DeepCopy(), client.DryRunAll)
		return apierrors.IsInvalid(err), fmt.Sprint(err)
	})
}

// takeOver is today's operator in a namespace of the earlier one.
func takeOver(t *testing.T, file string) *halfDone {
	t.Helper()
	encoded, err := os.ReadFile(file)
	expect.NoError(t, err)
	var remembered left
	expect.NoError(t, json.Unmarshal(encoded, &remembered))
	l := newLab(t, upgraded)
	l.namespace, l.now, l.home = remembered.Namespace, remembered.Now, "perflab-system"
	for name, state := range remembered.Topics {
		l.brokers.put(name, state)
	}
	b := &halfDone{lab: l, experiment: *l.experiment("small"), runs: l.runs(), built: l.stores()}
	if b.experiment.Status.PlanHash == "" || len(b.runs) == 0 {
		t.Fatalf("nothing was started: %+v", b.experiment.Status)
	}
	return b
}

// stores are the running Kafkas, their pools and PostgreSQLs.
func (l *lab) stores() map[string]types.UID {
	l.t.Helper()
	up := map[string]types.UID{}
	for _, object := range slices.Concat(l.foreign(contract.KafkaKind("v1")), l.foreign(contract.KafkaNodePoolKind("v1")), l.foreign(contract.PostgresClusterKind)) {
		up[fmt.Sprintf("%s %s, generation %d", object.GetKind(), object.GetName(), object.GetGeneration())] = object.GetUID()
	}
	return up
}

// checkNothingRebuilt checks that running objects stay unchanged.
func (b *halfDone) checkNothingRebuilt() {
	b.t.Helper()
	for name, uid := range b.stores() {
		if b.built[name] != uid {
			b.t.Errorf("%s did not exist before the upgrade: %v", name, b.built)
		}
	}
}

func (b *halfDone) checkPlan() {
	b.t.Helper()
	before, after := b.experiment.Status, b.lab.experiment("small").Status
	if after.PlanHash != before.PlanHash || *after.Seed != *before.Seed {
		b.t.Errorf("plan %s with seed %d, it was %s with %d", after.PlanHash, *after.Seed, before.PlanHash, *before.Seed)
	}
}

// checkFinishedRuns: the results of finished runs are unchanged.
func (b *halfDone) checkFinishedRuns() {
	b.t.Helper()
	after := map[types.UID]v1alpha1.PerfRun{}
	for _, run := range b.lab.runs() {
		after[run.UID] = run
	}
	for _, run := range b.runs {
		kept, there := after[run.UID]
		if !there {
			b.t.Errorf("run %s is lost", run.Name)
			continue
		}
		if !run.Status.Phase.IsFinal() {
			continue
		}
		if diff := cmp.Diff(run.Status, kept.Status); diff != "" {
			b.t.Errorf("run %s was over and has changed (-was +is):\n%s", run.Name, diff)
		}
	}
}

// checkPositionsOnce: each position of the plan has one valid run.
func (b *halfDone) checkPositionsOnce() {
	b.t.Helper()
	counted := map[int32][]string{}
	for _, run := range b.lab.runs() {
		counted[run.Spec.Position] = append(counted[run.Spec.Position], fmt.Sprintf("%s (%s: %s)", run.Name, run.Status.Phase, run.Status.Message))
	}
	status := b.lab.experiment("small").Status
	if int(status.Runs.Done) != len(counted) || int(status.Runs.Planned) != len(counted) {
		b.t.Errorf("%d of %d runs succeeded at %d places", status.Runs.Done, status.Runs.Planned, len(counted))
	}
	for position, runs := range counted {
		if len(runs) != 1 {
			b.t.Errorf("place %d was done %d times: %q", position, len(runs), runs)
		}
	}
}

// checkUnknownManifests: the earlier operator did not record its manifests, so the first later run of
// each arm can't be compared.
func (b *halfDone) checkUnknownManifests() {
	b.t.Helper()
	earlier, reported := map[string]bool{}, map[string]bool{}
	for _, run := range b.runs {
		earlier[run.Spec.Arm] = earlier[run.Spec.Arm] || run.Status.Phase == v1alpha1.RunSucceeded
	}
	for _, run := range b.lab.runs() {
		if run.Status.Evidence == nil || len(run.Status.Evidence.Rendered) == 0 {
			continue
		}
		warns := run.Status.Evidence.RenderedChange != nil
		if want := earlier[run.Spec.Arm] && !reported[run.Spec.Arm]; warns != want {
			b.t.Errorf("run %s warns: %t, want %t: %q", run.Name, warns, want, run.Status.Warnings)
		}
		reported[run.Spec.Arm] = true
	}
}

// checkNothingLeft: only objects of others are left.
func (b *halfDone) checkNothingLeft() {
	b.t.Helper()
	b.collectGarbage()
	b.collectGarbage()
	borrowed := func(name string) bool { return strings.Contains(name, "mod-inventory") }
	if left := slices.DeleteFunc(b.environment(), borrowed); len(left) != 0 {
		b.t.Errorf("left behind: %v", left)
	}
	maps := &corev1.ConfigMapList{}
	b.list(maps, client.HasLabels{v1alpha1.LabelExperiment})
	for _, one := range maps.Items {
		b.t.Errorf("left behind: ConfigMap %s", one.Name)
	}
	outside := b.experiment.Spec.System.Kafka != nil && b.experiment.Spec.System.Kafka.External != nil
	if topics := b.brokers.names(); outside && len(topics) != 0 {
		b.t.Errorf("left behind: topics %v", topics)
	}
}

// allowHosts: a login is sent only to hosts that its Secret allows, and earlier Secrets allow none. The
// run reports that and waits.
func (b *halfDone) allowHosts() {
	b.t.Helper()
	advice := fmt.Sprintf("kubectl annotate secret msk-login -n %s --overwrite 'perflab.dev/hosts=b-1.msk.example.org:9096'", b.namespace)
	b.until("word of the hosts", func() bool { return strings.Contains(b.run().Status.Message, advice) })
	b.expect(b.run().Status.Conditions, v1alpha1.ConditionKafkaReady, metav1.ConditionFalse, v1alpha1.ReasonHostNotAllowed, advice)
	secret := &corev1.Secret{}
	expect.NoError(b.t, b.admin.Get(b.t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "msk-login"}, secret))
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, v1alpha1.AnnotationHosts, "b-1.msk.example.org:9096")
	b.update(secret)
}
