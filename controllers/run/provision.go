// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/images"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/environment/restore"
	"perflab.dev/perflab/internal/naming"
)

const (
	// missingKindPause is the time between two looks for kinds that are not
	// installed: there is nothing to watch yet.
	missingKindPause = 10 * time.Second
	// probePause is the time between two questions to a target that does not
	// answer, for which there is no watch either.
	probePause = 2 * time.Second
)

// stepBegin starts the clock of the run.
func (r *Reconciler) stepBegin(_ context.Context, s *scope) (outcome, error) {
	s.mark(&s.status().Timings.ProvisionStart)
	deadline, _ := s.limit(s)
	s.alarm(deadline)
	// Patience ends without a watch to tell us.
	s.alarm(s.now.Add(environment.Patience / 3))
	return next(), nil
}

// stepKinds makes sure that every operator the run needs is installed, before
// anything is built.
func (r *Reconciler) stepKinds(_ context.Context, s *scope) (outcome, error) {
	needed := []struct {
		wanted    bool
		kind      schema.GroupKind
		condition string
		operator  string
	}{
		{kafka.NeedsStrimzi(s.run.Spec.System.Kafka), contract.KafkaGroupKind, v1alpha1.ConditionKafkaReady, kafka.Strimzi(s.run.Spec.System.Kafka)},
		{len(postgres.Build(s.request())) > 0, contract.PostgresClusterKind.GroupKind(), v1alpha1.ConditionPostgresReady, "CloudNativePG"},
		{true, contract.TestRunKind.GroupKind(), v1alpha1.ConditionTargetReachable, "k6-operator"},
	}
	for _, need := range needed {
		if !need.wanted {
			continue
		}
		_, served, err := r.Cluster.Serves(need.kind)
		if err != nil {
			return outcome{}, err
		}
		if served {
			continue
		}
		missing := environment.NotReady(v1alpha1.ReasonOperatorMissing, fmt.Sprintf(
			"the cluster does not serve %s: install %s", need.kind, need.operator))
		s.tell(need.condition, missing)
		waiting := s.notReady(need.operator, missing)
		waiting.after = missingKindPause
		return waiting, nil
	}
	return next(), nil
}

// otherImages are those a run needs beside its modules'.
func (r *Reconciler) otherImages(run *v1alpha1.PerfRun) []string {
	needed := append(restore.Images(run.Spec.Restore), r.Settings.RunnerImage, r.Settings.StarterImage)
	if r.CollectorImage != "" {
		needed = append(needed, r.CollectorImage)
	}
	for _, wanted := range run.Spec.Scenario.Loads {
		if wanted.Script != nil && wanted.Script.Image != "" {
			needed = append(needed, wanted.Script.Image)
		}
	}
	return needed
}

// stepImages looks whether the images can be pulled, before people have waited
// for databases that nothing will use. Pulls that are on hold nothing up yet.
func (r *Reconciler) stepImages(ctx context.Context, s *scope) (outcome, error) {
	request := s.request()
	others := r.otherImages(s.run)
	intents := images.Build(request, others...)
	if err := r.applyAll(ctx, intents); err != nil {
		return outcome{}, err
	}
	observed, err := r.observe(ctx, intents, naming.ComponentLabels(request.Experiment, environment.ComponentImages), s.now)
	if err != nil {
		return outcome{}, err
	}
	readiness := images.Assess(observed, others...)
	s.tell(v1alpha1.ConditionImagesAvailable, readiness)
	if !readiness.Ready && readiness.Reason != v1alpha1.ReasonPulling {
		return s.notReady("the images", readiness), nil
	}
	return next(), nil
}

// stepPulled waits for the images of loads and collector, which were pulled
// while the environment came up: a load that has begun waits for its runner's.
func (r *Reconciler) stepPulled(_ context.Context, s *scope) (outcome, error) {
	images := s.told[v1alpha1.ConditionImagesAvailable]
	if images.Ready {
		return next(), nil
	}
	return s.notReady("the images", images), nil
}

// stepOutsideTarget asks a target that is not part of the system right away:
// nothing we build will make it answer.
func (r *Reconciler) stepOutsideTarget(ctx context.Context, s *scope) (outcome, error) {
	if s.run.Spec.System.Target.URL == "" {
		return next(), nil
	}
	return r.stepTarget(ctx, s)
}

// stepData builds Kafka with its topics and PostgreSQL, side by side.
func (r *Reconciler) stepData(ctx context.Context, s *scope) (outcome, error) {
	kafkaReadiness, err := r.provisionKafka(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	s.tell(v1alpha1.ConditionKafkaReady, kafkaReadiness)
	postgresReadiness, err := r.provisionPostgres(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	s.tell(v1alpha1.ConditionPostgresReady, postgresReadiness)
	if !kafkaReadiness.Ready {
		return s.notReady("Kafka", kafkaReadiness), nil
	}
	if !postgresReadiness.Ready {
		return s.notReady("PostgreSQL", postgresReadiness), nil
	}
	s.mark(&s.status().Timings.Provisioned)
	return next(), nil
}

// stepTarget makes sure that the target answers before load is put on it.
func (r *Reconciler) stepTarget(ctx context.Context, s *scope) (outcome, error) {
	readiness := environment.Ready("the target answers")
	if err := r.Target.Reach(ctx, healthURL(s.run)); err != nil {
		readiness = environment.NotReady(v1alpha1.ReasonUnreachable,
			fmt.Sprintf("the target does not answer: %v", err))
	}
	s.tell(v1alpha1.ConditionTargetReachable, readiness)
	if !readiness.Ready {
		waiting := s.notReady("the target", readiness)
		waiting.after = probePause
		return waiting, nil
	}
	return next(), nil
}

// targetURL is the address every request of the load goes to.
func targetURL(run *v1alpha1.PerfRun) string {
	target := run.Spec.System.Target
	if target.URL != "" {
		return target.URL
	}
	for _, module := range run.Spec.System.Modules {
		if module.Name == target.Module {
			service, port := environment.ModuleService(run.Spec.Experiment, module)
			return fmt.Sprintf("http://%s.%s.svc:%d", service, run.Namespace, port)
		}
	}
	// Admission refuses a target that names no module.
	return ""
}

func healthURL(run *v1alpha1.PerfRun) string {
	for _, module := range run.Spec.System.Modules {
		if module.Name == run.Spec.System.Target.Module {
			return targetURL(run) + module.HealthPath
		}
	}
	return targetURL(run)
}

func notDeclared() environment.Readiness {
	return environment.Readiness{Ready: true, Reason: v1alpha1.ReasonNotDeclared, Message: "the system has none"}
}

func (r *Reconciler) applyAll(ctx context.Context, intents []environment.Intent) error {
	for _, intent := range intents {
		if err := r.Cluster.Apply(ctx, intent); err != nil {
			return err
		}
	}
	return nil
}

// observe reads the objects of these intents and, where labels are given, the
// pods behind them.
func (r *Reconciler) observe(ctx context.Context, intents []environment.Intent, podLabels map[string]string, now time.Time) (environment.Observed, error) {
	observed := environment.Observed{Objects: map[environment.Key]*unstructured.Unstructured{}, Now: now}
	var namespace string
	for _, intent := range intents {
		namespace = intent.GetNamespace()
		object, err := r.Cluster.Get(ctx, intent.GroupVersionKind(), client.ObjectKeyFromObject(intent))
		if err != nil {
			return observed, err
		}
		if object != nil {
			observed.Objects[environment.Key{Kind: intent.GetKind(), Name: intent.GetName()}] = object
		}
	}
	if len(podLabels) == 0 {
		return observed, nil
	}
	pods := &corev1.PodList{}
	if err := r.Cluster.Client.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels(podLabels)); err != nil {
		return observed, fmt.Errorf("listing pods: %w", err)
	}
	observed.Pods = pods.Items
	observed.Events = r.eventsOf(ctx, slices.DeleteFunc(slices.Clone(pods.Items), environment.PodOver), now)
	return observed, nil
}

// outdated reports whether an object was made from another declaration than
// the wanted one, or is going away.
func outdated(current *unstructured.Unstructured, wanted string) bool {
	return current.GetDeletionTimestamp() != nil || environment.FingerprintOf(current) != wanted
}
