// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores"
)

// ArchiveVariable is the environment variable for the default of --archive.
const ArchiveVariable = "PERFLAB_ARCHIVE"

// OpenArchive opens the archive at a URL.
func OpenArchive(ctx context.Context, url string) (*archive.Store, error) {
	if url == "" {
		return nil, fmt.Errorf("%w: --archive is missing: name the archive, for example --archive s3://perflab/archive?region=eu-central-1, or set %s", exit.ErrOption, ArchiveVariable)
	}
	location, err := archive.ParseLocation(url)
	if err != nil {
		return nil, fmt.Errorf("%w: --archive: %w", exit.ErrOption, err)
	}
	return stores.Open(ctx, location, archive.Options{})
}
