// SPDX-License-Identifier: Apache-2.0

package format

import "strings"

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"|", `\|`, "~", `\~`, "#", `\#`, "\n", " ", "\r", " ",
)

// EscapeMarkdown lets a text stand for itself: no markup, no HTML.
func EscapeMarkdown(text string) string { return markdownEscapes.Replace(text) }

// codeFence is longer than any row of backticks in the text it goes around.
func codeFence(text string) string {
	result := "```"
	for strings.Contains(text, result) {
		result += "`"
	}
	return result
}
