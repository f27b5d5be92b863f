// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/secret"
)

// mostScript is what a report shows of a script, in bytes: it has to fit into a
// ConfigMap together with all the rest.
const mostScript = 32 << 10

// shownScript is a script that runs have measured.
type shownScript struct {
	scenario, load, place, sha256, text string
}

// scripts are those that the runs wrote down, each text of a load once.
func (r *record) scripts() []shownScript {
	var all []shownScript
	seen := map[[3]string]bool{}
	for _, run := range r.journal {
		for _, load := range run.Spec.Scenario.Loads {
			status := scriptStatus(run, load)
			if status == nil {
				continue
			}
			key := [3]string{run.Spec.Scenario.Name, load.Name, status.SHA256}
			if seen[key] || run.Status.Phase != v1alpha1.RunSucceeded {
				continue
			}
			seen[key] = true
			source := kinds.Of(load).Source()
			one := shownScript{scenario: key[0], load: key[1], sha256: key[2], place: source.String()}
			if kept := r.trace[run.Name]; kept != nil {
				one.text = kept.scripts[load.Name+"."+source.ConfigMap.Key]
			}
			all = append(all, one)
		}
	}
	return all
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
func scriptBlocks(scripts []shownScript) []block {
	if len(scripts) == 0 {
		return nil
	}
	made := &table{Caption: "Scripts that were measured", Columns: words("Scenario", "Load", "Script", "SHA-256")}
	var texts []block
	shown := map[string]bool{}
	for _, one := range scripts {
		made.Rows = append(made.Rows, row{Cells: []cell{name(one.scenario), name(one.load), {Text: one.place}, {Text: one.sha256}}})
		if one.text != "" && !shown[one.sha256] {
			shown[one.sha256] = true
			text, cut := shownText(one.text)
			texts = append(texts, paragraph(capital(one.place)+cut+"."), block{Code: text})
		}
	}
	return append([]block{heading("Scripts"), {Table: made}}, texts...)
}

// shownText is a script without what may be secret in it, and says where it ends
// before the script does.
func shownText(text string) (shown, cut string) {
	text = secret.HideInText(text)
	if len(text) <= mostScript {
		return text, ""
	}
	return strings.ToValidUTF8(text[:mostScript], ""), fmt.Sprintf(", its first %d KiB of %d", mostScript>>10, len(text)>>10)
}
