// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/pem"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	packing "perflab.dev/perflab/hack/release/internal/bundle"
	"perflab.dev/perflab/hack/release/internal/chart"
	"perflab.dev/perflab/hack/release/internal/oci"
	"perflab.dev/perflab/hack/release/internal/product"
	"perflab.dev/perflab/hack/release/internal/provenance"
	"perflab.dev/perflab/hack/release/internal/sbom"
)

const (
	// searchPath is the PATH of an image's programs.
	searchPath = "PATH=/usr/local/bin:/usr/bin:/bin"
	// documentsFolder has the licenses in an image.
	documentsFolder = "usr/share/doc/perflab/"
)

// packImages writes the images, and the chart, which contains their digests.
func (r *release) packImages(context.Context) error {
	references := map[string]string{}
	for _, image := range product.Images {
		r.progress("packing image %s", image.Name)
		index, err := r.packImage(image)
		if err != nil {
			return fmt.Errorf("image %s: %w", image.Name, err)
		}
		references[image.Name] = r.reference(image.Name, index)
	}
	return r.packChart(references)
}

func (r *release) packImage(image product.Image) (v1.Hash, error) {
	platforms := r.wanted(image.Programs()[0].Platforms)
	var made []v1.Image
	for _, platform := range platforms {
		one, err := r.image(image, platform)
		if err != nil {
			return v1.Hash{}, err
		}
		if err := r.listImage(image, platform, one); err != nil {
			return v1.Hash{}, err
		}
		made = append(made, one)
	}
	return r.writeIndex(image.Name, oci.Index(platforms, made, r.annotations(image.Title, image.Licence)))
}

func (r *release) annotations(title, licences string) map[string]string {
	return map[string]string{
		oci.Title: title, oci.Version: r.version, oci.Revision: r.revision,
		oci.Created: r.created.Format(time.RFC3339), oci.Licences: licences,
	}
}

// image builds the image of one platform: common files, files that this image copies, and
// its programs.
func (r *release) image(image product.Image, platform product.Platform) (v1.Image, error) {
	copied, err := r.copies(image)
	if err != nil {
		return nil, err
	}
	var programs []packing.Entry
	for _, path := range slices.Sorted(maps.Keys(image.Files)) {
		programs = append(programs, packing.Program(path, r.program(image.Files[path], platform)))
	}
	for _, path := range slices.Sorted(maps.Keys(image.Links)) {
		programs = append(programs, packing.Entry{Name: path, Link: image.Links[path]})
	}
	return oci.Image(oci.Settings{
		Platform: platform, Entrypoint: image.Entrypoint, User: image.User,
		Env: append([]string{searchPath}, image.Env...), Annotations: r.annotations(image.Title, image.Licence), Created: r.created,
	}, ground(), copied, programs)
}

// ground returns the common files of all images: root certificates, user names, and a
// folder that all users can write to if the pod's file system is writable.
func ground() []packing.Entry {
	return []packing.Entry{
		packing.File("etc/ssl/certs/ca-certificates.crt", certificates()),
		packing.File("etc/passwd", []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n")),
		packing.File("etc/group", []byte("root:x:0:\nnonroot:x:65532:\n")),
		{Name: "tmp", Mode: packing.Shared, Folder: true},
	}
}

// certificates returns Mozilla's root certificates, except those that it trusts only in
// some cases.
func certificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return out.Bytes()
}

// copies returns an image's files that are not built, with the licenses of the rest.
func (r *release) copies(image product.Image) ([]packing.Entry, error) {
	documents, err := r.documents(image.Programs()...)
	if err != nil {
		return nil, err
	}
	for i := range documents {
		documents[i].Name = documentsFolder + documents[i].Name
	}
	for _, path := range slices.Sorted(maps.Keys(image.Copies)) {
		found, err := packing.Disk(filepath.Join(r.source, image.Copies[path]), path)
		if err != nil {
			return nil, fmt.Errorf("reading the source: %w", err)
		}
		documents = append(documents, slices.DeleteFunc(found, notForImages)...)
	}
	return documents, nil
}

// notForImages returns whether only the build reads a file.
func notForImages(entry packing.Entry) bool {
	return strings.HasPrefix(entry.Name, "scripts/") && filepath.Ext(entry.Name) != ".js"
}

func (r *release) listImage(image product.Image, platform product.Platform, made v1.Image) error {
	digest, err := made.Digest()
	if err != nil {
		return err
	}
	var programs []sbom.Program
	for _, path := range slices.Sorted(maps.Keys(image.Files)) {
		program := image.Files[path]
		programs = append(programs, sbom.Program{Path: path, Content: r.program(program, platform), Linked: r.linked[program.Name]})
	}
	name := fmt.Sprintf("%s-%s-%s-%s", image.Name, r.version, platform.OS, platform.Arch)
	list, err := sbom.Document(sbom.Subject{
		Name: name, Version: r.version, Licence: cmp.Or(image.Licence, product.Apache), Digest: digest.Hex, Created: r.created,
		Locator: fmt.Sprintf("pkg:oci/%s@sha256%%3A%s?arch=%s&repository_url=%s/%s", image.Name, digest.Hex, platform.Arch, r.registry, image.Name),
	}, programs)
	if err != nil {
		return err
	}
	return r.write(name+".spdx.json", list)
}

func (r *release) packChart(images map[string]string) error {
	r.progress("packing the chart")
	made, err := chart.Release(filepath.Join(r.source, "charts", "perflab"), r.version, images, r.created)
	if err != nil {
		return err
	}
	annotations := r.annotations(made.Name, product.Apache)
	annotations[oci.Version], annotations[oci.Description] = made.Version, made.Description
	artefact, err := oci.Chart(made.Metadata, made.Archive, annotations)
	if err != nil {
		return err
	}
	digest, err := artefact.Digest()
	if err != nil {
		return err
	}
	r.images = append(r.images, provenance.Subject{Name: r.registry + "/" + chartRepository, SHA256: digest.Hex})
	saved, err := oci.SaveImage(artefact, made.Version, r.created)
	if err != nil {
		return err
	}
	if err := r.write(fmt.Sprintf("%s-%s.tgz", made.Name, made.Version), made.Archive); err != nil {
		return err
	}
	return r.write(fmt.Sprintf("chart-%s.oci.tar", r.version), saved)
}
