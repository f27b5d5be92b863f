// SPDX-License-Identifier: Apache-2.0

// Package tested lists the versions of Kubernetes and of other operators that PerfLab is tested
// with, and the commands that install them.
package tested

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"
)

//go:embed versions.yaml
var text []byte

// Matrix are all versions.
type Matrix struct {
	Kubernetes Kubernetes  `json:"kubernetes"`
	Components []Component `json:"components"`
}

// Kubernetes are its versions.
type Kubernetes struct {
	// Minimum is the first minor version that works.
	Minimum  string   `json:"minimum"`
	Versions []string `json:"versions"`
}

// Component is another program in the cluster.
type Component struct {
	Name string `json:"name"`
	// Title is its name in texts; empty: Name.
	Title string `json:"title,omitempty"`
	// Versions that are tested. The first one is installed.
	Versions []string `json:"versions"`
	Tests    string   `json:"tests"`
	// Images are the ends of the names of its images.
	Images   []string `json:"images"`
	Chart    *Chart   `json:"chart,omitempty"`
	Manifest string   `json:"manifest,omitempty"`
}

// Chart installs a component.
type Chart struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Repository string   `json:"repository"`
	Namespace  string   `json:"namespace"`
	Set        []string `json:"set,omitempty"`
}

// Versions returns the tested versions.
func Versions() Matrix {
	var matrix Matrix
	if err := yaml.UnmarshalStrict(text, &matrix); err != nil {
		panic("reading the embedded versions: " + err.Error())
	}
	return matrix
}

// Component returns the component of a name, or nil.
func (m Matrix) Component(name string) *Component {
	at := slices.IndexFunc(m.Components, func(c Component) bool { return c.Name == name })
	if at < 0 {
		return nil
	}
	return &m.Components[at]
}

// String is its name in texts.
func (c Component) String() string { return cmp.Or(c.Title, c.Name) }

// Command installs the component.
func (c Component) Command() []string {
	if c.Chart == nil {
		return []string{"kubectl", "apply", "--server-side", "-f", c.Manifest}
	}
	command := []string{
		"helm", "upgrade", "--install", c.Name, c.Chart.Name, "--repo", c.Chart.Repository, "--version", c.Chart.Version,
		"--namespace", c.Chart.Namespace, "--create-namespace",
	}
	for _, value := range c.Chart.Set {
		command = append(command, "--set", value)
	}
	return command
}

var tagged = regexp.MustCompile(`^(.*):[a-z-]*?v?([0-9]+\.[0-9]+(?:\.[0-9]+)?)[^:/]*$`)

// ImageVersion returns the version of the component in the name of an image; empty: it is not the
// component's image, or its tag has no version.
func (c Component) ImageVersion(image string) string {
	image, _, _ = strings.Cut(image, "@")
	parts := tagged.FindStringSubmatch(image)
	if parts == nil || !slices.ContainsFunc(c.Images, func(end string) bool { return strings.HasSuffix("/"+parts[1], "/"+end) }) {
		return ""
	}
	return parts[2]
}

// Includes reports whether a version differs from a tested one at most by its patch level. It
// includes versions that can't be parsed.
func Includes(versions []string, given string) bool {
	parsed, err := version.ParseGeneric(given)
	return err != nil || slices.ContainsFunc(versions, func(tested string) bool {
		other := version.MustParseGeneric(tested)
		return other.Major() == parsed.Major() && other.Minor() == parsed.Minor()
	})
}

// Supports reports whether a version of Kubernetes is not too old.
func (k Kubernetes) Supports(given string) bool {
	parsed, err := version.ParseGeneric(given)
	return err != nil || parsed.AtLeast(version.MustParseGeneric(k.Minimum))
}

// Table is the matrix as Markdown.
func (m Matrix) Table() string {
	lines := []string{
		"| | tested versions | in the tests |", "|---|---|---|",
		fmt.Sprintf("| Kubernetes | %s (minimum %s) | real |", strings.Join(m.Kubernetes.Versions, ", "), m.Kubernetes.Minimum),
	}
	for _, component := range m.Components {
		lines = append(lines, fmt.Sprintf("| %s | %s | %s |", component, strings.Join(component.Versions, ", "), component.Tests))
	}
	return strings.Join(lines, "\n") + "\n"
}
