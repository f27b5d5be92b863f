// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

//go:embed readme.md.tmpl
var text string

var page = template.Must(template.New("readme.md.tmpl").Funcs(template.FuncMap{"cell": cell}).Parse(text))

// readme is the README of a chart.
func readme(directory string) (string, error) {
	var chart struct {
		Name, Description, KubeVersion string
	}
	metadata, err := os.ReadFile(filepath.Join(directory, "Chart.yaml"))
	if err != nil {
		return "", fmt.Errorf("reading the chart: %w", err)
	}
	if err := yaml.Unmarshal(metadata, &chart); err != nil {
		return "", fmt.Errorf("parsing Chart.yaml: %w", err)
	}
	file, err := os.ReadFile(filepath.Join(directory, "values.yaml"))
	if err != nil {
		return "", fmt.Errorf("reading the values: %w", err)
	}
	all, err := values(file)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = page.Execute(&out, map[string]any{"Chart": chart, "Values": all})
	return out.String(), err
}

// cell is a text in a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;").Replace(text)
}
