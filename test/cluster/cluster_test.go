// SPDX-License-Identifier: Apache-2.0

// Package cluster_test runs the scripts that create a cluster with stubs of the
// programs that they call, and checks the calls. It checks how kind is called, not that
// kind works.
package cluster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/expect"
)

const root = "../.."

// sandbox has the directories of the scripts and of the stubs.
type sandbox struct {
	*testing.T
	cache, programs, standin string
	env                      []string
}

// newSandbox creates stubs in a directory that is first on the PATH, and in the
// directories of built programs.
func newSandbox(t *testing.T, variables ...string) *sandbox {
	t.Helper()
	p := &sandbox{T: t, cache: t.TempDir(), programs: t.TempDir(), standin: t.TempDir()}
	for _, name := range []string{"calls", "images", "engine"} {
		p.write(filepath.Join(p.standin, name), "")
	}
	p.env = append(os.Environ(), append([]string{
		"PATH=" + p.programs + ":" + os.Getenv("PATH"), "PERFLAB_CACHE=" + p.cache, "STANDIN=" + p.standin,
		"CLUSTER=stand-in", "PROVIDER=kind", "DOCKER_ANSWERS=", "STRIMZI=", "KUBECONFIG=", "KUBECTL=", "CLUSTER_KUBECTL=",
	}, variables...)...)
	for _, program := range []string{"docker", "kind", "helm", "kubectl"} {
		p.writeStub(filepath.Join(p.programs, program))
	}
	for component, program := range map[string]string{"kind": "kind", "helm": "helm", "kube": "kubectl", "metrics-server": "metrics-server"} {
		folder := strings.TrimSpace(p.must("bash", "-c", "source hack/cluster/lib/common.sh; source hack/cluster/lib/components.sh; component_dir "+component))
		p.writeStub(filepath.Join(folder, program))
	}
	return p
}

func (p *sandbox) writeStub(path string) {
	p.Helper()
	script, err := filepath.Abs("standin.sh")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.Symlink(script, path)
	}
	expect.NoError(p, err)
}

func (p *sandbox) write(path, text string) {
	p.Helper()
	expect.NoError(p, os.WriteFile(path, []byte(text), 0o644))
}

// run runs a command in the project's root and returns its output.
func (p *sandbox) run(command ...string) (string, error) {
	shell := exec.CommandContext(p.Context(), command[0], command[1:]...)
	shell.Dir, shell.Env = root, p.env
	said, err := shell.CombinedOutput()
	return string(said), err
}

func (p *sandbox) must(command ...string) string {
	p.Helper()
	said, err := p.run(command...)
	if err != nil {
		p.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, said)
	}
	return said
}

// takeCalls returns the calls since it was last called, with directories replaced by names.
func (p *sandbox) takeCalls() []string {
	p.Helper()
	path := filepath.Join(p.standin, "calls")
	text, err := os.ReadFile(path)
	expect.NoError(p, err)
	p.write(path, "")
	here, err := filepath.Abs(root)
	expect.NoError(p, err)
	named := strings.NewReplacer(p.cache, "CACHE", here, "ROOT").Replace(string(text))
	hash := regexp.MustCompile(`-[0-9a-f]{12}\.tar`)
	return strings.Split(strings.TrimSpace(hash.ReplaceAllString(named, "-HASH.tar")), "\n")
}

// inOrder checks that the wanted calls were made in this order.
func (p *sandbox) inOrder(takeCalls []string, wanted ...string) {
	p.Helper()
	rest := takeCalls
	for _, want := range wanted {
		at := slices.IndexFunc(rest, func(call string) bool { return strings.HasPrefix(call, want) })
		if at < 0 {
			p.Fatalf("call %q is missing or out of order in\n%s", want, strings.Join(takeCalls, "\n"))
		}
		rest = rest[at+1:]
	}
}

// never checks that no call has one of these prefixes.
func (p *sandbox) never(takeCalls []string, unwanted ...string) {
	p.Helper()
	for _, call := range takeCalls {
		for _, prefix := range unwanted {
			if strings.HasPrefix(call, prefix) {
				p.Errorf("unexpected call %q", call)
			}
		}
	}
}

const node = "kindest/node:v1.35.0@sha256:452d707d4862f52530247495d180205e029056831160e22870e37e3f6c1ac31f"

func TestKindCluster(t *testing.T) {
	p := newSandbox(t)
	const kubeconfig = "CACHE/clusters/stand-in/kubeconfig"
	p.must("hack/cluster/cluster.sh", "up")
	p.inOrder(p.takeCalls(),
		"docker info",
		"kind create cluster --name stand-in --config CACHE/clusters/stand-in/kind.yaml --image "+node+" --kubeconfig "+kubeconfig,
		"docker build --quiet --tag localhost/perflab/metrics-server:",
		"kind load image-archive CACHE/images/metrics-server-HASH.tar --name stand-in",
		"kind load image-archive CACHE/images/postgresql-HASH.tar --name stand-in",
		"kubectl --kubeconfig "+kubeconfig+" --request-timeout=60s apply --server-side --force-conflicts -f CACHE/clusters/stand-in/metrics-server.yaml",
		"kubectl --kubeconfig "+kubeconfig+" --request-timeout=60s apply --server-side --force-conflicts -k CACHE/clusters/stand-in/cnpg",
		"kubectl --kubeconfig "+kubeconfig+" --request-timeout=60s apply --server-side --force-conflicts -f ROOT/hack/cluster/addons/namespaces.yaml",
		"helm --kubeconfig "+kubeconfig+" upgrade --install strimzi oci://quay.io/strimzi-helm/strimzi-kafka-operator --version 1.2.0 --namespace strimzi-system --values ROOT/hack/cluster/addons/strimzi-values.yaml",
		"helm --kubeconfig "+kubeconfig+" upgrade --install k6-operator k6-operator --repo https://grafana.github.io/helm-charts --version 4.6.0 --namespace k6-operator-system --values ROOT/hack/cluster/addons/k6-operator-values.yaml",
		"kubectl --kubeconfig "+kubeconfig+" --request-timeout=60s -n strimzi-system rollout status deployment/strimzi-cluster-operator",
		"kubectl --kubeconfig "+kubeconfig+" --request-timeout=60s -n k6-operator-system rollout status deployment/k6-operator-controller-manager",
		"kubectl --kubeconfig "+kubeconfig+" --request-timeout=60s get --raw /apis/metrics.k8s.io/v1beta1/nodes/node",
	)
	p.must("hack/cluster/cluster.sh", "up")
	again := p.takeCalls()
	p.inOrder(again, "docker start stand-in-control-plane", "kind export kubeconfig --name stand-in", "helm ")
	p.never(again, "kind create", "kind load", "docker build")
	p.must("hack/deploy.sh")
	deployed := p.takeCalls()
	p.inOrder(deployed, "kubectl get namespace strimzi-system k6-operator-system",
		"kubectl apply --server-side --force-conflicts -k ROOT/config/default", "kubectl -n perflab-system rollout restart deployment/perflab-operator",
		"kubectl -n perflab-system rollout status deployment/perflab-operator", "kubectl apply --dry-run=server -f ROOT/config/samples/demo.yaml")
	p.never(deployed, "kubectl -n perflab-emulators", "kubectl apply --server-side --force-conflicts -k ROOT/test/emulators")
	p.must("hack/cluster/cluster.sh", "down")
	p.inOrder(p.takeCalls(), "kind delete cluster --name stand-in --kubeconfig "+kubeconfig)
}

// kind makes as many nodes as NODES, and can't add any later.
func TestNodes(t *testing.T) {
	p := newSandbox(t, "NODES=3", "KIND_MOUNT=/a:/b")
	p.must("hack/cluster/cluster.sh", "up")
	p.inOrder(p.takeCalls(), "kind create cluster", "kubectl --kubeconfig CACHE/clusters/stand-in/kubeconfig --request-timeout=60s taint nodes stand-in-control-plane")
	config, err := os.ReadFile(filepath.Join(p.cache, "clusters/stand-in/kind.yaml"))
	expect.NoError(t, err)
	const mount = "  extraMounts: [{hostPath: /a, containerPath: /b}]\n"
	want := "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: control-plane\n" + mount + "- role: worker\n" + mount + "- role: worker\n" + mount
	if string(config) != want {
		t.Errorf("%s, want %s", config, want)
	}
	for _, tc := range []struct{ nodes, provider, want string }{
		{"3", "kind", `has 1 node(s), and NODES is 3`},
		{"ten", "kind", `NODES "ten": write a number from 1 to 9`},
		{"3", "local", "the local provider has one node"},
	} {
		if said, err := p.run("env", "NODES="+tc.nodes, "PROVIDER="+tc.provider, "hack/cluster/cluster.sh", "up"); err == nil || !strings.Contains(said, tc.want) {
			t.Errorf("NODES=%s with %s: %v: %s, want %q", tc.nodes, tc.provider, err, said, tc.want)
		}
	}
}

// A cluster that has worked has results: it is not deleted if it can't be started.
func TestUpKeepsAClusterThatCannotStart(t *testing.T) {
	p := newSandbox(t)
	p.must("hack/cluster/cluster.sh", "up")
	p.takeCalls()
	p.write(filepath.Join(p.standin, "broken"), "")
	said, err := p.run("hack/cluster/cluster.sh", "up")
	for _, want := range []string{"port is already allocated", `cluster "stand-in" exists and can't be started`, "make cluster-down"} {
		if err == nil || !strings.Contains(said, want) {
			t.Errorf("%v: %s, want %q", err, said, want)
		}
	}
	p.never(p.takeCalls(), "kind delete", "kind create")
}

// Pulling images may take longer than a deployment may take to become ready.
func TestPullsAreNotLimited(t *testing.T) {
	p := newSandbox(t)
	p.write(filepath.Join(p.standin, "pulls"), "12")
	if said := p.must("hack/cluster/cluster.sh", "up"); !strings.Contains(said, "pulling images in kube-system") {
		t.Errorf("%s", said)
	}
}

func TestControlGroupsOfVersion1AreRefused(t *testing.T) {
	p := newSandbox(t, "DOCKER_CGROUP=1")
	said, err := p.run("hack/cluster/cluster.sh", "up")
	if err == nil || !strings.Contains(said, "control groups of version 1") {
		t.Errorf("%v: %s", err, said)
	}
	p.never(p.takeCalls(), "kind create")
}

// The leftovers of an interrupted attempt never worked.
func TestUpReplacesAClusterThatNeverWorked(t *testing.T) {
	p := newSandbox(t)
	p.write(filepath.Join(p.standin, "node"), "")
	p.must("hack/cluster/cluster.sh", "up")
	p.inOrder(p.takeCalls(), "kind delete cluster --name stand-in", "kind create cluster --name stand-in")
}

func TestDockersErrorIsShown(t *testing.T) {
	p := newSandbox(t, "DOCKER_ANSWERS=no")
	docker := filepath.Join(p.programs, "docker")
	expect.NoError(t, os.Remove(docker))
	expect.NoError(t, os.WriteFile(docker, []byte("#!/bin/sh\necho 'permission denied while trying to connect to the Docker daemon socket' >&2\nexit 1\n"), 0o755))
	said, err := p.run("hack/cluster/cluster.sh", "up")
	if err == nil || !strings.Contains(said, "the kind provider needs a running Docker engine. docker info: permission denied while trying to connect") {
		t.Errorf("%v: %s", err, said)
	}
}

func TestOtherSystemsAreNamed(t *testing.T) {
	p := newSandbox(t)
	expect.NoError(t, os.WriteFile(filepath.Join(p.programs, "uname"), []byte("#!/bin/sh\necho Darwin\n"), 0o755))
	said, err := p.run("hack/cluster/cluster.sh", "up")
	if err == nil || !strings.Contains(said, "the local cluster needs Linux, and this is Darwin: use a Linux virtual machine, or install PerfLab into a cluster that you have") {
		t.Errorf("%v: %s", err, said)
	}
}

func TestImagesNeedACluster(t *testing.T) {
	p := newSandbox(t)
	for _, command := range [][]string{{"hack/images/images.sh", "load", "metrics-server"}, {"hack/images/images.sh", "give", "shop/cart:1.0", "--archive", p.archive("shop/cart:1.0")}} {
		if said, err := p.run(command...); err == nil || !strings.Contains(said, `cluster "stand-in" is not running: create or repair it with make cluster-up`) {
			t.Errorf("%v: %v: %s", command, err, said)
		}
	}
}

// A kind cluster needs no Kubernetes to be compiled: the machine's kubectl is used if its version
// fits.
func TestKubectlOfTheMachine(t *testing.T) {
	for minor, isOwn := range map[string]bool{"33": false, "34": true, "35": true, "36": true, "37": false, "": false} {
		p := newSandbox(t, "KUBECTL_MINOR="+minor)
		directory := func(component string) string {
			return strings.TrimSpace(p.must("bash", "-c", "source hack/cluster/lib/common.sh; source hack/cluster/lib/components.sh; component_dir "+component))
		}
		expect.NoError(t, os.RemoveAll(directory("kube")))
		want := filepath.Join(directory("kubectl"), "kubectl")
		p.writeStub(want)
		if isOwn {
			want = filepath.Join(p.programs, "kubectl")
		}
		expect.Equal(t, want, strings.TrimSpace(p.must("hack/cluster/cluster.sh", "kubectl-path")), "kubectl beside one of version 1.%s", minor)
	}
}

// A machine that pulls nothing names its own node image, and builds CloudNativePG.
func TestKindClusterWithoutRegistries(t *testing.T) {
	p := newSandbox(t, "KIND_NODE=node:own", "KIND_PULLS=no")
	folder := strings.TrimSpace(p.must("bash", "-c", "source hack/cluster/lib/common.sh; source hack/cluster/lib/components.sh; component_dir cloudnative-pg"))
	expect.NoError(t, os.MkdirAll(filepath.Join(folder, "rootfs"), 0o755))
	p.must("hack/cluster/cluster.sh", "up")
	calls := p.takeCalls()
	p.inOrder(calls, "kind create cluster --name stand-in --config CACHE/clusters/stand-in/kind.yaml --image node:own ", "docker build --quiet --tag localhost/perflab/cloudnative-pg:", "kind load image-archive CACHE/images/cloudnative-pg-HASH.tar")
	p.never(calls, "helm ", "kubectl --kubeconfig CACHE/clusters/stand-in/kubeconfig --request-timeout=60s apply --server-side --force-conflicts -f ROOT/hack/cluster/addons/namespaces.yaml")
	kustomization, err := os.ReadFile(filepath.Join(p.cache, "clusters/stand-in/cnpg/kustomization.yaml"))
	if err != nil || !strings.Contains(string(kustomization), "image: localhost/perflab/cloudnative-pg:") || strings.Contains(string(kustomization), "ghcr.io") {
		t.Errorf("CloudNativePG is installed with %s (%v)", kustomization, err)
	}
}

func TestKindClusterWithOldStrimzi(t *testing.T) {
	p := newSandbox(t, "STRIMZI=0.45.2")
	p.must("hack/cluster/cluster.sh", "up")
	p.inOrder(p.takeCalls(), "kind create", "helm --kubeconfig CACHE/clusters/stand-in/kubeconfig upgrade --install strimzi oci://quay.io/strimzi-helm/strimzi-kafka-operator --version 0.45.2 ")
}

// The operators' pods satisfy the restricted Pod Security Standard.
func TestKindOperatorsPassRestrictedPodSecurity(t *testing.T) {
	for _, tc := range []struct {
		file, pod, container string
	}{
		{"strimzi-values.yaml", "podSecurityContext", "securityContext"},
		{"k6-operator-values.yaml", "manager.podSecurityContext", "manager.containerSecurityContext"},
	} {
		values := map[string]any{}
		read(t, "hack/cluster/addons/"+tc.file, &values)
		for path, want := range map[string]string{
			tc.pod + ".runAsNonRoot":                   "true",
			tc.pod + ".seccompProfile":                 `{"type":"RuntimeDefault"}`,
			tc.container + ".allowPrivilegeEscalation": "false",
			tc.container + ".capabilities":             `{"drop":["ALL"]}`,
		} {
			expect.Equal(t, want, at(t, values, path), "%s: %s", tc.file, path)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "hack/cluster/addons/namespaces.yaml"))
	expect.NoError(t, err)
	for _, namespace := range []string{"strimzi-system", "k6-operator-system"} {
		if want := "{name: " + namespace + ", labels: {pod-security.kubernetes.io/enforce: restricted}}"; !strings.Contains(string(text), want) {
			t.Errorf("namespace %s does not enforce the restricted standard", namespace)
		}
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	expect.NoError(t, err, "%s", path)
}

// at is the value at a path, as JSON.
func at(t *testing.T, values map[string]any, path string) string {
	t.Helper()
	var value any = values
	for _, name := range strings.Split(path, ".") {
		below, _ := value.(map[string]any)
		value = below[name]
	}
	text, err := yaml.Marshal(value)
	if err == nil {
		text, err = yaml.YAMLToJSON(text)
	}
	expect.NoError(t, err)
	return strings.TrimSpace(string(text))
}

// The listed images are the installed ones.
func TestListedImagesAreInstalled(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(root, "hack/cluster/kind/images.txt"))
	expect.NoError(t, err)
	images := map[string]string{}
	for line := range strings.Lines(string(list)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] != "#" {
			images[fields[0]] = fields[1]
		}
	}
	p := newSandbox(t)
	cnpg := strings.TrimSpace(p.must("bash", "-c", "source hack/cluster/lib/common.sh; source hack/cluster/lib/components.sh; component_version cloudnative-pg | tr -d v"))
	for name, want := range map[string]string{
		"node": node, "cloudnative-pg": "ghcr.io/cloudnative-pg/cloudnative-pg:" + cnpg,
		"strimzi-operator": "quay.io/strimzi/operator:1.2.0", "k6-operator": "ghcr.io/grafana/k6-operator:controller-v1.6.0", "base": "debian:bookworm-slim",
	} {
		expect.Equal(t, want, images[name], "%s", name)
		delete(images, name)
	}
	if len(images) > 0 {
		t.Errorf("unlisted images: %v", images)
	}
}
