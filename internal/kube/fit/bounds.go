// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/config/crd"
)

// bounds are the limits of a kind's status.
type bounds struct {
	status   *schema
	patterns patterns
}

// patterns are compiled patterns by their text.
type patterns map[string]*regexp.Regexp

var (
	known = map[string]func() (*bounds, error){
		"perfexperiments": sync.OnceValues(func() (*bounds, error) { return read("perfexperiments") }),
		"perfruns":        sync.OnceValues(func() (*bounds, error) { return read("perfruns") }),
		"perfschedules":   sync.OnceValues(func() (*bounds, error) { return read("perfschedules") }),
	}
	errUnknown = errors.New("no CRD defines its status")
)

// boundsOf reads the limits of a resource on first use.
func boundsOf(resource string) (*bounds, error) {
	read, is := known[resource]
	if !is {
		return nil, fmt.Errorf("%s: %w", resource, errUnknown)
	}
	return read()
}

func read(resource string) (*bounds, error) {
	text, err := crd.Definitions.ReadFile(v1alpha1.GroupVersion.Group + "_" + resource + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the definition of %s: %w", resource, err)
	}
	part, err := statusOf(string(text))
	if err != nil {
		return nil, fmt.Errorf("the definition of %s: %w", resource, err)
	}
	found := &bounds{status: &schema{}, patterns: patterns{}}
	if err := yaml.Unmarshal([]byte(part), found.status); err != nil {
		return nil, fmt.Errorf("parsing the status of %s: %w", resource, err)
	}
	return found, found.patterns.compile(found.status)
}

// statusOf returns the status schema of a definition: the rest is twenty times as long and
// not needed.
func statusOf(definition string) (string, error) {
	const begins, under = "\n          status:\n", "            "
	_, rest, found := strings.Cut(definition, begins)
	if !found {
		return "", errUnknown
	}
	var part strings.Builder
	for line := range strings.Lines(rest) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, under) {
			break
		}
		part.WriteString(line)
	}
	return part.String(), nil
}

// compile compiles the patterns of a schema.
func (p patterns) compile(of *schema) (err error) {
	if of.Pattern != "" && p[of.Pattern] == nil {
		if p[of.Pattern], err = regexp.Compile(of.Pattern); err != nil {
			return fmt.Errorf("pattern %q: %w", of.Pattern, err)
		}
	}
	for _, under := range partsOf(of) {
		if err := p.compile(&under); err != nil {
			return err
		}
	}
	return nil
}

// partsOf returns the nested schemas of a schema.
func partsOf(of *schema) []apiextensionsv1.JSONSchemaProps {
	var parts []apiextensionsv1.JSONSchemaProps
	for _, property := range of.Properties {
		parts = append(parts, property)
	}
	if of.Items != nil && of.Items.Schema != nil {
		parts = append(parts, *of.Items.Schema)
	}
	if of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil {
		parts = append(parts, *of.AdditionalProperties.Schema)
	}
	return parts
}
