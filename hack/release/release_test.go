// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
	"go.yaml.in/yaml/v3"

	"perflab.dev/perflab/hack/release/internal/product"
)

const (
	testVersion  = "v0.9.0-test.1"
	testRegistry = "registry.example/perflab"
	testDownload = "https://download.example/perflab"
)

// platforms returns the platforms that the test builds for. The default is one platform,
// because building for all takes long. RELEASE_PLATFORMS names others, or "all".
func platforms() []string {
	switch printed := os.Getenv("RELEASE_PLATFORMS"); printed {
	case "":
		return []string{"linux/amd64"}
	case "all":
		return nil
	default:
		return strings.Split(printed, ",")
	}
}

// made returns the folder of a release that all tests use. The release is built from a copy
// of the commit.
var made = sync.OnceValues(func() (string, error) { return makeRelease("../..", firstRelease) })

const firstRelease = "first"

// scratch is the directory of releases during the tests.
var scratch string

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // As main does.
	var err error
	if scratch, err = os.MkdirTemp("", "perflab-test-release-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	stop, err := serveJava()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ended := m.Run()
	stop()
	_ = os.RemoveAll(scratch) // Best effort: it is temporary.
	os.Exit(ended)
}

// makeRelease builds a release from a clone in a folder with the given name.
func makeRelease(origin, name string) (string, error) {
	source := filepath.Join(scratch, name, "source")
	if said, err := exec.Command("git", "clone", "--quiet", origin, source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("git clone: %w\n%s", err, said)
	}
	asked := settings{
		source: source, out: filepath.Join(scratch, name, "out"), version: testVersion,
		registry: testRegistry, download: testDownload, java: javaImage, platforms: platforms(),
	}
	making, err := begin(background, asked, io.Discard)
	if err != nil {
		return "", err
	}
	return filepath.Join(asked.out, testVersion), making.make(background)
}

func theRelease(t *testing.T) string {
	t.Helper()
	folder, err := made()
	noError(t, err)
	return folder
}

func content(t *testing.T, elements ...string) []byte {
	t.Helper()
	read, err := os.ReadFile(filepath.Join(elements...))
	noError(t, err)
	return read
}

// sums returns the digests of a folder's files.
func sums(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(folder)
	noError(t, err)
	found := map[string]string{}
	for _, file := range files {
		found[file.Name()] = digest(content(t, folder, file.Name()))
	}
	return found
}

// TestReleaseIsReproducible builds a second release elsewhere. It uses compiled packages
// from Go's cache, as -trimpath allows. With RELEASE_FRESH it uses an empty cache, which
// takes minutes.
func TestReleaseIsReproducible(t *testing.T) {
	first := sums(t, theRelease(t))
	if os.Getenv("RELEASE_FRESH") != "" {
		t.Setenv("GOCACHE", t.TempDir())
	}
	// The second release uses the clone of the first: the project may have changed since.
	folder, err := makeRelease(filepath.Join(scratch, firstRelease, "source"), "somewhere/else")
	noError(t, err)
	if diff := cmp.Diff(first, sums(t, folder)); diff != "" {
		t.Errorf("digests (-first +second):\n%s", diff)
	}
}

func TestChecksumsListEveryFile(t *testing.T) {
	folder := theRelease(t)
	want := sums(t, folder)
	delete(want, checksumsFile)
	got := map[string]string{}
	for line := range strings.Lines(string(content(t, folder, checksumsFile))) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		got[name] = sum
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checksums (-files +listed):\n%s", diff)
	}
}

// packed is a file in an archive.
type packed struct {
	mode    os.FileMode
	content []byte
}

// open unpacks an archive as krew does: only files and folders.
func open(t *testing.T, file string) map[string]packed {
	t.Helper()
	read := content(t, file)
	if strings.HasSuffix(file, ".zip") {
		return openZip(t, read)
	}
	uncompressed, err := gzip.NewReader(bytes.NewReader(read))
	noError(t, err)
	found := map[string]packed{}
	entries := tar.NewReader(uncompressed)
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		noError(t, err)
		if header.Typeflag != tar.TypeReg {
			t.Errorf("%s: krew does not unpack %s, of type %c", file, header.Name, header.Typeflag)
		}
		read, err := io.ReadAll(entries)
		noError(t, err)
		found[header.Name] = packed{header.FileInfo().Mode(), read}
	}
}

func openZip(t *testing.T, read []byte) map[string]packed {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(read), int64(len(read)))
	noError(t, err)
	found := map[string]packed{}
	for _, file := range archive.File {
		opened, err := file.Open()
		noError(t, err)
		read, err := io.ReadAll(opened)
		noError(t, err)
		found[file.Name] = packed{file.Mode(), read}
	}
	return found
}

// TestKrewManifest checks krew's requirements for a manifest and its archives.
func TestKrewManifest(t *testing.T) {
	folder := theRelease(t)
	var manifest krewPlugin
	decoder := yaml.NewDecoder(bytes.NewReader(content(t, folder, "krew-perflab.yaml")))
	decoder.KnownFields(true)
	noError(t, decoder.Decode(&manifest))
	if manifest.Kind != "Plugin" || manifest.Metadata.Name != "perflab" || manifest.Spec.Version != testVersion || manifest.Spec.ShortDescription == "" {
		t.Errorf("%+v", manifest)
	}
	if len(manifest.Spec.Platforms) != len(wantedPlatforms(product.CommandLine.Platforms)) {
		t.Errorf("it has %d platforms", len(manifest.Spec.Platforms))
	}
	for _, platform := range manifest.Spec.Platforms {
		name, there := strings.CutPrefix(platform.URI, testDownload+"/"+testVersion+"/")
		if !there || digest(content(t, folder, name)) != platform.Sha256 {
			t.Errorf("%s has not the digest %s", platform.URI, platform.Sha256)
		}
		files := open(t, filepath.Join(folder, name))
		if files[platform.Bin].mode.Perm() != 0o755 || !bytes.Contains(files["LICENSE"].content, []byte("Apache License")) ||
			len(files["NOTICE"].content) == 0 || !bytes.Contains(files[notices].content, []byte("THE SOFTWARE IS PROVIDED")) {
			t.Errorf("%s lacks a program or a licence: %v", name, slices.Collect(mapKeys(files)))
		}
	}
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

func wantedPlatforms(all []product.Platform) []product.Platform {
	making := release{}
	for _, text := range platforms() {
		platform, _ := product.ParsePlatform(text) // The release was built for it.
		making.only = append(making.only, platform)
	}
	return making.wanted(all)
}

func TestCommandRuns(t *testing.T) {
	archive := fmt.Sprintf("perflab_%s_%s_%s.tar.gz", testVersion, runtime.GOOS, runtime.GOARCH)
	folder := t.TempDir()
	for name, file := range open(t, filepath.Join(theRelease(t), archive)) {
		noError(t, os.WriteFile(filepath.Join(folder, name), file.content, file.mode))
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	said, err := exec.CommandContext(t.Context(), filepath.Join(folder, plugin), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "perflab "+testVersion+" (go") {
		t.Errorf("%v: output %q", err, said)
	}
	said, err = exec.CommandContext(t.Context(), filepath.Join(folder, "kubectl_complete-perflab"), "ver").CombinedOutput()
	if err != nil || !strings.Contains(string(said), "\nversion\t") {
		t.Errorf("%v: it completes %q", err, said)
	}
}

func TestListsAreSPDX(t *testing.T) {
	folder := theRelease(t)
	lists, err := filepath.Glob(filepath.Join(folder, "*.spdx.json"))
	noError(t, err)
	subjects := len(wantedPlatforms(product.CommandLine.Platforms))
	for _, image := range product.Images {
		subjects += len(wantedPlatforms(image.Programs()[0].Platforms))
	}
	if len(lists) != subjects {
		t.Errorf("%d SBOMs for %d archives and images", len(lists), subjects)
	}
	namespaces := map[string]bool{}
	for _, file := range lists {
		list, err := json.Read(bytes.NewReader(content(t, file)))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := spdxlib.ValidateDocument(list); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		described, err := spdxlib.GetDescribedPackageIDs(list)
		if err != nil || len(described) != 1 || len(list.Packages) < 20 || len(list.Files) == 0 || namespaces[list.DocumentNamespace] {
			t.Errorf("%s describes %v with %d packages, %v", file, described, len(list.Packages), err)
		}
		namespaces[list.DocumentNamespace] = true
		for _, one := range list.Packages {
			if one.FilesAnalyzed || one.PackageLicenseDeclared == "NOASSERTION" {
				t.Errorf("%s: %s has no licence, or claims that its files were looked at", file, one.PackageName)
			}
		}
	}
}

// TestK6SourceIsComplete checks the source, to which the AGPL entitles everybody who has
// the image.
func TestK6SourceIsComplete(t *testing.T) {
	files := open(t, filepath.Join(theRelease(t), "k6-"+testVersion+"-source.tar.gz"))
	for _, name := range []string{"k6/main.go", "k6/LICENSE", "k6/go.mod", "k6/vendor/modules.txt", "k6/vendor/go.k6.io/k6/v2/cmd/execute.go", "payload/go.mod"} {
		if len(files["k6-"+testVersion+"-source/"+name].content) == 0 {
			t.Errorf("it lacks %s", name)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	dirty := filepath.Join(t.TempDir(), "source")
	if said, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "../..", dirty).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	noError(t, os.WriteFile(filepath.Join(dirty, "new.go"), nil, 0o600))
	for name, tc := range map[string]struct {
		asked settings
		want  string
	}{
		"NoVersion": {settings{source: dirty}, `--version "": write one like v0.1.0 (make release VERSION=v0.1.0)`},
		"NoV":       {settings{source: dirty, version: "0.1.0"}, `--version "0.1.0": write one`},
		"NoSource":  {settings{source: t.TempDir(), version: "v0.1.0"}, "is not the root of PerfLab's source"},
		"Platform":  {settings{source: dirty, version: "v0.1.0", platforms: []string{"linux"}}, `platform "linux": write OS/ARCH`},
		"JavaTag":   {settings{source: dirty, version: "v0.1.0", java: "example.org/java:17"}, `--java-image "example.org/java:17": write the name with its digest, NAME@sha256:…`},
		"Dirty":     {settings{source: dirty, version: "v0.1.0"}, "the source has uncommitted changes (?? new.go)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := begin(t.Context(), tc.asked, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func noError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
