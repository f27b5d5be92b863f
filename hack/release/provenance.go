// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strconv"
	"strings"

	"perflab.dev/perflab/hack/release/internal/gocommand"
	"perflab.dev/perflab/hack/release/internal/product"
	"perflab.dev/perflab/hack/release/internal/provenance"
)

// provenanceFile is the file that records how the release was built.
const provenanceFile = "provenance.json"

func (r *release) stateProvenance(ctx context.Context) error {
	files, err := r.files()
	if err != nil {
		return err
	}
	version, err := gocommand.Output(ctx, r.source, product.Platform{}, "env", "GOVERSION")
	if err != nil {
		return err
	}
	stated, err := provenance.Statement(provenance.Build{
		Parameters: r.parameters(), Revision: r.revision,
		Go: strings.TrimSpace(string(version)), Subjects: append(files, r.images...),
	})
	if err != nil {
		return err
	}
	return r.write(provenanceFile, stated)
}

// parameters returns the parameters that determine the bytes of a release, together with
// the source and Go.
func (r *release) parameters() map[string]any {
	parameters := map[string]any{
		"version": r.version, "registry": r.registry, "download": r.download,
		"sourceDateEpoch": strconv.FormatInt(r.created.Unix(), 10),
	}
	if r.java != "" {
		parameters["javaImage"] = r.java
	}
	if len(r.platforms) > 0 {
		parameters["platforms"] = strings.Join(r.platforms, ",")
	}
	if r.modified {
		parameters["modified"] = true
	}
	return parameters
}
