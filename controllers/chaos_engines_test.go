// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// The Go module with the CRDs of Chaos Mesh, and its digest as in go.sum.
const (
	chaosMeshModule = "github.com/chaos-mesh/chaos-mesh@v0.9.1-0.20260902003049-47411975a8cb"
	chaosMeshSum    = "h1:0TeWmCELKreoLAXuoPaO2qpJe73foDgOoyU3fdKQN4A="
)

// chaosMeshCRD returns the path of a CRD of Chaos Mesh.
func chaosMeshCRD(t *testing.T, file string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", chaosMeshModule)
	command.Dir = t.TempDir()
	printed, err := command.Output()
	expect.NoError(t, err, "%s", printed)
	module := struct{ Dir, Sum string }{}
	expect.NoError(t, json.Unmarshal(printed, &module))
	expect.Equal(t, chaosMeshSum, module.Sum, "the digest of %s", chaosMeshModule)
	return filepath.Join(module.Dir, "config", "crd", "bases", file)
}

// reducedCRD defines what the operator needs of a kind whose CRD is in no package registry.
func reducedCRD(kind schema.GroupVersionKind, resource, properties string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]s.%[1]s}
spec:
  group: %[1]s
  names: {kind: %[2]s, listKind: %[2]sList, plural: %[3]s, singular: %[4]s}
  scope: Namespaced
  versions:
  - name: %[5]s
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:%[6]s`, kind.Group, kind.Kind, resource, strings.ToLower(kind.Kind), kind.Version, properties)
}

const litmusProperties = `
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              engineState: {type: string, pattern: ^(active|stop)$}
              chaosServiceAccount: {type: string}
              appinfo:
                type: object
                properties:
                  appns: {type: string}
                  applabel: {type: string}
                  appkind: {type: string, pattern: '^(^$|deployment|statefulset|daemonset|deploymentconfig|rollout)$'}
          status:
            type: object
            properties: {engineStatus: {type: string}}
`

// krknProperties are as of krkn-operator 1.0.0-rc3.
const krknProperties = `
          spec:
            type: object
            required: [scenarioImage, scenarioName, targetClusters, targetRequestId]
            properties:
              environment: {type: object, additionalProperties: {type: string}}
              scenarioImage: {type: string}
              scenarioName: {type: string}
              targetClusters: {type: object, minProperties: 1, additionalProperties: {type: array, items: {type: string}}}
              targetRequestId: {type: string}
          status:
            type: object
            properties:
              phase: {type: string, enum: [Pending, Running, Succeeded, PartiallyFailed, Failed]}
              runningJobs: {type: integer}
              successfulJobs: {type: integer}
`

// crd returns the path of the engine's CRD.
func (e chaosEngine) crd(t *testing.T) string {
	t.Helper()
	if e.file != "" {
		return chaosMeshCRD(t, e.file)
	}
	file := filepath.Join(t.TempDir(), "crd.yaml")
	expect.NoError(t, os.WriteFile(file, []byte(reducedCRD(e.kind, e.resource, e.properties)), 0o600))
	return file
}

// chaosEngine is the part of a chaos engine that a fault meets.
type chaosEngine struct {
	kind     schema.GroupVersionKind
	resource string
	// file has the engine's CRD in its Go module; without one, properties are those that the
	// operator needs.
	file, properties string
	// finalizer with which the engine undoes its fault before the resource is gone, if it has one.
	finalizer string
	// endsByItself: the engine ends its fault.
	endsByItself bool
	// begun and over are the statuses that it writes.
	begun, over map[string]any
	// wholeObject: the CRD has no status subresource.
	wholeObject bool
}

func chaosMeshStatus(injected, recovered, phase string) map[string]any {
	return map[string]any{
		"conditions": []any{
			map[string]any{"type": "Selected", "status": "True"},
			map[string]any{"type": "AllInjected", "status": injected},
			map[string]any{"type": "AllRecovered", "status": recovered},
			map[string]any{"type": "Paused", "status": "False"},
		},
		"experiment": map[string]any{"desiredPhase": phase},
	}
}

var chaosEngines = []chaosEngine{
	{
		kind: schema.GroupVersionKind{Group: "chaos-mesh.org", Version: "v1alpha1", Kind: "NetworkChaos"}, resource: "networkchaos",
		file: "chaos-mesh.org_networkchaos.yaml", finalizer: "chaos-mesh/records",
		begun: chaosMeshStatus("True", "False", "Run"), over: chaosMeshStatus("False", "True", "Stop"), wholeObject: true,
	},
	{
		kind: schema.GroupVersionKind{Group: "litmuschaos.io", Version: "v1alpha1", Kind: "ChaosEngine"}, resource: "chaosengines",
		properties: litmusProperties, finalizer: "chaosengine.litmuschaos.io/finalizer", endsByItself: true,
		begun: map[string]any{"engineStatus": "initialized"}, over: map[string]any{"engineStatus": "completed"},
	},
	{
		kind: schema.GroupVersionKind{Group: "krkn.krkn-chaos.dev", Version: "v1alpha1", Kind: "KrknScenarioRun"}, resource: "krknscenarioruns",
		properties: krknProperties, endsByItself: true,
		begun: map[string]any{"phase": "Running", "runningJobs": int64(1)}, over: map[string]any{"phase": "Succeeded", "successfulJobs": int64(1)},
	},
}

// documentedFaults are the examples of docs/faults.md that create a resource, by its kind.
var documentedFaults = sync.OnceValues(func() (map[string]v1alpha1.Fault, error) {
	text, err := os.ReadFile(apiserver.Root("docs", "faults.md"))
	if err != nil {
		return nil, err
	}
	found := map[string]v1alpha1.Fault{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(faults:\n.*?)```").FindAllSubmatch(text, -1) {
		scenario := v1alpha1.Scenario{}
		if err := yaml.UnmarshalStrict(block[1], &scenario); err != nil {
			return nil, err
		}
		for _, fault := range scenario.Faults {
			kind := metav1.TypeMeta{}
			if err := yaml.Unmarshal(fault.Resource.Manifest.Raw, &kind); err != nil {
				return nil, err
			}
			found[kind.Kind] = fault
		}
	}
	return found, nil
})

// play simulates the engine: it starts the fault that it meets, and undoes it when the resource is
// deleted, or, if it ends by itself, after two rounds.
func (e chaosEngine) play(l *lab) func() {
	rounds := 0
	return func() {
		for _, object := range l.foreign(e.kind) {
			switch isOver := object.GetDeletionTimestamp() != nil || e.endsByItself && rounds > 1; {
			case isOver && e.finalizer == "":
				e.setStatus(l, &object, e.over)
			case isOver && slices.Contains(object.GetFinalizers(), e.finalizer):
				e.setStatus(l, &object, e.over)
				object.SetFinalizers(nil)
				l.update(&object)
			case !isOver && e.finalizer != "" && len(object.GetFinalizers()) == 0:
				object.SetFinalizers([]string{e.finalizer})
				l.update(&object)
			case !isOver:
				rounds++
				e.setStatus(l, &object, e.begun)
			}
		}
	}
}

func (e chaosEngine) setStatus(l *lab, object *unstructured.Unstructured, status map[string]any) {
	if !e.wholeObject {
		l.setStatus(object, status)
		return
	}
	object.Object["status"] = status
	l.update(object)
}

// The documented faults of chaos engines are accepted by the engines' CRDs, start when the engine
// reports it, and are undone before the run ends.
func TestChaosEngines(t *testing.T) {
	documented, err := documentedFaults()
	expect.NoError(t, err)
	for _, engine := range chaosEngines {
		t.Run(engine.kind.Kind, func(t *testing.T) {
			l := newLab(t, complete)
			_, err := envtest.InstallCRDs(complete.Config(t), envtest.CRDInstallOptions{Paths: []string{engine.crd(t)}, ErrorIfPathMissing: true})
			expect.NoError(t, err)
			seen := actAsAccounts(l, complete)
			l.newAuthor(author)
			l.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "chaos"}, Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{engine.kind.Group}, Resources: []string{engine.resource}, Verbs: []string{"create", "patch", "delete"},
			}}})
			l.bind(author, "Role", "chaos", "create", engine.kind.Group, engine.resource)
			l.measureOutages()
			l.create(login(), smallExperiment(t, oneArm, withResource("{}"), func(e *v1alpha1.PerfExperiment) {
				fault := &e.Spec.Scenarios[0].Faults[0]
				fault.Resource = documented[engine.kind.Kind].Resource.DeepCopy()
				fault.Resource.Duration = &metav1.Duration{Duration: 20 * time.Second}
			}))
			l.eachRound = engine.play(l)
			run := l.untilRun(v1alpha1.RunSucceeded)
			fault := run.Status.Faults[0]
			if fault.Resource == nil || fault.Begin == nil || fault.Over == nil || !fault.Gone {
				t.Errorf("fault %+v", fault)
			}
			if left := l.foreign(engine.kind); len(left) > 0 {
				t.Errorf("%s is left", left[0].GetName())
			}
			seen.check(t, l.namespace)
		})
	}
}
