// SPDX-License-Identifier: Apache-2.0

package evidence_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

var update = flag.Bool("update", false, "rewrite the record that every version must read")

// seed with which the recorded experiment has an invalid run.
const seed = 20

// newInput returns the evidence in recorded objects.
func newInput(t *testing.T, input *report.Input) evidence.Input {
	t.Helper()
	found, err := input.Evidence()
	expect.NoError(t, err)
	return *found
}

func verified(t *testing.T, found evidence.Input) *evidence.Result {
	t.Helper()
	result, err := evidence.Verify(found)
	expect.NoError(t, err)
	return result
}

// holds fails the test if a link is broken.
func holds(t *testing.T, input *report.Input) {
	t.Helper()
	for _, broken := range verified(t, newInput(t, input)).Broken {
		t.Errorf("it does not hold: %s", broken)
	}
}

// breaks fails the test unless exactly one link is broken, of this kind and object.
func breaks(t *testing.T, found evidence.Input, link evidence.Kind, object string) {
	t.Helper()
	result := verified(t, found)
	if len(result.Broken) != 1 || result.Broken[0].Link != link || !strings.Contains(result.Broken[0].Object, fmt.Sprintf("%q", object)) {
		t.Errorf("broken are %v, want the link %q of %q alone", result.Broken, link, object)
	}
}

func TestVerifyAcceptsChain(t *testing.T) {
	input := recorded.WithEvidence(seed)
	result := verified(t, newInput(t, &input))
	if len(result.Broken) != 0 {
		t.Fatalf("it does not hold: %v", result.Broken)
	}
	valid := 0
	for i := range input.Runs {
		if input.Runs[i].Status.Phase == v1alpha1.RunSucceeded {
			valid++
		}
	}
	for link, want := range map[evidence.Kind]int{
		evidence.KindManifest: 1, evidence.KindExperiment: 1, evidence.KindPlan: 1, evidence.KindRecord: len(input.Runs),
		evidence.KindRawResults: valid, evidence.KindSamples: valid, evidence.KindScripts: 0, evidence.KindAnswer: 1,
	} {
		if result.Followed[link] != want {
			t.Errorf("%s: %d links, want %d", link, result.Followed[link], want)
		}
	}
	if result.SHA256 != input.Experiment.Status.Evidence.SHA256 || len(input.Runs) == valid {
		t.Errorf("the digest is %s, valid are %d of %d runs", result.SHA256, valid, len(input.Runs))
	}
}

// A change of any byte of the raw results is detected, and the ConfigMap is named.
func TestVerifyDetectsChangedRawResults(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		input := small(t)
		raw := &input.Raw[random.IntN(len(input.Raw))]
		link := evidence.KindRawResults
		for key, body := range raw.BinaryData {
			body[random.IntN(len(body))] ^= 1 << random.IntN(8)
			if key == "samples" {
				link = evidence.KindSamples
			}
		}
		if len(raw.BinaryData) == 0 {
			// A data import alone has no histograms: an additional key is detected.
			raw.BinaryData = map[string][]byte{"more": {}}
		}
		breaks(t, newInput(t, &input), link, raw.Name)
	}
}

// The history ConfigMap is covered once a manifest has its digest.
func TestVerifyDetectsChangedHistory(t *testing.T) {
	input := small(t)
	kept := &corev1.ConfigMap{Data: map[string]string{"changes.json": "[]"}, BinaryData: map[string][]byte{"measured.json.gz": {1, 2, 3}}}
	sum, err := evidence.HistoryDigest(kept)
	expect.NoError(t, err)
	found := newInput(t, &input)
	found.History = sum
	if result := verified(t, found); len(result.Broken) != 0 || !slices.ContainsFunc(result.Notes, func(note string) bool { return strings.Contains(note, "histories are not covered") }) {
		t.Errorf("with a manifest that has no digest of it, broken are %v, the notes %q", result.Broken, result.Notes)
	}
	found.Manifest, err = evidence.NextManifest("", &input.Experiment, input.Runs, evidence.Stage{Blocks: 6, Ended: true}, sum)
	expect.NoError(t, err)
	input.Experiment.Status.Evidence.SHA256 = evidence.Sum([]byte(found.Manifest))
	if result := verified(t, found); len(result.Broken) != 0 || result.Followed[evidence.KindHistory] != 1 {
		t.Errorf("broken are %v, %d links of histories were followed", result.Broken, result.Followed[evidence.KindHistory])
	}
	kept.BinaryData["measured.json.gz"][0]++
	if found.History, err = evidence.HistoryDigest(kept); err != nil {
		t.Fatal(err)
	}
	breaks(t, found, evidence.KindHistory, naming.History(input.Experiment.Name))
	found.History = ""
	breaks(t, found, evidence.KindHistory, naming.History(input.Experiment.Name))
}

func TestVerifyNamesMissingObjects(t *testing.T) {
	input := small(t)
	last := len(input.Raw) - 1
	gone := input.Raw[last].Name
	input.Raw = input.Raw[:last]
	breaks(t, newInput(t, &input), evidence.KindSamples, gone)
	input = small(t)
	gone = input.Runs[2].Name
	input.Runs = slices.Delete(input.Runs, 2, 3)
	breaks(t, newInput(t, &input), evidence.KindRecord, gone)
	input = small(t)
	added := input.Runs[2].DeepCopy()
	added.Name = "one-more"
	input.Runs = append(input.Runs, *added)
	breaks(t, newInput(t, &input), evidence.KindRecord, "one-more")
}

// A change of any field of a run's record is detected.
func TestVerifyDetectsAnyChangedRunField(t *testing.T) {
	input := small(t)
	changed := map[string]bool{}
	for at := range input.Runs {
		before := input.Runs[at].DeepCopy()
		for place, one := range schemaFields(t, &before.Spec, &before.Status) {
			if isLeftOut(place) || !one.change(&input.Runs[at].Spec, &input.Runs[at].Status) {
				continue
			}
			changed[place] = true
			breaksFirst(t, newInput(t, &input), evidence.KindRecord, before.Name, place)
		}
		before.DeepCopyInto(&input.Runs[at])
	}
	if len(changed) < 80 {
		t.Errorf("only %d fields were changed", len(changed))
	}
}

// breaksFirst allows later links to break, too: after a change of a name, the named
// objects are missing.
func breaksFirst(t *testing.T, found evidence.Input, link evidence.Kind, object, place string) {
	t.Helper()
	result := verified(t, found)
	if len(result.Broken) == 0 || result.Broken[0].Link != link || !strings.Contains(result.Broken[0].Object, fmt.Sprintf("%q", object)) {
		t.Errorf("%s: broken are %v, want the link %q of %q first", place, result.Broken, link, object)
	}
}

// isLeftOut reports whether a field may change with imports or time, so that it is
// not digested.
func isLeftOut(place string) bool {
	return strings.HasSuffix(place, "observedGeneration") || strings.HasSuffix(place, "lastTransitionTime")
}

func TestVerifyDetectsChangedPlan(t *testing.T) {
	input := small(t)
	before := input.Experiment.DeepCopy()
	for place, one := range schemaFields(t, &before.Spec, &struct{}{}) {
		if place != ".spec.design.blocks" && one.change(&input.Experiment.Spec, &struct{}{}) {
			breaksFirst(t, newInput(t, &input), evidence.KindPlan, recorded.Name, place)
		}
		before.DeepCopyInto(&input.Experiment)
	}
	input.Experiment.Status.Seed = ptr.To[int64](894)
	breaks(t, newInput(t, &input), evidence.KindPlan, recorded.Name)
	before.DeepCopyInto(&input.Experiment)
	input.Experiment.Status.PlanHash = "other"
	breaks(t, newInput(t, &input), evidence.KindPlan, recorded.Name)
}

func TestVerifyDetectsChangedResult(t *testing.T) {
	for name, forge := range map[string]func(*v1alpha1.PerfExperimentStatus){
		"verdict": func(status *v1alpha1.PerfExperimentStatus) { status.Verdict = "1 better" },
		"results": func(status *v1alpha1.PerfExperimentStatus) {
			status.Results = append(status.Results, v1alpha1.Result{Scenario: "s", Metric: "m", Arm: "a", Mean: "1"})
		},
		"differences": func(status *v1alpha1.PerfExperimentStatus) { status.Arms[1].Differences[0].Arm = "67" },
		"invalid":     func(status *v1alpha1.PerfExperimentStatus) { status.InvalidRuns = nil },
	} {
		t.Run(name, func(t *testing.T) {
			input := small(t)
			forge(&input.Experiment.Status)
			breaks(t, newInput(t, &input), evidence.KindAnswer, recorded.Name)
		})
	}
}

func TestVerifyDetectsChangedManifest(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	for range 100 {
		input := small(t)
		text := []byte(input.Manifest.Data[evidence.Key])
		text[random.IntN(len(text))] ^= 1 << random.IntN(6)
		input.Manifest.Data[evidence.Key] = string(text)
		breaksFirst(t, newInput(t, &input), evidence.KindManifest, naming.Evidence(recorded.Name), "a bit")
	}
	input := small(t)
	input.Manifest = nil
	breaks(t, newInput(t, &input), evidence.KindManifest, naming.Evidence(recorded.Name))
	input = small(t)
	input.Experiment.Status.Evidence = nil
	breaks(t, newInput(t, &input), evidence.KindManifest, recorded.Name)
}

// The published digest detects a completely rebuilt chain.
func TestPublishedDigestDetectsRebuiltChain(t *testing.T) {
	input := small(t)
	published := input.Experiment.Status.Evidence.SHA256
	found := newInput(t, &input)
	found.Published = published
	if broken := verified(t, found).Broken; len(broken) != 0 {
		t.Errorf("the chain that was published does not hold: %v", broken)
	}
	input.Runs[0].Status.Observations[0].Value = "1"
	text, err := evidence.NextManifest("", &input.Experiment, input.Runs, evidence.Stage{Blocks: 6, Ended: true}, "")
	expect.NoError(t, err)
	setSettled(&input, text)
	holds(t, &input)
	found = newInput(t, &input)
	found.Published = published
	breaks(t, found, evidence.KindManifest, naming.Evidence(recorded.Name))
}

func TestVerifyDetectsChangedReport(t *testing.T) {
	input := small(t)
	input.Experiment.Status.Evidence.Report = evidence.Sum([]byte("pages"))
	found := newInput(t, &input)
	if notes := verified(t, found).Notes; !slices.Contains(notes, "the stored report was not verified") {
		t.Errorf("nothing was checked, and the notes are %q", notes)
	}
	for text, broken := range map[string]bool{"pages": false, "other pages": true} {
		found.Report = ptr.To(evidence.Sum([]byte(text)))
		if broken {
			breaks(t, found, evidence.KindReport, naming.Report(recorded.Name))
		} else if links := verified(t, found).Broken; len(links) != 0 {
			t.Errorf("it does not hold: %v", links)
		}
	}
	found.Report = ptr.To("")
	breaks(t, found, evidence.KindReport, naming.Report(recorded.Name))
}

// The chain of another experiment is rejected.
func TestVerifyDetectsOtherExperiment(t *testing.T) {
	input := small(t)
	input.Experiment.UID = "another"
	breaks(t, newInput(t, &input), evidence.KindExperiment, recorded.Name)
	input = small(t)
	input.Experiment.Annotations = map[string]string{v1alpha1.AnnotationImported: "lab/" + recorded.Name + " " + string(input.Experiment.UID) + " 2026-03-09T07:12:44Z"}
	input.Experiment.Namespace, input.Experiment.UID = "archive", "here"
	holds(t, &input)
}

// Changes that an API server, an import or a user may make do not break the chain.
func TestVerifyIgnoresMutableFields(t *testing.T) {
	input := small(t)
	spec := &input.Experiment.Spec
	spec.Suspend, spec.Cleanup.Policy, spec.Design.Blocks, spec.Design.MaxRuns = true, v1alpha1.CleanupRetain, 9, 400
	spec.History, spec.Lane = &v1alpha1.Retention{Runs: &metav1.Duration{Duration: time.Hour}}, &v1alpha1.Lane{Type: v1alpha1.LaneNamed, Name: "pool"}
	spec.Notes = append(spec.Notes, v1alpha1.Note{Name: "later", Text: "Added after the report."})
	for i := range input.Runs {
		run := &input.Runs[i]
		run.UID, run.Generation, run.Status.ObservedGeneration = "other", 4, 4
		for j := range run.Status.Conditions {
			run.Status.Conditions[j].LastTransitionTime, run.Status.Conditions[j].ObservedGeneration = metav1.NewTime(time.Unix(7, 0)), 4
		}
		start := run.Status.Timings.LoadStart
		start.Time = start.Add(time.Millisecond).In(time.FixedZone("there", 7200))
		for j := range run.Spec.System.Modules {
			limits := run.Spec.System.Modules[j].Resources.Limits
			for name, limit := range limits {
				limits[name] = *resource.NewQuantity(limit.Value(), resource.BinarySI)
			}
		}
		run.Status.Warnings, run.Status.Observations = []string{}, slices.Clone(run.Status.Observations)
	}
	holds(t, &input)
	var stream bytes.Buffer
	expect.NoError(t, report.Write(&stream, input))
	read, err := report.Read(&stream)
	expect.NoError(t, err)
	if len(read) != 1 || read[0].Manifest == nil {
		t.Fatal("the stream holds no manifest")
	}
	holds(t, &read[0])
}

// RFC 8785 does not distinguish integers above 2^53.
func TestDigestsDistinguishLargeNumbers(t *testing.T) {
	input := recorded.Experiment(seed)
	digests := map[string]bool{}
	for more := range int64(4) {
		input.Experiment.Status.Seed = ptr.To(1<<60 + more)
		digests[manifest(t, "", &input, evidence.Stage{})] = true
	}
	if len(digests) != 4 {
		t.Errorf("4 seeds have %d manifests", len(digests))
	}
}

func manifest(t *testing.T, previous string, input *report.Input, stage evidence.Stage) string {
	t.Helper()
	text, err := evidence.NextManifest(previous, &input.Experiment, input.Runs, stage, "")
	expect.NoError(t, err)
	return text
}

// The later of two stages does not hide a change in between.
func TestNextManifestKeepsEarlierLinks(t *testing.T) {
	input := recorded.WithEvidence(seed)
	first := manifest(t, "", &input, evidence.Stage{Blocks: 2})
	at := slices.IndexFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Block == 1 })
	observation := &input.Runs[at].Status.Observations[0]
	value := observation.Value
	observation.Value = "0.1"
	second := manifest(t, first, &input, evidence.Stage{Blocks: 6, Ended: true})
	setSettled(&input, second)
	breaks(t, newInput(t, &input), evidence.KindRecord, input.Runs[at].Name)
	observation.Value = value
	holds(t, &input)
	read, err := evidence.Parse(second)
	if err != nil || read.Previous != evidence.Sum([]byte(first)) || len(read.Forms) != 1 {
		t.Errorf("%v: it follows %q with %d forms", err, read.Previous, len(read.Forms))
	}
}

// Before the end, later runs and the result are not covered, and a note reports it.
func TestStageCoversItsBlocks(t *testing.T) {
	input := recorded.WithEvidence(seed)
	text := manifest(t, "", &input, evidence.Stage{Blocks: 2})
	setSettled(&input, text)
	input.Experiment.Status.Verdict = "so far"
	result := verified(t, newInput(t, &input))
	covered := 0
	for i := range input.Runs {
		if input.Runs[i].Spec.Block <= 2 {
			covered++
		}
	}
	if len(result.Broken) != 0 || result.Followed[evidence.KindRecord] != covered || covered == len(input.Runs) {
		t.Errorf("%d of %d records were followed, broken are %v", result.Followed[evidence.KindRecord], covered, result.Broken)
	}
	want := []string{
		fmt.Sprintf("%d runs are not covered: they ended after the manifest was written, or have not ended", len(input.Runs)-covered),
		"results and verdicts are not covered: the experiment had not ended",
	}
	if !slices.Equal(result.Notes[:2], want) {
		t.Errorf("it notes %q, want %q first", result.Notes, want)
	}
}

func TestVerifyExperimentWithoutChain(t *testing.T) {
	input := recorded.Experiment(seed)
	if _, err := evidence.Verify(newInput(t, &input)); !errors.Is(err, evidence.ErrNoChain) {
		t.Errorf("the error is %v, want ErrNoChain", err)
	}
}

func TestVerifyRejectsLaterManifestVersion(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"format": {`"format":"perflab.dev/evidence/v1"`, `"format":"perflab.dev/evidence/v2"`, `its format is "perflab.dev/evidence/v2"`},
		"field":  {`"keepWarm":""`, `"keepCold":"","keepWarm":""`, "it covers the field record.spec.keepCold"},
		"form":   {`"plan":{"form":0`, `"plan":{"form":7`, "it has no form 7"},
	} {
		t.Run(name, func(t *testing.T) {
			input := small(t)
			text := strings.ReplaceAll(input.Manifest.Data[evidence.Key], c.from, c.to)
			setSettled(&input, text)
			if _, err := evidence.Verify(newInput(t, &input)); !errors.Is(err, evidence.ErrManifest) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestManifestOfManyRunsFitsConfigMap(t *testing.T) {
	input := recorded.Experiment(seed)
	run := input.Runs[0]
	run.Status = v1alpha1.PerfRunStatus{Phase: v1alpha1.RunSucceeded}
	run.Spec = v1alpha1.PerfRunSpec{Block: 1}
	input.Runs = nil
	for n := range 9000 {
		run.Name = fmt.Sprintf("%s-%04d", strings.Repeat("n", 31), n)
		input.Runs = append(input.Runs, run)
	}
	if _, err := evidence.NextManifest("", &input.Experiment, input.Runs[:6000], evidence.Stage{Blocks: 1}, ""); err != nil {
		t.Error(err)
	}
	if _, err := evidence.NextManifest("", &input.Experiment, input.Runs, evidence.Stage{Blocks: 1}, ""); !errors.Is(err, evidence.ErrTooLarge) {
		t.Errorf("9,000 runs: the error is %v", err)
	}
}

// Every later version must verify existing records: this file is never rewritten after a
// release.
func TestVerifyAcceptsEarlierVersions(t *testing.T) {
	const path = "testdata/earlier.yaml.gz"
	if *update {
		writeEarlier(t, path)
	}
	file, err := os.Open(path)
	expect.NoError(t, err)
	defer func() { _ = file.Close() }()
	text, err := gzip.NewReader(file)
	expect.NoError(t, err)
	read, err := report.Read(text)
	expect.NoError(t, err)
	holds(t, &read[0])
}

func writeEarlier(t *testing.T, path string) {
	t.Helper()
	input := small(t)
	var stream, packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	expect.NoError(t, report.Write(&stream, input))
	_, err := io.Copy(writer, &stream)
	expect.NoError(t, errors.Join(err, writer.Close(), os.WriteFile(path, packed.Bytes(), 0o644)))
}

// schemaField is a value in the trees of two objects.
type schemaField struct {
	spec, status any
	leaf         leaf
}

// leaf is a value with its setter.
type leaf struct {
	set   func(any)
	value any
}

// schemaFields returns one value for each field of two objects.
func schemaFields(t *testing.T, spec, status any) map[string]schemaField {
	t.Helper()
	leaves := map[string]schemaField{}
	tree := map[string]any{"spec": toTree(t, spec), "status": toTree(t, status)}
	collect(tree, "", func(at string, one leaf) {
		leaves[at] = schemaField{spec: tree["spec"], status: tree["status"], leaf: one}
	})
	return leaves
}

// change replaces the value and reads the objects. It reports whether they accept the new
// value.
func (p schemaField) change(spec, status any) bool {
	other, changeable := otherValue(p.leaf.value)
	if !changeable {
		return false
	}
	p.leaf.set(other)
	defer p.leaf.set(p.leaf.value)
	return fresh(spec, p.spec) && fresh(status, p.status)
}

// otherValue returns another value of the same kind.
func otherValue(value any) (any, bool) {
	switch value := value.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, value); err == nil {
			return "2020-02-02T02:02:02Z", true
		}
		if quantity, err := resource.ParseQuantity(value); err == nil {
			quantity.Add(*resource.NewQuantity(1, resource.DecimalSI))
			return quantity.String(), true
		}
		if length, err := time.ParseDuration(value); err == nil {
			return (length + time.Second).String(), true
		}
		return value + "x", true
	case float64:
		return value + 1, true
	case bool:
		return !value, true
	default:
		return nil, false
	}
}

func collect(value any, at string, found func(string, leaf)) {
	switch value := value.(type) {
	case map[string]any:
		for name, content := range value {
			found(at+"."+name, leaf{func(to any) { value[name] = to }, content})
			collect(content, at+"."+name, found)
		}
	case []any:
		for i, content := range value {
			found(at, leaf{func(to any) { value[i] = to }, content})
			collect(content, at, found)
		}
	}
}

func toTree(t *testing.T, object any) any {
	t.Helper()
	text, err := json.Marshal(object)
	expect.NoError(t, err)
	var tree any
	expect.NoError(t, json.Unmarshal(text, &tree))
	return tree
}

// fresh clears an object and reads a tree into it.
func fresh(object, tree any) bool {
	reflect.ValueOf(object).Elem().SetZero()
	text, err := json.Marshal(tree)
	return err == nil && json.Unmarshal(text, object) == nil
}

var whole = sync.OnceValue(func() report.Input { return recorded.WithEvidence(seed) })

// small returns the experiment with three of the recorded runs, one of them invalid.
func small(t *testing.T) report.Input {
	t.Helper()
	all := whole()
	input := report.Input{Experiment: *all.Experiment.DeepCopy(), Manifest: all.Manifest.DeepCopy()}
	for i := range all.Runs {
		run := all.Runs[i].DeepCopy()
		if len(input.Runs) < 2 || len(input.Runs) < 3 && run.Status.Phase == v1alpha1.RunInvalid {
			input.Runs = append(input.Runs, *run)
		}
	}
	for i := range all.Raw {
		if slices.ContainsFunc(input.Runs, func(run v1alpha1.PerfRun) bool { return run.Name == all.Raw[i].Labels[v1alpha1.LabelRun] }) {
			input.Raw = append(input.Raw, *all.Raw[i].DeepCopy())
		}
	}
	setSettled(&input, manifest(t, "", &input, evidence.Stage{Blocks: 6, Ended: true}))
	return input
}

// setSettled stores a manifest as the operator does.
func setSettled(input *report.Input, text string) {
	input.Manifest.Data[evidence.Key], input.Experiment.Status.Evidence.SHA256 = text, evidence.Sum([]byte(text))
}

// A missing run breaks the chain, unless it was deleted with a reason: then a note reports
// the reason.
func TestVerifyReportsDeletedRuns(t *testing.T) {
	input := recorded.WithEvidence(seed)
	status := &input.Experiment.Status
	for i := range input.Runs {
		spec := &input.Runs[i].Spec
		for int(spec.Position) > len(status.Attempts) {
			status.Attempts = append(status.Attempts, 0)
		}
		status.Attempts[spec.Position-1] = max(status.Attempts[spec.Position-1], spec.Attempt)
	}
	setSettled(&input, manifest(t, "", &input, evidence.Stage{Blocks: 6, Ended: true}))
	holds(t, &input)

	status.Attempts[2]++
	attempt := status.Attempts[2]
	setSettled(&input, manifest(t, "", &input, evidence.Stage{Blocks: 6, Ended: true}))
	broken := verified(t, newInput(t, &input)).Broken
	want := fmt.Sprintf("attempts: attempt %d at position 3 of the plan: expected a PerfRun, found nothing", attempt)
	if len(broken) != 1 || broken[0].String() != want {
		t.Errorf("broken are %v, want %q", broken, want)
	}

	status.Deletions = []v1alpha1.RunDeletion{{Position: 3, Attempt: attempt, Reason: "the network was down"}}
	holds(t, &input)
	told := fmt.Sprintf("attempt %d at position 3 of the plan was deleted: the network was down", attempt)
	if notes := verified(t, newInput(t, &input)).Notes; !slices.Contains(notes, told) {
		t.Errorf("notes %q, want %q", notes, told)
	}
}
