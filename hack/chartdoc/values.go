// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is one line of the reference.
type value struct {
	Path, Description string
	// Default is empty for a group of values.
	Default string
}

// values returns the values of a values.yaml, in order, with their comments.
func values(text []byte) ([]value, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("parsing the values: %w", err)
	}
	return listed("", document.Content[0])
}

func listed(path string, mapping *yaml.Node) ([]value, error) {
	var found []value
	var failed []error
	for i := 0; i < len(mapping.Content); i += 2 {
		key, content := mapping.Content[i], mapping.Content[i+1]
		at := path + key.Value
		description := comment(key)
		if isGroup(content) {
			if description != "" {
				found = append(found, value{Path: at, Description: description})
			}
			inner, err := listed(at+".", content)
			found, failed = append(found, inner...), append(failed, err)
			continue
		}
		if description == "" {
			failed = append(failed, fmt.Errorf("values.yaml:%d: %s has no comment", key.Line, at))
		}
		written, err := compact(content)
		found, failed = append(found, value{at, description, written}), append(failed, err)
	}
	return found, errors.Join(failed...)
}

// isGroup reports whether values below have their own comments.
func isGroup(node *yaml.Node) bool {
	if node.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(node.Content); i += 2 {
		if comment(node.Content[i]) != "" || isGroup(node.Content[i+1]) {
			return true
		}
	}
	return false
}

// comment returns the comment of a key, as one line. A paragraph before it belongs to the file.
func comment(key *yaml.Node) string {
	paragraphs := strings.Split(key.HeadComment, "\n\n")
	var lines []string
	for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")))
	}
	return strings.Join(lines, " ")
}

// compact is a value as JSON, which is YAML.
func compact(node *yaml.Node) (string, error) {
	var decoded any
	if err := node.Decode(&decoded); err != nil {
		return "", err
	}
	written, err := json.Marshal(decoded)
	return string(written), err
}
