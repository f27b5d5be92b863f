// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/testing/expect"
)

// given returns options with these archives of namespaces, whose Secrets have these
// keys.
func given(t *testing.T, archives []string, secrets map[string]string) (options, error) {
	t.Helper()
	o := options{archiveCredentials: t.TempDir()}
	for path, value := range secrets {
		path = filepath.Join(o.archiveCredentials, path)
		expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		expect.NoError(t, os.WriteFile(path, []byte(value), 0o600))
	}
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Var(&o.archives, "namespace-archive", "")
	var arguments []string
	for _, one := range archives {
		arguments = append(arguments, "--namespace-archive="+one)
	}
	return o, flags.Parse(arguments)
}

// Each namespace has its own archive, none, or that of the installation.
func TestArchivesOfNamespaces(t *testing.T) {
	directory, own := t.TempDir(), t.TempDir()
	o, err := given(t, []string{
		"team-a=file://" + own, "team-b=none", "team-c=s3://team-c/archive?region=eu-central-1", "team-d=azblob://team-d?account=team",
	}, map[string]string{
		"team-c/" + keyID: "an-id", "team-c/" + keySecret: "a-secret\n", "team-d/" + keyAzure: "YS1rZXk=",
	})
	expect.NoError(t, err)
	o.archive = "file://" + directory
	kept, err := openArchives(o, egress.Rules{})
	expect.NoError(t, err)
	for namespace, want := range map[string]string{
		"team-a": "file://" + own, "team-c": "s3://team-c/archive?region=eu-central-1", "team-d": "azblob://team-d?account=team", "another": "file://" + directory,
	} {
		if store := kept.ForNamespace(namespace); store == nil || store.String() != want {
			t.Errorf("namespace %s has %s, want %s", namespace, store, want)
		}
	}
	if store := kept.ForNamespace("team-b"); store != nil {
		t.Errorf("namespace team-b has %s, want none", store)
	}
	if kept, err = openArchives(options{archives: namespaceArchives{"team-a": "file://" + own}}, egress.Rules{}); err != nil || kept.ForNamespace("another") != nil || kept.ForNamespace("team-a") == nil {
		t.Errorf("without an archive of the installation: %+v, %v", kept, err)
	}
}

// Invalid settings fail at the start, with the namespace and without credentials.
func TestArchivesOfNamespacesRefuses(t *testing.T) {
	const s3 = "team-a=s3://team-a/archive?region=eu-central-1"
	for why, c := range map[string]struct {
		archives []string
		secrets  map[string]string
	}{
		"write NAMESPACE=URL":                  {[]string{"s3://team-a/archive"}, nil},
		"or NAMESPACE=none":                    {[]string{"team-a="}, nil},
		"has two archives":                     {[]string{"team-a=none", s3}, nil},
		"there is no directory":                {[]string{"team-a=file:///nowhere/at/all"}, nil},
		"it contains credentials":              {[]string{"team-a=s3://id:hunter2@team-a"}, nil},
		"set both, or neither":                 {[]string{s3}, map[string]string{"team-a/" + keyID: "hunter2"}},
		"its Secret has none of":               {[]string{s3}, map[string]string{"team-a/password": "hunter2"}},
		"credentials of two kinds":             {[]string{s3}, map[string]string{"team-a/" + keySecret: "hunter2", "team-a/" + keyAzure: "hunter2"}},
		"a directory does not support":         {[]string{"team-a=file://" + os.TempDir()}, map[string]string{"team-a/" + keyID: "hunter2", "team-a/" + keySecret: "hunter2"}},
		"needs only a secret":                  {[]string{"team-a=azblob://team-a?account=team"}, map[string]string{"team-a/" + keyID: "hunter2", "team-a/" + keySecret: "hunter2"}},
		`--namespace-archive of namespace "te`: {[]string{"team-a=ftp://team-a"}, nil},
	} {
		o, err := given(t, c.archives, c.secrets)
		if err == nil {
			_, err = openArchives(o, egress.Rules{})
		}
		if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: told is %v, want %q", c.archives, err, why)
		}
	}
}
