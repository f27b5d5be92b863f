// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"perflab.dev/perflab/hack/release/internal/gocommand"
	"perflab.dev/perflab/hack/release/internal/licence"
	"perflab.dev/perflab/hack/release/internal/product"
	"perflab.dev/perflab/hack/release/internal/provenance"
)

// settings are the options of a build.
type settings struct {
	source, out        string
	version            string
	registry, download string
	java               string
	platforms          []string
	dirty              bool
}

// release is a release that is being built.
type release struct {
	settings
	revision string
	// created is the commit's time. All files have this time, so that they depend only on
	// the source.
	created time.Time
	// only has the selected platforms. If it is empty, all are selected.
	only    []product.Platform
	linked  map[string][]licence.Module
	built   map[string][]byte
	say     io.Writer
	written []string
	// images has the written images and the chart, by the digests under which they are
	// pushed.
	images []provenance.Subject
	// modified is true if the source has uncommitted changes.
	modified bool
}

func newBuild() *cobra.Command {
	var options settings
	build := &cobra.Command{
		Use:   "build --version vX.Y.Z",
		Short: "Make a release",
		Long: `Make a release: archives of the command line for each platform with a krew
manifest, images and the chart as OCI layouts, a list of what is in each, the experiment of the
quick start, the source of k6, how all of it was built, and checksums.txt over all. Everything bears the
time of the commit, or of SOURCE_DATE_EPOCH, so that everyone who builds the commit with the
same Go gets the same files.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			making, err := begin(command.Context(), options, command.ErrOrStderr())
			if err != nil {
				return err
			}
			return making.make(command.Context())
		},
	}
	flags := build.Flags()
	flags.StringVar(&options.source, "source", ".", "root of the source")
	flags.StringVar(&options.out, "out", "dist", "output directory; the release gets a subfolder with its version")
	flags.StringVar(&options.version, "version", "", "version, for example v0.1.0")
	flags.StringVar(&options.registry, "registry", "example.org/perflab", "registry that the images will be pushed to, as in the chart")
	flags.StringVar(&options.download, "download", "https://example.org/perflab", "URL of the folder that will have a folder of archives for each version, as in the krew manifest")
	flags.StringVar(&options.java, "java-image", "", "base of the sample system's image, with Java 17 or later and a shell, as NAME@sha256:…; without it the release has neither the sample system nor the demo")
	flags.StringSliceVar(&options.platforms, "platform", nil, "build only this platform, for example linux/amd64; repeatable; for tests")
	flags.BoolVar(&options.dirty, "allow-dirty", false, "build although the source has uncommitted changes")
	return build
}

// semantic matches versions that krew, Helm and Go accept.
var semantic = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// begin validates the settings, and reads the commit.
func begin(ctx context.Context, options settings, say io.Writer) (*release, error) {
	if !semantic.MatchString(options.version) {
		return nil, fmt.Errorf("--version %q: write one like v0.1.0 (make release VERSION=v0.1.0)", options.version)
	}
	if _, err := os.Stat(filepath.Join(options.source, "cmd", "perflab")); err != nil {
		return nil, fmt.Errorf("--source %q is not the root of PerfLab's source: %w", options.source, err)
	}
	if _, err := name.NewDigest(options.java); options.java != "" && err != nil {
		return nil, fmt.Errorf("--java-image %q: write the name with its digest, NAME@sha256:…, so that the release depends only on its parameters: %w", options.java, err)
	}
	making := &release{settings: options, built: map[string][]byte{}, linked: map[string][]licence.Module{}, say: say}
	for _, text := range options.platforms {
		platform, err := product.ParsePlatform(text)
		if err != nil {
			return nil, fmt.Errorf("--platform: %w", err)
		}
		making.only = append(making.only, platform)
	}
	return making, making.readCommit(ctx)
}

// make writes the release to a temporary folder, and renames it when it is complete.
func (r *release) make(ctx context.Context) error {
	final := filepath.Join(r.out, r.version)
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	partial, err := os.MkdirTemp(r.out, ".partial-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(partial) }() // The folder exists only after an error.
	r.out = partial
	if err := r.fill(ctx); err != nil {
		return err
	}
	if err := os.Chmod(partial, 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(final); err != nil {
		return fmt.Errorf("deleting an earlier build of the version: %w", err)
	}
	if err := os.Rename(partial, final); err != nil {
		return err
	}
	r.progress("created %s: %d files", final, len(r.written))
	return nil
}

func (r *release) fill(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.judge, r.compile, r.packCommandLine, r.packImages, r.packSample, r.packSource, r.stateProvenance} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return r.writeChecksums()
}

// judge finds the linked modules, and rejects those that may not be linked.
func (r *release) judge(ctx context.Context) error {
	r.progress("looking at licences")
	linked, err := licences(ctx, r.source)
	r.linked = linked
	return err
}

// compile builds all programs for all platforms.
func (r *release) compile(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "perflab-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // Best effort: it is temporary.
	for _, program := range product.Programs {
		for _, platform := range r.wanted(program.Platforms) {
			r.progress("building %s for %s", program.Name, platform)
			if err := r.compileOne(ctx, program, platform, filepath.Join(folder, program.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// noTrace is the build tag that excludes gRPC's trace pages. With them, a program keeps
// every method of every type.
const noTrace = "grpcnotrace"

const stamp = "-s -w -buildid= -X perflab.dev/perflab/internal/version.stamp="

func (r *release) compileOne(ctx context.Context, program product.Program, platform product.Platform, file string) error {
	_, err := gocommand.Output(ctx, filepath.Join(r.source, program.Module), platform,
		"build", "-trimpath", "-tags", noTrace, "-ldflags", stamp+r.version, "-o", file, program.Package)
	if err != nil {
		return err
	}
	r.built[program.Name+" "+platform.String()], err = os.ReadFile(file)
	return err
}

func (r *release) program(program product.Program, platform product.Platform) []byte {
	return r.built[program.Name+" "+platform.String()]
}

// wanted returns the selected platforms of a program.
func (r *release) wanted(platforms []product.Platform) []product.Platform {
	if len(r.only) == 0 {
		return platforms
	}
	return slices.DeleteFunc(slices.Clone(platforms), func(p product.Platform) bool { return !slices.Contains(r.only, p) })
}

func (r *release) progress(format string, arguments ...any) {
	_, _ = fmt.Fprintf(r.say, format+"\n", arguments...) // Progress is best-effort.
}

// write writes a file of the release.
func (r *release) write(name string, content []byte) error {
	r.written = append(r.written, name)
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644) //nolint:gosec // It is public.
}

func (r *release) read(name string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(r.source, name))
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	return content, nil
}
