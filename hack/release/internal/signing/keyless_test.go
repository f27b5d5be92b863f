// SPDX-License-Identifier: Apache-2.0

package signing_test

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-openapi/runtime"
	prototrustroot "github.com/sigstore/protobuf-specs/gen/pb-go/trustroot/v1"
	"github.com/sigstore/rekor/pkg/generated/models"
	"github.com/sigstore/rekor/pkg/types"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"

	"perflab.dev/perflab/hack/release/internal/signing"
	"perflab.dev/perflab/hack/release/internal/signing/signingtest"
)

const (
	identity = "publisher@example.org"
	issuer   = "https://issuer.example"
)

// fakes has a Fulcio, a Rekor, and the trust roots of verifiers.
type fakes struct {
	*ca.VirtualSigstore
	authority *root.FulcioCertificateAuthority
	key       crypto.Signer
}

func newFakes(t *testing.T) *fakes {
	t.Helper()
	virtual, err := ca.NewVirtualSigstore()
	noError(t, err)
	top, topKey, err := ca.GenerateRootCa()
	noError(t, err)
	intermediate, key, err := ca.GenerateFulcioIntermediate(top, topKey)
	noError(t, err)
	return &fakes{virtual, &root.FulcioCertificateAuthority{
		Root: top, Intermediates: []*x509.Certificate{intermediate},
		ValidityPeriodStart: time.Now().Add(-time.Hour), ValidityPeriodEnd: time.Now().Add(time.Hour),
	}, key}
}

// FulcioCertificateAuthorities returns the authorities that issued the certificates.
func (f *fakes) FulcioCertificateAuthorities() []root.CertificateAuthority {
	return []root.CertificateAuthority{f.authority}
}

// services returns the signing configuration with their addresses.
func (f *fakes) services(t *testing.T) *root.SigningConfig {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v2/signingCert", func(w http.ResponseWriter, r *http.Request) { f.certify(t, w, r) })
	mux.HandleFunc("POST /api/v1/log/entries", func(w http.ResponseWriter, r *http.Request) { f.log(t, w, r) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	service := []root.Service{{URL: server.URL, MajorAPIVersion: 1, ValidityPeriodStart: time.Now().Add(-time.Hour), Operator: "test"}}
	any := root.ServiceConfiguration{Selector: prototrustroot.ServiceSelector_ANY}
	config, err := root.NewSigningConfig(root.SigningConfigMediaType02, service, nil, service, any, nil, any)
	noError(t, err)
	return config
}

func (f *fakes) certify(t *testing.T, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	var asked struct {
		PublicKeyRequest struct{ PublicKey struct{ Content string } }
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	if err != nil || r.Header.Get("Authorization") != "Bearer "+token() {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	public, err := cryptoutils.UnmarshalPEMToPublicKey([]byte(asked.PublicKeyRequest.PublicKey.Content))
	expectNoError(t, err)
	made, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1), EmailAddresses: []string{identity},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(10 * time.Minute),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 1}, Value: []byte(issuer)}},
	}, f.authority.Intermediates[0], public, f.key)
	expectNoError(t, err)
	answer(t, w, http.StatusOK, map[string]any{"signedCertificateEmbeddedSct": map[string]any{
		"chain": map[string]any{"certificates": []string{string(cryptoutils.PEMEncode(cryptoutils.CertificatePEMType, made))}},
	}})
}

func (f *fakes) log(t *testing.T, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	proposed, err := models.UnmarshalProposedEntry(r.Body, runtime.JSONConsumer())
	expectNoError(t, err)
	entry, err := types.CreateVersionedEntry(proposed)
	expectNoError(t, err)
	body, err := types.CanonicalizeEntry(r.Context(), entry)
	expectNoError(t, err)
	proof, err := f.GetInclusionProof(body)
	expectNoError(t, err)
	id, err := f.RekorLogID()
	expectNoError(t, err)
	encoded, now, index := base64.StdEncoding.EncodeToString(body), time.Now().Unix(), int64(0)
	promise, err := f.RekorSignPayload(tlog.RekorPayload{Body: encoded, IntegratedTime: now, LogIndex: index, LogID: id})
	expectNoError(t, err)
	w.Header().Set("ETag", "entry")
	answer(t, w, http.StatusCreated, models.LogEntry{"entry": models.LogEntryAnon{
		Body: encoded, IntegratedTime: &now, LogIndex: &index, LogID: &id,
		Verification: &models.LogEntryAnonVerification{InclusionProof: proof, SignedEntryTimestamp: promise},
	}})
}

// expectNoError reports an error. It is for servers, which cannot end the test.
func expectNoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func answer(t *testing.T, w http.ResponseWriter, code int, what any) {
	t.Helper()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	expectNoError(t, json.NewEncoder(w).Encode(what))
}

// token returns a token of an OpenID Connect provider. Its signature is a fixed text,
// because only Fulcio checks it.
func token() string {
	claims := `{"email":"` + identity + `","email_verified":true,"iss":"` + issuer + `"}`
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
}

func TestKeylessSignatureVerifies(t *testing.T) {
	trusted := newFakes(t)
	signer, err := signing.Keyless(trusted.services(t), token())
	noError(t, err)
	file, err := signer.File(t.Context(), []byte("content"))
	noError(t, err)
	image, err := signer.Image(t.Context(), digest)
	noError(t, err)
	for name, tc := range map[string]struct {
		trusted  root.TrustedMaterial
		bundle   []byte
		of       verify.ArtifactPolicyOption
		identity string
		want     string
	}{
		"file":             {trusted, file.Bundle, verify.WithArtifact(strings.NewReader("content")), identity, ""},
		"image":            {trusted, image, signingtest.Digest(t, digest), identity, ""},
		"changed file":     {trusted, file.Bundle, verify.WithArtifact(strings.NewReader("Content")), identity, "invalid signature"},
		"another identity": {trusted, file.Bundle, verify.WithArtifact(strings.NewReader("content")), "other@example.org", "no matching CertificateIdentity"},
		"another Sigstore": {newFakes(t), file.Bundle, verify.WithArtifact(strings.NewReader("content")), identity, "failed to verify"},
	} {
		t.Run(name, func(t *testing.T) {
			verifier, err := verify.NewVerifier(tc.trusted, verify.WithTransparencyLog(1), verify.WithIntegratedTimestamps(1))
			noError(t, err)
			who, err := verify.NewShortCertificateIdentity(issuer, "", tc.identity, "")
			noError(t, err)
			var read bundle.Bundle
			noError(t, read.UnmarshalJSON(tc.bundle))
			_, err = verifier.Verify(&read, verify.NewPolicy(tc.of, verify.WithCertificateIdentity(who)))
			signingtest.Expect(t, err, tc.want)
		})
	}
}

func TestKeylessIsRefused(t *testing.T) {
	signer, err := signing.Keyless(newFakes(t).services(t), strings.Replace(token(), "c2lnbmF0dXJl", "b3RoZXI", 1))
	noError(t, err)
	_, err = signer.File(t.Context(), []byte("content"))
	signingtest.Expect(t, err, "Fulcio returned 401: no token")
	nowhere, err := root.NewSigningConfig(root.SigningConfigMediaType02, nil, nil, nil, root.ServiceConfiguration{}, nil, root.ServiceConfiguration{})
	noError(t, err)
	_, err = signing.Keyless(nowhere, token())
	signingtest.Expect(t, err, "choosing a certificate authority")
}
