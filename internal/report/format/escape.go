// SPDX-License-Identifier: Apache-2.0

package format

import "strings"

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"|", `\|`, "~", `\~`, "#", `\#`, "\n", " ", "\r", " ",
)

// EscapeMarkdown escapes a text so that it has no markup and no HTML.
func EscapeMarkdown(text string) string { return markdownEscapes.Replace(text) }

// codeFence is longer than any sequence of backticks in the text.
func codeFence(text string) string {
	result := "```"
	for strings.Contains(text, result) {
		result += "`"
	}
	return result
}
