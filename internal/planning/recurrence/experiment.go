// SPDX-License-Identifier: Apache-2.0

package recurrence

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// maxRelease bounds the name of an experiment's release, in characters.
const maxRelease = 128

// Release returns the name of an experiment's release in a history.
func Release(spec *v1alpha1.PerfScheduleSpec, trigger v1alpha1.Trigger, due time.Time, images []v1alpha1.SeenImage) string {
	wording := spec.Release
	switch {
	case wording != "":
	case trigger == v1alpha1.TriggerImageChange:
		wording = "{tags}"
	default:
		wording = "{time}"
	}
	if zone, err := loadZone(spec.TimeZone); err == nil {
		due = due.In(zone)
	}
	runes := []rune(strings.NewReplacer(
		"{tags}", tags(images), "{date}", due.Format("2006-01-02"), "{time}", due.Format("2006-01-02T15:04"),
	).Replace(wording))
	return string(runes[:min(len(runes), maxRelease)])
}

// reservedPrefixes are prefixes of labels and annotations with which other tools track what
// they have applied. They would prune an experiment with them, because it is not in Git.
var reservedPrefixes = []string{
	"argocd.argoproj.io/", "app.kubernetes.io/instance", "kubectl.kubernetes.io/", "kustomize.toolkit.fluxcd.io/",
	"helm.toolkit.fluxcd.io/", "meta.helm.sh/", "helm.sh/", "config.k8s.io/", "perflab.dev/",
}

func withoutReserved(marks map[string]string) map[string]string {
	own := map[string]string{}
	for key, value := range marks {
		if !hasAnyPrefix(key, reservedPrefixes) {
			own[key] = value
		}
	}
	return own
}

func hasAnyPrefix(key string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// Experiment returns the experiment that the schedule creates from its template.
func Experiment(schedule *v1alpha1.PerfSchedule, name, trigger, release string) *v1alpha1.PerfExperiment {
	made := &v1alpha1.PerfExperiment{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PerfExperiment"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: schedule.Namespace, Name: name,
			Labels:          withoutReserved(schedule.Spec.Template.Metadata.Labels),
			Annotations:     withoutReserved(schedule.Spec.Template.Metadata.Annotations),
			OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfSchedule", schedule)},
		},
		Spec: *schedule.Spec.Template.Spec.DeepCopy(),
	}
	made.Labels[v1alpha1.LabelSchedule] = schedule.Name
	made.Annotations[v1alpha1.AnnotationTrigger] = trigger
	made.Annotations[v1alpha1.AnnotationRelease] = release
	return made
}

// Follows reports whether an experiment belongs to the schedule and matches its current
// template.
func Follows(experiment *v1alpha1.PerfExperiment, schedule *v1alpha1.PerfSchedule) bool {
	return metav1.IsControlledBy(experiment, schedule) && schedule.DeletionTimestamp == nil &&
		equality.Semantic.DeepEqual(experiment.Spec, schedule.Spec.Template.Spec)
}
