// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// aboutReport begins the warnings about the stored report.
	aboutReport = "the report in the cluster "
	// aboutRaw begins the one that raw results are gone, aboutNotes the one that notes,
	// or pictures of theirs, could not be shown.
	aboutRaw   = aboutReport + "lacks "
	aboutNotes = aboutReport + "does not show all of its notes: "
)

// errRender says that there are no pages to store.
var errRender = errors.New("rendering the report")

// stage is how far an experiment is, as far as its report changes with it.
type stage struct {
	blocks int32
	// ended: no further block is to come.
	ended bool
	// digest is that of the runs up to here, and of what they are asked.
	digest string
	// page is that of the report: of the same, and of what people have added.
	page string
}

// String tells the stage in a warning.
func (s stage) String() string {
	if s.ended {
		return fmt.Sprintf("at the end (complete blocks: %d)", s.blocks)
	}
	return fmt.Sprintf("after block %d", s.blocks)
}

// stage that is worth a report: a block is complete, or the experiment is over.
func (s *scope) stage() (reached stage, worth bool) {
	phase := s.experiment.Status.Phase
	ended := phase == v1alpha1.ExperimentComplete || phase == v1alpha1.ExperimentStalled
	if s.planned.Hash == "" || s.specChanged || len(s.runs) == 0 || s.complete == 0 && !ended {
		return stage{}, false
	}
	var seen []string
	for i := range s.runs {
		if ended || s.runs[i].Spec.Block <= s.complete {
			seen = append(seen, string(s.runs[i].UID))
		}
	}
	slices.Sort(seen)
	digest := naming.Hash(s.planned.Hash, s.question.Hash(), s.complete, ended, seen, s.answerAtEnd(ended))[:16]
	return stage{s.complete, ended, digest, s.pageOf(digest)}, true
}

// pageOf a stage is the digest of its report. Without notes and a history it is that of
// the stage, as it was before there were any.
func (s *scope) pageOf(stage string) string {
	notes := s.experiment.Spec.Notes
	switch {
	case s.pastOf != "":
		return naming.Hash(stage, notes, s.pastOf)[:16]
	case len(notes) == 0:
		return stage
	}
	return naming.Hash(stage, notes)[:16]
}

// answerAtEnd is the digest of what came out, once that is final: another operator
// may find other words for it, which a report and a manifest have to follow.
func (s *scope) answerAtEnd(ended bool) string {
	if !ended {
		return ""
	}
	sum, err := evidence.Answer(&s.experiment.Status)
	if err != nil {
		// A status that can't be encoded can't be stored either.
		return ""
	}
	return sum
}

// storeReport renders the report once for each stage, and stores it. The stored
// one tells of what it is, so an operator that has just started renders nothing
// anew. The experiment goes on without a report: what is wrong with it is a
// warning; only a cluster that does not answer is an error, to be tried again.
func (r *Reconciler) storeReport(ctx context.Context, s *scope) error {
	reached, worth := s.stage()
	if worth && s.known.reported == reached.page {
		s.reported, worth = reached.page, false
	}
	if !worth {
		r.traceAhead(ctx, s)
		return nil
	}
	name := naming.Report(s.experiment.Name)
	// Its metadata will do, and past the cache, which holds no ConfigMaps.
	current := &metav1.PartialObjectMetadata{}
	current.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: s.experiment.Namespace, Name: name}, current)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("looking for the stored report: %w", err)
	case err == nil && current.Labels[v1alpha1.LabelExperiment] != s.experiment.Name:
		s.unstored = fmt.Sprintf("%sis not written: there is a ConfigMap %q that is not PerfLab's; delete it, or keep it under another name", aboutReport, name)
		return nil
	case metav1.IsControlledBy(current, s.experiment) && current.Annotations[v1alpha1.AnnotationReportOf] == reached.page:
		// Whoever may write ConfigMaps may write other digests on it.
		if s.stored, s.evidence = name, evidenceOn(current, s.experiment.Name); !equality.Semantic.DeepEqual(s.evidence, s.experiment.Status.Evidence) {
			s.stored, s.evidence = "", nil
			break
		}
		if s.evidence != nil || known(s.experiment.Status.Warnings, refusedManifest) == "" || r.refuses(ctx, s, naming.Evidence(s.experiment.Name)) {
			s.noteReported(reached)
			return nil
		}
	}
	return r.tryReport(ctx, s, reached, name)
}

// tryReport writes the report, unless it is known to fail: rendered from the same
// runs it would fail in the same way, and a cluster that refused it is asked first.
func (r *Reconciler) tryReport(ctx context.Context, s *scope, reached stage, name string) error {
	failed, refused := reached.about("could not be written"), reached.about("is refused")
	told := s.experiment.Status.Warnings
	if known(told, failed) != "" || known(told, refused) != "" && r.refuses(ctx, s, name) {
		return nil
	}
	err := r.writeReport(ctx, s, reached)
	switch {
	case err == nil:
		s.stored = name
		s.noteReported(reached)
		return nil
	case isRefused(err) && !tooLarge(err):
		s.again(component.RefusedPause)
		failed = refused
	case !errors.Is(err, errRender) && !isRefused(err):
		return err
	}
	log.FromContext(ctx).Info("The report could not be written", "blocks", reached.blocks, "error", err.Error())
	s.unstored = fmt.Sprintf("%s%v; run perflab report %s to see more", failed, err, s.experiment.Name)
	return nil
}

// noteReported: the report of the stage is there. One whose manifest is refused is
// written again when it no longer is.
func (s *scope) noteReported(reached stage) {
	if s.evidence != nil || !strings.HasPrefix(s.unproved, refusedManifest) && known(s.experiment.Status.Warnings, refusedManifest) == "" {
		s.reported = reached.page
	}
}

// about begins a warning about the report of this stage. Other notes make another one,
// which may be written where this could not.
func (s stage) about(what string) string {
	of := s.String()
	if s.page != s.digest {
		of += " with notes " + s.page[:6]
	}
	return fmt.Sprintf("%s%s %s: ", aboutReport, what, of)
}

// tooLarge: no leave makes a report fit that is larger than an object may be.
func tooLarge(err error) bool {
	says := kube.AsRefusal(err).Cause
	return apierrors.IsRequestEntityTooLargeError(says) || apierrors.HasStatusCause(says, metav1.CauseType(field.ErrorTypeTooLong))
}

// refuses asks whether the cluster still refuses a ConfigMap of this name, and has
// it asked again later if so. Rendering a report to find out would cost a second.
func (r *Reconciler) refuses(ctx context.Context, s *scope, name string) bool {
	rehearsed := kube.Cluster{Client: client.NewDryRunClient(r.Cluster.Client)}
	err := rehearsed.ApplyTyped(ctx, emptyConfigMap(s.experiment, name))
	if !isRefused(err) {
		return false
	}
	s.again(component.RefusedPause)
	return true
}

// again asks for a pass after this time, if none is asked for earlier.
func (s *scope) again(after time.Duration) {
	if s.after == 0 || after < s.after {
		s.after = after
	}
}

func (r *Reconciler) writeReport(ctx context.Context, s *scope, reached stage) error {
	full, err := r.fullRuns(ctx, s)
	if err != nil {
		return err
	}
	history, err := r.keptHistory(ctx, s)
	if err != nil {
		return err
	}
	input := report.Input{Experiment: *s.experiment.DeepCopy(), Runs: full, History: history}
	kept, err := r.keepManifest(ctx, s, &input, reached)
	if s.unproved = unproved(err); s.unproved == "" && err != nil {
		return err
	}
	s.evidence = kept
	var gone []string
	if input.Traces, gone, err = r.traces(ctx, s, full); err != nil {
		return err
	}
	s.rendered, s.lacking = true, lacking(s.experiment.Name, gone)
	if input.Notes, err = kube.Notes(ctx, r.Live, s.experiment); err != nil {
		return err
	}
	input.Experiment.Status.Evidence = kept.DeepCopy()
	stored, unshown, err := reportObject(input, r.unwanted(s.experiment.Namespace))
	if err != nil {
		return err
	}
	s.unshown = unshownNotes(unshown)
	stored.Annotations[v1alpha1.AnnotationReportOf] = reached.page
	if err := markEvidence(stored, kept); err != nil {
		return fmt.Errorf("%w: %w", errRender, err)
	}
	return r.Cluster.ApplyTyped(ctx, stored)
}

// lacking says that raw results are gone; empty: all are there.
func lacking(experiment string, gone []string) string {
	if len(gone) == 0 {
		return ""
	}
	return fmt.Sprintf("%swhat was in deleted raw results: %s, the first of them %q; perflab verify %s shows what else changed",
		aboutRaw, prose.Counted(len(gone), "ConfigMap"), gone[0], experiment)
}

// unshownNotes says what of the notes the report goes without; empty: nothing.
func unshownNotes(sentences []string) string {
	if len(sentences) == 0 {
		return ""
	}
	told := aboutNotes + sentences[0]
	if more := len(sentences) - 1; more > 0 {
		told += fmt.Sprintf("; and %d more, which the report names", more)
	}
	return told
}

// unwanted is what the stored reports of a namespace do without: where the runs are
// archived, their numbers come from there. They are a good part of what is kept in the
// cluster for good.
func (r *Reconciler) unwanted(namespace string) []string {
	if r.Archives.Of(namespace) == nil {
		return nil
	}
	return []string{report.KeyCSV}
}

// reportObject is the ConfigMap of the report, which goes with its experiment, and what
// of its notes it does not show.
func reportObject(input report.Input, unwanted []string) (stored *corev1.ConfigMap, unshown []string, err error) {
	// Drawing panics over numbers that have no place in a chart. A report is no
	// reason to leave the experiment's status unwritten.
	defer func() {
		if cause := recover(); cause != nil {
			stored, unshown, err = nil, nil, fmt.Errorf("%w: %v", errRender, cause)
		}
	}()
	experiment := &input.Experiment
	experiment.Status.Warnings = withoutReport(experiment.Status.Warnings)
	page, err := report.New(input)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errRender, err)
	}
	if stored, err = page.Object(unwanted...); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errRender, err)
	}
	return stored, page.Lacking(), nil
}

// withoutReport are the warnings about anything but the stored report.
func withoutReport(warnings []string) []string {
	var others []string
	for _, warning := range warnings {
		if !strings.HasPrefix(warning, aboutReport) {
			others = append(others, warning)
		}
	}
	return others
}
