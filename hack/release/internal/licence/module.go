// SPDX-License-Identifier: Apache-2.0

package licence

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"perflab.dev/perflab/hack/release/internal/gocommand"
	"perflab.dev/perflab/hack/release/internal/product"
)

// Module is a linked Go module.
type Module struct {
	Path, Version string
	// Expression is an SPDX expression, a conjunction. If it is empty, the license is
	// unknown.
	Expression string
	// Files has the licenses and notices of the linked packages, by path from the module's
	// root.
	Files []File
}

// File is a license or a notice.
type File struct {
	Name, Text string
	// Licences has the licenses found in the file. A notice may have none.
	Licences []string
}

// findings describes the license files for the reviewer.
func (m Module) findings() string {
	if len(m.Files) == 0 {
		return "no licence file"
	}
	var names []string
	for _, file := range m.Files {
		names = append(names, file.Name+": "+cmp.Or(strings.Join(file.Licences, ", "), "unknown"))
	}
	return strings.Join(names, "; ")
}

// Standard is the module path that stands for Go's own library.
const Standard = "stdlib"

type listedModule struct {
	Path, Version, Dir string
	Replace            *listedModule
}

type listedPackage struct {
	Dir      string
	Standard bool
	Module   *listedModule
}

// Scanner finds modules, and caches the files that it has read.
type Scanner struct {
	Policy          Policy
	classify        func(text []byte) []string
	goroot, version string
	read            map[string]File
}

// NewScanner returns a scanner. Loading the licenses takes some seconds.
func NewScanner(ctx context.Context, policy Policy) (*Scanner, error) {
	classify, err := newClassifier()
	if err != nil {
		return nil, err
	}
	printed, err := gocommand.Output(ctx, ".", product.Platform{}, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(printed)), "\n")
	return &Scanner{Policy: policy, classify: classify, goroot: goroot, version: version, read: map[string]File{}}, nil
}

// Modules returns the modules that the program links on any of its platforms, sorted by
// path, with Go's own library first.
func (s *Scanner) Modules(ctx context.Context, source string, program product.Program) ([]Module, error) {
	folders := map[listedModule]map[string]bool{{Path: Standard, Version: s.version, Dir: s.goroot}: {s.goroot: true}}
	for _, platform := range program.Platforms {
		listed, err := gocommand.Output(ctx, filepath.Join(source, program.Module), platform, "list", "-deps", "-json=Dir,Standard,Module", program.Package)
		if err != nil {
			return nil, err
		}
		if err := collect(listed, folders); err != nil {
			return nil, err
		}
	}
	var modules []Module
	for module, linked := range folders {
		described, err := s.describe(module, slices.Sorted(maps.Keys(linked)))
		if err != nil {
			return nil, err
		}
		modules = append(modules, described)
	}
	slices.SortFunc(modules, func(a, b Module) int {
		return cmp.Or(cmp.Compare(b2i(a.Path != Standard), b2i(b.Path != Standard)), cmp.Compare(a.Path, b.Path))
	})
	return modules, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// collect adds the folders of the linked packages to their modules.
func collect(listed []byte, folders map[listedModule]map[string]bool) error {
	packages := json.NewDecoder(bytes.NewReader(listed))
	for {
		var one listedPackage
		if err := packages.Decode(&one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the output of go list: %w", err)
		}
		if one.Standard || one.Module == nil {
			continue
		}
		key := listedModule{Path: one.Module.Path, Version: one.Module.Version, Dir: one.Module.Dir}
		if one.Module.Replace != nil {
			key.Dir = one.Module.Replace.Dir
		}
		if folders[key] == nil {
			folders[key] = map[string]bool{}
		}
		for folder := one.Dir; len(folder) >= len(key.Dir); folder = filepath.Dir(folder) {
			folders[key][folder] = true
		}
	}
}

// describe returns a module with the licenses of the folders, or the reviewed ones.
func (s *Scanner) describe(module listedModule, folders []string) (Module, error) {
	described := Module{Path: module.Path, Version: module.Version}
	decision, decided := s.Policy.decision(module.Path)
	names := decision.Files
	if !decided {
		names = licenceFiles(module.Dir, folders)
	}
	for _, name := range names {
		file, err := s.file(module.Dir, name)
		if err != nil {
			return Module{}, err
		}
		described.Files = append(described.Files, file)
	}
	described.Expression = decision.Licence
	if !decided {
		described.Expression = expression(described.Files)
	}
	return described, nil
}

// licenceFiles returns the files with a license or a notice that must be passed on.
func licenceFiles(root string, folders []string) []string {
	var names []string
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder) // go list has just returned the folder.
		for _, entry := range entries {
			if relative, err := filepath.Rel(root, filepath.Join(folder, entry.Name())); err == nil && entry.Type().IsRegular() && statesLicence(entry.Name()) {
				names = append(names, relative)
			}
		}
	}
	return names
}

var prefixes = []string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE", "NOTICE", "PATENTS"}

func statesLicence(name string) bool {
	upper := strings.ToUpper(name)
	return filepath.Ext(upper) != ".GO" && slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(upper, prefix) })
}

// isNotice returns whether a file is a notice, which need not state a license.
func isNotice(name string) bool {
	upper := strings.ToUpper(filepath.Base(name))
	return strings.HasPrefix(upper, "NOTICE") || strings.HasPrefix(upper, "PATENTS")
}

func (s *Scanner) file(root, name string) (File, error) {
	path := filepath.Join(root, name)
	if known, found := s.read[path]; found {
		return known, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("reading a licence: %w", err)
	}
	file := File{Name: filepath.ToSlash(name), Text: string(text), Licences: s.classify(text)}
	s.read[path] = file
	return file, nil
}

// expression joins the files' licenses. If the license of a file is unknown, the expression
// is unknown.
func expression(files []File) string {
	stated := map[string]bool{}
	for _, file := range files {
		if len(file.Licences) == 0 && !isNotice(file.Name) {
			return ""
		}
		for _, licence := range file.Licences {
			stated[licence] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(stated)), " AND ")
}
