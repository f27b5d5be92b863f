// SPDX-License-Identifier: AGPL-3.0-only

package tail

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Secrets is the variable with the names of the variables from Secrets, separated by commas.
const Secrets = "PERFLAB_SECRETS"

// hidden replaces a secret.
const hidden = "***"

var (
	// secretive matches names of variables that are always secret.
	secretive = regexp.MustCompile(`(?i)(passw|pwd|secret|token|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key)`)
	// Tokens that a system issues during the test are in no variable.
	webToken  = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?`)
	scheme    = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]+`)
	userInURL = regexp.MustCompile(`://[^/@\s"']+@`)
)

// redactor returns a function that removes the values of secret variables, in all their
// encodings, and apparent tokens.
func redactor(environment map[string]string) func(string) string {
	var pairs []string
	for _, form := range forms(secretValues(environment)) {
		pairs = append(pairs, form, hidden)
	}
	known := strings.NewReplacer(pairs...)
	return func(text string) string {
		text = known.Replace(text)
		text = webToken.ReplaceAllString(text, hidden)
		text = scheme.ReplaceAllString(text, "$1 "+hidden)
		return userInURL.ReplaceAllString(text, "://"+hidden+"@")
	}
}

func secretValues(environment map[string]string) []string {
	named := strings.Split(environment[Secrets], ",")
	var values []string
	for name, value := range environment {
		if name != Secrets && value != "" && (slices.Contains(named, name) || secretive.MatchString(name)) {
			values = append(values, value)
		}
	}
	return values
}

// forms returns the values and their encodings, the longest first, because one may contain
// another.
func forms(values []string) []string {
	var all []string
	for _, value := range values {
		for _, part := range append(strings.Split(value, "\n"), value, strings.TrimSpace(value)) {
			all = append(all, encodings(part)...)
		}
		for _, other := range values {
			// For HTTP basic authentication.
			all = append(all, base64.StdEncoding.EncodeToString([]byte(value+":"+other)))
		}
	}
	all = slices.DeleteFunc(all, func(form string) bool { return strings.TrimSpace(form) == "" })
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(all)
}

func encodings(value string) []string {
	raw := []byte(value)
	all := []string{
		value, url.QueryEscape(value), url.PathEscape(value), percentEncoded(value), hex.EncodeToString(raw),
		base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw),
		base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
	}
	if quoted, err := json.Marshal(value); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	for range 2 {
		// A message may quote a response that quotes the request.
		quoted := strconv.Quote(value)
		value = quoted[1 : len(quoted)-1]
		all = append(all, value)
	}
	return all
}

// percentEncoded encodes like encodeURIComponent: a space is %20, and some characters are kept.
func percentEncoded(value string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(value))
}
