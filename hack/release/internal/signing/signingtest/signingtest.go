// SPDX-License-Identifier: Apache-2.0

// Package signingtest generates keys, and verifies signatures with cosign's library.
package signingtest

import (
	"crypto"
	"crypto/elliptic"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
)

// Pair is a pair of keys in PEM.
type Pair struct{ Private, Public []byte }

// Generate generates a key pair. The private key is not encrypted, because encryption takes
// long.
func Generate(t *testing.T) Pair {
	t.Helper()
	private, public, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return Pair{private, public}
}

// Verify checks a bundle against a public key, without a transparency log.
func Verify(t *testing.T, public, signed []byte, of verify.ArtifactPolicyOption) (*verify.VerificationResult, error) {
	t.Helper()
	key, err := cryptoutils.UnmarshalPEMToPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := signature.LoadVerifier(key, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	trusted := root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) {
		return root.NewExpiringKey(loaded, time.Time{}, time.Time{}), nil
	})
	verifier, err := verify.NewVerifier(trusted, verify.WithNoObserverTimestamps())
	if err != nil {
		t.Fatal(err)
	}
	var read bundle.Bundle
	if err := read.UnmarshalJSON(signed); err != nil {
		return nil, err
	}
	return verifier.Verify(&read, verify.NewPolicy(of, verify.WithKey()))
}

// Digest returns the subject of a signature, by its SHA-256.
func Digest(t *testing.T, sha256 string) verify.ArtifactPolicyOption {
	t.Helper()
	sum, err := hex.DecodeString(sha256)
	if err != nil {
		t.Fatal(err)
	}
	return verify.WithArtifactDigest("sha256", sum)
}

// Expect checks that an error contains a text. If the text is empty, there must be no
// error.
func Expect(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
		t.Errorf("error %v, want %q", err, want)
	}
}
