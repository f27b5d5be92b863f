// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/plan"
	"perflab.dev/perflab/internal/planning/schedule"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/text/prose"
)

// teardownPause is the time between two looks at an environment that is being
// taken down.
const teardownPause = 2 * time.Second

// longestClearing is how long others wait at most for a complete experiment's environment
// to be gone: what hangs is no reason to measure nothing.
const longestClearing = 5 * time.Minute

// Reconciler plans the runs of a PerfExperiment, starts one after
// the other and sums up what they gave.
type Reconciler struct {
	component.Tools
	// Telemetry counts what happens; nil: nobody wants to know.
	Telemetry *telemetry.Metrics
	Now       func() time.Time
	// History is how long what complete experiments gave stays.
	History History
	// Words is the pace of what merely tells how far the current run is.
	Words component.Pace

	// told are the experiments of which somebody has been told that another
	// operator has them, by UID and operator.
	told sync.Map
	// memory spares passes what an earlier one has worked out.
	memory memory
	// crowds are those whose runs are too many.
	crowds crowds
	// starts lets one experiment of a namespace at a time begin a run.
	starts turns
	// answering lets one pass at a time hold what the runs of an experiment gave,
	// which can be a good part of the operator's memory.
	answering sync.Mutex
}

// scope holds what one pass over an experiment has learnt.
type scope struct {
	experiment *v1alpha1.PerfExperiment
	now        time.Time
	// runs of the experiment, and those that only name it: they are named, and
	// otherwise left alone.
	runs    []v1alpha1.PerfRun
	foreign []runfilter.Foreign
	// seen is a digest of the spec's generation and of all runs there are, ended
	// one of its own runs that are over.
	seen, ended string
	// known is what an earlier pass has worked out of the same.
	known *recollection
	// full are the runs with what they gave; nil: nobody has asked for it. answers:
	// it is this pass's turn to hold that.
	answers  bool
	full     []v1alpha1.PerfRun
	planned  plan.Plan
	decision schedule.Decision
	// question is what the runs are to decide, complete the number of blocks
	// they can decide it with, extent how many blocks are planned for it.
	question analysisplan.Question
	complete int32
	extent   schedule.Extent
	// answer is what the runs say; nil: nothing that is not in the status yet.
	answer *analysis.Answer
	// arms as the status lists them, without what came out.
	arms []v1alpha1.ArmStatus
	// described: results are those of the runs that are over. decided: decision and
	// answer are those of this pass.
	described, decided bool
	// reported is the digest of the report that is stored; empty: it is not known.
	reported string
	// confounded are arms in which more than one thing differs.
	confounded []arms.Confounded
	// started is the run this pass has made.
	started *v1alpha1.PerfRun
	// unknownSystem: the PerfSystem the experiment refers to is not there.
	unknownSystem bool
	// judged: the spec was looked at in this pass. What is wrong with it is in
	// faults, what makes it answer less than it could in warnings.
	judged   bool
	faults   field.ErrorList
	warnings []string
	// blocker is the run of another experiment that is on.
	blocker string
	// place is the experiment's in the line for what its runs take up; nil: it is in
	// none.
	place *v1alpha1.LaneStatus
	// unadmitted is what keeps Kueue from letting the experiment measure; empty:
	// nothing, or it is not asked.
	unadmitted string
	// unwritten is why the API server has refused the status; empty: it has not.
	unwritten string
	// specChanged: the plan is not the one the first run was planned from.
	specChanged bool
	// tearingDown: parts of the environment are still there.
	tearingDown bool
	// leftover is what is hard to take down, and why.
	leftover string
	// stored is the ConfigMap with the report of what the runs say, unstored
	// what keeps it from being written. Both empty: nobody has looked.
	stored   string
	unstored string
	// evidence is the manifest of digests that belongs to the report; nil: nobody
	// has looked.
	evidence *v1alpha1.ExperimentEvidence
	// unproved says why the report goes without one.
	unproved string
	// rendered: the report was written by this pass. lacking says what it goes
	// without, for the raw results of runs are gone, unshown what of its notes.
	rendered         bool
	lacking, unshown string
	// past is what is kept of the experiment for histories, series those that it has, and
	// changes the result of the comparison with earlier ones; nil: not compared in this
	// reconcile. lookedBack is the digest of the compared stage, pastOf that of a history to
	// show.
	past               *corev1.ConfigMap
	series             []string
	changes            []v1alpha1.SeriesChange
	lookedBack, pastOf string
	// looked: it was set beside earlier experiments in this pass. unkept says why nothing is
	// kept for histories, or what was left out.
	looked bool
	unkept string
	// results of the runs so far.
	results []v1alpha1.Result
	// refusal is what the API server, or the owner of an object, has against
	// what this pass was to write.
	refusal *environment.Readiness
	// after asks for another pass.
	after time.Duration
}

// +kubebuilder:rbac:groups=perflab.dev,resources=perfexperiments,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfexperiments/status,verbs=get;patch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfexperiments/finalizers,verbs=update

// Reconcile brings an experiment one pass further.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	// The cache's own: most experiments are done, and a copy costs more than a look.
	cached := &v1alpha1.PerfExperiment{}
	if err := r.Cluster.Client.Get(ctx, request.NamespacedName, cached, client.UnsafeDisableDeepCopy); err != nil {
		if apierrors.IsNotFound(err) {
			r.memory.forget(request.NamespacedName)
			return r.returnOrphans(ctx, request.NamespacedName)
		}
		return ctrl.Result{}, fmt.Errorf("reading the experiment: %w", err)
	}
	ctx = r.For(ctx, cached)
	imported := provenance.IsImported(cached)
	switch holder := component.Holder(cached); {
	case holder != "" && !r.Holds(cached) && !imported:
		r.leave(ctx, cached)
		return ctrl.Result{}, nil
	case imported && cached.DeletionTimestamp == nil:
		// A record of what was measured elsewhere: it has, and may have, nothing
		// here. What is still borrowed in its name was an earlier experiment's.
		return r.returnOrphans(ctx, request.NamespacedName)
	}
	if isRetired(cached) {
		return r.retire(ctx, cached)
	}
	if rest, settled, err := r.rests(ctx, cached); settled || err != nil {
		return ctrl.Result{RequeueAfter: rest}, err
	}
	if !component.IsOutlined(cached) {
		return r.goOn(ctx, cached.DeepCopy())
	}
	whole := &v1alpha1.PerfExperiment{}
	if err := r.Live.Get(ctx, request.NamespacedName, whole); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return r.goOn(ctx, whole)
}

// rests reports whether nothing is left to do of an experiment, and for how long.
func (r *Reconciler) rests(ctx context.Context, experiment *v1alpha1.PerfExperiment) (left time.Duration, settled bool, err error) {
	if experiment.Status.Settled == "" || experiment.DeletionTimestamp != nil || !controllerutil.ContainsFinalizer(experiment, v1alpha1.Finalizer) {
		return 0, false, nil
	}
	s := &scope{experiment: experiment, now: r.Now()}
	// The cache's own, as above: there may be a hundred thousand runs that are over.
	if err := r.observe(ctx, s, client.UnsafeDisableDeepCopy); err != nil {
		return 0, false, err
	}
	left, settled = s.rest()
	if !settled {
		return 0, false, nil
	}
	keep, err := r.keeps(ctx, s)
	if err != nil || s.hasOutlived(keep) {
		return 0, false, err
	}
	r.memory.forget(client.ObjectKeyFromObject(experiment))
	return component.Sooner(left, keep.until), true, nil
}

// goOn does a pass over an experiment of which something may be left to do.
func (r *Reconciler) goOn(ctx context.Context, before *v1alpha1.PerfExperiment) (ctrl.Result, error) {
	s := &scope{experiment: before.DeepCopy(), now: r.Now()}
	if before.DeletionTimestamp != nil {
		return r.remove(ctx, before, s)
	}
	if err := r.takeOn(ctx, s.experiment, before); err != nil {
		s.experiment = before.DeepCopy()
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return r.concludeWith(ctx, before, s, err)
	}
	before = s.experiment.DeepCopy()
	if err := r.observe(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	noteLedgers(s)
	s.ended = digestOf(s.experiment, endedOf(s.runs))
	return r.pass(ctx, before, s)
}

// pass observes, decides, acts and reports.
func (r *Reconciler) pass(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope) (ctrl.Result, error) {
	s.known = r.memory.of(s.experiment)
	defer r.letGo(s)
	stepErr := s.refused(r.advance(ctx, s))
	if stepErr != nil && s.refusal == nil && !s.decided {
		// What could not be read is no reason to take back what was said.
		return failed(stepErr)
	}
	reportExperiment(s)
	lookErr := r.lookBack(ctx, s)
	reportPast(s)
	if !s.hasLookedBack() {
		// Nothing of the experiment goes before it is kept what others are compared with.
		s.experiment.Status.History = before.Status.History
	}
	var storeErr error
	if lookErr == nil {
		storeErr = r.storeReport(ctx, s)
	}
	reportStored(s)
	reportOccasion(s, len(r.Sinks) > 0)
	err := errors.Join(stepErr, lookErr, storeErr)
	if err == nil {
		err = r.keepInArchive(ctx, s)
	}
	reportSettled(s, r.Archives.Of(s.experiment.Namespace), err)
	return r.conclude(ctx, before, s, err)
}

// takeOn makes the experiment this operator's to build for. Without the
// finalizer nothing may be built: nobody would take it down.
func (r *Reconciler) takeOn(ctx context.Context, experiment, before *v1alpha1.PerfExperiment) error {
	claimed, held := r.Claim(experiment), controllerutil.AddFinalizer(experiment, v1alpha1.Finalizer)
	switch {
	case claimed:
		return r.Cluster.PatchIfUnchanged(ctx, experiment, before)
	case held:
		return r.Cluster.Patch(ctx, experiment, before)
	default:
		return nil
	}
}

// leave tells, once, that another operator has the experiment. The status is
// the other one's to write.
func (r *Reconciler) leave(ctx context.Context, experiment *v1alpha1.PerfExperiment) {
	if _, known := r.told.LoadOrStore(string(experiment.UID)+"/"+component.Holder(experiment), true); known {
		return
	}
	sentence := r.HeldByAnother(experiment)
	log.FromContext(ctx).Info("Another operator has the experiment", "operator", component.Holder(experiment), "advice", sentence)
	r.Events.Eventf(experiment, nil, corev1.EventTypeWarning, "HeldByAnother", "Leave", "%s", prose.Sentence(sentence))
}

// concludeWith ends a pass that could not go on.
func (r *Reconciler) concludeWith(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope, err error) (ctrl.Result, error) {
	err = s.refused(err)
	reportExperiment(s)
	return r.conclude(ctx, before, s, err)
}

// conclude writes the status, then tells people.
func (r *Reconciler) conclude(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope, stepErr error) (ctrl.Result, error) {
	err := r.writeStatus(ctx, before, s)
	if refused, is := component.RefusedStatus(err); is {
		err = r.giveUp(ctx, before, s, refused)
	}
	if err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		r.TellRefused(before, err)
		return ctrl.Result{}, errors.Join(stepErr, err)
	}
	s.remember()
	r.announce(before, s)
	if stepErr != nil {
		return failed(stepErr)
	}
	return ctrl.Result{RequeueAfter: s.after}, nil
}

// failed has a pass done again: soon, where it saw what is no more, or others were
// at work.
func failed(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) || errors.Is(err, errBusy) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}

// advance decides and acts.
func (r *Reconciler) advance(ctx context.Context, s *scope) error {
	s.results = s.experiment.Status.Results
	if s.unwritten = unwrittenOf(s.experiment); s.unwritten != "" {
		return r.leaveLine(ctx, s)
	}
	planned, err := r.plan(ctx, s)
	if err != nil {
		return err
	}
	if !planned {
		return r.leaveLine(ctx, s)
	}
	s.follow()
	s.question = analysisplan.New(&s.experiment.Spec)
	s.complete = analysis.CompleteBlocks(s.planned.Arms, s.experiment.Spec.Scenarios, s.runs)
	if err := r.extend(ctx, s); err != nil {
		return err
	}
	s.decision = schedule.Next(s.planned, attempts(s.runs), schedule.Limits{
		MaxAttempts: s.experiment.Spec.Validity.MaxAttempts,
		Suspend:     s.experiment.Spec.Suspend,
		Made:        s.experiment.Status.Attempts,
	})
	if err := r.analyze(ctx, s); err != nil {
		return err
	}
	s.decided = true
	if s.specChanged {
		return r.leaveLine(ctx, s)
	}
	switch s.decision.Action {
	case schedule.Start:
		return r.start(ctx, s)
	case schedule.Wait:
		return r.keepTurn(ctx, s)
	case schedule.Finish:
		return r.finish(ctx, s)
	default:
		return r.leaveLine(ctx, s)
	}
}

// finish gives up what a complete experiment needs no more. Of two failures one is told:
// each is met again.
func (r *Reconciler) finish(ctx context.Context, s *scope) error {
	notCleared := r.cleanUp(ctx, s)
	if notCleared != nil && clears(s.experiment, s.now) {
		return notCleared
	}
	if err := r.endTurn(ctx, s); err != nil {
		return err
	}
	if notCleared != nil {
		return notCleared
	}
	return r.prune(ctx, s)
}

// plan plans the experiment; false: it can't be yet. Once it has begun, the plan
// follows from the spec, and is made once.
func (r *Reconciler) plan(ctx context.Context, s *scope) (bool, error) {
	if made := s.known.design; made != nil && made.generation == s.experiment.Generation && s.begun() {
		s.use(made)
		return true, nil
	}
	system, err := r.system(ctx, s)
	if err != nil || system == nil {
		return false, err
	}
	if sound, err := r.sound(ctx, s, system); err != nil || !sound {
		return false, err
	}
	spec := &s.experiment.Spec
	planned := plan.From(spec, *system, r.seed(s.experiment))
	made := &design{s.experiment.Generation, planned, armsStatus(planned.Arms), arms.ConfoundedArms(spec, *system)}
	if s.begun() {
		s.known.design = made
	}
	s.use(made)
	return true, nil
}

// follow leaves out the runs that follow another plan.
func (s *scope) follow() {
	recorded := s.recordedHash()
	s.specChanged = recorded != "" && recorded != s.planned.Hash
	followed := runfilter.Plan{Hash: recorded}
	if !s.specChanged {
		followed = runfilter.PlanOf(&s.experiment.Spec, recorded)
	}
	own, foreign := runfilter.Following(s.experiment, followed, s.runs)
	s.runs, s.foreign = own, append(s.foreign, foreign...)
	noteAttempts(&s.experiment.Status, s.runs)
}

// recordedHash is that of the plan the runs follow. The first run may be there
// before the status tells of it.
func (s *scope) recordedHash() string {
	if recorded := s.experiment.Status.PlanHash; recorded != "" || len(s.runs) == 0 {
		return recorded
	}
	for i := range s.runs {
		if s.runs[i].Spec.PlanHash == s.planned.Hash {
			return s.planned.Hash
		}
	}
	return s.runs[0].Spec.PlanHash
}

// seed stays the one that was recorded first.
func (r *Reconciler) seed(experiment *v1alpha1.PerfExperiment) int64 {
	if recorded := experiment.Status.Seed; recorded != nil && experiment.Spec.Design.Seed == nil {
		return *recorded
	}
	return plan.Seed(experiment)
}

func (r *Reconciler) observe(ctx context.Context, s *scope, how ...client.ListOption) error {
	runs, err := component.RunsOf(ctx, r.Cluster.Client, s.experiment.Namespace, s.experiment.Name, how...)
	if err != nil {
		return err
	}
	s.seen = digestOf(s.experiment, runs)
	s.runs, s.foreign = runfilter.Owned(s.experiment, runs)
	return nil
}

func attempts(runs []v1alpha1.PerfRun) []schedule.Attempt {
	seen := make([]schedule.Attempt, 0, len(runs))
	for i := range runs {
		spec := &runs[i].Spec
		seen = append(seen, schedule.Attempt{
			Name: runs[i].Name, Block: spec.Block, Arm: spec.Arm, Scenario: spec.Scenario.Name,
			Number: spec.Attempt, Phase: runs[i].Status.Phase, Cause: causeOf(&runs[i]),
		})
	}
	return seen
}

// causeOf says why a run failed where chance has no part in it, in words that
// are the same for each attempt: what was declared could not be built or is not
// what runs, or a script does not work.
func causeOf(run *v1alpha1.PerfRun) string {
	fault := component.FaultOf(run)
	scripts := slices.ContainsFunc(run.Status.Loads, func(status v1alpha1.LoadStatus) bool { return load.ScriptFailed(status.ExitCode) })
	if fault == nil || run.Status.Timings.Ready != nil && !scripts {
		return ""
	}
	cause := fault.Reason + ": " + fault.Message
	for _, status := range run.Status.Loads {
		cause = strings.ReplaceAll(cause, status.TestRun, status.Name)
	}
	return strings.ReplaceAll(cause, run.Name, "")
}

// start makes the next run once it is the experiment's turn. Who can't have its run
// made keeps nobody waiting.
func (r *Reconciler) start(ctx context.Context, s *scope) error {
	if turn, err := r.takeTurn(ctx, s); err != nil || !turn {
		return err
	}
	err := r.startRun(ctx, s)
	if s.refusal != nil || kube.AsRefusal(err) != nil {
		err = errors.Join(err, r.letOthersPass(ctx, s))
	}
	return err
}

// startRun makes the next run. Its name follows from its place in the plan, so
// a pass with an old view makes nothing twice.
func (r *Reconciler) startRun(ctx context.Context, s *scope) error {
	done := r.starts.take(s.experiment.Namespace)
	defer done()
	blocker, err := r.otherRun(ctx, s.experiment)
	if err != nil {
		return err
	}
	if blocker != "" {
		s.blocker = blocker
		s.again(blockedPause)
		return nil
	}
	if missed, err := r.isMissed(ctx, s); missed || err != nil {
		s.again(time.Second)
		return err
	}
	if err := r.tryAccount(ctx, s.experiment); err != nil {
		return err
	}
	run := newRun(s)
	err = r.Cluster.Create(ctx, run)
	if apierrors.IsAlreadyExists(err) {
		return r.checkTaken(ctx, s, run)
	}
	if err != nil {
		return err
	}
	s.started = run
	return nil
}

// tryAccount finds an account that is missing or has no rights before there is a run, which
// would wait for it until its deadline and keep others waiting.
func (r *Reconciler) tryAccount(ctx context.Context, experiment *v1alpha1.PerfExperiment) error {
	if r.Accounts == nil {
		return nil
	}
	return r.Cluster.DryRunCreate(ctx, emptyConfigMap(experiment, naming.Report(experiment.Name)))
}

// isMissed reports whether the run before this one at the same position is there after all.
// Where the cache lacks one that was made, it was deleted, or the cache has not heard of it
// yet; the next one has another name, so that nothing else would keep both from running.
func (r *Reconciler) isMissed(ctx context.Context, s *scope) (bool, error) {
	last := s.decision.Attempt - 1
	name := s.runName(last)
	if last == 0 || slices.ContainsFunc(s.runs, func(run v1alpha1.PerfRun) bool { return run.Name == name }) {
		return false, nil
	}
	before := &v1alpha1.PerfRun{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: s.experiment.Namespace, Name: name}, before)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading run %q: %w", name, err)
	}
	return err == nil && metav1.IsControlledBy(before, s.experiment), nil
}

// checkTaken looks what stands in the place of a wanted run: one that an
// earlier pass has made, which the cache will show, or one that is not ours.
func (r *Reconciler) checkTaken(ctx context.Context, s *scope, wanted *v1alpha1.PerfRun) error {
	s.after = time.Second
	current := &v1alpha1.PerfRun{}
	err := r.Cluster.Client.Get(ctx, client.ObjectKeyFromObject(wanted), current)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading run %q: %w", wanted.Name, err)
	}
	if err := r.Cluster.CheckOwner(current, wanted); err != nil {
		return err
	}
	followed := runfilter.PlanOf(&s.experiment.Spec, s.planned.Hash)
	if why := runfilter.Why(s.experiment, followed, current); why != "" {
		s.taken(fmt.Sprintf("PerfRun %q exists already and %s; PerfLab does not change it: delete it if it is not needed, or rename the experiment", current.Name, why))
	}
	return nil
}

// taken notes that the next run can't have its name.
func (s *scope) taken(message string) {
	trouble := environment.NotReady(v1alpha1.ReasonNameTaken, message)
	s.refusal, s.after = &trouble, component.RefusedPause
}

// blockedPause is the time between two looks at a run that is waited for, if
// nobody tells of its end.
const blockedPause = 30 * time.Second

// otherRun is the run of another experiment that is on in the same namespace. Two
// at once would measure each other. The cache may not have heard of one yet, so
// who finds none in it asks the API server.
func (r *Reconciler) otherRun(ctx context.Context, experiment *v1alpha1.PerfExperiment) (string, error) {
	for _, reader := range []client.Reader{r.Cluster.Client, r.Live} {
		runs, err := component.RunsOn(ctx, reader, experiment.Namespace)
		if err != nil {
			return "", err
		}
		for i := range runs {
			run := &runs[i]
			if run.Spec.Experiment == experiment.Name || run.DeletionTimestamp != nil {
				continue
			}
			if underway, err := r.isUnderway(ctx, run); underway || err != nil {
				return run.Name, err
			}
		}
	}
	return "", nil
}

// isUnderway reports whether this operator does the run. One that is none of a living
// experiment's is left alone for ever, and nobody needs to wait for it.
func (r *Reconciler) isUnderway(ctx context.Context, run *v1alpha1.PerfRun) (bool, error) {
	experiment := &v1alpha1.PerfExperiment{}
	err := r.Cluster.Client.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Experiment}, experiment, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading experiment %q: %w", run.Spec.Experiment, err)
	}
	return !r.isElsewhere(experiment) && runfilter.Why(experiment, runfilter.Recorded(experiment), run) == "", nil
}

// isElsewhere: another operator has the experiment, or so its annotation says. This one
// waits for none of its runs: nothing tells that there is such an operator.
func (r *Reconciler) isElsewhere(experiment *v1alpha1.PerfExperiment) bool {
	return component.Holder(experiment) != "" && !r.Holds(experiment)
}

// scheme is how the runs so far are named, and so the next one.
func (s *scope) scheme() naming.Scheme {
	if len(s.runs) == 0 {
		return naming.Long
	}
	return naming.RunScheme(&s.runs[0])
}

// runName is that of an attempt at the next run.
func (s *scope) runName(attempt int32) string {
	place := s.decision.Run
	return s.scheme().Run(s.experiment.Name, place.Block, place.Arm, place.Scenario, attempt)
}

func newRun(s *scope) *v1alpha1.PerfRun {
	place, spec := s.decision.Run, &s.experiment.Spec
	run := &v1alpha1.PerfRun{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       s.experiment.Namespace,
			Name:            s.runName(s.decision.Attempt),
			OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfExperiment", s.experiment)},
		},
		Spec: v1alpha1.PerfRunSpec{
			Experiment:  s.experiment.Name,
			PlanHash:    s.planned.Hash,
			Block:       place.Block,
			Position:    place.Position,
			Attempt:     s.decision.Attempt,
			Arm:         place.Arm,
			Seed:        s.planned.Seed + int64(place.Block),
			Measurement: spec.Measurement,
			Reset:       spec.Reset,
			Restore:     spec.Restore,
			KeepWarm:    spec.KeepWarm,
			Cost:        spec.Cost,
			Validity:    spec.Validity,
			Deadlines:   spec.Deadlines,

			ServiceAccountName: spec.ServiceAccountName,
		},
	}
	if arm, planned := arms.Named(s.planned.Arms, place.Arm); planned {
		run.Spec.System = *arm.System.DeepCopy()
	}
	for _, scenario := range spec.Scenarios {
		if scenario.Name == place.Scenario {
			scenario.DeepCopyInto(&run.Spec.Scenario)
		}
	}
	run.Labels = naming.RunLabels(run)
	return run
}

// cleanUp takes the environment of a complete experiment down when its time
// has come.
func (r *Reconciler) cleanUp(ctx context.Context, s *scope) error {
	if !s.stands() {
		return nil
	}
	if left := s.stay(); left > 0 {
		s.after = left
		return nil
	}
	// What is recorded is not looked at again, and the cache may be behind.
	for _, cluster := range []kube.Cluster{r.Cluster, r.Cluster.Uncached(r.Live)} {
		if err := r.tearDown(ctx, s, cluster); err != nil || s.tearingDown {
			return err
		}
	}
	s.experiment.Status.TornDown = &metav1.Time{Time: s.now}
	return nil
}

// stands: there is an environment that is to be taken down some day.
func (s *scope) stands() bool {
	return s.experiment.Spec.Cleanup.Policy != v1alpha1.CleanupRetain && s.experiment.Status.TornDown == nil
}

// clears reports whether a complete experiment is taking down at once what it has built,
// which disturbs who measures on the same nodes meanwhile.
func clears(experiment *v1alpha1.PerfExperiment, now time.Time) bool {
	cleanup, status := experiment.Spec.Cleanup, &experiment.Status
	if cleanup.Policy == v1alpha1.CleanupRetain || cleanup.TTLOrDefault() > 0 || status.TornDown != nil {
		return false
	}
	return status.CompletionTime == nil || now.Sub(status.CompletionTime.Time) < longestClearing
}

// stay is how long the environment of a complete experiment is still to stand.
func (s *scope) stay() time.Duration {
	keep, completed := s.experiment.Spec.Cleanup.TTLOrDefault(), s.experiment.Status.CompletionTime
	if completed == nil {
		return keep
	}
	return keep - s.now.Sub(completed.Time)
}

func (r *Reconciler) tearDown(ctx context.Context, s *scope, seen kube.Cluster) error {
	demolition := component.Demolition{Tools: r.Tools, Experiment: s.experiment, Now: s.now}
	demolition.Cluster = seen
	gone, err := demolition.TearDown(ctx)
	if err != nil {
		return err
	}
	s.leftover = demolition.Leftover
	s.tearingDown = !gone
	if !gone {
		s.after = teardownPause
	}
	return nil
}

// remove takes down what a deleted experiment has built. Runs go first: a run
// that is on would build it up again.
func (r *Reconciler) remove(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(s.experiment, v1alpha1.Finalizer) {
		return ctrl.Result{}, nil
	}
	if err := r.observe(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	noteLedgers(s)
	if len(s.experiment.Status.TopicLedgers) > len(before.Status.TopicLedgers) {
		// Without its runs nothing tells whether a ledger is the operator's.
		s.tearingDown, s.after = true, teardownPause
		return r.concludeWith(ctx, before, s, nil)
	}
	for i := range s.runs {
		if err := r.Cluster.Delete(ctx, s.experiment, &s.runs[i]); err != nil {
			s.tearingDown = true
			return r.concludeWith(ctx, before, s, err)
		}
	}
	stepErr := s.refused(r.tearDown(ctx, s, r.Cluster))
	if stepErr != nil || s.refusal != nil || s.tearingDown || len(s.runs) > 0 {
		s.after = cmp.Or(s.after, teardownPause)
		s.tearingDown = true
		reportExperiment(s)
		return r.conclude(ctx, before, s, stepErr)
	}
	if err := r.leaveLine(ctx, s); err != nil {
		return r.concludeWith(ctx, before, s, err)
	}
	controllerutil.RemoveFinalizer(s.experiment, v1alpha1.Finalizer)
	if err := r.Cluster.Patch(ctx, s.experiment, before); client.IgnoreNotFound(err) != nil {
		s.experiment = before.DeepCopy()
		s.tearingDown = true
		return r.concludeWith(ctx, before, s, err)
	}
	return ctrl.Result{}, nil
}
