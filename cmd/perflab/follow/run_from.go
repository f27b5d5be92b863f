// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/cmd/perflab/source"

	_ "time/tzdata"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/recurrence"
)

// Schedules name time zones, and not every machine has them.

// scheduleTypes are kubectl's names for a PerfSchedule.
var scheduleTypes = []string{"schedule", "perfschedule", "perfschedules", "perfschedules.perflab.dev", "psched"}

// triggerManual is the trigger of experiments that this command creates.
const triggerManual = "Manual"

// runFrom creates an experiment from a schedule now.
func (o runOptions) runFrom(command *cobra.Command) error {
	kind, name, whole := strings.Cut(o.from, "/")
	if !whole || name == "" || !slices.Contains(scheduleTypes, strings.ToLower(kind)) {
		return fmt.Errorf("%w: --from %q must be schedule/NAME, for example schedule/nightly", exit.ErrOption, o.from)
	}
	writer, namespace, err := o.cluster.Reader()
	if err != nil {
		return err
	}
	ctx := command.Context()
	made, err := createFromSchedule(ctx, writer, client.ObjectKey{Namespace: namespace, Name: name}, time.Now())
	if err != nil {
		return err
	}
	screen := newScreen(command.OutOrStdout())
	screen.note(fmt.Sprintf("PerfExperiment %q created from PerfSchedule %q", made.Name, name))
	if o.noFollow {
		return nil
	}
	return follow(ctx, writer, client.ObjectKeyFromObject(made), screen, o.follow)
}

// createFromSchedule creates the experiment. Its name is like that of a scheduled
// one.
func createFromSchedule(ctx context.Context, writer client.Client, key client.ObjectKey, now time.Time) (*v1alpha1.PerfExperiment, error) {
	schedule := &v1alpha1.PerfSchedule{}
	if err := writer.Get(ctx, key, schedule); err != nil {
		return nil, fmt.Errorf("reading PerfSchedule %q in namespace %q: %w", key.Name, key.Namespace, err)
	}
	release := recurrence.Release(&schedule.Spec, v1alpha1.TriggerSchedule, now, schedule.Status.Images)
	experiment := recurrence.Experiment(schedule, naming.ManualExperiment(schedule.Name, now), triggerManual, release)
	// Blocking the deletion would need a right to the schedule that the user may lack.
	experiment.OwnerReferences[0].BlockOwnerDeletion = nil
	if err := writer.Create(ctx, experiment, source.FieldOwner); err != nil {
		return nil, fmt.Errorf("creating PerfExperiment %q: %w", experiment.Name, err)
	}
	return experiment, nil
}
