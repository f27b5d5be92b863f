// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"perflab.dev/perflab/hack/release/internal/bundle"
	"perflab.dev/perflab/hack/release/internal/licence"
	"perflab.dev/perflab/hack/release/internal/product"
	"perflab.dev/perflab/hack/release/internal/provenance"
	"perflab.dev/perflab/hack/release/internal/sbom"
)

// plugin is the name under which kubectl finds the plugin on the PATH.
const plugin = "kubectl-perflab"

// completion is the program that kubectl calls to complete the plugin's arguments.
const completion = "#!/bin/sh\nexec kubectl-perflab __complete \"$@\"\n"

// checksumsFile lists all other files.
const checksumsFile = "checksums.txt"

// notices is the file with the licenses and notices that must be passed on.
const notices = "THIRD_PARTY_NOTICES.txt"

func (r *release) packCommandLine(context.Context) error {
	manifest := krewManifest(r.version)
	for _, platform := range r.wanted(product.CommandLine.Platforms) {
		r.progress("packing %s for %s", product.CommandLine.Name, platform)
		name, packed, err := r.archive(platform)
		if err != nil {
			return err
		}
		if err := r.write(name, packed); err != nil {
			return err
		}
		manifest.add(platform, fmt.Sprintf("%s/%s/%s", r.download, r.version, name), digest(packed))
		if err := r.listCommandLine(platform, digest(packed)); err != nil {
			return err
		}
	}
	var written bytes.Buffer
	encoder := yaml.NewEncoder(&written)
	encoder.SetIndent(2)
	if err := encoder.Encode(manifest); err != nil {
		return err
	}
	return r.write("krew-perflab.yaml", written.Bytes())
}

// archive packs the command for a platform. It contains no links, because krew does not
// unpack them.
func (r *release) archive(platform product.Platform) (string, []byte, error) {
	entries, err := r.documents(product.CommandLine)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("perflab_%s_%s_%s", r.version, platform.OS, platform.Arch)
	entries = append(entries, bundle.Program(platform.Executable(plugin), r.program(product.CommandLine, platform)))
	if platform.OS == "windows" {
		packed, err := bundle.Zip(entries, r.created)
		return name + ".zip", packed, err
	}
	entries = append(entries, bundle.Program("kubectl_complete-perflab", []byte(completion)))
	packed, err := bundle.TarGzip(entries, r.created)
	return name + ".tar.gz", packed, err
}

// documents returns the licenses of the project, of programs and of what they link.
func (r *release) documents(programs ...product.Program) ([]bundle.Entry, error) {
	var linked []licence.Module
	for _, program := range programs {
		linked = append(linked, r.linked[program.Name]...)
	}
	return r.licences(linked)
}

// licences returns the licenses of the project and of modules.
func (r *release) licences(linked []licence.Module) ([]bundle.Entry, error) {
	var entries []bundle.Entry
	for _, name := range []string{"LICENSE", "NOTICE"} {
		content, err := r.read(name)
		if err != nil {
			return nil, err
		}
		entries = append(entries, bundle.File(name, content))
	}
	return append(entries, bundle.File(notices, []byte(licence.Texts(linked)))), nil
}

func (r *release) listCommandLine(platform product.Platform, archive string) error {
	name := fmt.Sprintf("perflab_%s_%s_%s", r.version, platform.OS, platform.Arch)
	list, err := sbom.Document(
		sbom.Subject{Name: name, Version: r.version, Licence: product.CommandLine.Licence, Digest: archive, Created: r.created},
		[]sbom.Program{{Path: platform.Executable(plugin), Content: r.program(product.CommandLine, platform), Linked: r.linked[product.CommandLine.Name]}},
	)
	if err != nil {
		return err
	}
	return r.write(name+".spdx.json", list)
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// files returns the written files with their digests.
func (r *release) files() ([]provenance.Subject, error) {
	var files []provenance.Subject
	for _, name := range slices.Sorted(slices.Values(r.written)) {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return nil, err
		}
		files = append(files, provenance.Subject{Name: name, SHA256: digest(content)})
	}
	return files, nil
}

// writeChecksums lists all files in the format of sha256sum.
func (r *release) writeChecksums() error {
	files, err := r.files()
	if err != nil {
		return err
	}
	var list bytes.Buffer
	for _, file := range files {
		fmt.Fprintf(&list, "%s  %s\n", file.SHA256, file.Name)
	}
	return r.write(checksumsFile, list.Bytes())
}
