// SPDX-License-Identifier: Apache-2.0

// Package naming says what every object of an experiment is called and how it
// is labelled. Names are functions of what they stand for, so that any pass of
// the operator finds what an earlier one made. Nobody else formats names.
package naming

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// maxRunName leaves room for what k6-operator appends to a TestRun's name
// ("-service-12") after ours ("-<load>"), within a label's 63 characters.
const maxRunName = 36

// maxTestRunName leaves room for "-initializer", and for the random suffix of
// the Jobs' pods.
const maxTestRunName = 46

// TestRun is the name of the k6 TestRun for one load of a run.
func TestRun(run *v1alpha1.PerfRun, load string) string {
	return RunScheme(run).TestRun(run.Name, load)
}

// RunnerJob is the name k6-operator gives the Job of runner n, from 1.
func RunnerJob(testRun string, n int32) string { return fmt.Sprintf("%s-%d", testRun, n) }

// StarterJob is the name k6-operator gives the Job that releases the runners.
func StarterJob(testRun string) string { return testRun + "-starter" }

// RawResults is the name of the ConfigMap with a run's merged histograms.
func RawResults(run string) string { return run + "-raw" }

// RawObservations is the key, among the raw results, of all observations of a
// run that has more of them than its status holds.
const RawObservations = "observations.json"

// RawLog is the key, among the raw results, of what a load told of its log.
func RawLog(load string) string { return load + ".log" }

// Collector is the name of the ServiceAccount that the collectors of an experiment's
// runs work as.
func Collector(experiment string) string { return experiment + "-collector" }

// CollectorBinding is the name of the binding that gives them their rights. Under that
// of Collector an earlier operator bound a Role, which a binding can't exchange.
func CollectorBinding(experiment string) string { return experiment + "-collector-rights" }

// CollectorJob is the name of the Job that samples the servers of a run.
func CollectorJob(run string) string { return run + "-collector" }

// RawSamples is the name of the ConfigMap with what a run's servers did.
func RawSamples(run string) string { return run + "-samples" }

// RawScripts is the name of the ConfigMap with the scripts of a run's loads.
func RawScripts(run string) string { return run + "-scripts" }

// RawNames are the names of the ConfigMaps with a run's raw results: its loads',
// its servers', its scripts.
func RawNames(run *v1alpha1.PerfRun) []string {
	names := []string{run.Status.RawResults}
	if servers := run.Status.Servers; servers != nil {
		names = append(names, servers.RawSamples)
	}
	for _, load := range run.Status.Loads {
		if load.Script != nil && !slices.Contains(names, load.Script.Record) {
			names = append(names, load.Script.Record)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// Restore is the name of the Job that brings data back before a run.
func Restore(run string) string { return run + "-restore" }

// Report is the name of the ConfigMap with the experiment's report.
func Report(experiment string) string { return experiment + "-report" }

// Evidence is the name of the ConfigMap with the digests of what an experiment
// recorded.
func Evidence(experiment string) string { return experiment + "-evidence" }

// History is the name of the ConfigMap with what later experiments are compared with, and
// what came out when this one was compared.
func History(experiment string) string { return experiment + "-history" }

// SystemCopy is the name of the ConfigMap with the experiment's copy of the
// PerfSystem it refers to.
func SystemCopy(experiment string) string { return experiment + "-system" }

// Module is the name of a module's Deployment and Service.
func Module(experiment, module string) string { return experiment + "-" + module }

// ServiceURL is where a Service is reached from any namespace.
func ServiceURL(service, namespace string, port int32) string {
	return fmt.Sprintf("http://%s.%s.svc:%d", service, namespace, port)
}

// ImageCheck is the name of the pod that pulls a set of images.
func ImageCheck(experiment, fingerprint string) string {
	return experiment + "-images-" + fingerprint[:DigestLength]
}

// ScheduledExperiment is the name of the experiment that a PerfSchedule makes for a time: as a
// CronJob names its Jobs, by the minutes since 1970.
func ScheduledExperiment(schedule string, due time.Time) string {
	return fmt.Sprintf("%s-%d", schedule, due.Unix()/60)
}

// ImageChangeExperiment is the name of the experiment that a PerfSchedule makes for its so many-th
// change of images. No time of a schedule has a letter there.
func ImageChangeExperiment(schedule *v1alpha1.PerfSchedule, change int64, images []v1alpha1.SeenImage) string {
	return schedule.Name + "-i" + Hash(schedule.UID, change, images)[:7]
}

// ManualExperiment is the name of the experiment that a person has a PerfSchedule's template make.
func ManualExperiment(schedule string, now time.Time) string {
	return schedule + "-m" + strconv.FormatInt(now.Unix(), 36)
}

// Labels are the labels of everything that belongs to an experiment.
func Labels(experiment string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/managed-by": "perflab",
		v1alpha1.LabelExperiment:       experiment,
	}
}

// ComponentLabels are the labels of one component's objects.
func ComponentLabels(experiment, component string) map[string]string {
	labels := Labels(experiment)
	labels[v1alpha1.LabelComponent] = component
	return labels
}

// RunLabels are the labels of everything that belongs to a run.
func RunLabels(run *v1alpha1.PerfRun) map[string]string {
	labels := Labels(run.Spec.Experiment)
	labels[v1alpha1.LabelRun] = run.Name
	labels[v1alpha1.LabelArm] = run.Spec.Arm
	labels[v1alpha1.LabelScenario] = run.Spec.Scenario.Name
	return labels
}

// Owner makes an owner reference to an object of ours.
func Owner(kind string, object metav1.Object) metav1.OwnerReference {
	controller := true
	return metav1.OwnerReference{
		APIVersion:         v1alpha1.GroupVersion.String(),
		Kind:               kind,
		Name:               object.GetName(),
		UID:                object.GetUID(),
		Controller:         &controller,
		BlockOwnerDeletion: &controller,
	}
}

// Hash is a stable digest of values in hexadecimal. Values are compared as
// JSON, so map order does not matter.
func Hash(values ...any) string {
	encoded, err := json.Marshal(values)
	if err != nil {
		// Only plain API values come here; they always marshal.
		panic(fmt.Sprintf("hashing %T values: %v", values, err))
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// DigestLength is how much of a hash in hexadecimal tells names apart: 40 bits. Among
// a hundred thousand names, two are alike with a chance of one in two hundred.
const DigestLength = 10

// shortDigest has as many bits in fewer letters, where pods' names leave no room for
// more.
func shortDigest(value any) string {
	sum := sha256.Sum256([]byte(Hash(value)))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:DigestLength/2]))
}

// IsKafka reports whether a Kafka of this name, of whatever shape, is the
// experiment's.
func IsKafka(experiment, name string) bool { return isShaped(experiment, name) }

// IsPostgres reports whether a PostgreSQL cluster of this name, of whatever
// shape, is the experiment's.
func IsPostgres(experiment, name string) bool { return isShaped(experiment+"-pg", name) }

func isShaped(base, name string) bool {
	shape, found := strings.CutPrefix(name, base)
	return found && (shape == "" || shapeSuffix.MatchString(shape))
}

// shapeSuffix is a shape, by either scheme.
var shapeSuffix = regexp.MustCompile(`^-[0-9a-f]{4}([0-9a-f]{6})?$`)

func shorten(name string, limit int, hash string) string {
	keep := limit - len(hash) - 1
	if len(name) > keep {
		name = strings.TrimRight(name[:keep], "-.")
	}
	return name + "-" + hash
}
