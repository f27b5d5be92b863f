// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestLocationsAreReadAndWritten(t *testing.T) {
	for name, url := range map[string]string{
		"Amazon":                     "s3://perflab/archive?region=eu-central-1",
		"without a prefix":           "s3://perflab",
		"a server of one's own":      "s3://perflab/a/b?endpoint=http://minio.storage.svc:9000&region=here&use_path_style=true",
		"an older server":            "s3://perflab?endpoint=https://ceph&request_checksum_calculation=when_required",
		"Google":                     "gs://perflab/archive",
		"Google by another way":      "gs://perflab?endpoint=https://storage.googleapis.com",
		"Azure":                      "azblob://perflab/archive?account=lab",
		"Azure's emulator":           "azblob://perflab?account=lab&endpoint=http://127.0.0.1:10000/lab",
		"a directory":                "file:///var/lib/perflab/archive",
		"a directory, escaped":       "file:///var/lib/a%3Fb%20c%25",
		"an address of version 6":    "s3://perflab?endpoint=http://[::1]:9000",
		"dots and dashes in a name ": "s3://perf.lab-1/a.b_c-d",
	} {
		t.Run(name, func(t *testing.T) {
			if got := location(t, url).String(); got != url {
				t.Errorf("it is written %q, was %q", got, url)
			}
		})
	}
}

const (
	access = "AKIAIOSFODNN7EXAMPLE"
	secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

func TestWrongLocationsAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ url, want string }{
		"nothing":                {"", "its scheme is none of azblob, file, gs, s3"},
		"no URL":                 {"s3://a b\x7f", "it is not a URL"},
		"another scheme":         {"https://s3.amazonaws.com/perflab", "its scheme is none of"},
		"credentials before @":   {"s3://" + access + ":secret@perflab", "contains credentials"},
		"a credential":           {"s3://perflab?aws_secret_access_key=" + secret, "contains credentials"},
		"a SAS token":            {"azblob://perflab?account=lab&sig=" + secret, "contains credentials"},
		"an unknown parameter":   {"s3://perflab?zone=eu", `its parameter "zone" is unknown: s3 supports endpoint, region,`},
		"a strange parameter":    {"s3://perflab?" + access, "an unknown parameter"},
		"one for a directory":    {"file:///archive?create_dir=true", "file supports none"},
		"a parameter twice":      {"s3://perflab?region=a&region=b", "more than once"},
		"a wrong value":          {"s3://perflab?use_path_style=yes", "write one like use_path_style=true"},
		"an empty value":         {"s3://perflab?region=", "write one like region=eu-central-1"},
		"an endpoint with a key": {"s3://perflab?endpoint=http://" + access + ":x@minio", "write one like endpoint=https://"},
		"an endpoint's query":    {"s3://perflab?endpoint=http%3A%2F%2Fminio%3Fsig%3Dx", "write one like endpoint=https://"},
		"an endpoint's name":     {"s3://perflab?endpoint=minio:9000", "write one like endpoint=https://"},
		"no bucket":              {"s3:///archive", "does not name a bucket"},
		"a bucket in capitals":   {"s3://Perflab", "does not name a bucket"},
		"a port":                 {"s3://perflab:80", "does not name a bucket"},
		"a way up":               {"s3://perflab/../other", "its prefix may contain only"},
		"an empty element":       {"s3://perflab/a//b", "its prefix may contain only"},
		"a fragment":             {"s3://perflab#a", "more than a bucket"},
		"no account":             {"azblob://perflab", "add ?account="},
		"two slashes":            {"file://archive", "after three slashes"},
		"no directory":           {"file://", "does not name a directory"},
		"the root":               {"file:///", "does not name a directory"},
		"the root, once more":    {"file:////", "does not name a directory"},
		"a byte of no path":      {"file:///a/%00", "a control character"},
		"a way up to a file":     {"file:///var/../etc", "does not name a directory"},
		"half a parameter":       {"s3://perflab?%zz", "not a list of parameters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := archive.ParseLocation(test.url)
			if !errors.Is(err, archive.ErrInvalidLocation) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("the error is %v, want one with %q", err, test.want)
			}
			for _, hidden := range []string{access, secret, "secret@"} {
				if strings.Contains(err.Error(), hidden) {
					t.Errorf("a credential is in the error: %v", err)
				}
			}
		})
	}
}

func TestCredentialsFitTheStore(t *testing.T) {
	whole := archive.Credentials{ID: access, Secret: secret}
	for name, test := range map[string]struct {
		url   string
		given archive.Credentials
		want  string
	}{
		"the workload's":        {"s3://perflab", archive.Credentials{}, ""},
		"S3's":                  {"s3://perflab", whole, ""},
		"S3's, half":            {"s3://perflab", archive.Credentials{Secret: secret}, "an access key and a secret key"},
		"Google's":              {"gs://perflab", archive.Credentials{Secret: "{}"}, ""},
		"S3's for Google":       {"gs://perflab", whole, "only a secret"},
		"Azure's":               {"azblob://perflab?account=lab", archive.Credentials{Secret: secret}, ""},
		"some for a directory ": {"file:///archive", whole, "a directory does not support credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			at := location(t, test.url)
			at.Credentials = test.given
			err := at.Check()
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret)) {
				t.Errorf("the error is %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestCredentialsAreNeverPrinted(t *testing.T) {
	at := location(t, "s3://perflab?region=here")
	at.Credentials = archive.Credentials{ID: access, Secret: secret, Token: "a-token"}
	encoded, err := json.Marshal(at)
	expect.NoError(t, err)
	texts := []string{string(encoded), at.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{at, &at, at.Credentials, &at.Credentials, []any{at.Credentials}} {
			texts = append(texts, fmt.Sprintf(verb, value))
		}
	}
	for _, text := range texts {
		for _, hidden := range []string{access, secret, "a-token", fmt.Sprintf("%x", secret), fmt.Sprintf("%d", []byte(secret))} {
			if strings.Contains(text, hidden) {
				t.Errorf("a credential is in %q", text)
			}
		}
	}
}

func FuzzLocation(f *testing.F) {
	f.Add("s3://perflab/archive?region=here")
	f.Add("azblob://perflab?account=lab&endpoint=http://127.0.0.1:10000/lab")
	f.Add("file:///var/lib/archive")
	f.Fuzz(func(t *testing.T, url string) {
		parsed, err := archive.ParseLocation(url)
		if err != nil {
			fails(t, err, archive.ErrInvalidLocation)
			return
		}
		again, err := archive.ParseLocation(parsed.String())
		if err != nil || again.String() != parsed.String() {
			t.Errorf("%q is written %q, which is read as %q, %v", url, parsed, again, err)
		}
	})
}
