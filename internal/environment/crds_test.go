// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/testing/crds"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestIntentsMatchStrimziSchema(t *testing.T) {
	for release, apiVersion := range map[string]string{"strimzi-1.2.0": contract.StrimziV1, "strimzi-0.45.2": contract.StrimziV1Beta2} {
		directory := filepath.Join(crds.Strimzi(t), release)
		for name, system := range declared() {
			t.Run(release+"/"+name, func(t *testing.T) {
				req := request(system)
				if !kafka.AssessServed(req, apiVersion).Ready {
					return
				}
				intents := kafka.Build(req, apiVersion)
				if got, want := len(intents), objectsOf(system.Kafka); got != want {
					t.Fatalf("%d intents, want %d", got, want)
				}
				for _, intent := range intents {
					file := map[string]string{"Kafka": "kafka", "KafkaNodePool": "kafkanodepool"}[intent.GetKind()]
					keepsTo(t, readCRD(t, filepath.Join(directory, file+".yaml")), intent)
				}
			})
		}
	}
}

// objectsOf returns the number of Strimzi objects of a Kafka.
func objectsOf(kafka *v1alpha1.Kafka) int {
	switch {
	case kafka.Provider == v1alpha1.KafkaProviderExternal:
		return 0
	case kafka.Mode == v1alpha1.KafkaModeZooKeeper:
		return 1
	case kafka.Controllers == nil:
		return 2
	default:
		return 3
	}
}

// Fields that Strimzi 1.x would silently drop must be rejected earlier.
func TestZooKeeperNeedsStrimziV1Beta2(t *testing.T) {
	req := request(declared()["ZooKeeper"])
	if served := kafka.AssessServed(req, contract.StrimziV1); served.Ready || served.Reason != v1alpha1.ReasonModeNotServed {
		t.Errorf("v1 serves ZooKeeper: %+v", served)
	}
	crd := readCRD(t, filepath.Join(crds.Strimzi(t), "strimzi-1.2.0", "kafka.yaml"))
	if found := faultsOf(t, crd, kafka.Build(req, contract.StrimziV1)[0]); len(found) == 0 {
		t.Error("the CRD of Strimzi 1.2.0 takes ZooKeeper: then why refuse it?")
	}
}

func TestIntentsMatchCloudNativePGSchema(t *testing.T) {
	directory := crds.CloudNativePG(t)
	files := map[string]string{"Cluster": "postgresql.cnpg.io_clusters.yaml", "Pooler": "postgresql.cnpg.io_poolers.yaml"}
	for name, system := range declared() {
		t.Run(name, func(t *testing.T) {
			for _, intent := range postgres.Build(request(system)) {
				if file := files[intent.GetKind()]; file != "" {
					keepsTo(t, readCRD(t, filepath.Join(directory, file)), intent)
				}
			}
		})
	}
}

func TestIntentsMatchKubernetesSchema(t *testing.T) {
	for name, system := range declared() {
		t.Run(name, func(t *testing.T) {
			for _, intent := range modules.Build(request(system), "demo-abcdef") {
				var typed any = &appsv1.Deployment{}
				if intent.GetKind() == "Service" {
					typed = &corev1.Service{}
				}
				err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(intent.Object, typed, true)
				if err != nil {
					t.Errorf("%s %q: %v", intent.GetKind(), intent.GetName(), err)
				}
			}
		})
	}
}

// The checks above detect faults.
func TestSchemaCheckFindsFaults(t *testing.T) {
	crd := readCRD(t, filepath.Join(crds.Strimzi(t), "strimzi-1.2.0", "kafkanodepool.yaml"))
	faults := map[string]func(spec map[string]any){
		"Unknown":  func(spec map[string]any) { spec["replica"] = int64(1) },
		"Type":     func(spec map[string]any) { spec["replicas"] = "1" },
		"Pattern":  func(spec map[string]any) { spec["jvmOptions"] = map[string]any{"-Xmx": "1Gi"} },
		"Required": func(spec map[string]any) { delete(spec, "roles") },
		"Enum":     func(spec map[string]any) { spec["roles"] = []any{"zookeeper"} },
	}
	for name, edit := range faults {
		t.Run(name, func(t *testing.T) {
			intent := kafka.Build(request(declared()["Full"]), "v1")[0]
			edit(intent.Object["spec"].(map[string]any))
			if found := faultsOf(t, crd, intent); len(found) == 0 {
				t.Error("not found")
			}
		})
	}
}

func keepsTo(t *testing.T, crd *apiextensions.CustomResourceDefinition, intent environment.Intent) {
	t.Helper()
	for _, fault := range faultsOf(t, crd, intent) {
		t.Errorf("%s %q: %s", intent.GetKind(), intent.GetName(), fault)
	}
}

// faultsOf validates an intent against the schema as the API server does, and also reports fields
// that the API server would silently drop.
func faultsOf(t *testing.T, crd *apiextensions.CustomResourceDefinition, intent environment.Intent) []string {
	t.Helper()
	validation, err := apiextensions.GetSchemaForVersion(crd, intent.GroupVersionKind().Version)
	if err != nil || validation == nil {
		t.Fatalf("looking up %s in the CRD: %v", intent.GroupVersionKind(), err)
	}
	schema, err := structural.NewStructural(validation.OpenAPIV3Schema)
	expect.NoError(t, err, "reading the schema of %s", intent.GetKind())
	var faults []string
	options := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(intent.DeepCopy().Object, schema, true, options) {
		faults = append(faults, "unknown field "+path)
	}
	result := validate.NewSchemaValidator(schema.ToKubeOpenAPI(), nil, "", strfmt.Default).Validate(intent.Object)
	for _, err := range result.Errors {
		faults = append(faults, err.Error())
	}
	return faults
}

func readCRD(t *testing.T, path string) *apiextensions.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(path)
	expect.NoError(t, err, "reading the CRD")
	var external apiextensionsv1.CustomResourceDefinition
	expect.NoError(t, yaml.UnmarshalStrict(text, &external), "reading %s", path)
	crd := &apiextensions.CustomResourceDefinition{}
	expect.NoError(t, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, crd, nil), "converting %s", path)
	return crd
}
