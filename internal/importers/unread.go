// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/text/prose"
)

// unread are k6 metrics that are not read: those of gRPC, browsers, and a script's own.
type unread []string

func (u *unread) add(name string) {
	const most = 100
	if len(*u) < most && !slices.Contains(*u, name) {
		*u = append(*u, strings.Clone(shorten(name)))
	}
}

func (u unread) String() string {
	slices.Sort(u)
	return prose.Enumerate(u) + ": not imported; measure them inside group(), or convert their values with --from table"
}

func (u unread) notes() []string {
	if len(u) == 0 {
		return nil
	}
	return []string{u.String()}
}

// explain adds them to the error about a file without other data.
func (u unread) explain(err error) error {
	var found *fault
	if len(u) == 0 || !errors.As(err, &found) {
		return err
	}
	return &fault{line: found.line, why: fmt.Sprintf("%s; %s", found.why, u)}
}
