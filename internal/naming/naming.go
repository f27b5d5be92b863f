// SPDX-License-Identifier: Apache-2.0

// Package naming has the names and labels of every object of an experiment. Names are
// functions of the object's identity, so that every reconcile finds the objects of earlier
// ones. No other package builds names.
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

// TestRun returns the name of the k6 TestRun for one load of a run.
func TestRun(run *v1alpha1.PerfRun, load string) string {
	return RunScheme(run).TestRun(run.Name, load)
}

// RunnerJob returns the name k6-operator gives the Job of runner n, from 1.
func RunnerJob(testRun string, n int32) string { return fmt.Sprintf("%s-%d", testRun, n) }

// StarterJob returns the name k6-operator gives the Job that releases the runners.
func StarterJob(testRun string) string { return testRun + "-starter" }

// RawResults returns the name of the ConfigMap with a run's merged histograms.
func RawResults(run string) string { return run + "-raw" }

// RawObservations is the key, among the raw results, of all observations of a
// run that has more of them than its status holds.
const RawObservations = "observations.json"

// RawLog returns the key, among the raw results, of a load's log lines.
func RawLog(load string) string { return load + ".log" }

// Collector returns the name of the ServiceAccount of an experiment's collectors.
func Collector(experiment string) string { return experiment + "-collector" }

// CollectorBinding returns the name of the collectors' RoleBinding. Earlier versions bound
// another Role under the name of Collector, and a binding's role is immutable.
func CollectorBinding(experiment string) string { return experiment + "-collector-rights" }

// CollectorJob returns the name of the Job that samples the servers of a run.
func CollectorJob(run string) string { return run + "-collector" }

// RawSamples returns the name of the ConfigMap with a run's server samples.
func RawSamples(run string) string { return run + "-samples" }

// RawScripts returns the name of the ConfigMap with the scripts of a run's loads.
func RawScripts(run string) string { return run + "-scripts" }

// RawNames returns the names of the ConfigMaps with a run's raw results: loads, servers,
// scripts.
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

// Restore returns the name of a run's restore Job.
func Restore(run string) string { return run + "-restore" }

// Report returns the name of the ConfigMap with the experiment's report.
func Report(experiment string) string { return experiment + "-report" }

// Evidence returns the name of the ConfigMap with the digests of an experiment's records.
func Evidence(experiment string) string { return experiment + "-evidence" }

// History returns the name of the ConfigMap with the data for comparisons with later
// experiments, and the results of this one's comparison.
func History(experiment string) string { return experiment + "-history" }

// SystemCopy returns the name of the ConfigMap with the experiment's copy of the PerfSystem
// it refers to.
func SystemCopy(experiment string) string { return experiment + "-system" }

// Module returns the name of a module's Deployment and Service.
func Module(experiment, module string) string { return experiment + "-" + module }

// ServiceURL returns a Service's URL, for any namespace.
func ServiceURL(service, namespace string, port int32) string {
	return fmt.Sprintf("http://%s.%s.svc:%d", service, namespace, port)
}

// ImageCheck returns the name of the pod that pulls a set of images.
func ImageCheck(experiment, fingerprint string) string {
	return experiment + "-images-" + fingerprint[:DigestLength]
}

// ScheduledExperiment returns the name of the experiment that a PerfSchedule creates for a
// time: like a CronJob's Jobs, with the minutes since 1970.
func ScheduledExperiment(schedule string, due time.Time) string {
	return fmt.Sprintf("%s-%d", schedule, due.Unix()/60)
}

// ImageChangeExperiment returns the name of the experiment that a PerfSchedule creates for
// its n-th change of images. It contains a letter where scheduled ones have a digit.
func ImageChangeExperiment(schedule *v1alpha1.PerfSchedule, change int64, images []v1alpha1.SeenImage) string {
	return schedule.Name + "-i" + Hash(schedule.UID, change, images)[:7]
}

// ManualExperiment returns the name of an experiment that a user creates from a
// PerfSchedule's template.
func ManualExperiment(schedule string, now time.Time) string {
	return schedule + "-m" + strconv.FormatInt(now.Unix(), 36)
}

// Labels returns the labels of everything that belongs to an experiment.
func Labels(experiment string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/managed-by": "perflab",
		v1alpha1.LabelExperiment:       experiment,
	}
}

// ComponentLabels returns the labels of one component's objects.
func ComponentLabels(experiment, component string) map[string]string {
	labels := Labels(experiment)
	labels[v1alpha1.LabelComponent] = component
	return labels
}

// RunLabels returns the labels of everything that belongs to a run.
func RunLabels(run *v1alpha1.PerfRun) map[string]string {
	labels := Labels(run.Spec.Experiment)
	labels[v1alpha1.LabelRun] = run.Name
	labels[v1alpha1.LabelArm] = run.Spec.Arm
	labels[v1alpha1.LabelScenario] = run.Spec.Scenario.Name
	return labels
}

// Owner returns an owner reference to one of our objects.
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

// Hash returns a stable digest of values in hexadecimal. Values are compared as JSON, so
// map order does not matter.
func Hash(values ...any) string {
	encoded, err := json.Marshal(values)
	if err != nil {
		// Plain API values always marshal.
		panic(fmt.Sprintf("hashing %T values: %v", values, err))
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// DigestLength is the length of a name's hash in hexadecimal digits: 40 bits. Among a
// hundred thousand names, the probability of a collision is one in two hundred.
const DigestLength = 10

// shortDigest has as many bits in fewer characters, for pods' names.
func shortDigest(value any) string {
	sum := sha256.Sum256([]byte(Hash(value)))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:DigestLength/2]))
}

// IsKafka reports whether this is the name of one of the experiment's Kafkas, of any shape.
func IsKafka(experiment, name string) bool { return isShaped(experiment, name) }

// IsPostgres reports whether this is the name of one of the experiment's PostgreSQL
// clusters, of any shape.
func IsPostgres(experiment, name string) bool { return isShaped(experiment+"-pg", name) }

func isShaped(base, name string) bool {
	shape, found := strings.CutPrefix(name, base)
	return found && (shape == "" || shapeSuffix.MatchString(shape))
}

// shapeSuffix matches a shape in either scheme.
var shapeSuffix = regexp.MustCompile(`^-[0-9a-f]{4}([0-9a-f]{6})?$`)

func shorten(name string, limit int, hash string) string {
	keep := limit - len(hash) - 1
	if len(name) > keep {
		name = strings.TrimRight(name[:keep], "-.")
	}
	return name + "-" + hash
}
