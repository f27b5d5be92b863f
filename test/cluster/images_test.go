// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

// archive writes an archive of one or several images as docker save does.
func (p *sandbox) archive(names ...string) string {
	p.Helper()
	var entries []string
	for _, name := range names {
		entries = append(entries, `{"Config":"blobs/sha256/`+strings.Repeat("a", 64)+`","RepoTags":["`+name+`"],"Layers":[]}`)
	}
	folder := p.TempDir()
	p.write(filepath.Join(folder, "manifest.json"), "["+strings.Join(entries, ",")+"]")
	path := filepath.Join(folder, "image.tar")
	if said, err := exec.CommandContext(p.Context(), "tar", "-C", folder, "-cf", path, "manifest.json").CombinedOutput(); err != nil {
		p.Fatalf("%v: %s", err, said)
	}
	return path
}

// loadImage runs make image-load.
func (p *sandbox) loadImage(variables ...string) (string, error) {
	return p.run(append([]string{"make", "--no-print-directory", "image-load"}, append(variables, "CACHE="+p.cache)...)...)
}

func TestLoadOwnImage(t *testing.T) {
	p := newSandbox(t)
	p.write(filepath.Join(p.standin, "node"), "")
	archive := p.archive("shop/cart:1.0")
	said, err := p.loadImage("IMAGE=shop/cart:1.0", "ARCHIVE="+archive)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	p.inOrder(p.takeCalls(), "docker exec stand-in-control-plane ctr", "kind load image-archive "+archive+" --name stand-in")
	if said, err := p.loadImage("IMAGE=shop/cart:1.0", "ARCHIVE="+archive); err != nil || !strings.Contains(said, "has image shop/cart:1.0 already") {
		t.Errorf("%v: %s", err, said)
	}
	p.never(p.takeCalls(), "kind load")
	changed := p.archive("shop/cart:1.0")
	p.write(filepath.Join(p.standin, "images"), "docker.io/shop/cart:1.0 "+strings.Repeat("b", 64)+"\n")
	if said, err := p.loadImage("IMAGE=shop/cart:1.0", "ARCHIVE="+changed); err != nil {
		t.Fatalf("another image of the same name: %v: %s", err, said)
	}
	p.inOrder(p.takeCalls(), "kind load image-archive "+changed)
	folder := t.TempDir()
	p.write(filepath.Join(folder, "Dockerfile"), "FROM scratch\n")
	if said, err := p.loadImage("IMAGE=cart:2.0", "DOCKERFILE="+folder); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	p.inOrder(p.takeCalls(), "docker build --quiet --tag cart:2.0 --file "+folder+"/Dockerfile "+folder,
		"docker save --output CACHE/images/own/cart_2.0.tar.partial cart:2.0", "kind load image-archive CACHE/images/own/cart_2.0.tar --name stand-in")
	p.write(filepath.Join(p.standin, "engine"), "registry.example.org/cart:3.0\n")
	if said, err := p.loadImage("IMAGE=registry.example.org/cart:3.0"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	p.inOrder(p.takeCalls(), "docker image inspect registry.example.org/cart:3.0", "docker save --output CACHE/images/own/registry.example.org_cart_3.0.tar registry.example.org/cart:3.0", "kind load image-archive")
}

// An engine with containerd's image store would save platforms that it lacks.
func TestLoadImageSavesOnePlatform(t *testing.T) {
	p := newSandbox(t, "DOCKER_SAVE_HELP=--platform string")
	p.write(filepath.Join(p.standin, "node"), "")
	p.write(filepath.Join(p.standin, "engine"), "shop/cart:3.0\n")
	if said, err := p.loadImage("IMAGE=shop/cart:3.0"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	p.inOrder(p.takeCalls(), "docker save --platform linux/arm64 --output CACHE/images/own/shop_cart_3.0.tar shop/cart:3.0", "kind load image-archive")
}

func TestLoadImageRefusesBadInput(t *testing.T) {
	p := newSandbox(t)
	p.write(filepath.Join(p.standin, "node"), "")
	none := filepath.Join(t.TempDir(), "none.tar")
	p.write(none, "no archive")
	for name, tc := range map[string]struct {
		variables []string
		want      string
	}{
		"no name":          {nil, `IMAGE "" has no tag: write NAME:TAG, for example shop/cart:1.0`},
		"no tag":           {[]string{"IMAGE=shop/cart"}, `IMAGE "shop/cart" has no tag`},
		"a port, no tag":   {[]string{"IMAGE=localhost:5000/cart"}, "has no tag"},
		"latest":           {[]string{"IMAGE=shop/cart:latest"}, "Kubernetes always pulls latest"},
		"no such archive":  {[]string{"IMAGE=shop/cart:1.0", "ARCHIVE=/no/such.tar"}, `ARCHIVE "/no/such.tar" does not exist`},
		"no archive":       {[]string{"IMAGE=shop/cart:1.0", "ARCHIVE=" + none}, "has no manifest.json"},
		"of another image": {[]string{"IMAGE=shop/cart:1.0", "ARCHIVE=" + p.archive("shop/till:1.0")}, `does not have shop/cart:1.0, only: "RepoTags":["shop/till:1.0"]`},
		"of several":       {[]string{"IMAGE=shop/cart:1.0", "ARCHIVE=" + p.archive("shop/cart:1.0", "shop/till:1.0")}, "has several images"},
		"no Dockerfile":    {[]string{"IMAGE=shop/cart:1.0", "DOCKERFILE=" + t.TempDir()}, "is not a directory with a Dockerfile"},
		"not in Docker":    {[]string{"IMAGE=shop/cart:1.0"}, "the Docker engine has no image shop/cart:1.0: pull or build it"},
	} {
		t.Run(name, func(t *testing.T) {
			if said, err := p.loadImage(tc.variables...); err == nil || !strings.Contains(said, tc.want) {
				t.Errorf("%v: %s, want %q", err, said, tc.want)
			}
		})
	}
	p.never(p.takeCalls(), "kind load")
}

// Without Docker, buildah builds. Loading the archive into a local cluster is covered
// by the end-to-end tests.
func TestBuildahBuildsWithoutDocker(t *testing.T) {
	p := newSandbox(t, "DOCKER_ANSWERS=no")
	p.writeStub(filepath.Join(p.programs, "buildah"))
	folder := t.TempDir()
	p.write(filepath.Join(folder, "Dockerfile"), "FROM scratch\n")
	said := p.must("bash", "-c", `set -euo pipefail
		source hack/cluster/lib/common.sh; source hack/cluster/lib/packages.sh; source hack/cluster/lib/components.sh; source hack/cluster/lib/provider.sh
		source hack/images/catalogue.sh; source hack/images/buildah.sh; source hack/images/base.sh; source hack/images/own.sh
		image_builder() { echo buildah; }
		buildah_require() { :; }
		contained() { "$@"; }
		own_build cart:2.0 `+folder)
	if !strings.HasSuffix(strings.TrimSpace(said), p.cache+"/images/own/cart_2.0.tar") {
		t.Errorf("output: %s", said)
	}
	takeCalls := p.takeCalls()
	if len(takeCalls) != 2 || !strings.Contains(takeCalls[0], " bud ") || !strings.Contains(takeCalls[0], " --tag cart:2.0 --file "+folder+"/Dockerfile "+folder) ||
		!strings.HasSuffix(takeCalls[1], " push --quiet cart:2.0 docker-archive:CACHE/images/own/cart_2.0.tar.partial:cart:2.0") {
		t.Errorf("the calls are\n%s", strings.Join(takeCalls, "\n"))
	}
}

// The files that Dockerfiles copy from the root are in the context, and the rest is not.
func TestContextHasCopiedFiles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	expect.NoError(t, err)
	var included []string
	for line := range strings.Lines(string(text)) {
		if path, is := strings.CutPrefix(strings.TrimSpace(line), "!"); is {
			included = append(included, path)
		}
	}
	unused := slices.Clone(included)
	p := newSandbox(t)
	for _, source := range strings.Fields(p.must("bash", "-c", `
		source hack/cluster/lib/common.sh; source hack/cluster/lib/components.sh; source hack/images/catalogue.sh
		for image in "${IMAGES[@]}"; do image_is_component "$image" || copied_paths "$(image_dockerfile "$image")"; done`)) {
		isWithin := func(path string) bool { return strings.HasPrefix(source+"/", path+"/") }
		if !slices.ContainsFunc(included, isWithin) {
			t.Errorf("a Dockerfile copies %s, which .dockerignore leaves out", source)
		}
		unused = slices.DeleteFunc(unused, isWithin)
	}
	if len(unused) > 0 {
		t.Errorf("no Dockerfile copies from %q, which .dockerignore includes", unused)
	}
}
