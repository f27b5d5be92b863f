// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"perflab.dev/perflab/internal/archive"
)

// google is an emulated Google Cloud Storage, with one bucket and somebody who gives
// tokens.
type google struct {
	*fakestorage.Server
	credentials archive.Credentials
}

const googlesBucket = "perflab"

func startGoogle(t *testing.T) *google {
	t.Helper()
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", InitialObjects: []fakestorage.Object{
		{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: googlesBucket, Name: "of-somebody-else"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token": "a", "token_type": "Bearer", "expires_in": 3600}`))
	}))
	t.Cleanup(tokens.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "perflab@example.org", "token_uri": tokens.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &google{server, archive.Credentials{Secret: string(text)}}
}

func (g *google) open(t *testing.T, bucket string) *archive.Store {
	t.Helper()
	location, err := archive.ParseLocation(fmt.Sprintf("gs://%s/archive?endpoint=%s", bucket, g.URL()))
	if err != nil {
		t.Fatal(err)
	}
	location.Credentials = g.credentials
	return open(t, location, archive.Options{})
}

func (g *google) names(t *testing.T) []string {
	t.Helper()
	found, err := g.ListObjectsWithOptionsPaginated(googlesBucket, fakestorage.ListOptions{Prefix: "archive/"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range found.Objects {
		names = append(names, one.Name)
	}
	return names
}

func TestGoogleKeepsAndGivesBack(t *testing.T) {
	server := startGoogle(t)
	store := server.open(t, googlesBucket)
	reference, err := store.Keep(t.Context(), record(1))
	if err != nil {
		t.Fatal(err)
	}
	kept := server.names(t)
	// Three items, the manifest and the reference.
	if len(kept) != 5 {
		t.Fatalf("kept %v", kept)
	}
	again, err := store.Keep(t.Context(), record(1))
	if err != nil || again != reference || !slices.Equal(server.names(t), kept) {
		t.Errorf("kept again as %s (%v), there are %v", again, err, server.names(t))
	}
	manifest, err := store.Manifest(t.Context(), reference)
	if err != nil || len(manifest.Items) != 3 {
		t.Fatalf("%+v, %v", manifest, err)
	}
	for _, entry := range manifest.Items {
		if body, err := store.Get(t.Context(), entry.Digest); err != nil || int64(len(body)) != entry.Size {
			t.Errorf("%s: %d bytes, %v", entry.Name, len(body), err)
		}
	}
	if _, err := store.Keep(t.Context(), record(2)); err != nil {
		t.Fatal(err)
	}
	var listed []string
	for found, err := range store.List(t.Context(), archive.RunsPrefix) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, found.Run)
	}
	if !slices.Equal(listed, []string{"heap-b1", "heap-b2"}) {
		t.Errorf("listed %v", listed)
	}
}

func TestGoogleGivesOtherBytes(t *testing.T) {
	server := startGoogle(t)
	store := server.open(t, googlesBucket)
	reference, err := store.Keep(t.Context(), record(1))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := store.Manifest(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	entry := manifest.Items[0]
	for _, name := range server.names(t) {
		object, err := server.GetObject(googlesBucket, name)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(object.Content)) == entry.Size {
			object.Content[0] ^= 1
			server.CreateObject(object)
		}
	}
	if _, err := store.Get(t.Context(), entry.Digest); !errors.Is(err, archive.ErrMismatch) {
		t.Errorf("%v", err)
	}
}

func TestGoogleHasNoSuchThing(t *testing.T) {
	server := startGoogle(t)
	store := server.open(t, googlesBucket)
	if _, err := store.Get(t.Context(), archive.Sum([]byte("nothing"))); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("what was never kept: %v", err)
	}
	absent := server.open(t, "another")
	// The emulator has other words for it than Google.
	if _, err := absent.Keep(t.Context(), record(1)); !archive.IsOne(err) || !strings.Contains(err.Error(), "bucket") {
		t.Errorf("in a bucket that is not there: %v", err)
	}
}

// What no record refers to goes, and with it nothing else.
func TestGoogleIsTidied(t *testing.T) {
	server := startGoogle(t)
	location, err := archive.ParseLocation(fmt.Sprintf("gs://%s/archive?endpoint=%s", googlesBucket, server.URL()))
	if err != nil {
		t.Fatal(err)
	}
	location.Credentials = server.credentials
	later := open(t, location, archive.Options{Clock: func() time.Time { return time.Now().Add(48 * time.Hour) }})
	store := server.open(t, googlesBucket)
	if _, err := store.Keep(t.Context(), record(1)); err != nil {
		t.Fatal(err)
	}
	kept := server.names(t)
	if _, err := store.Put(t.Context(), []byte("superfluous")); err != nil {
		t.Fatal(err)
	}
	sum, err := later.Collect(t.Context(), archive.Policy{}, nil)
	if err != nil || sum.Objects != 1 || !slices.Equal(server.names(t), kept) {
		t.Errorf("%+v (%v), left are %v", sum, err, server.names(t))
	}
}
