// SPDX-License-Identifier: Apache-2.0

// Package product defines the content of a release: the programs and their images. It does
// not include what only the tests and the demo need.
package product

import (
	"fmt"
	"strings"
)

// Platform is a target system.
type Platform struct{ OS, Arch string }

// String returns the platform as OS/ARCH.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Executable returns a program's file name on the platform.
func (p Platform) Executable(name string) string {
	if p.OS == "windows" {
		return name + ".exe"
	}
	return name
}

// ParsePlatform parses OS/ARCH.
func ParsePlatform(text string) (Platform, error) {
	system, arch, found := strings.Cut(text, "/")
	if !found || system == "" || arch == "" {
		return Platform{}, fmt.Errorf("platform %q: write OS/ARCH, for example linux/arm64", text)
	}
	return Platform{system, arch}, nil
}

// Program is a Go program of the project.
type Program struct {
	// Name is the name of the program.
	Name string
	// Module is the folder of its Go module, below the root.
	Module string
	// Package is the package to build, relative to the module.
	Package string
	// Platforms has the platforms that it is built for.
	Platforms []Platform
	// Licence is the license of the program as a whole.
	Licence string
}

// Image is a container image.
type Image struct {
	Name, Title string
	// Files has the programs in the image, by path.
	Files map[string]Program
	// Links maps paths of links to their targets.
	Links map[string]string
	// Copies has folders and files of the source, by path in the image.
	Copies     map[string]string
	Entrypoint []string
	User       string
	Env        []string
	Licence    string
}

// Programs returns the programs in the image, each once.
func (i Image) Programs() []Program {
	var programs []Program
	for _, one := range []Program{Operator, Collector, K6, Shell} {
		for _, file := range i.Files {
			if file.Name == one.Name {
				programs = append(programs, one)
			}
		}
	}
	return programs
}

// Apache is the project's license. AGPL is the license of programs that link k6.
const (
	Apache = "Apache-2.0"
	AGPL   = "AGPL-3.0-only"
)

var linux = []Platform{{"linux", "amd64"}, {"linux", "arm64"}}

// The programs of a release.
var (
	CommandLine = Program{Name: "perflab", Module: ".", Package: "./cmd/perflab", Licence: Apache, Platforms: append([]Platform{
		{"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
	}, linux...)}
	Operator  = Program{Name: "manager", Module: ".", Package: "./cmd/manager", Licence: Apache, Platforms: linux}
	Collector = Program{Name: "collector", Module: ".", Package: "./cmd/collector", Licence: Apache, Platforms: linux}
	Shell     = Program{Name: "shell", Module: ".", Package: "./cmd/shell", Licence: Apache, Platforms: linux}
	K6        = Program{Name: "k6", Module: "k6", Package: ".", Licence: AGPL, Platforms: linux}
)

// Programs has all programs, in the order of NOTICE.
var Programs = []Program{CommandLine, Operator, Collector, K6, Shell}

// Images has the images of a release. Their users and variables are those of the
// Dockerfiles; a test compares them.
var Images = []Image{
	{
		Name: "operator", Title: "PerfLab operator", Licence: Apache, User: "65532:65532",
		Files: map[string]Program{"manager": Operator}, Entrypoint: []string{"/manager"},
	},
	{
		Name: "collector", Title: "PerfLab collector", Licence: Apache, User: "65532:65532",
		Files: map[string]Program{"collector": Collector}, Entrypoint: []string{"/collector"},
	},
	{
		Name: "k6", Title: "Grafana k6 with PerfLab's output and scripts", Licence: AGPL + " AND " + Apache, User: "12345",
		Files:  map[string]Program{"usr/local/bin/k6": K6, "usr/local/bin/shell": Shell},
		Links:  map[string]string{"bin/sh": "/usr/local/bin/shell", "usr/bin/curl": "/usr/local/bin/shell"},
		Copies: map[string]string{"scripts": "k6/scripts", "usr/share/doc/k6/LICENSE": "k6/LICENSE"},
		Env:    []string{"HOME=/tmp", "K6_AUTO_EXTENSION_RESOLUTION=false", "K6_NO_USAGE_REPORT=true"},
	},
}
