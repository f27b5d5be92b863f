// SPDX-License-Identifier: Apache-2.0

package signing

import (
	"fmt"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/sign"
)

// Services reads a signing configuration from a file, or gets the configuration of the
// public services.
func Services(file string) (*root.SigningConfig, error) {
	if file == "" {
		return root.FetchSigningConfig()
	}
	return root.NewSigningConfigFromPath(file)
}

// Keyless returns a signer with the identity of an OpenID Connect token. Fulcio issues a
// certificate for the identity. Logs and timestamps show that the certificate was valid
// when it was used. The signing configuration has their addresses.
func Keyless(services *root.SigningConfig, token string) (*Signer, error) {
	now := time.Now()
	authority, err := root.SelectService(services.FulcioCertificateAuthorityURLs(), sign.FulcioAPIVersions, now)
	if err != nil {
		return nil, fmt.Errorf("choosing a certificate authority: %w", err)
	}
	logs, err := logs(services, now)
	if err != nil {
		return nil, fmt.Errorf("choosing a transparency log: %w", err)
	}
	clocks, err := clocks(services, now)
	if err != nil {
		return nil, fmt.Errorf("choosing a timestamp authority: %w", err)
	}
	keypair, err := sign.NewEphemeralKeypair(nil)
	if err != nil {
		return nil, err
	}
	return &Signer{keypair: keypair, options: sign.BundleOptions{
		CertificateProvider:        sign.NewFulcio(&sign.FulcioOptions{BaseURL: authority.URL, Retries: 1}),
		CertificateProviderOptions: &sign.CertificateProviderOptions{IDToken: token},
		TransparencyLogs:           logs,
		TimestampAuthorities:       clocks,
	}}, nil
}

func logs(services *root.SigningConfig, now time.Time) ([]sign.Transparency, error) {
	selected, err := root.SelectServices(services.RekorLogURLs(), services.RekorLogURLsConfig(), sign.RekorAPIVersions, now)
	var made []sign.Transparency
	for _, one := range selected {
		made = append(made, sign.NewRekor(&sign.RekorOptions{BaseURL: one.URL, Version: one.MajorAPIVersion, Retries: 1}))
	}
	return made, err
}

func clocks(services *root.SigningConfig, now time.Time) ([]*sign.TimestampAuthority, error) {
	if len(services.TimestampAuthorityURLs()) == 0 {
		return nil, nil
	}
	selected, err := root.SelectServices(services.TimestampAuthorityURLs(), services.TimestampAuthorityURLsConfig(), sign.TimestampAuthorityAPIVersions, now)
	var made []*sign.TimestampAuthority
	for _, one := range selected {
		made = append(made, sign.NewTimestampAuthority(&sign.TimestampAuthorityOptions{URL: one.URL, Retries: 1}))
	}
	return made, err
}
