// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"

	"perflab.dev/perflab/hack/release/internal/product"
	"perflab.dev/perflab/hack/release/internal/provenance"
	"perflab.dev/perflab/hack/release/internal/signing"
	"perflab.dev/perflab/hack/release/internal/signing/signingtest"
)

// run runs a command of the program and returns its output.
func run(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var printed bytes.Buffer
	root := newRoot()
	root.SetOut(&printed)
	root.SetErr(&printed)
	root.SetArgs(arguments)
	err := root.ExecuteContext(t.Context())
	return printed.String(), err
}

// unsigned returns a copy of the release's folder.
func unsigned(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for file := range sums(t, theRelease(t)) {
		noError(t, os.Symlink(filepath.Join(theRelease(t), file), filepath.Join(folder, file)))
	}
	return folder
}

func keyFile(t *testing.T, pair signingtest.Pair) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cosign.key")
	noError(t, os.WriteFile(file, pair.Private, 0o600))
	return file
}

// signed returns a copy of the release's folder with signatures by a key.
func signed(t *testing.T, pair signingtest.Pair) string {
	t.Helper()
	folder := unsigned(t)
	_, err := run(t, "sign", folder, "--key", keyFile(t, pair))
	noError(t, err)
	return folder
}

// pushedDigests returns the digests of the archives' content.
func pushedDigests(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(theRelease(t), "*"+layoutSuffix))
	noError(t, err)
	digests := map[string]string{}
	for _, file := range files {
		noError(t, withLayout(file, func(held layoutContent) error {
			digests[filepath.Base(file)] = held.content.Digest.Hex
			return nil
		}))
	}
	// The sample's image and the chart are the others.
	if len(digests) != len(product.Images)+2 {
		t.Fatalf("%d archives", len(digests))
	}
	return digests
}

func TestSignedChecksumsVerify(t *testing.T) {
	pair := signingtest.Generate(t)
	folder := signed(t, pair)
	checksums := content(t, folder, checksumsFile)
	for name, tc := range map[string]struct {
		public, checksums []byte
		want              string
	}{
		"as signed":    {pair.Public, checksums, ""},
		"changed byte": {pair.Public, append([]byte{checksums[0] ^ 1}, checksums[1:]...), "invalid signature"},
		"another key":  {signingtest.Generate(t).Public, checksums, "invalid signature"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := signingtest.Verify(t, tc.public, content(t, folder, checksumsFile+bundleSuffix), verify.WithArtifact(bytes.NewReader(tc.checksums)))
			signingtest.Expect(t, err, tc.want)
			raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(content(t, folder, checksumsFile+signatureSuffix))))
			noError(t, err)
			key, err := cryptoutils.UnmarshalPEMToPublicKey(tc.public)
			noError(t, err)
			verifier, err := signature.LoadVerifier(key, crypto.SHA256)
			noError(t, err)
			signingtest.Expect(t, verifier.VerifySignature(bytes.NewReader(raw), bytes.NewReader(tc.checksums)), tc.want)
		})
	}
}

// TestSignedProvenanceNamesEverything checks that the provenance names everything that is
// in the checksums or pushed.
func TestSignedProvenanceNamesEverything(t *testing.T) {
	pair := signingtest.Generate(t)
	folder := signed(t, pair)
	statement := content(t, folder, provenanceBundle)
	digests := slices.Collect(maps.Values(pushedDigests(t)))
	for name, sum := range sums(t, theRelease(t)) {
		if name != checksumsFile && name != provenanceFile {
			digests = append(digests, sum)
		}
	}
	for _, one := range digests {
		result, err := signingtest.Verify(t, pair.Public, statement, signingtest.Digest(t, one))
		signingtest.Expect(t, err, "")
		if err == nil && len(result.Statement.GetSubject()) != len(digests) {
			t.Errorf("it has %d subjects, want %d", len(result.Statement.GetSubject()), len(digests))
		}
	}
	_, err := signingtest.Verify(t, pair.Public, statement, signingtest.Digest(t, digest([]byte("another file"))))
	signingtest.Expect(t, err, "digest does not match")
	_, err = signingtest.Verify(t, signingtest.Generate(t).Public, statement, signingtest.Digest(t, digests[0]))
	signingtest.Expect(t, err, "could not verify envelope")
}

// TestImageSignaturesNameImages checks that an image does not verify with another image's
// signature.
func TestImageSignaturesNameImages(t *testing.T) {
	pair := signingtest.Generate(t)
	folder := signed(t, pair)
	digests := pushedDigests(t)
	for file := range digests {
		bundle := content(t, folder, strings.TrimSuffix(file, layoutSuffix)+bundleSuffix)
		for other, digest := range digests {
			want := ""
			if other != file {
				want = "digest does not match"
			}
			_, err := signingtest.Verify(t, pair.Public, bundle, signingtest.Digest(t, digest))
			signingtest.Expect(t, err, want)
		}
	}
}

// served starts a registry with or without the referrers API, and returns its address.
func served(t *testing.T, referrers bool) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(referrers)))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://") + "/perflab"
}

// attached returns the bundles that refer to an image of a registry, in the way that cosign
// finds them.
func attached(t *testing.T, reference string) (digest string, bundles [][]byte) {
	t.Helper()
	tag, err := name.ParseReference(reference)
	noError(t, err)
	image, err := remote.Head(tag)
	noError(t, err)
	referrers, err := remote.Referrers(tag.Context().Digest(image.Digest.String()))
	noError(t, err)
	manifest, err := referrers.IndexManifest()
	noError(t, err)
	for _, one := range manifest.Manifests {
		referrer, err := remote.Image(tag.Context().Digest(one.Digest.String()))
		noError(t, err)
		described, err := referrer.Manifest()
		if err != nil || described.ArtifactType != "application/vnd.dev.sigstore.bundle.v0.3+json" || described.Subject.Digest != image.Digest {
			t.Errorf("a referrer is %+v, %v", described, err)
		}
		layers, err := referrer.Layers()
		noError(t, err)
		opened, err := layers[0].Compressed()
		noError(t, err)
		read, err := io.ReadAll(opened)
		noError(t, err)
		bundles = append(bundles, read)
	}
	return image.Digest.Hex, bundles
}

// pushedReferences returns the references of the images and the chart of a registry that
// the release was pushed to.
func pushedReferences(registry string) []string {
	references := []string{registry + "/" + chartRepository + ":" + testVersion[1:]}
	for _, image := range append(slices.Clone(product.Images), sampleImage) {
		references = append(references, registry+"/"+image.Name+":"+testVersion)
	}
	return references
}

func TestPushedImagesAndChartVerify(t *testing.T) {
	pair := signingtest.Generate(t)
	folder := signed(t, pair)
	for name, referrers := range map[string]bool{"referrers": true, "tags": false} {
		t.Run(name, func(t *testing.T) {
			registry := served(t, referrers)
			for range 2 { // The second push adds nothing.
				printed, err := run(t, "push", folder, "--registry", registry)
				noError(t, err)
				if strings.Count(printed, " (signed)\n") != len(pushedReferences(registry)) {
					t.Errorf("output: %s", printed)
				}
			}
			for _, reference := range pushedReferences(registry) {
				checkAttached(t, pair, reference)
			}
		})
	}
}

func checkAttached(t *testing.T, pair signingtest.Pair, reference string) {
	t.Helper()
	digest, bundles := attached(t, reference)
	var predicates []string
	for _, bundle := range bundles {
		result, err := signingtest.Verify(t, pair.Public, bundle, signingtest.Digest(t, digest))
		noError(t, err)
		predicates = append(predicates, result.Statement.GetPredicateType())
	}
	slices.Sort(predicates)
	if diff := cmp.Diff([]string{signing.ImagePredicate, provenance.PredicateType}, predicates); diff != "" {
		t.Errorf("%s (-want +attached):\n%s", reference, diff)
	}
}

func TestPushUnsignedRelease(t *testing.T) {
	registry := served(t, true)
	printed, err := run(t, "push", theRelease(t), "--registry", registry)
	noError(t, err)
	for _, reference := range pushedReferences(registry) {
		if _, bundles := attached(t, reference); len(bundles) != 0 {
			t.Errorf("%s has %d signatures", reference, len(bundles))
		}
	}
	if strings.Count(printed, " (not signed)\n") != len(pushedReferences(registry)) {
		t.Errorf("output: %s", printed)
	}
}

func TestSignRefuses(t *testing.T) {
	changed := unsigned(t)
	file := filepath.Join(changed, "krew-perflab.yaml")
	noError(t, os.Remove(file))
	noError(t, os.WriteFile(file, []byte("other"), 0o600))
	missing := unsigned(t)
	noError(t, os.Remove(filepath.Join(missing, "krew-perflab.yaml")))
	key := keyFile(t, signingtest.Generate(t))
	t.Setenv(token, "")
	for name, tc := range map[string]struct {
		arguments []string
		want      string
	}{
		"changed file": {[]string{changed, "--key", key}, "krew-perflab.yaml does not match checksums.txt"},
		"missing file": {[]string{missing, "--key", key}, "krew-perflab.yaml: no such file"},
		"no release":   {[]string{t.TempDir(), "--key", key}, "checksums.txt: no such file"},
		"no key file":  {[]string{unsigned(t), "--key", key + "s"}, "cosign.keys: no such file"},
		"no key":       {[]string{unsigned(t)}, "set --key, or an identity token in SIGSTORE_ID_TOKEN"},
		"public key":   {[]string{unsigned(t), "--key", filepath.Join(theRelease(t), checksumsFile)}, "reading the key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, append([]string{"sign"}, tc.arguments...)...)
			signingtest.Expect(t, err, tc.want)
			if left, globErr := filepath.Glob(filepath.Join(tc.arguments[0], "*"+bundleSuffix)); globErr != nil || len(left) > 0 {
				t.Errorf("it has left %v, %v", left, globErr)
			}
		})
	}
}

func TestIdentitySignsWithoutKey(t *testing.T) {
	t.Setenv(token, "e30.e30.e30")
	_, err := run(t, "sign", unsigned(t), "--signing-config", filepath.Join(t.TempDir(), "services.json"))
	signingtest.Expect(t, err, "reading the signing configuration: open")
}

// TestCosignVerifies runs the commands of docs/install.md, if cosign is on the PATH.
func TestCosignVerifies(t *testing.T) {
	cosign, err := exec.LookPath("cosign")
	if err != nil {
		t.Skip("cosign is not on the PATH; the other tests use its library")
	}
	pair := signingtest.Generate(t)
	folder, registry := signed(t, pair), served(t, true)
	_, err = run(t, "push", folder, "--registry", registry)
	noError(t, err)
	noError(t, os.WriteFile(filepath.Join(folder, "cosign.pub"), pair.Public, 0o600))
	noError(t, os.WriteFile(filepath.Join(folder, "other.pub"), signingtest.Generate(t).Public, 0o600))
	archive := "perflab_" + testVersion + "_linux_amd64.tar.gz"
	commands := [][]string{
		{"verify-blob", "--bundle", "checksums.txt.sigstore.json", "checksums.txt"},
		{"verify-blob", "--signature", "checksums.txt.sig", "checksums.txt"},
		{"verify-blob-attestation", "--type", "slsaprovenance1", "--bundle", "provenance.sigstore.json", archive},
	}
	for _, reference := range pushedReferences(registry) {
		commands = append(commands, []string{"verify", reference}, []string{"verify-attestation", "--type", "slsaprovenance1", reference})
	}
	for _, command := range commands {
		for key, works := range map[string]bool{"cosign.pub": true, "other.pub": false} {
			arguments := append([]string{command[0], "--key", key, "--insecure-ignore-tlog"}, command[1:]...)
			started := exec.CommandContext(t.Context(), cosign, arguments...)
			started.Dir = folder
			if printed, err := started.CombinedOutput(); (err == nil) != works {
				t.Errorf("cosign %s: %v\n%s", strings.Join(arguments, " "), err, printed)
			}
		}
	}
}
