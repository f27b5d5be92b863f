// SPDX-License-Identifier: Apache-2.0

// Package stores has all object stores for archives, and links the libraries of all of
// them. To link fewer, import packages below this one, and pass their providers to
// [archive.Open].
package stores

import (
	"context"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores/azure"
	"perflab.dev/perflab/internal/archive/stores/directory"
	"perflab.dev/perflab/internal/archive/stores/gcs"
	"perflab.dev/perflab/internal/archive/stores/s3"
)

// All returns all providers, by the scheme of their URLs.
func All() map[string]archive.Provider {
	return map[string]archive.Provider{
		archive.SchemeS3:        s3.Open,
		archive.SchemeGCS:       gcs.Open,
		archive.SchemeAzure:     azure.Open,
		archive.SchemeDirectory: directory.Open,
	}
}

// Open opens an archive in any of them.
func Open(ctx context.Context, location archive.Location, options archive.Options) (*archive.Store, error) {
	return archive.Open(ctx, location, All(), options)
}
