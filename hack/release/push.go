// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	"perflab.dev/perflab/hack/release/internal/oci"
	"perflab.dev/perflab/hack/release/internal/provenance"
	"perflab.dev/perflab/hack/release/internal/signing"
)

func newPush() *cobra.Command {
	var registry string
	push := &cobra.Command{
		Use:   "push FOLDER --registry HOST/PATH",
		Short: "Push the images and the chart of a release to a registry",
		Long: `Push the images and the chart of a release, as they are: their digests do not change.
Where release sign has signed them, push their signatures and the provenance, too. The chart goes to HOST/PATH/charts/perflab. Give the registry that the release was built
for, which its chart names. Who may push is known from docker login, or its file.`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			layouts, err := filepath.Glob(filepath.Join(arguments[0], "*"+layoutSuffix))
			if err != nil || len(layouts) == 0 {
				return fmt.Errorf("no image in %q: specify the folder of release build, dist/VERSION", arguments[0])
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
	push.Flags().StringVar(&registry, "registry", "", "registry and path, for example ghcr.io/perflab")
	_ = push.MarkFlagRequired("registry") // The flag exists.
	return push
}

// chartRepository is the repository of the chart, below the registry.
const chartRepository = "charts/perflab"

// repository returns the repository of an archive's content.
func repository(file, registry string) string {
	base, _, _ := strings.Cut(filepath.Base(file), "-v")
	if base == "chart" {
		base = chartRepository
	}
	return registry + "/" + base
}

// layoutContent is the image or the chart of an archive.
type layoutContent struct {
	index   v1.ImageIndex
	content v1.Descriptor
}

// tag returns the tag of the content.
func (l layoutContent) tag() string {
	return l.content.Annotations["org.opencontainers.image.ref.name"]
}

// withLayout unpacks an archive and calls a function with its content.
func withLayout(file string, do func(layoutContent) error) error {
	folder, err := os.MkdirTemp("", "perflab-layout-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // Best effort: it is temporary.
	if err := bundle.Unpack(file, folder); err != nil {
		return err
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	if len(manifest.Manifests) != 1 {
		return errors.New("it has several images: release build creates one per archive")
	}
	return do(layoutContent{index, manifest.Manifests[0]})
}

// pushLayout pushes an archive's content with its signatures. It returns the content's
// reference with its digest.
func pushLayout(ctx context.Context, file, registry string) (pushed string, err error) {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	err = withLayout(file, func(held layoutContent) error {
		tag, err := name.ParseReference(repository(file, registry) + ":" + held.tag())
		if err != nil {
			return err
		}
		if err := pushContent(tag, held, options); err != nil {
			return err
		}
		signatures, err := pushSignatures(tag.Context(), file, held.content, options)
		pushed = fmt.Sprintf("%s@%s (%s)", tag, held.content.Digest, signatures)
		return err
	})
	return pushed, err
}

func pushContent(tag name.Reference, held layoutContent, options []remote.Option) error {
	if held.content.MediaType == types.OCIImageIndex {
		several, err := held.index.ImageIndex(held.content.Digest)
		if err != nil {
			return err
		}
		return remote.WriteIndex(tag, several, options...)
	}
	image, err := held.index.Image(held.content.Digest)
	if err != nil {
		return err
	}
	return remote.Write(tag, image, options...)
}

// pushSignatures pushes the signatures of an archive's content, if release sign has created
// them. They are its own signature and the provenance, which names it.
func pushSignatures(to name.Repository, file string, content v1.Descriptor, options []remote.Option) (string, error) {
	own := strings.TrimSuffix(file, layoutSuffix) + bundleSuffix
	if _, err := os.Stat(own); errors.Is(err, fs.ErrNotExist) {
		return "not signed", nil
	}
	for _, signature := range []struct{ file, predicate string }{
		{own, signing.ImagePredicate},
		{filepath.Join(filepath.Dir(file), provenanceBundle), provenance.PredicateType},
	} {
		signed, err := os.ReadFile(signature.file)
		if err != nil {
			return "", err
		}
		referrer, err := oci.Signature(content, signed, signature.predicate)
		if err != nil {
			return "", err
		}
		if err := pushReferrer(to, referrer, options); err != nil {
			return "", fmt.Errorf("pushing %s: %w", signature.file, err)
		}
	}
	return "signed", nil
}

func pushReferrer(to name.Repository, referrer v1.Image, options []remote.Option) error {
	digest, err := referrer.Digest()
	if err != nil {
		return err
	}
	return remote.Write(to.Digest(digest.String()), referrer, options...)
}
