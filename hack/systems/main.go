// SPDX-License-Identifier: Apache-2.0

// Command systems writes a PerfSystem from a table of modules as FOLIO's
// performance team publishes them: one row per ECS service with its image,
// number of tasks, memory limits, CPU units and JVM settings.
//
//	go run ./hack/systems -modules modules-quesnelia.csv -base hack/systems/folio-quesnelia.yaml > config/systems/folio-quesnelia.yaml
//
// The hard limit of ECS becomes limits.memory, the soft limit requests.memory, and 1024 CPU
// units one requested CPU. ECS units are shares, so there is no CPU limit.
package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

func main() {
	modules := flag.String("modules", "", "table of modules (CSV)")
	base := flag.String("base", "", "PerfSystem without modules, to which they are added (YAML)")
	flag.Parse()
	if err := run(*modules, *base, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "systems:", err)
		os.Exit(1)
	}
}

func run(modulesPath, basePath string, out io.Writer) error {
	base, err := os.ReadFile(basePath)
	if err != nil {
		return fmt.Errorf("reading the base: %w", err)
	}
	table, err := os.ReadFile(modulesPath)
	if err != nil {
		return fmt.Errorf("reading the table of modules: %w", err)
	}
	modules, err := read(bytes.NewReader(table))
	if err != nil {
		return fmt.Errorf("reading %s: %w", modulesPath, err)
	}
	if _, err := out.Write(base); err != nil {
		return fmt.Errorf("writing the base: %w", err)
	}
	if err := rendering.Execute(out, modules); err != nil {
		return fmt.Errorf("writing the modules: %w", err)
	}
	return nil
}

// module is one row of the table, in the units of the API.
type module struct {
	Name, Image string
	Replicas    int
	// CPU requested, for example 125m.
	CPU string
	// Memory in MiB.
	Request, Limit int
	// Heap and metaspace in MiB; 0: not set.
	Heap, Metaspace, MaxMetaspace int
	// Port and HealthPath, if they differ from the API's defaults.
	Port       int
	HealthPath string
}

var rendering = template.Must(template.New("modules").Parse(`  modules:
{{- range .}}
  - name: {{.Name}}
    image: {{.Image}}
    replicas: {{.Replicas}}
    resources: {requests: {cpu: {{.CPU}}, memory: {{.Request}}Mi}, limits: {memory: {{.Limit}}Mi}}
{{- if .Heap}}
    jvm: {heap: {max: {{.Heap}}Mi}{{if .MaxMetaspace}}, metaspace: { {{- if .Metaspace}}initial: {{.Metaspace}}Mi, {{end}}max: {{.MaxMetaspace}}Mi}{{end}}}
{{- end}}
{{- if .Port}}
    port: {{.Port}}
{{- end}}
{{- if .HealthPath}}
    healthPath: {{.HealthPath}}
{{- end}}
{{- end}}
`))

var errColumn = errors.New("the table has no such column")

// read returns the modules sorted by name.
func read(table io.Reader) ([]module, error) {
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("parsing: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	modules := make([]module, 0, len(rows)-1)
	for i, row := range rows[1:] {
		read, err := fromRow(rows[0], row)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
		modules = append(modules, read)
	}
	slices.SortFunc(modules, func(a, b module) int { return cmp.Compare(a.Name, b.Name) })
	return modules, nil
}

func fromRow(header, row []string) (module, error) {
	var failed error
	text := func(column string) string {
		at := slices.Index(header, column)
		if at < 0 {
			failed = cmp.Or(failed, fmt.Errorf("%w: %s", errColumn, column))
			return ""
		}
		return row[at]
	}
	number := func(column string) int {
		value, err := strconv.Atoi(text(column))
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("column %s: %w", column, err))
		}
		return value
	}
	name := text("module")
	read := module{
		Name:         name,
		Image:        image(text("image"), text("module_version")),
		Replicas:     number("task_count"),
		CPU:          cpu(number("cpu_units")),
		Request:      number("mem_soft_mib"),
		Limit:        number("mem_hard_mib"),
		Heap:         number("xmx_mib"),
		Metaspace:    number("metaspace_mib"),
		MaxMetaspace: number("max_metaspace_mib"),
	}
	read.Port, read.HealthPath = address(name)
	return read, failed
}

// image is the image of a module: FOLIO publishes releases and snapshots in two places. A
// module of others gets a name to be replaced.
func image(name, version string) string {
	registry := "folioorg/"
	switch {
	case strings.HasPrefix(name, "nginx-"), strings.HasPrefix(name, "pub-"):
		registry = "registry.example.org/"
	case strings.Contains(version, "SNAPSHOT"):
		registry = "folioci/"
	}
	return registry + name + ":" + version
}

func cpu(units int) string {
	const unitsPerCPU = 1024
	milli := units * 1000 / unitsPerCPU
	if milli%1000 == 0 {
		return strconv.Quote(strconv.Itoa(milli / 1000))
	}
	return strconv.Itoa(milli) + "m"
}

// address is a module's port and path, if they differ from those of FOLIO's modules.
func address(name string) (port int, healthPath string) {
	switch {
	case name == "okapi-b":
		return 9130, "/_/version"
	case strings.HasPrefix(name, "nginx-"):
		return 8080, "/"
	default:
		return 0, ""
	}
}
