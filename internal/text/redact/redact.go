// SPDX-License-Identifier: Apache-2.0

// Package redact removes possible secrets from shared output: reports, comparisons,
// messages. It is pure.
package redact

import "regexp"

const leftOut = "(not shown)"

var (
	secretive = regexp.MustCompile(`(?i)(passw|pwd|secret|token|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key)`)
	ofModule  = regexp.MustCompile(`modules\[[^]]*\]`)
	userInURL = regexp.MustCompile(`://[^/@\s"']+@`)
	// inConnection matches a password in a connection string of JDBC, libpq or ODBC.
	inConnection = regexp.MustCompile(`(?i)((?:^|[?&;\s"'` + "`" + `])(?:ssl)?(?:password|passwd|pwd)=)(?:\(not shown\)|'(?:[^'\\]|\\.)*'|[^&;\s"'` + "`" + `]+)`)
)

// hideInAddress removes users and passwords from addresses and connection strings.
func hideInAddress(text string) string {
	return inConnection.ReplaceAllString(userInURL.ReplaceAllString(text, "://"+leftOut+"@"), "${1}"+leftOut)
}

// Hide returns a setting's value, or a placeholder if the setting's name looks secret. The
// module's name does not count: mod-authtoken has ordinary settings.
func Hide(setting, value string) string {
	if value != "" && secretive.MatchString(ofModule.ReplaceAllString(setting, "")) {
		return leftOut
	}
	return hideInAddress(value)
}

// literal matches assignments to secret names in source code.
var literal = regexp.MustCompile(`(?i)([\w.-]*(?:passw|pwd|secret|token|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key)[\w.-]*["']?\]?\s*[:=]\s*)(?:"[^"\n]*"|'[^'\n]*'|` + "`[^`]*`" + `)`)

// HideInText removes possible secrets from a script: literals assigned to secret names,
// users in URLs, and passwords in connection strings.
func HideInText(text string) string {
	return hideInAddress(literal.ReplaceAllString(text, "${1}"+leftOut))
}

// HideIn removes secrets from decoded YAML, in place: values of secret keys, and of
// variables with secret names.
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
