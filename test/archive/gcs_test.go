// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

// google is an emulated Google Cloud Storage with a token server.
type google struct {
	*fakestorage.Server
	credentials archive.Credentials
}

func startGoogle(t *testing.T) emulated {
	t.Helper()
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: "127.0.0.1", InitialObjects: []fakestorage.Object{
		{ObjectAttrs: fakestorage.ObjectAttrs{BucketName: emulatedBucket, Name: "of-somebody-else"}},
	}})
	expect.NoError(t, err)
	t.Cleanup(server.Stop)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token": "a", "token_type": "Bearer", "expires_in": 3600}`))
	}))
	t.Cleanup(tokens.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	expect.NoError(t, err)
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "perflab@example.org", "token_uri": tokens.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	expect.NoError(t, err)
	return &google{server, archive.Credentials{Secret: string(text)}}
}

func (g *google) at(t *testing.T, bucket string) archive.Location {
	t.Helper()
	location, err := archive.ParseLocation(fmt.Sprintf("gs://%s/archive?endpoint=%s", bucket, g.URL()))
	expect.NoError(t, err)
	location.Credentials = g.credentials
	return location
}

func (g *google) names(t *testing.T) []string {
	t.Helper()
	found, err := g.ListObjectsWithOptionsPaginated(emulatedBucket, fakestorage.ListOptions{Prefix: "archive/"})
	expect.NoError(t, err)
	var names []string
	for _, one := range found.Objects {
		names = append(names, one.Name)
	}
	return names
}

func (g *google) alter(t *testing.T, size int64) {
	t.Helper()
	for _, name := range g.names(t) {
		object, err := g.GetObject(emulatedBucket, name)
		expect.NoError(t, err)
		if int64(len(object.Content)) == size {
			object.Content[0] ^= 1
			g.CreateObject(object)
		}
	}
}
