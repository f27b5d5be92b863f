// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"perflab.dev/perflab/hack/release/internal/bundle"
	"perflab.dev/perflab/hack/release/internal/licence"
	"perflab.dev/perflab/hack/release/internal/oci"
	"perflab.dev/perflab/hack/release/internal/product"
	"perflab.dev/perflab/hack/release/internal/provenance"
)

const (
	// sampleName is the image of the sample library system, and its program in policy.yaml.
	sampleName  = "sample"
	sampleTitle = "Sample library system of PerfLab"
	// localSample is the image's name in the source.
	localSample = "localhost/perflab/sample:dev"
	// demoFile is the experiment of the quick start.
	demoFile = "demo.yaml"
)

// Paths in the sample's image, and in the source, where the folder target is Maven's.
const (
	sampleLibraryFolder = "sample/target/lib"
	sampleEntrypoint    = "app/entrypoint.sh"
)

var sampleFiles = map[string]string{
	"app/lib": sampleLibraryFolder, "app/sample.jar": "sample/target/sample.jar", sampleEntrypoint: "sample/entrypoint.sh",
}

// packSample builds the sample system with Maven, its image on the base with Java, and the
// experiment of the quick start, which runs it.
func (r *release) packSample(ctx context.Context) error {
	if r.java == "" {
		r.progress("omitting the sample system and %s: --java-image is not set", demoFile)
		return nil
	}
	r.progress("building the sample system")
	if err := r.buildSample(ctx); err != nil {
		return err
	}
	libraries, err := r.sampleLibraries()
	if err != nil {
		return err
	}
	r.progress("packing image %s", sampleName)
	index, err := r.sampleIndex(ctx, libraries)
	if err != nil {
		return fmt.Errorf("image %s: %w", sampleName, err)
	}
	digest, err := r.writeIndex(sampleName, index)
	if err != nil {
		return err
	}
	return r.writeDemo(r.reference(sampleName, digest))
}

// buildSample builds the sample, the list of its libraries, and the source of those that require it.
func (r *release) buildSample(ctx context.Context) error {
	if err := r.maven(ctx, "-DskipTests", "clean", "package", "cyclonedx:makeBom"); err != nil {
		return err
	}
	return r.maven(ctx, "dependency:copy-dependencies", "-Dclassifier=sources", "-DincludeArtifactIds=marc4j", "-DoutputDirectory=target/sources")
}

func (r *release) maven(ctx context.Context, arguments ...string) error {
	command := exec.CommandContext(ctx, "mvn", append([]string{"-q", "-B", "-f", "sample/pom.xml"}, arguments...)...)
	command.Dir = r.source
	printed, err := command.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("building the sample system requires mvn: install Maven and a JDK, or remove --java-image")
	}
	if err != nil {
		return fmt.Errorf("building the sample system: %w\n%s", err, printed)
	}
	return nil
}

// sampleLibraries lists the sample's libraries in the release, with the source of those that
// require it, and rejects licenses that it may not link.
func (r *release) sampleLibraries() ([]licence.Module, error) {
	bill, err := r.read("sample/target/bom.json")
	if err != nil {
		return nil, err
	}
	policy, err := licence.OwnPolicy()
	if err != nil {
		return nil, err
	}
	libraries, err := policy.Jars(sampleName, bill, filepath.Join(r.source, sampleLibraryFolder))
	if err != nil {
		return nil, err
	}
	if err := policy.Judge(sampleName, libraries); err != nil {
		return nil, err
	}
	sources, err := bundle.Disk(filepath.Join(r.source, "sample/target/sources"), ".")
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		if err := r.write(filepath.Base(source.Name), source.Content); err != nil {
			return nil, err
		}
	}
	return libraries, r.write(fmt.Sprintf("%s-%s.cdx.json", sampleName, r.version), bill)
}

func (r *release) sampleIndex(ctx context.Context, libraries []licence.Module) (v1.ImageIndex, error) {
	content, err := r.sampleContent(libraries)
	if err != nil {
		return nil, err
	}
	annotations := r.annotations(sampleTitle, product.Apache)
	platforms := r.wanted(product.Operator.Platforms)
	var made []v1.Image
	for _, platform := range platforms {
		base, err := r.javaBase(ctx, platform, annotations)
		if err != nil {
			return nil, fmt.Errorf("--java-image %s: %w", r.java, err)
		}
		one, err := oci.Image(oci.Settings{
			Platform: platform, Base: base, Entrypoint: []string{"/" + sampleEntrypoint}, User: "10001", Annotations: annotations, Created: r.created,
		}, content)
		if err != nil {
			return nil, err
		}
		made = append(made, one)
	}
	return oci.Index(platforms, made, annotations), nil
}

// sampleContent returns the program with the licenses of its libraries.
func (r *release) sampleContent(libraries []licence.Module) ([]bundle.Entry, error) {
	var content []bundle.Entry
	for path, file := range sampleFiles {
		found, err := bundle.Disk(filepath.Join(r.source, file), path)
		if err != nil {
			return nil, fmt.Errorf("reading the sample system: %w", err)
		}
		content = append(content, found...)
	}
	for i := range content {
		if content[i].Name == sampleEntrypoint {
			content[i].Mode = bundle.Executable
		}
	}
	documents, err := r.licences(libraries)
	for _, one := range documents {
		one.Name = documentsFolder + one.Name
		content = append(content, one)
	}
	return content, err
}

// javaBase returns the base for a platform, and adds it to the annotations.
func (r *release) javaBase(ctx context.Context, platform product.Platform, annotations map[string]string) (v1.Image, error) {
	reference, err := name.NewDigest(r.java)
	if err != nil {
		return nil, err
	}
	annotations[oci.BaseName], annotations[oci.BaseDigest] = reference.Context().Name(), reference.DigestStr()
	return remote.Image(reference, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain),
		remote.WithPlatform(v1.Platform{OS: platform.OS, Architecture: platform.Arch}))
}

// writeDemo writes the experiment of the quick start with the released image.
func (r *release) writeDemo(image string) error {
	text, err := r.read("config/samples/" + demoFile)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(localSample)) {
		return fmt.Errorf("%s does not use %s", demoFile, localSample)
	}
	return r.write(demoFile, bytes.ReplaceAll(text, []byte(localSample), []byte(image)))
}

// writeIndex writes an image as a layout, and adds it to the provenance.
func (r *release) writeIndex(image string, index v1.ImageIndex) (v1.Hash, error) {
	saved, err := oci.SaveIndex(index, r.version, r.created)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := r.write(fmt.Sprintf("%s-%s.oci.tar", image, r.version), saved); err != nil {
		return v1.Hash{}, err
	}
	digest, err := index.Digest()
	r.images = append(r.images, provenance.Subject{Name: r.registry + "/" + image, SHA256: digest.Hex})
	return digest, err
}

// reference returns the name under which an image is pulled.
func (r *release) reference(image string, digest v1.Hash) string {
	return fmt.Sprintf("%s/%s:%s@%s", r.registry, image, r.version, digest)
}
