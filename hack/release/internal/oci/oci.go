// SPDX-License-Identifier: Apache-2.0

// Package oci builds images and charts in the OCI format, without a registry and without
// running anything.
package oci

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"perflab.dev/perflab/hack/release/internal/bundle"
	"perflab.dev/perflab/hack/release/internal/product"
)

// Keys of OCI annotations.
const (
	Title       = "org.opencontainers.image.title"
	Version     = "org.opencontainers.image.version"
	Revision    = "org.opencontainers.image.revision"
	Created     = "org.opencontainers.image.created"
	Licences    = "org.opencontainers.image.licenses"
	Description = "org.opencontainers.image.description"
	BaseName    = "org.opencontainers.image.base.name"
	BaseDigest  = "org.opencontainers.image.base.digest"
	reference   = "org.opencontainers.image.ref.name"
)

// Settings are an image's metadata and its command.
type Settings struct {
	Platform product.Platform
	// Base is the image below, whose environment is kept; nil for none.
	Base        v1.Image
	Entrypoint  []string
	User        string
	Env         []string
	Annotations map[string]string
	Created     time.Time
}

// Image builds an image with one layer for each list, above those of its base.
func Image(settings Settings, layers ...[]bundle.Entry) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	environment := settings.Env
	if settings.Base != nil {
		var err error
		if image, environment, err = onBase(image, settings); err != nil {
			return nil, fmt.Errorf("reading the base: %w", err)
		}
	}
	for _, entries := range layers {
		layer, err := newLayer(entries, settings.Created)
		if err != nil {
			return nil, err
		}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{
			CreatedBy: "perflab release", Created: v1.Time{Time: settings.Created},
		}}); err != nil {
			return nil, fmt.Errorf("adding a layer: %w", err)
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = settings.Platform.OS, settings.Platform.Arch, v1.Time{Time: settings.Created}
	config.Config = v1.Config{Entrypoint: settings.Entrypoint, User: settings.User, Env: environment, Labels: settings.Annotations, WorkingDir: "/"}
	return mutate.ConfigFile(image, config)
}

// onBase adds the layers of the base to an image, and returns the environment of both.
func onBase(image v1.Image, settings Settings) (v1.Image, []string, error) {
	config, err := settings.Base.ConfigFile()
	if err != nil {
		return nil, nil, err
	}
	if has := (product.Platform{OS: config.OS, Arch: config.Architecture}); has != settings.Platform {
		return nil, nil, fmt.Errorf("it is for %s, not for %s", has, settings.Platform)
	}
	layers, err := settings.Base.Layers()
	if err != nil {
		return nil, nil, err
	}
	for _, layer := range layers {
		mediaType, err := layer.MediaType()
		if err != nil {
			return nil, nil, err
		}
		if mediaType == types.DockerLayer {
			mediaType = types.OCILayer // The same bytes.
		}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: mediaType, History: v1.History{CreatedBy: "base"}}); err != nil {
			return nil, nil, err
		}
	}
	return image, slices.Concat(config.Config.Env, settings.Env), nil
}

func newLayer(entries []bundle.Entry, at time.Time) (v1.Layer, error) {
	packed, err := bundle.Tar(bundle.WithFolders(entries), at)
	if err != nil {
		return nil, err
	}
	opened := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
	return tarball.LayerFromOpener(opened, tarball.WithMediaType(types.OCILayer))
}

// Index joins the images of several platforms under one digest.
func Index(platforms []product.Platform, images []v1.Image, annotations map[string]string) v1.ImageIndex {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, image := range images {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: platforms[i].OS, Architecture: platforms[i].Arch},
		}})
	}
	return mutate.Annotations(index, annotations).(v1.ImageIndex)
}

// Helm's media types.
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// Chart builds a chart from its metadata and its archive.
func Chart(metadata, archive []byte, annotations map[string]string) (v1.Image, error) {
	return newArtefact(v1.Manifest{Annotations: annotations}, chartConfig, metadata, static.NewLayer(archive, chartContent))
}

// Types and keys with which cosign finds the signatures of an image.
const (
	signatureType types.MediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"
	emptyConfig   types.MediaType = "application/vnd.oci.empty.v1+json"
	contentKey                    = "dev.sigstore.bundle.content"
	predicateKey                  = "dev.sigstore.bundle.predicateType"
)

// Signature builds a referrer of a subject, with a Sigstore bundle of a statement about the
// subject.
func Signature(subject v1.Descriptor, bundle []byte, predicateType string) (v1.Image, error) {
	return newArtefact(v1.Manifest{
		ArtifactType: string(signatureType),
		Subject:      &v1.Descriptor{MediaType: subject.MediaType, Size: subject.Size, Digest: subject.Digest},
		Annotations:  map[string]string{contentKey: "dsse-envelope", predicateKey: predicateType},
	}, emptyConfig, []byte("{}"), static.NewLayer(bundle, signatureType))
}

// artefact is an OCI artifact with one layer.
type artefact struct {
	config, manifest []byte
	content          v1.Layer
}

// newArtefact completes a manifest with its content.
func newArtefact(manifest v1.Manifest, configType types.MediaType, config []byte, content v1.Layer) (v1.Image, error) {
	configured, err := partial.Descriptor(static.NewLayer(config, configType))
	if err != nil {
		return nil, err
	}
	layer, err := partial.Descriptor(content)
	if err != nil {
		return nil, err
	}
	manifest.SchemaVersion, manifest.MediaType = 2, types.OCIManifestSchema1
	manifest.Config, manifest.Layers = *configured, []v1.Descriptor{*layer}
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(artefact{config, raw, content})
}

// RawConfigFile returns the configuration, such as a chart's metadata.
func (a artefact) RawConfigFile() ([]byte, error) { return a.config, nil }

// MediaType returns the media type of any manifest.
func (a artefact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawManifest returns the manifest, which names the configuration and the layer.
func (a artefact) RawManifest() ([]byte, error) { return a.manifest, nil }

// LayerByDigest returns the only layer.
func (a artefact) LayerByDigest(wanted v1.Hash) (partial.CompressedLayer, error) {
	if has, err := a.content.Digest(); err != nil || has != wanted {
		return nil, fmt.Errorf("the artefact has no layer %s", wanted)
	}
	return a.content, nil
}

// SaveImage returns a layout with one image or chart under a tag, as a tar archive.
func SaveImage(image v1.Image, tag string, at time.Time) ([]byte, error) {
	return save(at, func(path layout.Path) error {
		return path.AppendImage(image, layout.WithAnnotations(map[string]string{reference: tag}))
	})
}

// SaveIndex returns a layout with one index under a tag, as a tar archive.
func SaveIndex(index v1.ImageIndex, tag string, at time.Time) ([]byte, error) {
	return save(at, func(path layout.Path) error {
		return path.AppendIndex(index, layout.WithAnnotations(map[string]string{reference: tag}))
	})
}

func save(at time.Time, fill func(layout.Path) error) ([]byte, error) {
	folder, err := os.MkdirTemp("", "perflab-layout-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // Best effort: it is temporary.
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return nil, err
	}
	if err := fill(path); err != nil {
		return nil, fmt.Errorf("writing an image layout: %w", err)
	}
	entries, err := bundle.Disk(filepath.Clean(folder), ".")
	if err != nil {
		return nil, err
	}
	return bundle.Tar(entries, at)
}
