// SPDX-License-Identifier: Apache-2.0

package signing

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"

	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// errKey is the error for a key with another algorithm. Bundles name the algorithm, and
// every verifier accepts ECDSA on P-256.
var errKey = errors.New("not an ECDSA key on P-256: create one with cosign generate-key-pair")

// WithKey returns a signer with a private key in PEM, as cosign or openssl writes it. Only
// an encrypted key needs a password.
func WithKey(text, password []byte) (*Signer, error) {
	read, err := cryptoutils.UnmarshalPEMToPrivateKey(text, cryptoutils.StaticPasswordFunc(password))
	if err != nil {
		return nil, err
	}
	private, ok := read.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errKey
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("reading its public key: %w", err)
	}
	return &Signer{keypair: keypair{private, public}}, nil
}

// keypair is a key pair for sigstore-go, whose own key pairs are for only one signature.
type keypair struct {
	private *ecdsa.PrivateKey
	// public is the public key in DER.
	public []byte
}

// SignData signs data deterministically, as in RFC 6979: signing a release again gives the
// same files.
func (k keypair) SignData(_ context.Context, data []byte) (signature, digest []byte, err error) {
	sum := sha256.Sum256(data)
	signature, err = k.private.Sign(nil, sum[:], crypto.SHA256)
	return signature, sum[:], err
}

// GetHint returns the digest that cosign uses as the key's name.
func (k keypair) GetHint() []byte {
	sum := sha256.Sum256(k.public)
	return []byte(base64.StdEncoding.EncodeToString(sum[:]))
}

// GetPublicKeyPem returns the public key in the format of cosign.pub.
func (k keypair) GetPublicKeyPem() (string, error) {
	return string(cryptoutils.PEMEncode(cryptoutils.PublicKeyPEMType, k.public)), nil
}

// GetPublicKey returns the key for verification.
func (k keypair) GetPublicKey() crypto.PublicKey { return k.private.Public() }

// GetKeyAlgorithm returns the algorithm's name for Fulcio.
func (k keypair) GetKeyAlgorithm() string { return "ECDSA" }

// GetHashAlgorithm returns the hash algorithm of the signature.
func (k keypair) GetHashAlgorithm() protocommon.HashAlgorithm {
	return protocommon.HashAlgorithm_SHA2_256
}

// GetSigningAlgorithm returns the combination of key and hash.
func (k keypair) GetSigningAlgorithm() protocommon.PublicKeyDetails {
	return protocommon.PublicKeyDetails_PKIX_ECDSA_P256_SHA_256
}
