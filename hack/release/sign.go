// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"perflab.dev/perflab/hack/release/internal/signing"
)

const (
	layoutSuffix = ".oci.tar"
	// bundleSuffix is the suffix of a file with a signature and its verification material.
	bundleSuffix = ".sigstore.json"
	// signatureSuffix is the suffix of a file with only a signature, in base64.
	signatureSuffix = ".sig"
)

// These are cosign's variables: password decrypts the private key, and token holds an
// identity.
const (
	password = "COSIGN_PASSWORD"
	token    = "SIGSTORE_ID_TOKEN"
)

func newSign() *cobra.Command {
	var key, services string
	sign := &cobra.Command{
		Use:   "sign FOLDER [--key FILE]",
		Short: "Sign the images, the chart, the provenance and the checksums of a release",
		Long: `Sign the images, the chart, the provenance and the checksums of a release, for cosign to
verify. The signatures are files beside the others; push takes those of images and chart
to the registry. ` + password + ` decrypts the key. Without a key, sign in the name of the
identity in ` + token + `, an OpenID Connect token: Fulcio certifies it, and Rekor logs
every signature in public.`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			signer, err := newSigner(key, services)
			if err != nil {
				return err
			}
			signed, err := signRelease(command.Context(), arguments[0], signer)
			if err != nil {
				return fmt.Errorf("signing %s: %w", arguments[0], err)
			}
			command.PrintErrf("signed %s: %d signatures\n", arguments[0], signed)
			return nil
		},
	}
	sign.Flags().StringVar(&key, "key", "", "private key, as cosign generate-key-pair writes it, or an ECDSA key in PKCS #8")
	sign.Flags().StringVar(&services, "signing-config", "", "Sigstore signing configuration, which names Fulcio and Rekor (default: the public services)")
	return sign
}

func newSigner(key, services string) (*signing.Signer, error) {
	identity := os.Getenv(token)
	switch {
	case key != "":
		return readKey(key)
	case identity != "":
		return keyless(services, identity)
	default:
		return nil, fmt.Errorf("no signing key: set --key, or an identity token in %s", token)
	}
}

func keyless(services, identity string) (*signing.Signer, error) {
	config, err := signing.Services(services)
	if err != nil {
		return nil, fmt.Errorf("reading the signing configuration: %w", err)
	}
	return signing.Keyless(config, identity)
}

func readKey(file string) (*signing.Signer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	signer, err := signing.WithKey(text, []byte(os.Getenv(password)))
	if err != nil {
		return nil, fmt.Errorf("reading the key %s, with the password in %s: %w", file, password, err)
	}
	return signer, nil
}

// signRelease signs a release. It writes the signatures only after all of them have been
// created.
func signRelease(ctx context.Context, folder string, signer *signing.Signer) (int, error) {
	names, err := checkedFiles(folder)
	if err != nil {
		return 0, err
	}
	signatures, err := signFiles(ctx, folder, signer)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		base, isLayout := strings.CutSuffix(name, layoutSuffix)
		if !isLayout {
			continue
		}
		if signatures[base+bundleSuffix], err = signLayout(ctx, filepath.Join(folder, name), signer); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, content := range signatures {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil { //nolint:gosec // It is to be read by everybody.
			return 0, err
		}
	}
	return len(signatures), nil
}

// signFiles signs checksums and provenance, which name all other files.
func signFiles(ctx context.Context, folder string, signer *signing.Signer) (map[string][]byte, error) {
	checksums, err := os.ReadFile(filepath.Join(folder, checksumsFile))
	if err != nil {
		return nil, err
	}
	signed, err := signer.File(ctx, checksums)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", checksumsFile, err)
	}
	statement, err := os.ReadFile(filepath.Join(folder, provenanceFile))
	if err != nil {
		return nil, err
	}
	stated, err := signer.Statement(ctx, statement)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", provenanceFile, err)
	}
	return map[string][]byte{
		checksumsFile + signatureSuffix: []byte(base64.StdEncoding.EncodeToString(signed.Raw) + "\n"),
		checksumsFile + bundleSuffix:    signed.Bundle,
		provenanceBundle:                stated,
	}, nil
}

// provenanceBundle is the signed provenance.
var provenanceBundle = strings.TrimSuffix(provenanceFile, ".json") + bundleSuffix

func signLayout(ctx context.Context, file string, signer *signing.Signer) (bundle []byte, err error) {
	err = withLayout(file, func(held layoutContent) error {
		bundle, err = signer.Image(ctx, held.content.Digest.Hex)
		return err
	})
	return bundle, err
}

// checkedFiles returns the files in the checksums, or an error if a file has changed.
func checkedFiles(folder string) ([]string, error) {
	list, err := os.ReadFile(filepath.Join(folder, checksumsFile))
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(list)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if digest(content) != sum {
			return nil, fmt.Errorf("%s does not match %s: build the release again", name, checksumsFile)
		}
		names = append(names, name)
	}
	return names, nil
}
