// SPDX-License-Identifier: Apache-2.0

package references_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/references"
	"perflab.dev/perflab/internal/testing/expect"
)

// needsOf returns the needs of a system with one patch.
func needsOf(t *testing.T, kind v1alpha1.PatchKind, merge string) []references.Need {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(merge))
	expect.NoError(t, err)
	return references.System(&v1alpha1.System{Patches: []v1alpha1.Patch{{Kind: kind, Merge: runtime.RawExtension{Raw: raw}}}})
}

type patchCase struct {
	kind  v1alpha1.PatchKind
	merge string
	// want are lines without the common prefix.
	want []string
}

func judgePatches(t *testing.T, cases map[string]patchCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, line := range c.want {
				want = append(want, "spec.patches[0].merge"+line)
			}
			wants(t, needsOf(t, c.kind, c.merge), want...)
		})
	}
}

// inPod returns a patch of a module's pods.
func inPod(spec string) string { return "{spec: {template: {spec: " + spec + "}}}" }

func TestPatchesWithoutReferences(t *testing.T) {
	judgePatches(t, map[string]patchCase{
		"replicas":                {kind: "Deployment", merge: `{spec: {replicas: 3, strategy: {type: Recreate}}}`},
		"labels":                  {kind: "Deployment", merge: `{metadata: {labels: {team: a}, annotations: {note: b}}}`},
		"placement":               {kind: "Deployment", merge: inPod(`{nodeSelector: {a: b}, tolerations: [], affinity: {nodeAffinity: {}}, topologySpreadConstraints: null}`)},
		"own volumes":             {kind: "StatefulSet", merge: inPod(`{volumes: [{name: a, emptyDir: {medium: Memory}}, {name: b, downwardAPI: {items: []}}, {name: c, projected: {sources: [{downwardAPI: {}}]}}]}`)},
		"racks":                   {kind: "Kafka", merge: `{spec: {kafka: {rack: {topologyKey: topology.kubernetes.io/zone}}}}`},
		"broker settings":         {kind: "Kafka", merge: `{spec: {kafka: {config: {"a.b": c}, livenessProbe: {timeoutSeconds: 9}}, zookeeper: {config: {a: b}}}}`},
		"pools":                   {kind: "KafkaNodePool", merge: `{spec: {resources: {limits: {cpu: "2"}}}}`},
		"database settings":       {kind: "Cluster", merge: `{spec: {postgresql: {parameters: {a: b}, synchronous: {number: 1}}, storage: {storageClass: fast}}}`},
		"CloudNativePG's images":  {kind: "Cluster", merge: `{spec: {imageName: "ghcr.io/cloudnative-pg/postgresql:18"}}`},
		"CloudNativePG's poolers": {kind: "Pooler", merge: `{spec: {pgbouncer: {image: "ghcr.io/cloudnative-pg/pgbouncer:1"}}}`},
		"an empty patch":          {kind: "Deployment", merge: `{spec: {}}`},
	})
}

// An author who changes a pod beyond the fields open to everyone needs the permission to create
// pods, however the patch is written: a merge patch sets, replaces and removes.
func TestPatchesThatShapePods(t *testing.T) {
	pods := func(path string) []string { return []string{path + ": create pods"} }
	spec := ".spec.template.spec"
	judgePatches(t, map[string]patchCase{
		"privileged":                  {"Deployment", inPod(`{containers: [{name: a, securityContext: {privileged: true}}]}`), pods(spec + ".containers")},
		"containers without context":  {"Deployment", inPod(`{containers: [{name: a, image: "a:1"}]}`), pods(spec + ".containers")},
		"first containers":            {"Deployment", inPod(`{initContainers: [{name: a, image: "a:1"}]}`), pods(spec + ".initContainers")},
		"root":                        {"Deployment", inPod(`{securityContext: {runAsUser: 0}}`), pods(spec + ".securityContext")},
		"no security":                 {"Deployment", inPod(`{securityContext: null}`), pods(spec + ".securityContext")},
		"no more than root":           {"Deployment", inPod(`{securityContext: {runAsNonRoot: null}}`), pods(spec + ".securityContext")},
		"no seccomp":                  {"Deployment", inPod(`{securityContext: {seccompProfile: {type: Unconfined}}}`), pods(spec + ".securityContext")},
		"sysctls":                     {"Deployment", inPod(`{securityContext: {sysctls: [{name: kernel.msgmax, value: "1"}]}}`), pods(spec + ".securityContext")},
		"host network":                {"Deployment", inPod(`{hostNetwork: true}`), pods(spec + ".hostNetwork")},
		"host IPC":                    {"StatefulSet", inPod(`{hostIPC: true}`), pods(spec + ".hostIPC")},
		"host users":                  {"Deployment", inPod(`{hostUsers: true}`), pods(spec + ".hostUsers")},
		"host ports":                  {"Deployment", inPod(`{containers: [{name: a, ports: [{hostPort: 80}]}]}`), pods(spec + ".containers")},
		"shared processes":            {"Deployment", inPod(`{shareProcessNamespace: true}`), pods(spec + ".shareProcessNamespace")},
		"a token":                     {"Deployment", inPod(`{automountServiceAccountToken: true}`), pods(spec + ".automountServiceAccountToken")},
		"a token by default":          {"Deployment", inPod(`{automountServiceAccountToken: null}`), pods(spec + ".automountServiceAccountToken")},
		"a projected token":           {"Deployment", inPod(`{volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: t}}]}}]}`), pods(spec + ".volumes[0].projected.sources[0].serviceAccountToken")},
		"a host path":                 {"Deployment", inPod(`{volumes: [{name: a, hostPath: {path: /}}]}`), pods(spec + ".volumes[0].hostPath")},
		"an unknown type of volume":   {"Deployment", inPod(`{volumes: [{name: a, image: {reference: "a:1"}}]}`), pods(spec + ".volumes[0].image")},
		"no volumes":                  {"Deployment", inPod(`{volumes: null}`), pods(spec + ".volumes")},
		"a runtime":                   {"Deployment", inPod(`{runtimeClassName: a}`), pods(spec + ".runtimeClassName")},
		"a priority":                  {"Deployment", inPod(`{priorityClassName: system-node-critical}`), pods(spec + ".priorityClassName")},
		"a node":                      {"Deployment", inPod(`{nodeName: a}`), pods(spec + ".nodeName")},
		"a field that is new":         {"Deployment", inPod(`{tomorrow: true}`), pods(spec + ".tomorrow")},
		"another letter":              {"Deployment", inPod(`{HostNetwork: true}`), pods(spec + ".HostNetwork")},
		"no pod":                      {"Deployment", `{spec: {template: {spec: null}}}`, pods(spec)},
		"no template":                 {"Deployment", `{spec: {template: null}}`, pods(".spec.template")},
		"no spec":                     {"Deployment", `{spec: null}`, pods(".spec")},
		"a list for a pod":            {"Deployment", `{spec: {template: {spec: ["a"]}}}`, pods(spec + "[0]")},
		"labels that Services select": {"Deployment", `{spec: {template: {metadata: {labels: {app: login}}}}}`, pods(".spec.template.metadata")},
		"annotations of pods":         {"Deployment", `{spec: {template: {metadata: {annotations: {"iam/role-secret": admin}}}}}`, pods(".spec.template.metadata")},
		"whose pods":                  {"Deployment", `{spec: {selector: {matchLabels: {app: login}}}}`, pods(".spec.selector")},
		"claims":                      {"StatefulSet", `{spec: {volumeClaimTemplates: []}}`, pods(".spec.volumeClaimTemplates")},
		"no spec at all":              {"Kafka", `{kind: Pod}`, pods(".kind")},
		"Kafka's pods":                {"Kafka", `{spec: {kafka: {template: {pod: {securityContext: {runAsUser: 0}}}}}}`, pods(".spec.kafka.template")},
		"Kafka's pods, taken away":    {"Kafka", `{spec: {kafka: {template: null}}}`, pods(".spec.kafka.template")},
		"Kafka, taken away":           {"Kafka", `{spec: {kafka: null}}`, pods(".spec.kafka")},
		"ZooKeeper's pods":            {"Kafka", `{spec: {zookeeper: {template: {}}}}`, pods(".spec.zookeeper.template")},
		"further pods":                {"Kafka", `{spec: {kafkaExporter: {}}}`, pods(".spec.kafkaExporter")},
		"Kafka's image":               {"Kafka", `{spec: {kafka: {image: "a:1"}}}`, pods(".spec.kafka.image")},
		"a rack's image":              {"Kafka", `{spec: {kafka: {rack: {image: "a:1"}}}}`, pods(".spec.kafka.rack.image")},
		"Kafka's orders":              {"Kafka", `{metadata: {annotations: {strimzi.io/pause-reconciliation: "true"}}}`, pods(".metadata")},
		"a pool's pods":               {"KafkaNodePool", `{spec: {template: {pod: {volumes: [{name: a, emptyDir: {}}]}}}}`, pods(".spec.template")},
		"a pool's volumes":            {"KafkaNodePool", `{spec: {storage: {type: jbod}}}`, pods(".spec.storage")},
		"a pooler's pods":             {"Pooler", inPod(`{securityContext: {}}`), pods(spec + ".securityContext")},
		"no seccomp for a database":   {"Cluster", `{spec: {seccompProfile: {type: Unconfined}}}`, pods(".spec.seccompProfile")},
		"a database's user":           {"Cluster", `{spec: {postgresUID: 0}}`, pods(".spec.postgresUID")},
	})
}

// A name in a patch needs a permission on the named object, wherever it is.
func TestPatchesWithReferences(t *testing.T) {
	spec := ".spec.template.spec"
	judgePatches(t, map[string]patchCase{
		"a Secret as a volume":  {"Deployment", inPod(`{volumes: [{name: a, secret: {secretName: s}}]}`), []string{spec + `.volumes[0].secret.secretName: get Secret "s"`}},
		"a ConfigMap":           {"Deployment", inPod(`{volumes: [{name: a, configMap: {name: c}}]}`), []string{spec + `.volumes[0].configMap.name: get ConfigMap "c"`}},
		"projected":             {"Deployment", inPod(`{volumes: [{name: a, projected: {sources: [{secret: {name: s}}, {configMap: {name: c}}]}}]}`), []string{spec + `.volumes[0].projected.sources[0].secret.name: get Secret "s"`, spec + `.volumes[0].projected.sources[1].configMap.name: get ConfigMap "c"`}},
		"to pull images":        {"Deployment", inPod(`{imagePullSecrets: [{name: s}, {name: t}]}`), []string{spec + `.imagePullSecrets[0].name: get Secret "s"`, spec + `.imagePullSecrets[1].name: get Secret "t"`}},
		"variables":             {"Deployment", inPod(`{containers: [{name: secret, env: [{name: SECRET, valueFrom: {secretKeyRef: {name: s, key: k}}}], envFrom: [{secretRef: {name: t}}, {configMapRef: {name: c}}]}]}`), []string{spec + ".containers: create pods", spec + `.containers[0].env[0].valueFrom.secretKeyRef.name: get Secret "s"`, spec + `.containers[0].envFrom[0].secretRef.name: get Secret "t"`, spec + `.containers[0].envFrom[1].configMapRef.name: get ConfigMap "c"`}},
		"first containers":      {"Deployment", inPod(`{initContainers: [{name: a, envFrom: [{secretRef: {name: t}}]}]}`), []string{spec + ".initContainers: create pods", spec + `.initContainers[0].envFrom[0].secretRef.name: get Secret "t"`}},
		"a driver's Secret":     {"Deployment", inPod(`{volumes: [{name: a, csi: {driver: d, nodePublishSecretRef: {name: s}}}]}`), []string{spec + ".volumes[0].csi: create pods", spec + `.volumes[0].csi.nodePublishSecretRef.name: get Secret "s"`}},
		"a share's Secret":      {"Deployment", inPod(`{volumes: [{name: a, azureFile: {secretName: s, shareName: x}}]}`), []string{spec + ".volumes[0].azureFile: create pods", spec + `.volumes[0].azureFile.secretName: get Secret "s"`}},
		"a claim":               {"Deployment", inPod(`{volumes: [{name: a, persistentVolumeClaim: {claimName: p}}]}`), []string{spec + ".volumes[0].persistentVolumeClaim: create pods", spec + ".volumes[0].persistentVolumeClaim.claimName: create pods"}},
		"an account":            {"Deployment", inPod(`{serviceAccountName: admin}`), []string{spec + ".serviceAccountName: create pods", spec + `.serviceAccountName: impersonate ServiceAccount "admin"`}},
		"an account's old name": {"Deployment", inPod(`{serviceAccount: admin}`), []string{spec + ".serviceAccount: create pods", spec + `.serviceAccount: impersonate ServiceAccount "admin"`}},
		"a pooler's account":    {"Pooler", inPod(`{serviceAccountName: admin}`), []string{spec + ".serviceAccountName: create pods", spec + `.serviceAccountName: impersonate ServiceAccount "admin"`}},
		"Kafka's volumes":       {"Kafka", `{spec: {kafka: {template: {pod: {volumes: [{name: a, secret: {secretName: s}}], imagePullSecrets: [{name: p}]}}}}}`, []string{".spec.kafka.template: create pods", `.spec.kafka.template.pod.imagePullSecrets[0].name: get Secret "p"`, `.spec.kafka.template.pod.volumes[0].secret.secretName: get Secret "s"`}},
		"Kafka's rules":         {"Kafka", `{spec: {kafka: {metricsConfig: {type: jmxPrometheusExporter, valueFrom: {configMapKeyRef: {name: c, key: k}}}, logging: {type: external, valueFrom: {configMapKeyRef: {name: l, key: k}}}}}}`, []string{`.spec.kafka.logging.valueFrom.configMapKeyRef.name: get ConfigMap "l"`, `.spec.kafka.metricsConfig.valueFrom.configMapKeyRef.name: get ConfigMap "c"`}},
		"Kafka's listeners":     {"Kafka", `{spec: {kafka: {listeners: [{name: a, type: nodeport, configuration: {brokerCertChainAndKey: {secretName: s}}}]}}}`, []string{".spec.kafka.listeners: create pods", ".spec.kafka.listeners: create services", ".spec.kafka.listeners: create ingresses", `.spec.kafka.listeners[0].configuration.brokerCertChainAndKey.secretName: get Secret "s"`}},
		"Kafka's account":       {"Kafka", `{spec: {kafka: {template: {serviceAccount: {metadata: {annotations: {role: admin}}}}}}}`, []string{".spec.kafka.template: create pods", ".spec.kafka.template.serviceAccount: create serviceaccounts"}},
		"Kafka's Services":      {"Kafka", `{spec: {kafka: {template: {externalBootstrapService: {metadata: {}}}}}}`, []string{".spec.kafka.template: create pods", ".spec.kafka.template.externalBootstrapService: create services"}},
		"a database's login":    {"Cluster", `{spec: {superuserSecret: {name: s}, imagePullSecrets: [{name: p}]}}`, []string{`.spec.imagePullSecrets[0].name: get Secret "p"`, `.spec.superuserSecret.name: get Secret "s"`}},
		"a database's key":      {"Cluster", `{spec: {certificates: {serverTLSSecret: s}}}`, []string{".spec.certificates: create pods", `.spec.certificates.serverTLSSecret: get Secret "s"`}},
		"another database":      {"Cluster", `{spec: {externalClusters: [{name: a, password: {name: s, key: k}}]}}`, []string{".spec.externalClusters: create pods", `.spec.externalClusters[0].password.name: get Secret "s"`}},
		"a database's backup":   {"Cluster", `{spec: {backup: {barmanObjectStore: {s3Credentials: {accessKeyId: {name: s, key: k}}}}}}`, []string{".spec.backup: create pods", `.spec.backup.barmanObjectStore.s3Credentials.accessKeyId.name: get Secret "s"`}},
		"a database's account":  {"Cluster", `{spec: {serviceAccountTemplate: {metadata: {}}}}`, []string{".spec.serviceAccountTemplate: create pods", ".spec.serviceAccountTemplate: create serviceaccounts"}},
		"a database's Services": {"Cluster", `{spec: {managed: {services: {additional: []}}}}`, []string{".spec.managed: create pods", ".spec.managed.services: create services"}},
		"a pooler's Service":    {"Pooler", `{spec: {serviceTemplate: {spec: {type: LoadBalancer}}}}`, []string{".spec.serviceTemplate: create pods", ".spec.serviceTemplate: create services"}},
		// CloudNativePG's pods run as a ServiceAccount that may read Secrets.
		"an image for the database": {"Cluster", `{spec: {imageName: "a:1"}}`, []string{".spec.imageName: create pods"}},
		"a name like theirs":        {"Cluster", `{spec: {imageName: "ghcr.io/cloudnative-pg-evil/a:1"}}`, []string{".spec.imageName: create pods"}},
		"no name of an image":       {"Cluster", `{spec: {imageName: ["a:1"]}}`, []string{".spec.imageName: create pods"}},
		"an image for the pooler":   {"Pooler", `{spec: {pgbouncer: {image: "a:1"}}}`, []string{".spec.pgbouncer.image: create pods"}},
		"a patch within a patch":    {"Cluster", `{metadata: {annotations: {cnpg.io/podPatch: "[]"}}}`, []string{".metadata: create pods", ".metadata.annotations[cnpg.io/podPatch]: get every Secret"}},
		"a Service":                 {"Service", `{spec: {type: LoadBalancer, externalIPs: [192.0.2.1]}}`, []string{": create services"}},
		"a Service's name":          {"Service", `{metadata: {annotations: {external-dns.alpha.kubernetes.io/hostname: example.org}}}`, []string{": create services"}},
	})
}

// Patches apply in order; none needs the content of another to be understood.
func TestPatchesOfPartialObjects(t *testing.T) {
	system := read[v1alpha1.System](t, `
patches:
- {kind: Cluster, merge: {spec: {externalClusters: [], backup: {barmanObjectStore: {s3Credentials: {accessKeyId: {key: k}}}}}}}
- {kind: Cluster, merge: {spec: {backup: {barmanObjectStore: {s3Credentials: {accessKeyId: {name: s}}}}}}}`)
	if all := strings.Join(lines(references.System(system)), "\n"); !strings.Contains(all, `spec.patches[1].merge.spec.backup.barmanObjectStore.s3Credentials.accessKeyId.name: get Secret "s"`) {
		t.Errorf("the Secret is not found:\n%s", all)
	}
}
