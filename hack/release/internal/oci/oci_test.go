// SPDX-License-Identifier: Apache-2.0

package oci_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"perflab.dev/perflab/hack/release/internal/bundle"
	"perflab.dev/perflab/hack/release/internal/oci"
	"perflab.dev/perflab/hack/release/internal/product"
)

// made returns an index of both platforms.
func made(t *testing.T, platforms []product.Platform) v1.ImageIndex {
	t.Helper()
	var images []v1.Image
	for _, platform := range platforms {
		image, err := oci.Image(oci.Settings{Platform: platform, User: "1", Created: time.Unix(1_700_000_000, 0)},
			[]bundle.Entry{bundle.Program("bin/run", []byte(platform.Arch))})
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, image)
	}
	return oci.Index(platforms, images, map[string]string{oci.Version: "v1.0.0"})
}

func TestIndexHasPlatforms(t *testing.T) {
	platforms := product.Operator.Platforms
	index := made(t, platforms)
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var found []product.Platform
	for _, one := range manifest.Manifests {
		image, err := index.Image(one.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil || config.Architecture != one.Platform.Architecture {
			t.Errorf("the index has %+v, the image %+v, %v", one.Platform, config, err)
		}
		found = append(found, product.Platform{OS: one.Platform.OS, Arch: one.Platform.Architecture})
	}
	if !slices.Equal(found, platforms) || len(platforms) != 2 {
		t.Errorf("it has %v, want %v", found, platforms)
	}
	first, err := oci.SaveIndex(index, "v1.0.0", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	second, err := oci.SaveIndex(made(t, platforms), "v1.0.0", time.Unix(0, 0))
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("the same index gives other bytes, %v", err)
	}
	checkLayout(t, first)
}

// checkLayout checks a layout on the disk: digests, sizes and media types.
func checkLayout(t *testing.T, saved []byte) {
	t.Helper()
	file, folder := filepath.Join(t.TempDir(), "saved.tar"), t.TempDir()
	if err := os.WriteFile(file, saved, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := bundle.Unpack(file, folder); err != nil {
		t.Fatal(err)
	}
	read, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(read); err != nil {
		t.Error(err)
	}
}
