// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/text/redact"
)

// maxScript is what a report shows of a script, in bytes: it has to fit into a
// ConfigMap together with all the rest.
const maxScript = 32 << 10

// shownScript is a script that runs have measured.
type shownScript struct {
	scenario, load, place, sha256, text string
}

// scripts are those that the runs wrote down, each text of a load once.
func scripts(r *record) []shownScript {
	var all []shownScript
	for _, run := range r.journal.valid() {
		for _, load := range run.Spec.Scenario.Loads {
			status := scriptStatus(run, load)
			if status == nil {
				continue
			}
			source := kinds.Of(load).Source()
			one := shownScript{scenario: run.Spec.Scenario.Name, load: load.Name, sha256: status.SHA256, place: source.String()}
			if !slices.ContainsFunc(all, one.isAs) {
				one.text = cmp.Or(r.Traces[run.Name], noTrace).scripts[load.Name+"."+source.ConfigMap.Key]
				all = append(all, one)
			}
		}
	}
	return all
}

// isAs another of the same load.
func (s shownScript) isAs(other shownScript) bool {
	return s.scenario == other.scenario && s.load == other.load && s.sha256 == other.sha256
}

func scriptStatus(run *v1alpha1.PerfRun, load v1alpha1.Load) *v1alpha1.ScriptStatus {
	if kinds.Of(load).Source().ConfigMap == nil {
		return nil
	}
	for i := range run.Status.Loads {
		if status := &run.Status.Loads[i]; status.Name == load.Name {
			return status.Script
		}
	}
	return nil
}

// scriptBlocks name the scripts with their digests and show each text once.
func scriptBlocks(r *record) []block {
	result := &table{Caption: "Scripts of the loads", Columns: words("Scenario", "Load", "Script", "SHA-256")}
	var texts []block
	shown := map[string]bool{}
	for _, one := range scripts(r) {
		result.Rows = append(result.Rows, row{Cells: []cell{name(one.scenario), name(one.load), {Text: one.place}, {Text: one.sha256}}})
		if one.text != "" && !shown[one.sha256] {
			shown[one.sha256] = true
			text, cut := shownText(one.text)
			texts = append(texts, paragraph(capital(one.place)+cut+"."), block{Code: text, CodeTitle: declarationTitle})
		}
	}
	return append(result.blocks(), texts...)
}

// shownText is a script without what may be secret in it, and says where it ends
// before the script does.
func shownText(text string) (shown, cut string) {
	text = redact.HideInText(text)
	if len(text) <= maxScript {
		return text, ""
	}
	return strings.ToValidUTF8(text[:maxScript], ""), fmt.Sprintf(", its first %d KiB of %d", maxScript>>10, len(text)>>10)
}
