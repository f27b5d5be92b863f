// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores"
	"perflab.dev/perflab/internal/network/egress"
)

// namespaceArchives are the URLs of archives of single namespaces. Only the operator's
// administrator sets them: a namespace's owner could otherwise send the operator, with
// its credentials, to any server.
type namespaceArchives map[string]string

// noArchive is the URL that disables the archive of a namespace.
const noArchive = "none"

func (n *namespaceArchives) String() string {
	var all []string
	for _, namespace := range slices.Sorted(maps.Keys(*n)) {
		all = append(all, namespace+"="+(*n)[namespace])
	}
	return strings.Join(all, ",")
}

// Set parses and adds NAMESPACE=URL.
func (n *namespaceArchives) Set(text string) error {
	namespace, url, found := strings.Cut(text, "=")
	if !found || url == "" || len(validation.IsDNS1123Label(namespace)) > 0 {
		return errors.New("write NAMESPACE=URL, for example lab=s3://lab/archive?region=eu-central-1, or NAMESPACE=none")
	}
	if _, known := (*n)[namespace]; known {
		return fmt.Errorf("namespace %q has two archives: remove one", namespace)
	}
	if *n == nil {
		*n = namespaceArchives{}
	}
	(*n)[namespace] = url
	return nil
}

// openArchives opens the archives of the installation and of namespaces. It does not
// connect: while a store is unavailable, runs wait.
func openArchives(o options, rules egress.Rules) (archive.Archives, error) {
	var kept archive.Archives
	asking := &http.Client{Transport: rules.ProxiedTransport(), CheckRedirect: egress.NoRedirects}
	if o.archive != "" {
		store, err := openArchive(o.archive, archive.Credentials{}, asking)
		if err != nil {
			return kept, fmt.Errorf("--archive (or PERFLAB_ARCHIVE): %w", err)
		}
		kept.Default = store
	}
	kept.ByNamespace = map[string]*archive.Store{}
	for _, namespace := range slices.Sorted(maps.Keys(o.archives)) {
		if o.archives[namespace] == noArchive {
			kept.ByNamespace[namespace] = nil
			continue
		}
		given, err := credentialsIn(filepath.Join(o.archiveCredentials, namespace))
		if err != nil {
			return kept, fmt.Errorf("--namespace-archive of namespace %q: %w", namespace, err)
		}
		if kept.ByNamespace[namespace], err = openArchive(o.archives[namespace], given, asking); err != nil {
			return kept, fmt.Errorf("--namespace-archive of namespace %q: %w", namespace, err)
		}
	}
	return kept, nil
}

func openArchive(url string, given archive.Credentials, asking *http.Client) (*archive.Store, error) {
	location, err := archive.ParseLocation(url)
	if err != nil {
		return nil, err
	}
	location.Credentials, location.Client = given, asking
	return stores.Open(context.Background(), location, archive.Options{})
}

// Keys of a Secret with the credentials of an archive.
const (
	keyID     = "AWS_ACCESS_KEY_ID"
	keySecret = "AWS_SECRET_ACCESS_KEY" //nolint:gosec // A name.
	keyToken  = "AWS_SESSION_TOKEN"     //nolint:gosec // A name.
	keyAzure  = "AZURE_STORAGE_KEY"
	keyGoogle = "GOOGLE_CREDENTIALS"
)

// credentialsIn reads the credentials from a mounted Secret; none if the folder does
// not exist.
func credentialsIn(folder string) (archive.Credentials, error) {
	var given archive.Credentials
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return given, nil
	}
	for key, field := range map[string]*string{keyID: &given.ID, keySecret: &given.Secret, keyToken: &given.Token, keyAzure: &given.Secret, keyGoogle: &given.Secret} {
		value, err := keyIn(filepath.Join(folder, key))
		if err != nil {
			return archive.Credentials{}, err
		}
		if value != "" && *field != "" {
			return archive.Credentials{}, errors.New("its Secret has credentials of two kinds of stores: remove one of them")
		}
		if value != "" {
			*field = value
		}
	}
	if given.IsNone() {
		return given, fmt.Errorf("its Secret has none of %s: add those of its store", strings.Join([]string{keyID + " and " + keySecret, keyAzure, keyGoogle}, ", "))
	}
	return given, nil
}

func keyIn(path string) (string, error) {
	const most = 64 << 10
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading its Secret: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(file, most))
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("reading its Secret: %w", err)
	}
	return strings.TrimSpace(string(body)), nil
}
