// SPDX-License-Identifier: Apache-2.0

// Package chart builds the chart of a release from the chart in the source.
package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart/loader"

	"perflab.dev/perflab/hack/release/internal/bundle"
)

// Chart is a released chart.
type Chart struct {
	Name, Version, Description string
	// Metadata is Chart.yaml as JSON, as Helm stores it with the archive.
	Metadata []byte
	Archive  []byte
}

// operators has the values of the optional dependencies of the source's chart. The
// dependencies would have to be downloaded, so the released chart has none. The last values
// are deprecated.
var operators = []string{"operators", "strimzi-kafka-operator", "cloudnative-pg", "k6-operator"}

// imagesAnnotation lists the images, for Artifact Hub and for the chart's templates, which add
// the digest to the default tag.
const imagesAnnotation = "artifacthub.io/images"

// Release builds the chart. The chart has no dependencies, has a version, and names images
// by their digests.
func Release(source, version string, images map[string]string, at time.Time) (Chart, error) {
	loaded, err := loader.LoadDir(source)
	if err != nil {
		return Chart{}, fmt.Errorf("reading the chart: %w", err)
	}
	number := strings.TrimPrefix(version, "v")
	edits := map[string]func([]byte) ([]byte, error){
		"Chart.yaml":         func(text []byte) ([]byte, error) { return editMetadata(text, number, version, images) },
		"values.yaml":        func(text []byte) ([]byte, error) { return editValues(text, images) },
		"values.schema.json": editSchema,
		"README.md":          func(text []byte) ([]byte, error) { return editReadme(text, images) },
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

// pack builds the archive, and reads the metadata back from it.
func pack(entries []bundle.Entry, at time.Time) (Chart, error) {
	archive, err := bundle.TarGzip(entries, at)
	if err != nil {
		return Chart{}, err
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return Chart{}, fmt.Errorf("reading the packaged chart: %w", err)
	}
	if err := loaded.Validate(); err != nil {
		return Chart{}, fmt.Errorf("packaged chart: %w", err)
	}
	metadata, err := json.Marshal(loaded.Metadata)
	if err != nil {
		return Chart{}, err
	}
	return Chart{loaded.Name(), loaded.Metadata.Version, loaded.Metadata.Description, metadata, archive}, nil
}

func editMetadata(text []byte, number, version string, images map[string]string) ([]byte, error) {
	return edit(text, func(root *yaml.Node) error {
		remove(root, "dependencies")
		at := position(root, "annotations")
		if at < 0 {
			return fmt.Errorf("no annotations")
		}
		var list strings.Builder
		for _, name := range slices.Sorted(maps.Keys(images)) {
			fmt.Fprintf(&list, "- name: %s\n  image: %s\n", name, images[name])
		}
		key, value := &yaml.Node{}, &yaml.Node{}
		key.SetString(imagesAnnotation)
		value.SetString(list.String())
		root.Content[at+1].Content = append(root.Content[at+1].Content, key, value)
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
		// The comment in the source explains how to build them.
		root.Content[at].HeadComment = "# " + imagesComment
		if len(node.Content) != 2*len(images) {
			return fmt.Errorf("it has %d images, the release %d", len(node.Content)/2, len(images))
		}
		var failed []error
		for name, reference := range images {
			at := position(node, name)
			if at < 0 {
				return fmt.Errorf("%s is missing", name)
			}
			failed = append(failed, set(node.Content[at+1], map[string]string{"repository": repository(reference)}))
		}
		return errors.Join(failed...)
	})
}

const imagesComment = "The images of this release, by tag and digest (artifacthub.io/images in Chart.yaml)."

// repository returns the repository of a reference with a tag and a digest.
func repository(reference string) string {
	tagged, _, _ := strings.Cut(reference, "@")
	return tagged[:strings.LastIndex(tagged, ":")]
}

// editReadme changes the reference of values to that of the release.
func editReadme(text []byte, images map[string]string) ([]byte, error) {
	var kept strings.Builder
	named := 0
	for line := range strings.Lines(string(text)) {
		path, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		parts := strings.Split(path, ".")
		switch {
		case parts[0] == "operators":
			continue
		case path == "images":
			line = "| `images` |  | " + imagesComment + " |\n"
		case len(parts) == 3 && parts[0] == "images" && parts[2] == "repository":
			cells := strings.Split(line, " | ")
			cells[1] = fmt.Sprintf("`%q`", repository(images[parts[1]]))
			line = strings.Join(cells, " | ")
			named++
		}
		kept.WriteString(line)
	}
	if named != len(images) {
		return nil, fmt.Errorf("it has %d images, the release %d", named, len(images))
	}
	return []byte(kept.String()), nil
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

// position returns the index of a key in a mapping. Its value is the next node.
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
