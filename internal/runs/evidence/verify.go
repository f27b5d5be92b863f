// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"cmp"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/runs/runorder"
	"perflab.dev/perflab/internal/text/prose"
)

// ErrNoChain means that there are no digests to verify.
var ErrNoChain = errors.New("it has no manifest of digests: none of its blocks is complete yet, or the version of PerfLab that measured it recorded none")

// Kind of a link of the chain.
type Kind string

// Kinds of links, in the order of their verification.
const (
	KindManifest   Kind = "manifest"
	KindExperiment Kind = "experiment"
	KindPlan       Kind = "plan"
	KindRecord     Kind = "record"
	KindAttempts   Kind = "attempts"
	KindRawResults Kind = "raw results"
	KindSamples    Kind = "samples"
	KindScripts    Kind = "scripts"
	KindAnswer     Kind = "answer"
	KindHistory    Kind = "history"
	KindReport     Kind = "report"
)

// Kinds has all kinds.
var Kinds = []Kind{KindManifest, KindExperiment, KindPlan, KindRecord, KindAttempts, KindRawResults, KindSamples, KindScripts, KindAnswer, KindHistory, KindReport}

// Input has the existing objects of an experiment.
type Input struct {
	Experiment *v1alpha1.PerfExperiment
	Runs       []v1alpha1.PerfRun
	// Manifest is the text; empty: there is none.
	Manifest string
	// Contents are the digests of the ConfigMaps with raw results, by name.
	Contents map[string]string
	// History is the digest of the history ConfigMap; empty: there is none.
	History string
	// Report is the digest of the stored report; empty: there is none; nil: not read.
	Report *string
	// Published is the published digest of the manifest; empty: there is none.
	Published string
}

// AddContent adds the digest of a run's ConfigMap.
func (f *Input) AddContent(kept *corev1.ConfigMap) error {
	sum, err := ContentDigest(kept)
	if err != nil {
		return err
	}
	if f.Contents == nil {
		f.Contents = map[string]string{}
	}
	f.Contents[kept.Name] = sum
	return nil
}

// Broken is a link with another digest than expected.
type Broken struct {
	Link Kind `json:"link"`
	// Object of the link.
	Object   string `json:"object"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// String is a sentence.
func (b Broken) String() string {
	return fmt.Sprintf("%s: %s: expected %s, found %s", b.Link, b.Object, b.Expected, b.Found)
}

// Result of verifying the chain.
type Result struct {
	// SHA256 of the manifest.
	SHA256 string
	Stage  Stage
	// Followed counts the verified links by kind.
	Followed map[Kind]int
	// Broken links, in the order of the chain.
	Broken []Broken
	// Notes on what the chain does not cover.
	Notes []string
}

// Verify verifies the chain. It fails with ErrNoChain if there is none, and with
// ErrManifest if an unchanged manifest can't be read.
func Verify(found Input) (*Result, error) {
	recorded := found.Experiment.Status.Evidence
	if recorded == nil && found.Manifest == "" {
		return nil, ErrNoChain
	}
	f := &verifier{Input: found, result: &Result{SHA256: Sum([]byte(found.Manifest)), Followed: map[Kind]int{}}}
	f.verifyManifest(recorded)
	if found.Manifest == "" {
		return f.result, nil
	}
	manifest, err := Parse(found.Manifest)
	if err != nil {
		if len(f.result.Broken) > 0 {
			return f.result, nil
		}
		return nil, err
	}
	f.manifest, f.result.Stage = manifest, manifest.Stage
	return f.result, f.verify()
}

// verifier verifies a chain.
type verifier struct {
	Input
	manifest *Manifest
	result   *Result
	// silent counts the ConfigMaps without a recorded digest: an older operator
	// wrote them.
	silent int
}

// check verifies one link.
func (f *verifier) check(link Kind, object, expected, found string) {
	f.result.Followed[link]++
	if expected != found {
		f.result.Broken = append(f.result.Broken, Broken{link, object, expected, cmp.Or(found, nothing)})
	}
}

// nothing describes a missing object in a broken link.
const nothing = "nothing"

func (f *verifier) verifyManifest(recorded *v1alpha1.ExperimentEvidence) {
	name := naming.Evidence(f.Experiment.Name)
	object := fmt.Sprintf("ConfigMap %q", name)
	sum := f.result.SHA256
	if f.Manifest == "" {
		sum, f.result.SHA256 = "", ""
	}
	if recorded == nil {
		f.check(KindManifest, fmt.Sprintf("status.evidence of PerfExperiment %q", f.Experiment.Name), sum, "")
	} else {
		f.check(KindManifest, object, recorded.SHA256, sum)
	}
	if f.Published != "" && (recorded == nil || f.Published != recorded.SHA256) {
		f.check(KindManifest, object+" against the published digest", f.Published, sum)
	}
}

func (f *verifier) verify() error {
	f.check(KindExperiment, fmt.Sprintf("PerfExperiment %q", f.Experiment.Name), f.manifest.Experiment.String(), newIdentity(f.Experiment).String())
	sum, err := f.manifest.Forms[f.manifest.Plan.Form].planDigest(f.Experiment)
	if err != nil {
		return err
	}
	f.check(KindPlan, fmt.Sprintf("spec, planHash and seed of PerfExperiment %q", f.Experiment.Name), f.manifest.Plan.SHA256, sum)
	if err := f.verifyRuns(); err != nil {
		return err
	}
	f.verifyAttempts()
	if err := f.verifyResult(); err != nil {
		return err
	}
	f.verifyHistory()
	f.verifyReport()
	return nil
}

func (f *verifier) verifyRuns() error {
	links := f.manifest.links()
	later := 0
	for _, run := range runorder.Sorted(f.Runs) {
		link, covered := links[run.Name]
		delete(links, run.Name)
		switch {
		case covered:
			if err := f.verifyRun(run, link); err != nil {
				return err
			}
		case f.manifest.covers(run):
			f.result.Followed[KindRecord]++
			f.result.Broken = append(f.result.Broken, Broken{KindRecord, title(run), "a run of the manifest", "one that is not in it"})
		default:
			later++
		}
	}
	for _, run := range f.manifest.Runs {
		if link, missing := links[run.Name]; missing {
			f.check(KindRecord, fmt.Sprintf("PerfRun %q", run.Name), link.SHA256, "")
		}
	}
	f.note(later, "run", "is not covered: it ended after the manifest was written, or has not ended", "are not covered: they ended after the manifest was written, or have not ended")
	f.note(f.silent, "ConfigMap", "is not covered: its run has no digest of it", "are not covered: their runs have no digest of them")
	return nil
}

func (f *verifier) note(count int, noun, one, several string) {
	if count > 0 {
		f.result.Notes = append(f.result.Notes, prose.Counted(count, noun)+" "+prose.Verb(count, one, several))
	}
}

func title(run *v1alpha1.PerfRun) string { return fmt.Sprintf("PerfRun %q", run.Name) }

// verifyRun verifies a run's record, then its ConfigMaps. Those without a digest in
// the status are not part of the chain, though they may exist.
func (f *verifier) verifyRun(run *v1alpha1.PerfRun, link Link) error {
	sum, err := f.manifest.Forms[link.Form].runDigest(run)
	if err != nil {
		return fmt.Errorf("run %q: %w", run.Name, err)
	}
	f.check(KindRecord, title(run), link.SHA256, sum)
	expected := rawResults(run)
	for _, name := range naming.RawNames(run) {
		if expected[name] == "" {
			f.silent++
			continue
		}
		f.check(linkKind(run, name), fmt.Sprintf("ConfigMap %q of run %q", name, run.Name), expected[name], f.Contents[name])
	}
	return nil
}

// rawResults returns the digests of a run's ConfigMaps, by name.
func rawResults(run *v1alpha1.PerfRun) map[string]string {
	kept := map[string]string{}
	if run.Status.Evidence != nil {
		for _, one := range run.Status.Evidence.Kept {
			kept[one.Name] = one.SHA256
		}
	}
	return kept
}

func linkKind(run *v1alpha1.PerfRun, name string) Kind {
	switch name {
	case naming.RawSamples(run.Name):
		return KindSamples
	case naming.RawScripts(run.Name):
		return KindScripts
	default:
		return KindRawResults
	}
}

// verifyAttempts checks for runs that were created and are missing. A run that was deleted
// with a reason is reported.
func (f *verifier) verifyAttempts() {
	for _, made := range f.Experiment.Status.Attempts {
		f.result.Followed[KindAttempts] += int(made)
	}
	for _, deleted := range runfilter.FindDeleted(f.Experiment, f.Runs) {
		if deleted.Reason != "" {
			f.result.Notes = append(f.result.Notes, deleted.String())
			continue
		}
		f.result.Broken = append(f.result.Broken, Broken{
			KindAttempts,
			fmt.Sprintf("attempt %d at position %d of the plan", deleted.Attempt, deleted.Position), "a PerfRun", nothing,
		})
	}
}

func (f *verifier) verifyResult() error {
	if f.manifest.Answer == nil {
		f.result.Notes = append(f.result.Notes, "results and verdicts are not covered: the experiment had not ended")
		return nil
	}
	sum, err := f.manifest.Forms[f.manifest.Answer.Form].resultDigest(&f.Experiment.Status)
	if err != nil {
		return err
	}
	f.check(KindAnswer, fmt.Sprintf("results and verdicts of PerfExperiment %q", f.Experiment.Name), f.manifest.Answer.SHA256, sum)
	return nil
}

// verifyHistory verifies the history ConfigMap. Manifests of earlier versions, and of
// experiments that had not ended, do not cover it.
func (f *verifier) verifyHistory() {
	switch {
	case f.manifest.History != "":
		f.check(KindHistory, fmt.Sprintf("ConfigMap %q", naming.History(f.Experiment.Name)), f.manifest.History, f.History)
	case f.History != "":
		f.result.Notes = append(f.result.Notes, "the measurements for histories are not covered: the manifest has no digest of them")
	}
}

func (f *verifier) verifyReport() {
	recorded := f.Experiment.Status.Evidence
	if f.Report == nil || recorded == nil || recorded.Report == "" {
		f.result.Notes = append(f.result.Notes, "the stored report was not verified")
		return
	}
	f.check(KindReport, fmt.Sprintf("ConfigMap %q", naming.Report(f.Experiment.Name)), recorded.Report, *f.Report)
}
