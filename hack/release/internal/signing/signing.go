// SPDX-License-Identifier: Apache-2.0

// Package signing signs releases as Sigstore bundles, which cosign verifies.
package signing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// ImagePredicate is the predicate type of cosign sign's statement about an image.
const ImagePredicate = "https://sigstore.dev/cosign/sign/v1"

// payloadType is the type of in-toto statements in DSSE envelopes.
const payloadType = "application/vnd.in-toto+json"

// Signer signs with a key or an identity.
type Signer struct {
	keypair sign.Keypair
	options sign.BundleOptions
}

// Signature is the signature of a file.
type Signature struct {
	// Raw is only the signature, in ASN.1.
	Raw []byte
	// Bundle contains it with the other verification material.
	Bundle []byte
}

// File signs a file's content.
func (s *Signer) File(ctx context.Context, content []byte) (Signature, error) {
	options := s.options
	options.Context = ctx
	signed, err := sign.Bundle(&sign.PlainData{Data: content}, s.keypair, options)
	if err != nil {
		return Signature{}, err
	}
	bundle, err := stable(protojson.Marshal(signed))
	return Signature{Raw: signed.GetMessageSignature().GetSignature(), Bundle: bundle}, err
}

// Statement signs an in-toto statement, and returns the bundle.
func (s *Signer) Statement(ctx context.Context, statement []byte) ([]byte, error) {
	options := s.options
	options.Context = ctx
	signed, err := sign.Bundle(&sign.DSSEData{Data: statement, PayloadType: payloadType}, s.keypair, options)
	if err != nil {
		return nil, err
	}
	return stable(protojson.Marshal(signed))
}

// Image signs the content of a registry that has this SHA-256 digest.
func (s *Signer) Image(ctx context.Context, sha256 string) ([]byte, error) {
	statement, err := stable(protojson.Marshal(&intoto.Statement{
		Type: intoto.StatementTypeUri, PredicateType: ImagePredicate, Predicate: &structpb.Struct{},
		Subject: []*intoto.ResourceDescriptor{{Digest: map[string]string{string(intoto.AlgorithmSHA256): sha256}}},
	}))
	if err != nil {
		return nil, err
	}
	return s.Statement(ctx, statement)
}

// stable removes spaces, because protojson writes different ones in different programs.
func stable(written []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	var out bytes.Buffer
	err = json.Compact(&out, written)
	return out.Bytes(), err
}
