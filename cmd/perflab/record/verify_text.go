// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"io"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/text/prose"
)

// linkNouns are the nouns that count the links of each kind.
var linkNouns = map[evidence.Kind]string{
	evidence.KindManifest: "manifest", evidence.KindExperiment: "experiment", evidence.KindPlan: "plan", evidence.KindRecord: "run", evidence.KindAttempts: "attempt",
	evidence.KindRawResults: "ConfigMap", evidence.KindSamples: "ConfigMap", evidence.KindScripts: "ConfigMap",
	evidence.KindAnswer: "answer", evidence.KindHistory: "ConfigMap", evidence.KindReport: "report",
}

func writeVerified(s *console.Sheet, name string, result *evidence.Result, shown []evidence.Broken) {
	s.Title("Experiment " + name + stageText(result.Stage))
	rows := [][]string{{"link", "checked", "outcome"}}
	for _, link := range evidence.Kinds {
		if followed := result.Followed[link]; followed > 0 {
			rows = append(rows, []string{string(link), prose.Counted(followed, linkNouns[link]), outcomeText(link, followed, result.Broken)})
		}
	}
	s.Rows(rows)
	for _, note := range result.Notes {
		s.Line("  note: %s", note)
	}
	if len(shown) > 0 {
		s.Title("Broken links")
		for i, broken := range shown {
			s.Item(i+1, broken.String())
		}
	}
	if result.SHA256 != "" {
		s.Line("\nSHA-256 of the manifest: %s", result.SHA256)
	}
}

// stageText is the stage of the experiment in the manifest; empty for an invalid
// manifest.
func stageText(stage evidence.Stage) string {
	if stage == (evidence.Stage{}) {
		return ""
	}
	blocks := prose.Counted(stage.Blocks, "complete block")
	if stage.Ended {
		return ", at the end of " + blocks
	}
	return ", after " + blocks
}

func outcomeText(link evidence.Kind, followed int, broken []evidence.Broken) string {
	failed := countBroken(link, broken)
	switch {
	case failed == 0 && followed == 1:
		return console.OutcomeMatches
	case failed == 0:
		return console.OutcomeMatch
	default:
		return fmt.Sprintf("%d of %d do not match", failed, followed)
	}
}

func countBroken(link evidence.Kind, broken []evidence.Broken) int {
	count := 0
	for _, one := range broken {
		if one.Link == link {
			count++
		}
	}
	return count
}

// VerifiedJSON is the JSON form of a verification.
type VerifiedJSON struct {
	Experiment string            `json:"experiment"`
	Holds      bool              `json:"holds"`
	SHA256     string            `json:"sha256"`
	Blocks     int32             `json:"blocks"`
	Ended      bool              `json:"ended"`
	Links      []linkJSON        `json:"links"`
	Broken     []evidence.Broken `json:"broken"`
	Notes      []string          `json:"notes"`
}

type linkJSON struct {
	Link     evidence.Kind `json:"link"`
	Followed int           `json:"followed"`
	Broken   int           `json:"broken"`
}

func writeVerifiedJSON(out io.Writer, name string, result *evidence.Result, shown []evidence.Broken) error {
	document := VerifiedJSON{
		Experiment: name, Holds: len(result.Broken) == 0, SHA256: result.SHA256, Blocks: result.Stage.Blocks, Ended: result.Stage.Ended,
		Links: []linkJSON{}, Broken: append([]evidence.Broken{}, shown...), Notes: append([]string{}, result.Notes...),
	}
	for _, link := range evidence.Kinds {
		if followed := result.Followed[link]; followed > 0 {
			document.Links = append(document.Links, linkJSON{link, followed, countBroken(link, result.Broken)})
		}
	}
	return console.Encode(out, document)
}
