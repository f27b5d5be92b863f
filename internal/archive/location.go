// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Schemes of URLs.
const (
	SchemeS3        = "s3"
	SchemeGCS       = "gs"
	SchemeAzure     = "azblob"
	SchemeDirectory = "file"
)

// Parameters of URLs.
const (
	ParameterRegion    = "region"
	ParameterEndpoint  = "endpoint"
	ParameterPathStyle = "use_path_style"
	ParameterChecksums = "request_checksum_calculation"
	ParameterAccount   = "account"
)

// Location of an archive.
type Location struct {
	Scheme string
	// Bucket, or container, by its name; empty for a directory.
	Bucket string
	// Prefix of all names; for a directory its path. It has no slash at its end.
	Prefix string
	// Parameters as they are in the URL.
	Parameters map[string]string
	// Credentials of the archive; the zero value uses those of the workload.
	Credentials Credentials
	// Client for requests to the store; nil: the library's default. The workload's credentials
	// are obtained without it.
	Client *http.Client `json:"-"`
}

// Credentials are the values of a Secret. They are never printed.
type Credentials struct {
	// ID is S3's access key.
	ID string
	// Secret is S3's secret key, Azure's account key, or the JSON of a key of
	// Google's service account.
	Secret string
	// Token is S3's session token, for temporary credentials.
	Token string
}

const hidden = "(hidden)"

// Format prevents printing the credentials.
func (Credentials) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, hidden) }

// MarshalJSON prevents encoding the credentials.
func (Credentials) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }

// IsNone reports whether the credentials are empty.
func (c Credentials) IsNone() bool { return c == Credentials{} }

// hide replaces secrets in a text.
func (c Credentials) hide(text string) string {
	for _, secret := range []string{c.Secret, c.Token, c.ID} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, hidden)
			text = strings.ReplaceAll(text, url.QueryEscape(secret), hidden)
		}
	}
	return text
}

// parameters that each kind of store accepts, with the pattern of their values.
var parameters = map[string]map[string]*regexp.Regexp{
	SchemeS3: {
		ParameterRegion:    regexp.MustCompile(`^[a-z0-9-]{1,64}$`),
		ParameterEndpoint:  endpoint,
		ParameterPathStyle: regexp.MustCompile(`^(true|false)$`),
		ParameterChecksums: regexp.MustCompile(`^(when_supported|when_required)$`),
	},
	SchemeGCS:       {ParameterEndpoint: endpoint},
	SchemeAzure:     {ParameterAccount: regexp.MustCompile(`^[a-z0-9]{3,24}$`), ParameterEndpoint: endpoint},
	SchemeDirectory: {},
}

// Examples for error messages.
var (
	examples = map[string]string{
		ParameterRegion: "eu-central-1", ParameterEndpoint: "https://minio.storage.svc:9000", ParameterPathStyle: "true",
		ParameterChecksums: "when_required", ParameterAccount: "perflab",
	}
	urls = map[string]string{
		SchemeS3: "s3://perflab/archive?region=eu-central-1", SchemeGCS: "gs://perflab/archive",
		SchemeAzure: "azblob://perflab/archive?account=perflab", SchemeDirectory: "file:///var/lib/perflab/archive",
	}
	endpoint   = regexp.MustCompile(`^https?://[A-Za-z0-9._\[\]:-]+(/[A-Za-z0-9._-]+)?/?$`)
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$`)
	element    = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,252}$`)
	wordlike   = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)
	// credential matches names of parameters that may contain credentials.
	credential = regexp.MustCompile(`(?i)key|secret|password|token|sas|^sig|cred|user`)
)

// ParseLocation parses the URL of an archive. Its errors contain no values of the URL, which
// may be credentials.
func ParseLocation(text string) (Location, error) {
	parsed, err := url.Parse(text)
	if err != nil {
		return Location{}, invalidLocation("it is not a URL: write one like %s", urls[SchemeS3])
	}
	if parsed.User != nil {
		return Location{}, invalidLocation("it contains credentials: put them into a Secret, and remove the part before the @ from the URL")
	}
	known, ok := parameters[parsed.Scheme]
	if !ok {
		return Location{}, invalidLocation("its scheme is none of %s: write one like %s", strings.Join(slices.Sorted(maps.Keys(parameters)), ", "), urls[SchemeS3])
	}
	if parsed.Fragment != "" || parsed.Opaque != "" {
		return Location{}, invalidLocation("it has more than a bucket, a prefix and parameters: write one like %s", urls[parsed.Scheme])
	}
	result := Location{Scheme: parsed.Scheme, Bucket: parsed.Host, Prefix: strings.TrimSuffix(parsed.Path, "/")}
	if result.Parameters, err = parseParameters(parsed, known); err != nil {
		return Location{}, err
	}
	return result, result.checkBucket()
}

func parseParameters(parsed *url.URL, known map[string]*regexp.Regexp) (map[string]string, error) {
	query, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return nil, invalidLocation("the part after its ? is not a list of parameters: write name=value&name=value")
	}
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		form, ok := known[name]
		switch {
		case !ok && credential.MatchString(name):
			return nil, invalidLocation("it contains credentials: put them into a Secret, and remove that parameter from the URL")
		case !ok && !wordlike.MatchString(name), !ok && len(known) == 0:
			return nil, invalidLocation("it has an unknown parameter: %s supports %s", parsed.Scheme, parameterNames(known))
		case !ok:
			return nil, invalidLocation("its parameter %q is unknown: %s supports %s", name, parsed.Scheme, parameterNames(known))
		case len(query[name]) > 1:
			return nil, invalidLocation("it has the parameter %q more than once: keep one", name)
		case !form.MatchString(query[name][0]):
			return nil, invalidLocation("the value of its parameter %q is invalid: write one like %s=%s", name, name, examples[name])
		}
		values[name] = strings.TrimSuffix(query[name][0], "/")
	}
	return values, nil
}

func parameterNames(known map[string]*regexp.Regexp) string {
	if len(known) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

func (l *Location) checkBucket() error {
	if l.Scheme == SchemeDirectory {
		switch {
		case l.Bucket != "":
			return invalidLocation("the directory's path must begin after three slashes: write one like %s", urls[l.Scheme])
		// The root is invalid, too: a prefix has no trailing slash.
		case l.Prefix == "" || l.Prefix == "/" || path.Clean(l.Prefix) != l.Prefix:
			return invalidLocation("it does not name a directory by its absolute path: write one like %s", urls[l.Scheme])
		case strings.ContainsFunc(l.Prefix, unicode.IsControl):
			return invalidLocation("the directory's path contains a control character: write one like %s", urls[l.Scheme])
		}
		return nil
	}
	if !bucketName.MatchString(l.Bucket) {
		return invalidLocation("it does not name a bucket after the //, in lowercase letters, digits, dots and dashes: write one like %s", urls[l.Scheme])
	}
	l.Prefix = strings.TrimPrefix(l.Prefix, "/")
	if l.Prefix != "" {
		for name := range strings.SplitSeq(l.Prefix, "/") {
			if !element.MatchString(name) {
				return invalidLocation("its prefix may contain only names of letters, digits, dots and dashes: write one like %s", urls[l.Scheme])
			}
		}
	}
	if l.Scheme == SchemeAzure && l.Parameters[ParameterAccount] == "" {
		return invalidLocation("it does not name the storage account of the container: add ?account= and the account's name")
	}
	return nil
}

// Check reports whether the store accepts this kind of credentials.
func (l Location) Check() error {
	given := l.Credentials
	switch {
	case given.IsNone():
		return nil
	case l.Scheme == SchemeDirectory:
		return invalidLocation("a directory does not support credentials: remove them")
	case l.Scheme == SchemeS3 && (given.ID == "" || given.Secret == ""):
		return invalidLocation("S3 needs an access key and a secret key: set both, or neither to use the workload's credentials")
	case l.Scheme != SchemeS3 && (given.Secret == "" || given.ID != "" || given.Token != ""):
		return invalidLocation("%s needs only a secret, the account's key or the service account's JSON: set only that, or nothing to use the workload's credentials", l.Scheme)
	}
	return nil
}

// String is the URL of the location.
func (l Location) String() string {
	place := url.URL{Scheme: l.Scheme, Host: l.Bucket, Path: l.Prefix}
	if l.Scheme == SchemeDirectory {
		return place.String()
	}
	if l.Prefix != "" {
		place.Path = "/" + l.Prefix
	}
	query := []string{}
	for _, name := range slices.Sorted(maps.Keys(l.Parameters)) {
		query = append(query, name+"="+l.Parameters[name])
	}
	place.RawQuery = strings.Join(query, "&")
	return place.String()
}

func invalidLocation(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidLocation, fmt.Sprintf(format, values...))
}
