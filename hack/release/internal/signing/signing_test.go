// SPDX-License-Identifier: Apache-2.0

package signing_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"

	"perflab.dev/perflab/hack/release/internal/signing"
	"perflab.dev/perflab/hack/release/internal/signing/signingtest"
)

func noError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func signer(t *testing.T, pair signingtest.Pair) *signing.Signer {
	t.Helper()
	made, err := signing.WithKey(pair.Private, nil)
	noError(t, err)
	return made
}

func TestSigningIsReproducible(t *testing.T) {
	key := signer(t, signingtest.Generate(t))
	first, err := key.File(t.Context(), []byte("content"))
	noError(t, err)
	second, err := key.File(t.Context(), []byte("content"))
	noError(t, err)
	if !bytes.Equal(first.Bundle, second.Bundle) || !bytes.Equal(first.Raw, second.Raw) {
		t.Errorf("one is %s, the other %s", first.Bundle, second.Bundle)
	}
}

func TestFileSignatureVerifies(t *testing.T) {
	pair := signingtest.Generate(t)
	signed, err := signer(t, pair).File(t.Context(), []byte("content"))
	noError(t, err)
	other := signingtest.Generate(t)
	for name, tc := range map[string]struct {
		public  []byte
		content string
		want    string
	}{
		"signed":      {pair.Public, "content", ""},
		"changed":     {pair.Public, "Content", "invalid signature"},
		"another key": {other.Public, "content", "invalid signature"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signingtest.Verify(t, tc.public, signed.Bundle, verify.WithArtifact(strings.NewReader(tc.content)))
			signingtest.Expect(t, err, tc.want)
			key, parseErr := cryptoutils.UnmarshalPEMToPublicKey(tc.public)
			noError(t, parseErr)
			verifier, loadErr := signature.LoadVerifier(key, crypto.SHA256)
			noError(t, loadErr)
			signingtest.Expect(t, verifier.VerifySignature(bytes.NewReader(signed.Raw), strings.NewReader(tc.content)), tc.want)
		})
	}
}

const digest = "1f825aa2f0020ef7cf91dfa30da4668d791c5d4824fc8e41354b89ec05795ab3"

func TestImageSignatureVerifies(t *testing.T) {
	pair := signingtest.Generate(t)
	signed, err := signer(t, pair).Image(t.Context(), digest)
	noError(t, err)
	other := signingtest.Generate(t)
	for name, tc := range map[string]struct {
		public []byte
		digest string
		want   string
	}{
		"signed":        {pair.Public, digest, ""},
		"another image": {pair.Public, strings.Repeat("0", 64), "digest does not match"},
		"another key":   {other.Public, digest, "could not verify envelope"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := signingtest.Verify(t, tc.public, signed, signingtest.Digest(t, tc.digest))
			signingtest.Expect(t, err, tc.want)
			if err == nil && result.Statement.GetPredicateType() != signing.ImagePredicate {
				t.Errorf("it states %v", result.Statement)
			}
		})
	}
}

// TestChangedStatementIsRefused checks that the signature covers the whole bundle: the
// statement about the image and its type.
func TestChangedStatementIsRefused(t *testing.T) {
	pair := signingtest.Generate(t)
	signed, err := signer(t, pair).Image(t.Context(), digest)
	noError(t, err)
	var changed bundle.Bundle
	noError(t, changed.UnmarshalJSON(signed))
	payload := changed.GetDsseEnvelope().GetPayload()
	changed.GetDsseEnvelope().Payload = bytes.Replace(payload, []byte(digest), []byte(strings.Repeat("0", 64)), 1)
	written, err := changed.MarshalJSON()
	noError(t, err)
	_, err = signingtest.Verify(t, pair.Public, written, signingtest.Digest(t, strings.Repeat("0", 64)))
	signingtest.Expect(t, err, "could not verify envelope")
}

func encoded(t *testing.T, kind string, bytes []byte, err error) []byte {
	t.Helper()
	noError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})
}

func TestKeys(t *testing.T) {
	small, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	large, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	noError(t, err)
	const password = "a password for tests"
	encrypted, _, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), cryptoutils.StaticPasswordFunc([]byte(password)))
	noError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	noError(t, err)
	plain, err := x509.MarshalPKCS8PrivateKey(small)
	openssl, ecErr := x509.MarshalECPrivateKey(small)
	wide, wideErr := x509.MarshalPKCS8PrivateKey(large)
	other, otherErr := x509.MarshalPKCS8PrivateKey(edwards)
	for name, tc := range map[string]struct {
		key      []byte
		password string
		want     string
	}{
		"cosign":         {encrypted, password, ""},
		"wrong password": {encrypted, "guess", "decrypt"},
		"PKCS 8":         {encoded(t, "PRIVATE KEY", plain, err), "", ""},
		"EC":             {encoded(t, "EC PRIVATE KEY", openssl, ecErr), "", ""},
		"P-384":          {encoded(t, "PRIVATE KEY", wide, wideErr), "", "not an ECDSA key on P-256"},
		"Ed25519":        {encoded(t, "PRIVATE KEY", other, otherErr), "", "not an ECDSA key on P-256"},
		"public key":     {signingtest.Generate(t).Public, "", "unknown private key PEM file type"},
		"no PEM":         {[]byte("key"), "", "PEM decoding failed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signing.WithKey(tc.key, []byte(tc.password))
			signingtest.Expect(t, err, tc.want)
		})
	}
}
