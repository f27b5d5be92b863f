// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // Schedules name time zones, and not every machine has them.

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/recurrence"
)

// scheduleTypes are what kubectl calls a PerfSchedule.
var scheduleTypes = []string{"schedule", "perfschedule", "perfschedules", "perfschedules.perflab.dev", "psched"}

// triggerManual is a person with this command.
const triggerManual = "Manual"

// runFrom makes an experiment of a schedule now.
func (o runOptions) runFrom(command *cobra.Command) error {
	kind, name, whole := strings.Cut(o.from, "/")
	if !whole || name == "" || !slices.Contains(scheduleTypes, strings.ToLower(kind)) {
		return fmt.Errorf("%w: --from %q must be schedule/NAME, for example schedule/nightly", errOption, o.from)
	}
	writer, namespace, err := o.cluster.reader()
	if err != nil {
		return err
	}
	ctx := command.Context()
	made, err := makeNow(ctx, writer, client.ObjectKey{Namespace: namespace, Name: name}, time.Now())
	if err != nil {
		return err
	}
	screen := newScreen(command.OutOrStdout())
	screen.note(fmt.Sprintf("PerfExperiment %q made of PerfSchedule %q", made.Name, name))
	if o.noFollow {
		return nil
	}
	return follow(ctx, writer, client.ObjectKeyFromObject(made), screen, o.how)
}

// makeNow makes the experiment. It is called as one of the schedule's times would be.
func makeNow(ctx context.Context, writer client.Client, key client.ObjectKey, now time.Time) (*v1alpha1.PerfExperiment, error) {
	schedule := &v1alpha1.PerfSchedule{}
	if err := writer.Get(ctx, key, schedule); err != nil {
		return nil, fmt.Errorf("reading PerfSchedule %q in namespace %q: %w", key.Name, key.Namespace, err)
	}
	release := recurrence.Release(&schedule.Spec, v1alpha1.TriggerSchedule, now, schedule.Status.Images)
	made := recurrence.Experiment(schedule, naming.ManualExperiment(schedule.Name, now), triggerManual, release)
	// To block its deletion takes a right over the schedule that who runs it may lack.
	made.OwnerReferences[0].BlockOwnerDeletion = nil
	if err := writer.Create(ctx, made, cliOwner); err != nil {
		return nil, fmt.Errorf("making PerfExperiment %q: %w", made.Name, err)
	}
	return made, nil
}
