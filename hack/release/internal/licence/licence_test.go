// SPDX-License-Identifier: Apache-2.0

package licence

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/hack/release/internal/product"
)

func TestJudge(t *testing.T) {
	policy, err := OwnPolicy()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		program string
		module  Module
		want    string
	}{
		"Allowed":     {"manager", Module{Path: "a", Expression: "MIT"}, ""},
		"Both":        {"manager", Module{Path: "a", Expression: "Apache-2.0 AND MIT"}, ""},
		"One":         {"manager", Module{Path: "example.org/a", Version: "v1.2.3", Expression: "GPL-2.0-only AND MIT"}, "manager links example.org/a v1.2.3, which is under GPL-2.0-only: it may link "},
		"K6IsAGPL":    {"k6", Module{Path: "go.k6.io/k6/v2", Expression: "AGPL-3.0-only"}, ""},
		"OthersAreNo": {"manager", Module{Path: "go.k6.io/k6/v2", Expression: "AGPL-3.0-only"}, "under AGPL-3.0-only"},
		"NoFile":      {"manager", Module{Path: "a"}, "whose licence is unknown (no licence file): review it"},
		"Unknown":     {"manager", Module{Path: "a", Files: []File{{Name: "LICENSE"}}}, "(LICENSE: unknown)"},
	} {
		t.Run(name, func(t *testing.T) {
			err := policy.Judge(tc.program, []Module{tc.module})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// scan scans a new module in its own folder. Its program links only Go's library and the
// packages below.
func scan(t *testing.T, files map[string]string) []Module {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module example.org/made\n\ngo 1.26\n"
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scanner, err := NewScanner(t.Context(), Policy{})
	if err != nil {
		t.Fatal(err)
	}
	modules, err := scanner.Modules(t.Context(), root, product.Program{Module: ".", Package: ".", Platforms: []product.Platform{{OS: "linux", Arch: "amd64"}}})
	if err != nil {
		t.Fatal(err)
	}
	if modules[0].Path != Standard || modules[0].Expression != "BSD-3-Clause" {
		t.Errorf("first is %s under %q, want Go's own library", modules[0].Path, modules[0].Expression)
	}
	return modules[1:]
}

func TestLicencesOfLinkedPackages(t *testing.T) {
	apache, err := os.ReadFile("../../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	const program = "package main\n\nimport _ \"example.org/made/linked\"\n\nfunc main() {}\n"
	agpl, err := os.ReadFile("../../../../k6/LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"Root":      {map[string]string{"LICENSE": string(apache)}, "Apache-2.0"},
		"Linked":    {map[string]string{"LICENSE": string(apache), "linked/COPYING": string(agpl)}, "AGPL-3.0-only AND Apache-2.0"},
		"NotLinked": {map[string]string{"LICENSE": string(apache), "other/LICENSE": string(agpl)}, "Apache-2.0"},
		"Notice":    {map[string]string{"LICENSE": string(apache), "NOTICE": "Copyright somebody"}, "Apache-2.0"},
		"Unknown":   {map[string]string{"LICENSE": "Do what you like on Sundays."}, ""},
		"OneOfTwo":  {map[string]string{"LICENSE": string(apache), "linked/LICENSE": "Do what you like on Sundays."}, ""},
		"None":      {map[string]string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.files["main.go"], tc.files["linked/linked.go"] = program, "package linked\n"
			modules := scan(t, tc.files)
			if len(modules) != 1 || modules[0].Expression != tc.want {
				t.Errorf("it is %+v, want %q", modules, tc.want)
			}
		})
	}
}

// TestJars reads the licenses of a Java program's libraries: one of those that a project offers, with
// the text in the jar, or else the standard one.
func TestJars(t *testing.T) {
	policy, err := OwnPolicy()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for jar, file := range map[string]string{"own-1.0.jar": "META-INF/LICENSE.txt", "none-2.0.jar": "META-INF/MANIFEST.MF", "deep-3.0.jar": "com/example/LICENSE"} {
		writeJar(t, filepath.Join(folder, jar), file)
	}
	const bill = `{"components": [%s]}`
	for name, tc := range map[string]struct{ component, expression, text, refused string }{
		"Own":      {`{"group": "g", "name": "own", "version": "1.0", "licenses": [{"license": {"id": "MIT"}}]}`, "MIT", "the text", ""},
		"Choice":   {`{"group": "g", "name": "own", "version": "1.0", "licenses": [{"license": {"id": "EPL-2.0"}}, {"license": {"id": "Apache-2.0"}}]}`, "Apache-2.0", "the text", ""},
		"Standard": {`{"group": "g", "name": "none", "version": "2.0", "licenses": [{"license": {"id": "LGPL-2.1-only"}}]}`, "LGPL-2.1-only", "GNU LESSER GENERAL PUBLIC LICENSE", ""},
		"Deep":     {`{"group": "g", "name": "deep", "version": "3.0", "licenses": [{"license": {"id": "Apache-2.0"}}]}`, "Apache-2.0", "Apache License", ""},
		"Refused":  {`{"group": "g", "name": "own", "version": "1.0", "licenses": [{"license": {"id": "GPL-3.0-only"}}]}`, "GPL-3.0-only", "the text", "sample links g:own 1.0, which is under GPL-3.0-only"},
		"Unknown":  {`{"group": "g", "name": "own", "version": "1.0"}`, "", "the text", "g:own 1.0, whose licence is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			modules, err := policy.Jars("sample", fmt.Appendf(nil, bill, tc.component), folder)
			if err != nil || len(modules) != 1 || modules[0].Expression != tc.expression || !strings.Contains(Texts(modules), tc.text) {
				t.Fatalf("%+v, %v", modules, err)
			}
			if err := policy.Judge("sample", modules); (err == nil) != (tc.refused == "") || err != nil && !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("error %v, want %q", err, tc.refused)
			}
		})
	}
	if _, err := policy.Jars("sample", fmt.Appendf(nil, bill, `{"name": "missing", "version": "1.0"}`), folder); err == nil {
		t.Error("a library without a jar is accepted")
	}
}

func writeJar(t *testing.T, path, name string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	jar := zip.NewWriter(file)
	entry, err := jar.Create(name)
	if err == nil {
		_, err = entry.Write([]byte("the text"))
	}
	if err == nil {
		err = jar.Close()
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
