// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/redact"
)

// maxScript is the maximum size of a script in a report, in bytes: it must fit into a ConfigMap
// with everything else.
const maxScript = 32 << 10

// shownScript is a script that runs used.
type shownScript struct {
	scenario, load, place, sha256, text string
}

// scripts are those that the runs recorded, each text of a load once.
func scripts(r *Record) []shownScript {
	var all []shownScript
	for _, run := range r.journal.valid() {
		for _, load := range run.Spec.Scenario.Loads {
			status := scriptStatus(run, load)
			if status == nil {
				continue
			}
			source := kinds.ForLoad(load).Source()
			one := shownScript{scenario: run.Spec.Scenario.Name, load: load.Name, sha256: status.SHA256, place: source.String()}
			if !slices.ContainsFunc(all, one.isSameScript) {
				one.text = cmp.Or(r.Traces[run.Name], emptyTrace).scripts[load.Name+"."+source.ConfigMap.Key]
				all = append(all, one)
			}
		}
	}
	return all
}

// isSameScript reports whether another script has the same load and text.
func (s shownScript) isSameScript(other shownScript) bool {
	return s.scenario == other.scenario && s.load == other.load && s.sha256 == other.sha256
}

func scriptStatus(run *v1alpha1.PerfRun, load v1alpha1.Load) *v1alpha1.ScriptStatus {
	if kinds.ForLoad(load).Source().ConfigMap == nil {
		return nil
	}
	for i := range run.Status.Loads {
		if status := &run.Status.Loads[i]; status.Name == load.Name {
			return status.Script
		}
	}
	return nil
}

// scriptBlocks list the scripts with their digests and show each text once.
func scriptBlocks(r *Record) []document.Block {
	result := &document.Table{Caption: "Load scripts", Columns: document.TextColumns("Scenario", "Load", "Script", "SHA-256")}
	var texts []document.Block
	shown := map[string]bool{}
	for _, one := range scripts(r) {
		result.Rows = append(result.Rows, document.Row{Cells: []document.Cell{nameCell(one.scenario), nameCell(one.load), {Text: one.place}, {Text: one.sha256}}})
		if one.text != "" && !shown[one.sha256] {
			shown[one.sha256] = true
			text, cut := scriptText(one.text)
			texts = append(texts, document.Paragraph(capitalize(one.place)+cut+"."), document.Block{Code: text, CodeTitle: declarationTitle})
		}
	}
	return append(result.Blocks(), texts...)
}

// scriptText is a script without secrets, and a note if it is cut.
func scriptText(text string) (shown, cut string) {
	text = redact.HideInText(text)
	if len(text) <= maxScript {
		return text, ""
	}
	return strings.ToValidUTF8(text[:maxScript], ""), fmt.Sprintf(", first %d of %d KiB", maxScript>>10, len(text)>>10)
}
