// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"go.yaml.in/yaml/v3"

	"perflab.dev/perflab/hack/release/internal/bundle"
	"perflab.dev/perflab/hack/release/internal/oci"
	"perflab.dev/perflab/hack/release/internal/product"
)

// javaImage is the base of the sample's image in the tests: a stand-in, in a local registry.
var javaImage string

const javaPath = "PATH=/opt/java/bin:/bin"

// serveJava serves javaImage until stop is called.
func serveJava() (stop func(), err error) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	repository, err := name.NewRepository(strings.TrimPrefix(server.URL, "http://") + "/java")
	if err != nil {
		return nil, err
	}
	var images []v1.Image
	for _, platform := range product.Operator.Platforms {
		one, err := oci.Image(oci.Settings{Platform: platform, Env: []string{javaPath}, Created: time.Unix(0, 0)},
			[]bundle.Entry{bundle.Program("opt/java/bin/java", []byte(platform.Arch))})
		if err != nil {
			return nil, err
		}
		images = append(images, one)
	}
	index := oci.Index(product.Operator.Platforms, images, map[string]string{oci.Title: "Java"})
	digest, err := index.Digest()
	if err != nil {
		return nil, err
	}
	javaImage = repository.Digest(digest.String()).Name()
	return server.Close, remote.WriteIndex(repository.Digest(digest.String()), index)
}

var sampleImage = product.Image{Name: sampleName}

// TestSampleImage compares the released image with the Dockerfile, from which the image for tests
// is built, and checks that its program is complete.
func TestSampleImage(t *testing.T) {
	images := perPlatform(t, sampleImage)
	for _, platform := range wantedPlatforms(product.Operator.Platforms) {
		config, err := images[platform].ConfigFile()
		noError(t, err)
		got := []string{config.Config.User, `["` + strings.Join(config.Config.Entrypoint, `", "`) + `"]`, strings.Join(config.Config.Env, " "), config.Config.Labels[oci.BaseDigest]}
		_, digest, _ := strings.Cut(javaImage, "@")
		want := []string{instruction(t, "sample/Dockerfile", "USER"), instruction(t, "sample/Dockerfile", "ENTRYPOINT"), javaPath, digest}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-Dockerfile and base +release):\n%s", platform, diff)
		}
		files := imageFiles(t, images[platform])
		if string(files["/opt/java/bin/java"].content) != platform.Arch {
			t.Errorf("%s is on the base %q", platform, files["/opt/java/bin/java"].content)
		}
		if entrypoint := files["/app/entrypoint.sh"]; entrypoint.header.FileInfo().Mode().Perm() != 0o755 {
			t.Errorf("%s: the entrypoint is not executable", platform)
		}
		for _, library := range classPath(t, files["/app/sample.jar"].content) {
			if files["/app/"+library].header == nil {
				t.Errorf("%s lacks %s", platform, library)
			}
		}
		texts := string(files["/"+documentsFolder+notices].content)
		for _, want := range []string{"org.marc4j:marc4j", "GNU LESSER GENERAL PUBLIC LICENSE", "org.postgresql:postgresql"} {
			if !strings.Contains(texts, want) {
				t.Errorf("%s: the licences of its libraries lack %s", platform, want)
			}
		}
	}
}

// classPath returns the libraries that a jar names.
func classPath(t *testing.T, jar []byte) []string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	noError(t, err)
	manifest, err := archive.Open("META-INF/MANIFEST.MF")
	noError(t, err)
	text, err := io.ReadAll(manifest)
	noError(t, err)
	// Long lines go on in the next one, after a space.
	_, path, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n ", ""), "Class-Path: ")
	path, _, _ = strings.Cut(path, "\r\n")
	libraries := strings.Fields(path)
	if len(libraries) < 10 {
		t.Fatalf("the class path has %q", libraries)
	}
	return libraries
}

// TestDemoRunsReleasedImages checks the experiment that users of a release start with.
func TestDemoRunsReleasedImages(t *testing.T) {
	digest, err := index(t, sampleImage).Digest()
	noError(t, err)
	released := fmt.Sprintf("%s/sample:%s@%s", testRegistry, testVersion, digest)
	var images []string
	decoder := yaml.NewDecoder(bytes.NewReader(content(t, theRelease(t), demoFile)))
	for {
		var object struct {
			Spec struct {
				System struct {
					Modules []struct{ Image string }
				}
			}
		}
		if err := decoder.Decode(&object); err != nil {
			break
		}
		for _, module := range object.Spec.System.Modules {
			images = append(images, module.Image)
		}
	}
	if len(images) != 4 || slices.ContainsFunc(images, func(image string) bool { return image != released }) {
		t.Errorf("the demo runs %q, want %s", images, released)
	}
}

// TestLibrariesAreListed checks the list of the sample's libraries, and the source of marc4j.
func TestLibrariesAreListed(t *testing.T) {
	folder := theRelease(t)
	if bill := content(t, folder, sampleName+"-"+testVersion+".cdx.json"); !bytes.Contains(bill, []byte("pkg:maven/org.marc4j/marc4j@")) || bytes.Contains(bill, []byte("junit")) {
		t.Errorf("the bill of materials is %s", bill)
	}
	var source []string
	for file := range sums(t, folder) {
		if strings.HasPrefix(file, "marc4j-") && strings.HasSuffix(file, "-sources.jar") {
			source = append(source, file)
		}
	}
	if len(source) != 1 {
		t.Errorf("the release has %q as the source of marc4j", source)
	}
}
