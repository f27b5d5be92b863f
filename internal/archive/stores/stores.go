// SPDX-License-Identifier: Apache-2.0

// Package stores has all object stores that an archive can be in. Who imports it links
// the libraries of all of them; who wants fewer imports the packages below it, and gives
// their providers to [archive.Open].
package stores

import (
	"context"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores/azure"
	"perflab.dev/perflab/internal/archive/stores/directory"
	"perflab.dev/perflab/internal/archive/stores/gcs"
	"perflab.dev/perflab/internal/archive/stores/s3"
)

// All providers, by the scheme of their URLs.
func All() map[string]archive.Provider {
	return map[string]archive.Provider{
		archive.SchemeS3:        s3.Open,
		archive.SchemeGCS:       gcs.Open,
		archive.SchemeAzure:     azure.Open,
		archive.SchemeDirectory: directory.Open,
	}
}

// Open an archive in any of them.
func Open(ctx context.Context, location archive.Location, options archive.Options) (*archive.Store, error) {
	return archive.Open(ctx, location, All(), options)
}
