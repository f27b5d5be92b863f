// SPDX-License-Identifier: Apache-2.0

// Package redact takes what might be a password out of what is made to be
// passed on: reports, comparisons, messages. It is pure.
package redact

import "regexp"

const leftOut = "(not shown)"

var (
	secretive = regexp.MustCompile(`(?i)(passw|pwd|secret|token|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key)`)
	ofModule  = regexp.MustCompile(`modules\[[^]]*\]`)
	userInURL = regexp.MustCompile(`://[^/@\s"']+@`)
	// inConnection is a password in what says how to connect, as JDBC, libpq and
	// ODBC write it.
	inConnection = regexp.MustCompile(`(?i)((?:^|[?&;\s"'` + "`" + `])(?:ssl)?(?:password|passwd|pwd)=)(?:\(not shown\)|'(?:[^'\\]|\\.)*'|[^&;\s"'` + "`" + `]+)`)
)

// hideInAddress takes users and passwords out of addresses and connection
// strings.
func hideInAddress(text string) string {
	return inConnection.ReplaceAllString(userInURL.ReplaceAllString(text, "://"+leftOut+"@"), "${1}"+leftOut)
}

// Hide returns a setting's value, unless the setting looks secret. The name of
// the module it belongs to says nothing: mod-authtoken has settings like any
// other.
func Hide(setting, value string) string {
	if value != "" && secretive.MatchString(ofModule.ReplaceAllString(setting, "")) {
		return leftOut
	}
	return hideInAddress(value)
}

// literal is what source code assigns to something with a secretive name.
var literal = regexp.MustCompile(`(?i)([\w.-]*(?:passw|pwd|secret|token|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key)[\w.-]*["']?\]?\s*[:=]\s*)(?:"[^"\n]*"|'[^'\n]*'|` + "`[^`]*`" + `)`)

// HideInText takes what may be secret out of a script: literals that something
// with a secretive name is set to, users in URLs, and passwords in connection
// strings.
func HideInText(text string) string {
	return hideInAddress(literal.ReplaceAllString(text, "${1}"+leftOut))
}

// HideIn takes secret values out of a tree of decoded YAML, in place: those
// under a secretive key, and the value of a variable with a secretive name.
func HideIn(node any) any {
	switch node := node.(type) {
	case map[string]any:
		if name, isText := node["name"].(string); isText && secretive.MatchString(name) && node["value"] != nil {
			node["value"] = leftOut
		}
		for key, value := range node {
			if text, isText := value.(string); isText {
				node[key] = Hide(key, text)
				continue
			}
			node[key] = HideIn(value)
		}
	case []any:
		for i, value := range node {
			node[i] = HideIn(value)
		}
	case string:
		return hideInAddress(node)
	}
	return node
}
