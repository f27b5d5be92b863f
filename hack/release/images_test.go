// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/x509"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	helmregistry "helm.sh/helm/v3/pkg/registry"

	"perflab.dev/perflab/hack/release/internal/bundle"
	"perflab.dev/perflab/hack/release/internal/product"
)

var background = context.Background()

// index returns the index of an image, from its archive.
func index(t *testing.T, image product.Image) v1.ImageIndex {
	t.Helper()
	folder := t.TempDir()
	noError(t, bundle.Unpack(filepath.Join(theRelease(t), image.Name+"-"+testVersion+".oci.tar"), folder))
	outer, err := layout.ImageIndexFromPath(folder)
	noError(t, err)
	manifest, err := outer.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has %+v, %v", manifest, err)
	}
	inner, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	noError(t, err)
	return inner
}

// perPlatform returns the images of an index by platform.
func perPlatform(t *testing.T, image product.Image) map[product.Platform]v1.Image {
	t.Helper()
	several := index(t, image)
	manifest, err := several.IndexManifest()
	noError(t, err)
	images := map[product.Platform]v1.Image{}
	for _, one := range manifest.Manifests {
		found, err := several.Image(one.Digest)
		noError(t, err)
		images[product.Platform{OS: one.Platform.OS, Arch: one.Platform.Architecture}] = found
	}
	return images
}

// inImage is a file of an image.
type inImage struct {
	header  *tar.Header
	content []byte
}

func imageFiles(t *testing.T, image v1.Image) map[string]inImage {
	t.Helper()
	flat := mutate.Extract(image)
	defer func() { _ = flat.Close() }()
	files := map[string]inImage{}
	entries := tar.NewReader(flat)
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		noError(t, err)
		content, err := io.ReadAll(entries)
		noError(t, err)
		files["/"+strings.TrimSuffix(header.Name, "/")] = inImage{header, content}
	}
}

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

func TestImagesHavePlatformPrograms(t *testing.T) {
	for _, image := range product.Images {
		images := perPlatform(t, image)
		for _, platform := range wantedPlatforms(image.Programs()[0].Platforms) {
			t.Run(image.Name+" "+platform.String(), func(t *testing.T) {
				config, err := images[platform].ConfigFile()
				if err != nil || config.Architecture != platform.Arch || config.OS != platform.OS {
					t.Fatalf("its configuration is %+v, %v", config, err)
				}
				files := imageFiles(t, images[platform])
				for path := range image.Files {
					checkProgram(t, files["/"+path], machines[platform.Arch])
				}
				for path, target := range image.Links {
					if files["/"+path].header.Linkname != target {
						t.Errorf("/%s leads to %q", path, files["/"+path].header.Linkname)
					}
				}
				checkCertificates(t, files["/etc/ssl/certs/ca-certificates.crt"].content)
			})
		}
		if len(images) != len(wantedPlatforms(image.Programs()[0].Platforms)) {
			t.Errorf("%s exists for %d platforms", image.Name, len(images))
		}
	}
}

// checkProgram checks that a program is for the machine and needs neither a loader nor a
// library.
func checkProgram(t *testing.T, program inImage, machine elf.Machine) {
	t.Helper()
	read, err := elf.NewFile(bytes.NewReader(program.content))
	if err != nil {
		t.Fatalf("no program: %v", err)
	}
	needsLoader := slices.ContainsFunc(read.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if read.Machine != machine || needsLoader || program.header.FileInfo().Mode().Perm() != 0o755 {
		t.Errorf("it is for %s, with a loader: %t, mode %s", read.Machine, needsLoader, program.header.FileInfo().Mode())
	}
}

func checkCertificates(t *testing.T, list []byte) {
	t.Helper()
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(list) || bytes.Count(list, []byte("BEGIN CERT")) < 80 {
		t.Errorf("%d certificates", bytes.Count(list, []byte("BEGIN CERT")))
	}
}

var dockerfiles = map[string]string{"operator": "Dockerfile", "collector": "cmd/collector/Dockerfile", "k6": "k6/Dockerfile"}

// instruction returns a Dockerfile's text after a keyword.
func instruction(t *testing.T, file, word string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + word + ` (.*)$`).FindSubmatch(content(t, "../..", file))
	if found == nil {
		return ""
	}
	return string(found[1])
}

// TestImagesMatchDockerfiles compares released images with the Dockerfiles, from which the
// images for tests are built.
func TestImagesMatchDockerfiles(t *testing.T) {
	for _, image := range product.Images {
		entrypoint := ""
		if len(image.Entrypoint) > 0 {
			entrypoint = `["` + strings.Join(image.Entrypoint, `", "`) + `"]`
		}
		want := []string{instruction(t, dockerfiles[image.Name], "USER"), instruction(t, dockerfiles[image.Name], "ENTRYPOINT"), instruction(t, dockerfiles[image.Name], "ENV")}
		if diff := cmp.Diff(want, []string{image.User, entrypoint, strings.Join(image.Env, " ")}); diff != "" {
			t.Errorf("%s (-Dockerfile +release):\n%s", image.Name, diff)
		}
	}
}

var oneBase = regexp.MustCompile(`^BASE=(debian:bookworm-slim(@sha256:[0-9a-f]{64})?)$`)

// TestDockerfilesHaveOneBase checks the bases of images. Released images have none. Images
// for tests have one, with the same digest in all Dockerfiles.
func TestDockerfilesHaveOneBase(t *testing.T) {
	listed, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "*Dockerfile").Output()
	noError(t, err)
	bases := map[string]bool{}
	for _, file := range strings.Fields(string(listed)) {
		from, _, _ := strings.Cut(instruction(t, file, "FROM"), " AS ")
		argument := oneBase.FindStringSubmatch(instruction(t, file, "ARG"))
		switch {
		case from == "scratch":
		case from == "${BASE}" && argument != nil:
			bases[argument[1]] = true
		default:
			t.Errorf("%s is from %q", file, from)
		}
	}
	pulled := regexp.MustCompile(`(?m)^base +(\S+)$`).FindSubmatch(content(t, "../../hack/cluster/kind/images.txt"))
	if len(bases) != 1 || pulled == nil || !bases[string(pulled[1])] {
		t.Errorf("bases are %v, kind pulls %q", bases, pulled)
	}
}

// root writes an image's files into a folder and returns it.
func root(t *testing.T, image product.Image) string {
	t.Helper()
	folder := t.TempDir()
	files := imageFiles(t, perPlatform(t, image)[product.Platform{OS: "linux", Arch: runtime.GOARCH}])
	for _, path := range slices.Sorted(mapKeys(files)) {
		file, target := files[path], filepath.Join(folder, path)
		var err error
		switch file.header.Typeflag {
		case tar.TypeDir:
			if err = os.MkdirAll(target, 0o755); err == nil {
				err = os.Chmod(target, file.header.FileInfo().Mode())
			}
		case tar.TypeSymlink:
			err = os.Symlink(file.header.Linkname, target)
		default:
			err = os.WriteFile(target, file.content, file.header.FileInfo().Mode())
		}
		noError(t, err)
	}
	return folder
}

// in runs a command in an image, with only the image's files, as its user.
func in(t *testing.T, image product.Image, command ...string) (string, int) {
	t.Helper()
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root can change to the image's files")
	}
	folder := root(t, image)
	if err := os.Chmod(folder, 0o755); err != nil { //nolint:gosec // Another user runs its programs.
		t.Fatal(err)
	}
	started := exec.CommandContext(t.Context(), command[0], command[1:]...)
	started.SysProcAttr = &syscall.SysProcAttr{Chroot: folder, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	started.Dir, started.Env = "/", append([]string{searchPath}, image.Env...)
	printed, _ := started.CombinedOutput() // The exit code shows the result.
	return string(printed), started.ProcessState.ExitCode()
}

func TestProgramsRunInImages(t *testing.T) {
	for _, image := range product.Images[:2] {
		printed, code := in(t, image, image.Entrypoint[0], "--version")
		if code != 0 || !strings.HasPrefix(printed, image.Entrypoint[0][1:]+" "+testVersion+" (go") {
			t.Errorf("%s ended with %d: %s", image.Name, code, printed)
		}
	}
	printed, code := in(t, product.Images[0], "/manager", "--help")
	if code != 0 || !strings.Contains(printed, "-leader-elect") {
		t.Errorf("/manager --help ended with %d: %s", code, printed)
	}
}

// TestK6RunsInImage runs k6 as k6-operator does: it runs a script of the image and starts
// the runners.
func TestK6RunsInImage(t *testing.T) {
	k6 := product.Images[2]
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // The test checks the body.
		asked <- r.Method + " " + string(body)
	}))
	t.Cleanup(server.Close)
	printed, code := in(t, k6, "/bin/sh", "-c", fmt.Sprintf(`curl --retry 3 -X PATCH -H 'Content-Type: application/json' %s/v1/status -d '{"a":1}';curl -s %s`, server.URL, server.URL))
	if code != 0 || <-asked != `PATCH {"a":1}` || <-asked != "GET " {
		t.Errorf("the starter ended with %d: %s", code, printed)
	}
	const script = `if [ ! -f /scripts/cico.js ]; then echo "LocalFile not found exiting..."; exit 1; fi;
k6 version`
	printed, code = in(t, k6, "/bin/sh", "-c", script)
	if code != 0 || !strings.Contains(printed, "k6") || !strings.Contains(printed, "linux/"+runtime.GOARCH) {
		t.Errorf("the runner ended with %d: %s", code, printed)
	}
}

// pulled returns the chart as Helm pulls it from a registry that the release was pushed to.
func pulled(t *testing.T) (*helmchart.Chart, string) {
	t.Helper()
	registry := served(t, false)
	printed, err := run(t, "push", theRelease(t), "--registry", registry)
	noError(t, err)
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP())
	noError(t, err)
	got, err := client.Pull(registry + "/charts/perflab:" + testVersion[1:])
	noError(t, err)
	if !bytes.Equal(got.Chart.Data, content(t, theRelease(t), "perflab-"+testVersion[1:]+".tgz")) {
		t.Error("what Helm pulls is not the archive")
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(got.Chart.Data))
	noError(t, err)
	return loaded, printed
}

func TestPulledChartNamesImages(t *testing.T) {
	chart, printed := pulled(t)
	if chart.Metadata.Version != testVersion[1:] || chart.Metadata.AppVersion != testVersion || len(chart.Metadata.Dependencies) != 0 {
		t.Errorf("%+v", chart.Metadata)
	}
	rendered := renderedDeployment(t, chart, nil)
	for _, image := range product.Images {
		digest, err := index(t, image).Digest()
		noError(t, err)
		want := fmt.Sprintf("%s/%s:%s@%s", testRegistry, image.Name, testVersion, digest)
		if !strings.Contains(rendered, `"`+want+`"`) {
			t.Errorf("the operator's Deployment lacks %s", want)
		}
		if !strings.Contains(chart.Metadata.Annotations["artifacthub.io/images"], "image: "+want+"\n") {
			t.Errorf("Chart.yaml lists %s, want %s", chart.Metadata.Annotations["artifacthub.io/images"], want)
		}
		if !strings.Contains(printed, "/perflab/"+image.Name+":"+testVersion+"@"+digest.String()) {
			t.Errorf("%s was pushed with another digest: %s", image.Name, printed)
		}
	}
	mirrored := renderedDeployment(t, chart, map[string]any{"global": map[string]any{"imageRegistry": "mirror.example.org"}, "images": map[string]any{"k6": map[string]any{"tag": "own"}}})
	digest, err := index(t, product.Images[0]).Digest()
	noError(t, err)
	_, path, _ := strings.Cut(testRegistry, "/")
	for _, want := range []string{fmt.Sprintf(`"mirror.example.org/%s/operator:%s@%s"`, path, testVersion, digest), fmt.Sprintf(`"mirror.example.org/%s/k6:own"`, path)} {
		if !strings.Contains(mirrored, want) {
			t.Errorf("with another registry and tag, the Deployment lacks %s: %s", want, mirrored)
		}
	}
}

// renderedDeployment returns the operator's Deployment in the chart.
func renderedDeployment(t *testing.T, chart *helmchart.Chart, given map[string]any) string {
	t.Helper()
	values, err := chartutil.ToRenderValues(chart, given, chartutil.ReleaseOptions{Name: "perflab", Namespace: "perflab-system"}, nil)
	noError(t, err)
	rendered, err := engine.Render(chart, values)
	noError(t, err)
	return rendered["perflab/templates/deployment.yaml"]
}

// TestChartHasNoDependencies checks that the chart rejects values without an effect.
func TestChartHasNoDependencies(t *testing.T) {
	chart, _ := pulled(t)
	given := map[string]any{"operators": map[string]any{"k6": true}}
	if _, err := chartutil.ToRenderValues(chart, given, chartutil.ReleaseOptions{}, nil); err == nil || !strings.Contains(err.Error(), "operators") {
		t.Errorf("error %v, want one about operators", err)
	}
	source, err := os.ReadFile("../../charts/perflab/values.yaml")
	noError(t, err)
	comment, _, _ := bytes.Cut(source, []byte("\n"))
	for _, file := range chart.Raw {
		if file.Name == "README.md" && (bytes.Contains(file.Data, []byte("operators.")) || !bytes.Contains(file.Data, []byte(testRegistry+"/operator"))) {
			t.Errorf("the README is that of the source: %s", file.Data)
		}
		if file.Name == "values.yaml" && !bytes.Contains(file.Data, comment) {
			t.Errorf("the values have lost their comments, such as %s", comment)
		}
	}
}
