// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// Both installation methods create the same objects. Helm adds labels and the policy to keep
// the kinds. kustomize adds the namespace.
func TestChartAndKustomizeInstallTheSame(t *testing.T) {
	for dir, given := range map[string]values{"default": {}, "act-as-author": {"actAsAuthor": values{"enabled": true}}} {
		given["metrics"] = values{"serviceMonitor": values{"enabled": true}}
		t.Run(dir, func(t *testing.T) {
			checkSame(t, build(t, dir).add(build(t, "prometheus")), mustRender(t, home, given))
		})
	}
}

func checkSame(t *testing.T, built, rendered objects) {
	t.Helper()
	delete(built, "Namespace//"+home)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(built)), slices.Sorted(maps.Keys(rendered))); diff != "" {
		t.Fatalf("objects (-kustomize +helm):\n%s", diff)
	}
	for key, want := range built {
		is, has := bare(want), bare(rendered[key])
		if want.GetKind() == "Deployment" {
			sortArguments(t, is, has)
		}
		if diff := cmp.Diff(is.Object, has.Object); diff != "" {
			t.Errorf("%s (-kustomize +helm):\n%s", key, diff)
		}
	}
}

// sortArguments sorts the flags of programs.
func sortArguments(t *testing.T, programs ...*unstructured.Unstructured) {
	t.Helper()
	for _, program := range programs {
		containers, _, err := unstructured.NestedSlice(program.Object, "spec", "template", "spec", "containers")
		expect.NoError(t, err)
		arguments, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		expect.NoError(t, err)
		slices.Sort(arguments)
		expect.NoError(t, unstructured.SetNestedStringSlice(containers[0].(map[string]any), arguments, "args"))
		expect.NoError(t, unstructured.SetNestedSlice(program.Object, containers, "spec", "template", "spec", "containers"))
	}
}

// bare returns the object without the parts that only Helm or only kustomize adds.
func bare(object *unstructured.Unstructured) *unstructured.Unstructured {
	stripped := object.DeepCopy()
	stripped.SetLabels(nil)
	annotations := stripped.GetAnnotations()
	delete(annotations, "helm.sh/resource-policy")
	stripped.SetAnnotations(annotations)
	// Numbers from JSON and from YAML compare as equal.
	written, err := stripped.MarshalJSON()
	if err != nil {
		panic(err)
	}
	same := &unstructured.Unstructured{}
	if err := same.UnmarshalJSON(written); err != nil {
		panic(err)
	}
	return same
}

func TestChartLints(t *testing.T) {
	result := lint.AllWithKubeVersionAndSchemaValidation(apiserver.Root("charts", "perflab"), nil, home, nil, false)
	for _, message := range result.Messages {
		if message.Severity >= support.WarningSev {
			t.Errorf("%s", message)
		}
	}
}

// Artifact Hub's annotations are YAML, and list the kinds that the chart installs.
func TestArtifactHubAnnotations(t *testing.T) {
	metadata := loadChart(t).Metadata
	if metadata.Home == "" || metadata.Icon == "" || len(metadata.Sources) == 0 || len(metadata.Maintainers) == 0 {
		t.Errorf("%+v", metadata)
	}
	var definitions []struct{ Kind, Version, Name, DisplayName, Description string }
	expect.NoError(t, yaml.UnmarshalStrict([]byte(metadata.Annotations["artifacthub.io/crds"]), &definitions), "crds")
	var listed, installed []string
	for _, definition := range definitions {
		listed = append(listed, definition.Kind+" "+definition.Version+" "+definition.Name)
	}
	for _, object := range mustRender(t, home, nil) {
		if object.GetKind() == "CustomResourceDefinition" {
			kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
			installed = append(installed, kind+" v1alpha1 "+object.GetName())
		}
	}
	slices.Sort(installed)
	expect.Equal(t, installed, listed, "kinds")
	var changes []struct{ Kind, Description string }
	expect.NoError(t, yaml.UnmarshalStrict([]byte(metadata.Annotations["artifacthub.io/changes"]), &changes), "changes")
	for _, change := range changes {
		if !slices.Contains([]string{"added", "changed", "deprecated", "removed", "fixed", "security"}, change.Kind) {
			t.Errorf("%q is no kind of change", change.Kind)
		}
	}
	var pages []struct{ Name, URL string }
	expect.NoError(t, yaml.UnmarshalStrict([]byte(metadata.Annotations["artifacthub.io/links"]), &pages), "links")
}

func TestNamespacedOperatorRights(t *testing.T) {
	rendered := mustRender(t, "team-a", values{"scope": "Namespaced", "watchNamespace": "lab-a"})
	operator := rendered.get(t, "Deployment", "team-a", "perflab-operator")
	written, err := operator.MarshalJSON()
	expect.NoError(t, err)
	if !contains(written, `{"name":"WATCH_NAMESPACE","value":"lab-a"}`) || !contains(written, "--webhook-configuration=perflab-team-a") {
		t.Errorf("the operator lacks its namespace and its webhook: %s", written)
	}
	rendered.get(t, "Role", "lab-a", "perflab-operator-team-a")
	rendered.get(t, "ClusterRole", "", "perflab-collector-team-a")
	role, err := rendered.get(t, "Role", "lab-a", "perflab-operator-team-a").MarshalJSON()
	if err != nil || !contains(role, `"resourceNames":["perflab-collector-team-a"]`) || !contains(written, "--collector-role=perflab-collector-team-a") {
		t.Errorf("the operator may not bind its own collectors' role, or lacks its name: %s %s %v", role, written, err)
	}
	nodes := rendered.get(t, "ClusterRole", "", "perflab-operator-team-a")
	rules, _, _ := unstructured.NestedSlice(nodes.Object, "rules")
	expect.Equal(t, []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"nodes"}, "verbs": []any{"get"}}}, rules, "rights in the whole cluster")
	binding, err := rendered.get(t, "ValidatingAdmissionPolicyBinding", "", "perflab-results-team-a").MarshalJSON()
	if err != nil || !contains(binding, `"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"lab-a"}}`) || !contains(binding, `"policyName":"perflab-results-team-a"`) {
		t.Errorf("the policy is not bound to the namespace alone: %s, %v", binding, err)
	}
	webhooks, _, _ := unstructured.NestedSlice(rendered.get(t, "ValidatingWebhookConfiguration", "", "perflab-team-a").Object, "webhooks")
	for _, webhook := range webhooks {
		only, _, _ := unstructured.NestedString(webhook.(map[string]any), "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name")
		if only != "lab-a" {
			t.Errorf("the webhook is called for namespace %q, want lab-a alone", only)
		}
	}
}

func TestValuesAreChecked(t *testing.T) {
	for want, given := range map[string]values{
		"scope":                  {"scope": "Galaxy"},
		"images.operator":        {"images": values{"operator": "example.org/operator"}},
		"replica":                {"replica": 2},
		"images.k6.repository":   {"images": values{"k6": values{"repository": "example.org/k6:1"}}},
		"images.k6.digest":       {"images": values{"k6": values{"digest": "sha256:0123"}}},
		"images.k6.pullPolicy":   {"images": values{"k6": values{"pullPolicy": "Sometimes"}}},
		"'registry'":             {"images": values{"k6": values{"registry": "example.org"}}},
		"global.imageRegistry":   {"global": values{"imageRegistry": "https://example.org"}},
		"imagePullSecrets.0":     {"imagePullSecrets": []any{"registry"}},
		"fullnameOverride":       {"fullnameOverride": "Lab"},
		"nameOverride":           {"nameOverride": strings.Repeat("a", 41)},
		"extraEnv.0.name":        {"extraEnv": []any{values{"name": "K6_IMAGE", "value": "example.org/k6:1"}}},
		"app.kubernetes.io.name": {"podLabels": values{"app.kubernetes.io/name": "operator"}},
		"'limit'":                {"resources": values{"limit": values{"memory": "1Gi"}}},
		"'nodeAffinities'":       {"affinity": values{"nodeAffinities": values{}}},
		"tolerations.0":          {"tolerations": []any{values{"keys": "lab"}}},
		"needs metrics.enabled":  {"metrics": values{"enabled": false, "serviceMonitor": values{"enabled": true}}},
		"metrics.serviceMonitor": {"metrics": values{"serviceMonitor": values{"enabled": "yes"}}},
		"must be 'Namespaced'":   {"watchNamespace": "lab"},
		"crds.install":           {"crds": values{"install": "please"}},
		"webhook.authorRights":   {"webhook": values{"authorRights": "off"}},
		"lanes":                  {"lanes": "motorway"},
		"longestTurn":            {"longestTurn": "a week"},
		"fence.namespaceLabel":   {"fence": values{"namespaceLabel": "' || true"}},
		"targets.deny":           {"targets": values{"deny": []any{"example.org"}}},
		"targets.allow":          {"targets": values{"allow": "10.0.0.0/8"}},
		"history.runs":           {"history": values{"runs": "a week"}},
		"history.rawResultsOf":   {"history": values{"rawResultsOf": "newest"}},
		"history.runsOf":         {"history": values{"runsOf": -1}},
		"retention.runs":         {"retention": values{"runs": "a week"}},
		"retention.rawResultsOf": {"retention": values{"rawResultsOf": "newest"}},
		"actAsAuthor.default":    {"actAsAuthor": values{"defaultServiceAccount": "Author"}},
		"needs webhook.enabled":  {"actAsAuthor": values{"enabled": true, "serviceAccounts": []any{"strong"}}, "webhook": values{"enabled": false}},
		"authorRights: enforce":  {"actAsAuthor": values{"enabled": true, "serviceAccounts": []any{"strong"}}, "webhook": values{"authorRights": "warn"}},
		"retention.runsOf":       {"retention": values{"runsOf": -1}},
		"archive.url":            {"archive": values{"url": "ftp://archive"}},
		"announce.grafana.0.url": {"announce": values{"grafana": []any{values{"name": "board", "url": "grafana"}}}},
		"archive.namespaces":     {"archive": values{"namespaces": values{"team-a": values{"url": "ftp://archive"}}}},
		"missing property 'url'": {"archive": values{"namespaces": values{"team-a": values{"credentialsSecret": "a"}}}},
	} {
		_, err := render(t, home, given)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "/", "."), want) {
			t.Errorf("%v: %v, want a complaint about %s", given, err, want)
		}
	}
}

// The schema allows the values of values.yaml, and no others except deprecated ones.
func TestSchemaMatchesValues(t *testing.T) {
	loaded := loadChart(t)
	root := &valueSchema{}
	expect.NoError(t, json.Unmarshal(loaded.Schema, root))
	root.compare(t, root, "", loaded.Values)
}

// valueSchema is the part of a JSON schema that names values.
type valueSchema struct {
	Ref         string                  `json:"$ref"`
	Definitions map[string]*valueSchema `json:"definitions"`
	Properties  map[string]*valueSchema `json:"properties"`
	OneOf       []*valueSchema          `json:"oneOf"`
	Deprecated  bool                    `json:"deprecated"`
	Additional  any                     `json:"additionalProperties"`
}

func (s *valueSchema) resolved(root *valueSchema) *valueSchema {
	if s.Ref != "" {
		s = root.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
	}
	if len(s.OneOf) > 0 {
		s = s.OneOf[0]
	}
	return s
}

// otherCharts are the values that other charts read, too.
var otherCharts = []string{".global", ".operators.global"}

func (s *valueSchema) compare(t *testing.T, root *valueSchema, path string, given map[string]any) {
	t.Helper()
	s = s.resolved(root)
	for key, value := range given {
		property := s.Properties[key]
		switch inner, is := value.(map[string]any); {
		case property == nil && s.Properties != nil:
			t.Errorf("values.schema.json lacks %s.%s", path, key)
		case is && property != nil:
			property.compare(t, root, path+"."+key, inner)
		}
	}
	if s.Properties != nil && s.Additional != false && !slices.Contains(otherCharts, path) {
		t.Errorf("values.schema.json allows unknown values in %q", path)
	}
	for key, property := range s.Properties {
		if _, has := given[key]; !has && !property.Deprecated && path+"."+key != ".operators.global" && !freeForm[path] {
			t.Errorf("values.yaml lacks %s.%s", path, key)
		}
	}
}

// freeForm are values with the form of a Kubernetes type.
var freeForm = map[string]bool{".resources": true, ".affinity": true, ".view.resources": true}

func TestServiceMonitor(t *testing.T) {
	rendered := mustRender(t, "team-a", values{"metrics": values{"serviceMonitor": values{"enabled": true, "labels": values{"release": "prometheus"}}}})
	written, err := yaml.Marshal(rendered.get(t, "ServiceMonitor", "team-a", "perflab-operator"))
	expect.NoError(t, err)
	monitor := &monitoringv1.ServiceMonitor{}
	expect.NoError(t, yaml.UnmarshalStrict(written, monitor), "the Prometheus operator would not read it")
	endpoint := monitor.Spec.Endpoints[0]
	if *endpoint.TLSConfig.ServerName != "perflab-metrics.team-a.svc" || endpoint.TLSConfig.InsecureSkipVerify != nil || monitor.Labels["release"] != "prometheus" {
		t.Errorf("%+v", endpoint)
	}
}

func TestAuthorRightsCanBeLoosened(t *testing.T) {
	for mode, want := range map[string]bool{"enforce": false, "warn": true, "ignore": true} {
		rendered := mustRender(t, home, values{"webhook": values{"authorRights": mode}})
		written, err := rendered.get(t, "Deployment", home, "perflab-operator").MarshalJSON()
		expect.NoError(t, err)
		if contains(written, `"--author-rights=`+mode+`"`) != want {
			t.Errorf("%s: %s", mode, written)
		}
	}
}

func TestLanesCanBeTurnedOff(t *testing.T) {
	if written, err := mustRender(t, home, nil).get(t, "Deployment", home, "perflab-operator").MarshalJSON(); err != nil || !contains(written, `"--longest-turn=168h"`) {
		t.Errorf("%v: the queue has no timeout: %s", err, written)
	}
	for lanes, want := range map[string]bool{"cluster": false, "namespace": true} {
		rendered := mustRender(t, home, values{"lanes": lanes})
		written, err := rendered.get(t, "Deployment", home, "perflab-operator").MarshalJSON()
		expect.NoError(t, err)
		if contains(written, `"--lanes=`+lanes+`"`) != want {
			t.Errorf("%s: %s", lanes, written)
		}
	}
}

func TestTargetFlags(t *testing.T) {
	rendered := mustRender(t, home, values{"targets": values{"deny": []any{"10.0.0.0/8", "fd00::/8"}, "allow": []any{"10.2.0.0/16", "[fd00::1]:443"}}})
	written, err := rendered.get(t, "Deployment", home, "perflab-operator").MarshalJSON()
	expect.NoError(t, err)
	for _, flag := range []string{"--deny-targets=10.0.0.0/8", "--deny-targets=fd00::/8", "--allow-targets=10.2.0.0/16", "--allow-targets=[fd00::1]:443"} {
		if !contains(written, `"`+flag+`"`) {
			t.Errorf("the operator lacks %s: %s", flag, written)
		}
	}
}

func TestRetentionFlags(t *testing.T) {
	set := values{"rawResults": "720h", "rawResultsOf": 0, "runs": "8760h", "runsOf": 2000}
	for _, given := range []values{{}, {"retention": set}, {"history": set}} {
		rendered := mustRender(t, home, given)
		written, err := rendered.get(t, "Deployment", home, "perflab-operator").MarshalJSON()
		expect.NoError(t, err)
		for _, flag := range []string{`"--retention-raw-results=720h"`, `"--retention-raw-results-of=0"`, `"--retention-runs=8760h"`, `"--retention-runs-of=2000"`} {
			if contains(written, flag) != (len(given) > 0) {
				t.Errorf("%v: %s", given, written)
			}
		}
	}
}

func TestArchiveFlags(t *testing.T) {
	for _, given := range []values{{}, {"archive": values{"url": "file:///archive", "claim": "records", "credentialsSecret": "store"}}} {
		rendered := mustRender(t, home, given)
		written, err := rendered.get(t, "Deployment", home, "perflab-operator").MarshalJSON()
		expect.NoError(t, err)
		for _, part := range []string{
			`"--archive=file:///archive"`, `"envFrom":[{"secretRef":{"name":"store"}}]`, `"mountPath":"/archive"`,
			`"persistentVolumeClaim":{"claimName":"records"}`, `"fsGroup":65532`,
		} {
			if contains(written, part) != (len(given) > 0) {
				t.Errorf("%v and %s: %s", given, part, written)
			}
		}
	}
}

// The installation chooses the sinks and their credentials.
func TestSinkFlags(t *testing.T) {
	sinks := values{
		"cloudEvents": []any{values{"name": "ci", "url": "https://ci.example.org/perflab", "secret": "ci-sink"}, values{"name": "open", "url": "https://open.example.org"}},
		"grafana":     []any{values{"name": "board", "url": "http://grafana.monitoring.svc", "secret": "board-token"}},
	}
	for _, given := range []values{{}, {"announce": sinks}} {
		rendered := mustRender(t, home, given)
		written, err := rendered.get(t, "Deployment", home, "perflab-operator").MarshalJSON()
		expect.NoError(t, err)
		for _, part := range []string{
			`"--cloudevents=ci=https://ci.example.org/perflab"`, `"--cloudevents=open=https://open.example.org"`, `"--grafana=board=http://grafana.monitoring.svc"`,
			`"--sink-credentials=/etc/perflab/sinks"`, `"mountPath":"/etc/perflab/sinks/ci"`, `"secret":{"secretName":"ci-sink"}`, `"secret":{"secretName":"board-token"}`,
		} {
			if contains(written, part) != (len(given) > 0) {
				t.Errorf("%v and %s: %s", given, part, written)
			}
		}
		if contains(written, "sink-open") {
			t.Errorf("one without a Secret mounts one: %s", written)
		}
	}
}

// The installation chooses the archive of a namespace, and the archive's Secret is a file that
// only the operator reads.
func TestNamespaceArchives(t *testing.T) {
	rendered := mustRender(t, home, values{"archive": values{"url": "file:///archive", "namespaces": values{
		"team-a": values{"url": "s3://team-a/archive?region=here", "credentialsSecret": "team-a-store"}, "team-b": values{"url": "none"},
	}}})
	written, err := rendered.get(t, "Deployment", home, "perflab-operator").MarshalJSON()
	expect.NoError(t, err)
	for _, part := range []string{
		`"--archive=file:///archive"`, `"--namespace-archive=team-a=s3://team-a/archive?region=here"`, `"--namespace-archive=team-b=none"`,
		`"mountPath":"/etc/perflab/archives/team-a"`, `"secret":{"defaultMode":288,"secretName":"team-a-store"}`, `"fsGroup":65532`,
	} {
		if !contains(written, part) {
			t.Errorf("%s is not in %s", part, written)
		}
	}
	if contains(written, "archives/team-b") || contains(written, `"claimName"`) {
		t.Errorf("%s", written)
	}
	if diff := cmp.Diff(mustRender(t, home, nil).get(t, "ClusterRole", "", "perflab-operator"), rendered.get(t, "ClusterRole", "", "perflab-operator")); diff != "" {
		t.Errorf("its rights grow (-without +with):\n%s", diff)
	}
}

func TestEverythingCanBeLeftOut(t *testing.T) {
	rendered := mustRender(t, home, values{
		"crds": values{"install": false}, "webhook": values{"enabled": false}, "metrics": values{"enabled": false}, "networkPolicy": values{"enabled": false},
		"resultsPolicy": values{"enabled": false}, "fence": values{"enabled": false}, "aggregatedRoles": values{"enabled": false}, "podDisruptionBudget": values{"enabled": false},
	})
	want := []string{
		"ClusterRole//perflab-collector", "ClusterRole//perflab-operator", "ClusterRoleBinding//perflab-operator", "Deployment/perflab-system/perflab-operator",
		"Role/perflab-system/perflab-leader-election", "RoleBinding/perflab-system/perflab-leader-election", "ServiceAccount/perflab-system/perflab-operator",
	}
	expect.Equal(t, want, slices.Sorted(maps.Keys(rendered)), "objects")
}

// operatorValues are the values that install a third-party operator, with its chart.
var operatorValues = map[string]string{"strimzi": "strimzi-kafka-operator", "cloudNativePG": "cloudnative-pg", "k6": "k6-operator"}

// Without helm dependency update, the chart can be installed, but fails if an operator is
// enabled. Helm requires only the dependencies of the installed chart itself.
func TestChartInstallsWithoutDownloads(t *testing.T) {
	loaded := loadChart(t)
	expect.NoError(t, action.CheckDependencies(loaded, loaded.Metadata.Dependencies), "dependencies that Helm requires")
	for flag, name := range operatorValues {
		want := "operators." + flag + " needs the chart " + name + ": run helm dependency update charts/perflab/charts/operators"
		if _, err := render(t, home, values{"operators": values{flag: true}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", flag, err, want)
		}
		want = name + " is now operators." + name
		if _, err := renderChart(t, withOperators(t), home, values{"operators": values{flag: true}, name: values{"a": "b"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// The charts of the dependencies validate their values with their own schemas. Some reject
// unknown values, for example k6-operator's.
func TestOperatorDependenciesAreOptional(t *testing.T) {
	all := dependencies(t)
	for flag, name := range operatorValues {
		t.Run(name, func(t *testing.T) {
			for asked, given := range map[bool]values{false: nil, true: {"operators": values{flag: true}}} {
				rendered, err := renderChart(t, withOperators(t), home, given)
				expect.NoError(t, err)
				for other := range all {
					wanted := asked && other == name
					if _, there := rendered["ConfigMap//"+other]; there != wanted {
						t.Errorf("with %v, %s is present: %v", given, other, there)
					}
				}
			}
		})
	}
}

// operatorsOf returns the chart in PerfLab's chart that depends on the third-party operators.
func operatorsOf(t *testing.T, of *chart.Chart) *chart.Chart {
	t.Helper()
	inner := of.Dependencies()
	if len(inner) != 1 || inner[0].Name() != "operators" {
		t.Fatalf("dependencies %v, want operators", inner)
	}
	return inner[0]
}

// dependencies returns the third-party operators, with their versions.
func dependencies(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, dependency := range operatorsOf(t, loadChart(t)).Metadata.Dependencies {
		found[dependency.Name] = dependency.Version
	}
	return found
}

// withOperators returns the chart after helm dependency update, with stubs of the downloaded
// charts: each is one ConfigMap, and allows only the values that PerfLab's chart sets.
func withOperators(t *testing.T) *chart.Chart {
	t.Helper()
	loaded := loadChart(t)
	for name, version := range dependencies(t) {
		operatorsOf(t, loaded).AddDependency(&chart.Chart{
			Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: name, Version: version},
			Templates: []*chart.File{{
				Name: "templates/it.yaml",
				Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Chart.Name }}}\n"),
			}},
			Schema: []byte(`{"additionalProperties": false, "properties": {"global": {}, "watchAnyNamespace": {}, "namespace": {}}}`),
		})
	}
	return loaded
}

// All installation methods use the same release of each operator.
func TestOperatorVersionsAgree(t *testing.T) {
	applications, err := os.ReadFile(apiserver.Root("config", "argocd", "applications", "operators.yaml"))
	expect.NoError(t, err)
	wanted, seen := dependencies(t), 0
	for _, document := range bytes.Split(applications, []byte("\n---\n")) {
		var application struct {
			Spec struct {
				Source struct{ Chart, TargetRevision string }
			}
		}
		expect.NoError(t, yaml.Unmarshal(document, &application))
		source := application.Spec.Source
		if of := wanted[source.Chart]; of != source.TargetRevision {
			t.Errorf("Argo CD gets %s %s, Helm %q", source.Chart, source.TargetRevision, of)
		}
		seen++
	}
	if seen != len(wanted) {
		t.Errorf("Argo CD gets %d operators, Helm %v", seen, wanted)
	}
}

// An image has a tag, a digest, or both, as specified.
func TestImagesByDigest(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	for image, accepted := range map[string]bool{
		"example.org/perflab/operator:1.2.3":               true,
		"example.org/perflab/operator" + digest:            true,
		"example.org:5000/perflab/operator:1.2.3" + digest: true,
		"example.org:5000/perflab/operator" + digest:       true,
		"localhost/perflab/operator:dev":                   true,
		"operator:1":                                       true,
		"example.org:5000/perflab/operator":                false,
		"example.org/perflab/operator@sha256:0123":         false,
		"example.org/perflab/operator" + digest + ":1.2.3": false,
		"example.org/perflab/operator:":                    false,
		"example.org/perflab operator:1":                   false,
	} {
		rendered, err := render(t, home, values{"images": values{"operator": image, "k6": image, "collector": image}})
		if (err == nil) != accepted {
			t.Errorf("%s: %v, want accepted %v", image, err, accepted)
		}
		if err != nil {
			continue
		}
		written, err := rendered.get(t, "Deployment", home, "perflab-operator").MarshalJSON()
		if quoted := `"` + image + `"`; err != nil || bytes.Count(written, []byte(quoted)) != 3 {
			t.Errorf("%s is not the pod's image: %s, %v", image, written, err)
		}
	}
}

// The operator's egress can be restricted or unrestricted.
func TestEgressPolicy(t *testing.T) {
	own := []any{map[string]any{"to": []any{map[string]any{"ipBlock": map[string]any{"cidr": "10.0.0.0/8"}}}}}
	for name, c := range map[string]struct {
		given values
		types []any
		rules int
	}{
		"default": {values{}, []any{"Ingress", "Egress"}, 3},
		"own":     {values{"rules": own}, []any{"Ingress", "Egress"}, 1},
		"open":    {values{"enabled": false}, []any{"Ingress"}, 0},
	} {
		policy := mustRender(t, "team-a", values{"networkPolicy": values{"egress": c.given}}).get(t, "NetworkPolicy", "team-a", "perflab-operator")
		types, _, _ := unstructured.NestedSlice(policy.Object, "spec", "policyTypes")
		rules, _, _ := unstructured.NestedSlice(policy.Object, "spec", "egress")
		if diff := cmp.Diff(c.types, types); diff != "" || len(rules) != c.rules {
			t.Errorf("%s: %d rules, types (-want +got):\n%s", name, len(rules), diff)
		}
	}
}
