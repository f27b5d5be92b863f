// SPDX-License-Identifier: Apache-2.0

package provenance_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/hack/release/internal/provenance"
)

const (
	sum    = "1f825aa2f0020ef7cf91dfa30da4668d791c5d4824fc8e41354b89ec05795ab3"
	commit = "0a4d55a8d778e5022fab701977c5d840bbc486d0"
)

func build() provenance.Build {
	return provenance.Build{
		Parameters: map[string]any{"version": "v1.0.0", "modified": true}, Revision: commit, Go: "go1.26.0",
		Subjects: []provenance.Subject{{Name: "checksums.txt", SHA256: sum}},
	}
}

// want is the whole text, because a rebuild compares bytes.
const want = `{
  "_type": "https://in-toto.io/Statement/v1",
  "subject": [
    {
      "name": "checksums.txt",
      "digest": {
        "sha256": "` + sum + `"
      }
    }
  ],
  "predicateType": "https://slsa.dev/provenance/v1",
  "predicate": {
    "buildDefinition": {
      "buildType": "https://perflab.dev/build-types/make-release/v1",
      "externalParameters": {
        "modified": true,
        "version": "v1.0.0"
      },
      "resolvedDependencies": [
        {
          "digest": {
            "gitCommit": "` + commit + `"
          },
          "name": "source"
        },
        {
          "name": "go",
          "uri": "pkg:golang/stdlib@1.26.0"
        }
      ]
    },
    "runDetails": {
      "builder": {
        "id": "https://perflab.dev/builders/make-release"
      }
    }
  }
}
`

func TestStatement(t *testing.T) {
	got, err := provenance.Statement(build())
	if err != nil || string(got) != want {
		t.Errorf("it states %s, %v", got, err)
	}
}

func TestStatementIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*provenance.Build)
		want   string
	}{
		"no parameters": {func(b *provenance.Build) { b.Parameters = nil }, "externalParameters required"},
		"no commit":     {func(b *provenance.Build) { b.Revision = "main" }, "gitCommit"},
		"no subject":    {func(b *provenance.Build) { b.Subjects = nil }, "at least one subject required"},
		"no digest":     {func(b *provenance.Build) { b.Subjects[0].SHA256 = "" }, "sha256"},
	} {
		t.Run(name, func(t *testing.T) {
			of := build()
			tc.change(&of)
			if _, err := provenance.Statement(of); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
