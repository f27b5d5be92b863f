// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/cobra"

	"perflab.dev/perflab/hack/release/internal/bundle"
)

func newPush() *cobra.Command {
	var registry string
	push := &cobra.Command{
		Use:   "push FOLDER --registry HOST/PATH",
		Short: "Push the images and the chart of a release to a registry",
		Long: `Push the images and the chart of a release, as they are: their digests do not change.
The chart goes to HOST/PATH/charts/perflab. Give the registry that the release was built
for, which its chart names. Who may push is known from docker login, or its file.`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			layouts, err := filepath.Glob(filepath.Join(arguments[0], "*.oci.tar"))
			if err != nil || len(layouts) == 0 {
				return fmt.Errorf("there is no image in %q: name the folder that release build has made, dist/VERSION", arguments[0])
			}
			for _, file := range layouts {
				pushed, err := pushLayout(command.Context(), file, registry)
				if err != nil {
					return fmt.Errorf("pushing %s: %w", file, err)
				}
				command.Println(pushed)
			}
			return nil
		},
	}
	push.Flags().StringVar(&registry, "registry", "", "where to, for example ghcr.io/perflab")
	_ = push.MarkFlagRequired("registry") // It is there.
	return push
}

// chartRepository is where the chart goes, below the registry.
const chartRepository = "charts/perflab"

// repository is where an archive's content goes.
func repository(file, registry string) string {
	base, _, _ := strings.Cut(filepath.Base(file), "-v")
	if base == "chart" {
		base = chartRepository
	}
	return registry + "/" + base
}

// pushLayout pushes what an archive holds, and returns it with its digest.
func pushLayout(ctx context.Context, file, registry string) (string, error) {
	folder, err := os.MkdirTemp("", "perflab-push-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }() // It lies where the system tidies up.
	if err := bundle.Unpack(file, folder); err != nil {
		return "", err
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return "", err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return "", err
	}
	if len(manifest.Manifests) != 1 {
		return "", errors.New("it holds several: release build makes one for each archive")
	}
	one := manifest.Manifests[0]
	tag, err := name.ParseReference(repository(file, registry) + ":" + one.Annotations["org.opencontainers.image.ref.name"])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s@%s", tag, one.Digest), pushOne(ctx, tag, index, one)
}

func pushOne(ctx context.Context, tag name.Reference, index v1.ImageIndex, one v1.Descriptor) error {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	if one.MediaType == types.OCIImageIndex {
		several, err := index.ImageIndex(one.Digest)
		if err != nil {
			return err
		}
		return remote.WriteIndex(tag, several, options...)
	}
	image, err := index.Image(one.Digest)
	if err != nil {
		return err
	}
	return remote.Write(tag, image, options...)
}
