// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/testing/expect"
)

// newServer starts a server that responds with a status and counts requests.
func newServer(t *testing.T, status int, location string) (address string, count *int) {
	t.Helper()
	count = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*count++
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, count
}

// locations returns the locations of archives of each kind at a server.
func locations(t *testing.T, server string) map[string]archive.Location {
	t.Helper()
	found := map[string]archive.Location{}
	for kind, url := range map[string]string{
		archive.SchemeS3:    "s3://perflab/archive?region=here&use_path_style=true&endpoint=" + server,
		archive.SchemeAzure: "azblob://perflab/archive?account=perflab&endpoint=" + server,
		archive.SchemeGCS:   "gs://perflab/archive?endpoint=" + server,
	} {
		location, err := archive.ParseLocation(url)
		expect.NoError(t, err)
		found[kind] = location
	}
	s3, azure, gcs := found[archive.SchemeS3], found[archive.SchemeAzure], found[archive.SchemeGCS]
	s3.Credentials = archive.Credentials{ID: access, Secret: secret}
	azure.Credentials = archive.Credentials{Secret: "YS1rZXk="}
	gcs.Credentials = startGoogle(t).(*google).credentials
	return map[string]archive.Location{archive.SchemeS3: s3, archive.SchemeAzure: azure, archive.SchemeGCS: gcs}
}

// put writes to the archive at a location with a client.
func put(t *testing.T, location archive.Location, client *http.Client) error {
	t.Helper()
	location.Client = client
	store, err := stores.Open(t.Context(), location, archive.Options{Timeout: 5 * time.Second})
	expect.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	_, err = store.Put(t.Context(), []byte("x"))
	return err
}

// TestArchivesHonorAllowedAddresses checks that the operator does not connect to an archive
// at a forbidden address.
func TestArchivesHonorAllowedAddresses(t *testing.T) {
	server, count := newServer(t, http.StatusOK, "")
	for kind, location := range locations(t, server) {
		// Google's token server is allowed.
		rules, err := egress.New(egress.Lists{Allow: []string{"127.0.0.0/8"}, Deny: []string{strings.TrimPrefix(server, "http://")}})
		expect.NoError(t, err)
		if err := put(t, location, rules.Client(0)); !errors.Is(err, archive.ErrInvalidLocation) || !strings.Contains(err.Error(), "the store's address is denied by --deny-targets") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if *count > 0 {
		t.Errorf("%d requests arrived", *count)
	}
}

// TestArchivesFollowNoRedirect checks that the operator follows no redirect of a store.
func TestArchivesFollowNoRedirect(t *testing.T) {
	elsewhere, followed := newServer(t, http.StatusOK, "")
	for _, status := range []int{301, 302, 303, 307, 308} {
		server, _ := newServer(t, status, elsewhere)
		for kind, location := range locations(t, server) {
			client := open(t, location, archive.Options{Timeout: 5 * time.Second})
			if _, err := client.Put(t.Context(), []byte("x")); err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) {
				t.Errorf("%s: a redirect of %d gave %v", kind, status, err)
			}
		}
	}
	if *followed > 0 {
		t.Errorf("%d redirects were followed", *followed)
	}
}
