// SPDX-License-Identifier: Apache-2.0

package report

import "regexp"

// A report is made to be passed on. What might be a password in a variable or a
// setting is left out of it, whoever wrote it there.
const leftOut = "(not shown)"

var (
	secretive = regexp.MustCompile(`(?i)(passw|pwd|secret|token|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key)`)
	ofModule  = regexp.MustCompile(`modules\[[^]]*\]`)
	userInURL = regexp.MustCompile(`://[^/@\s"']+@`)
)

// hidden is a setting's value, unless the setting looks secret. The name of the
// module it belongs to says nothing: mod-authtoken has settings like any other.
func hidden(setting, value string) string {
	if value != "" && secretive.MatchString(ofModule.ReplaceAllString(setting, "")) {
		return leftOut
	}
	return userInURL.ReplaceAllString(value, "://"+leftOut+"@")
}

// hideSecrets takes secret values out of a tree of decoded YAML, in place: those
// under a secretive key, and the value of a variable with a secretive name.
func hideSecrets(node any) any {
	switch node := node.(type) {
	case map[string]any:
		if name, isText := node["name"].(string); isText && secretive.MatchString(name) && node["value"] != nil {
			node["value"] = leftOut
		}
		for key, value := range node {
			if text, isText := value.(string); isText {
				node[key] = hidden(key, text)
				continue
			}
			node[key] = hideSecrets(value)
		}
	case []any:
		for i, value := range node {
			node[i] = hideSecrets(value)
		}
	case string:
		return userInURL.ReplaceAllString(node, "://"+leftOut+"@")
	}
	return node
}
