// SPDX-License-Identifier: Apache-2.0

package licence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/hack/release/internal/product"
)

// heading is the start of NOTICE.
const heading = `PerfLab
Copyright The PerfLab Authors

This product is licensed under the Apache License, Version 2.0 (LICENSE), but for what
is in the folder k6/: that links Grafana k6, and is licensed, as is the program k6 that
is built from it and the image k6 that carries it, under the GNU Affero General Public
License, version 3 (k6/LICENSE). Who passes the image or the program on has to pass on
its source, too, or offer it; each release has it, with that of everything it links, as
k6-VERSION-source.tar.gz. The other programs and images link no code under the AGPL.

The reports that perflab and the operator write in HTML carry uPlot, copyright Leon
Sorokin, under the MIT licence (internal/report/format/assets/uplot/LICENSE), which stands in
each of them. Of this source's tests one runs axe-core, copyright Deque Systems, under
the Mozilla Public License 2.0 (internal/testing/browser/axe/LICENSE); no release has it.

Below stands what each program links, with its licence. The licences themselves are in
the file THIRD_PARTY_NOTICES.txt of each archive and image of a release, and so is the
list of what the sample system links, which is in Java. This file is written by "make
notice", and "make licences" says when it is not current.
`

// Notice returns the file NOTICE of the source, which lists what each program links. The
// versions are only in go.mod, so that not every update changes NOTICE.
func Notice(programs []product.Program, linked map[string][]Module) string {
	var out strings.Builder
	out.WriteString(heading)
	for _, program := range programs {
		fmt.Fprintf(&out, "\n%s (%s)\n\n", program.Name, program.Licence)
		for _, module := range linked[program.Name] {
			fmt.Fprintf(&out, "  %s  %s\n", module.Path, module.Expression)
		}
	}
	return out.String()
}

// Texts returns the file THIRD_PARTY_NOTICES.txt: every license and notice in full, each
// text once.
func Texts(modules []Module) string {
	var order []string
	owners := map[string][]string{}
	for _, module := range modules {
		for _, file := range module.Files {
			text := strings.TrimSpace(strings.ReplaceAll(file.Text, "\r\n", "\n"))
			if owners[text] == nil {
				order = append(order, text)
			}
			owner := fmt.Sprintf("%s %s, %s", module.Path, cmp.Or(module.Version, "(this source)"), file.Name)
			if !slices.Contains(owners[text], owner) {
				owners[text] = append(owners[text], owner)
			}
		}
	}
	var out strings.Builder
	for _, text := range order {
		fmt.Fprintf(&out, "%s\n%s\n%s\n\n%s\n\n", strings.Repeat("=", 80), strings.Join(owners[text], "\n"), strings.Repeat("-", 80), text)
	}
	return out.String()
}
