// SPDX-License-Identifier: Apache-2.0

// Package chart builds the chart of a release from the one in the source.
package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart/loader"

	"perflab.dev/perflab/hack/release/internal/bundle"
)

// Chart is what is released.
type Chart struct {
	Name, Version, Description string
	// Metadata is Chart.yaml as JSON, as Helm stores it with the archive.
	Metadata []byte
	Archive  []byte
}

// operators are the values of the optional dependencies of the source's chart. These would
// have to be downloaded, so the released chart has none.
var operators = []string{"operators", "strimzi-kafka-operator", "cloudnative-pg", "k6-operator"}

// Release builds the chart: without dependencies, with a version, and with images by their
// digests.
func Release(source, version string, images map[string]string, at time.Time) (Chart, error) {
	loaded, err := loader.LoadDir(source)
	if err != nil {
		return Chart{}, fmt.Errorf("reading the chart: %w", err)
	}
	number := strings.TrimPrefix(version, "v")
	edits := map[string]func([]byte) ([]byte, error){
		"Chart.yaml":         func(text []byte) ([]byte, error) { return editMetadata(text, number, version) },
		"values.yaml":        func(text []byte) ([]byte, error) { return editValues(text, images) },
		"values.schema.json": editSchema,
	}
	var entries []bundle.Entry
	for _, file := range loaded.Raw {
		if strings.HasPrefix(file.Name, "charts/") || file.Name == "Chart.lock" {
			continue
		}
		content := file.Data
		if edit := edits[file.Name]; edit != nil {
			if content, err = edit(content); err != nil {
				return Chart{}, fmt.Errorf("%s: %w", file.Name, err)
			}
		}
		entries = append(entries, bundle.File(path.Join(loaded.Name(), file.Name), content))
	}
	return pack(entries, at)
}

// pack makes the archive, and reads the metadata back from it.
func pack(entries []bundle.Entry, at time.Time) (Chart, error) {
	archive, err := bundle.TarGzip(entries, at)
	if err != nil {
		return Chart{}, err
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return Chart{}, fmt.Errorf("reading the chart that was made: %w", err)
	}
	if err := loaded.Validate(); err != nil {
		return Chart{}, fmt.Errorf("the chart that was made: %w", err)
	}
	metadata, err := json.Marshal(loaded.Metadata)
	if err != nil {
		return Chart{}, err
	}
	return Chart{loaded.Name(), loaded.Metadata.Version, loaded.Metadata.Description, metadata, archive}, nil
}

func editMetadata(text []byte, number, version string) ([]byte, error) {
	return edit(text, func(root *yaml.Node) error {
		remove(root, "dependencies")
		return set(root, map[string]string{"version": number, "appVersion": version})
	})
}

func editValues(text []byte, images map[string]string) ([]byte, error) {
	return edit(text, func(root *yaml.Node) error {
		remove(root, operators...)
		at := position(root, "images")
		if at < 0 {
			return fmt.Errorf("no images")
		}
		node := root.Content[at+1]
		// The source's comment explains how to build them.
		root.Content[at].HeadComment = "# The images of this release, each with its tag and its digest, which can't be moved to\n# another image."
		if len(node.Content) != 2*len(images) {
			return fmt.Errorf("it has %d images, the release %d", len(node.Content)/2, len(images))
		}
		return set(node, images)
	})
}

// edit changes a document and keeps its comments.
func edit(text []byte, change func(*yaml.Node) error) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if err := change(document.Content[0]); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(&document)
	return out.Bytes(), err
}

// position is where a key is in a mapping; its value is the next node.
func position(mapping *yaml.Node, key string) int {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

func remove(mapping *yaml.Node, keys ...string) {
	for _, key := range keys {
		if at := position(mapping, key); at >= 0 {
			mapping.Content = slices.Delete(mapping.Content, at, at+2)
		}
	}
}

func set(mapping *yaml.Node, values map[string]string) error {
	for key, value := range values {
		at := position(mapping, key)
		if at < 0 {
			return fmt.Errorf("%s is missing", key)
		}
		mapping.Content[at+1].SetString(value)
	}
	return nil
}

// editSchema removes the values of the dependencies, so that setting them is an error.
func editSchema(text []byte) ([]byte, error) {
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, key := range operators {
		delete(properties, key)
	}
	required, _ := schema["required"].([]any)
	schema["required"] = slices.DeleteFunc(required, func(key any) bool { return slices.Contains(operators, fmt.Sprint(key)) })
	return json.MarshalIndent(schema, "", "  ")
}
