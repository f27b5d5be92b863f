// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/prose"
)

// describeScenario says what a scenario puts on.
func describeScenario(scenario v1alpha1.Scenario) string {
	parts := make([]string, 0, len(scenario.Loads))
	for _, load := range scenario.Loads {
		if load.Name == scenario.Name {
			parts = append(parts, describeLoad(load))
			continue
		}
		parts = append(parts, load.Name+" ("+describeLoad(load)+")")
	}
	return listed(parts)
}

// describeLoad says in a few words what a load does.
func describeLoad(load v1alpha1.Load) string {
	var text string
	switch {
	case load.CheckInCheckOut != nil:
		text = describeCirculation(load.CheckInCheckOut)
	case load.DataImport != nil:
		text = describeImport(load.DataImport)
	case load.Script != nil:
		text = describeScript(load.Script)
	}
	switch {
	case load.Duration != nil:
		text += ", " + spoken(load.Duration.Duration)
	case load.Until != "":
		text += ", until " + load.Until + " ends"
	case load.Script != nil && load.Script.Argument("--duration", "-d") != "":
		text += ", " + load.Script.Argument("--duration", "-d")
	}
	switch {
	case load.After != "":
		text += ", after " + load.After
		if delay := load.StartAfterOrDefault(); delay > 0 {
			text += " and " + spoken(delay)
		}
	case load.StartAfterOrDefault() > 0:
		text += ", from " + spoken(load.StartAfterOrDefault()) + " on"
	}
	if runners := load.ParallelismOrDefault(); runners > 1 {
		text += ", from " + prose.Counted(runners, "runner")
	}
	return text
}

func describeCirculation(users *v1alpha1.CheckInCheckOut) string {
	text := "check-in and check-out by " + prose.Counted(users.Users, "user")
	if users.RampUp != nil {
		text += " over a ramp-up of " + spoken(users.RampUp.Duration)
	}
	return text
}

func describeImport(imported *v1alpha1.DataImport) string {
	kind := strings.ToLower(strings.TrimSpace(string(imported.Operation) + " " + string(imported.RecordType)))
	if kind == "" {
		kind = "create bibliographic"
	}
	text := fmt.Sprintf("%s, %s", kind, prose.Counted(imported.Records, "record"))
	if imported.Imports > 1 {
		text = fmt.Sprintf("%s, %s of %s", kind, prose.Counted(imported.Imports, "import"), prose.Counted(imported.Records, "record"))
		if imported.Pause != nil && imported.Pause.Duration > 0 {
			text += fmt.Sprintf(" with pauses of %s", spoken(imported.Pause.Duration))
		}
	}
	if imported.Flow == v1alpha1.FlowS3 {
		text += ", through S3"
	}
	return text + fmt.Sprintf(", job profile “%s”", imported.JobProfileOrDefault())
}

// describeScript says which script it is and what k6 is told to do with it, which
// for many scripts is all there is to know without reading them.
func describeScript(script *v1alpha1.Script) string {
	text := "the k6 script " + placeOf(script)
	if script.Image != "" {
		text += " in image " + script.Image
	}
	for _, told := range []struct{ noun, value string }{
		{"user", script.Argument("--vus", "-u")},
		{"iteration", script.Argument("--iterations", "-i")},
	} {
		if number, err := strconv.Atoi(told.value); err == nil {
			text += ", " + prose.Counted(number, told.noun)
		}
	}
	return text
}

func placeOf(script *v1alpha1.Script) string {
	switch {
	case script.ConfigMap != nil:
		return script.ConfigMap.Key + " of ConfigMap " + script.ConfigMap.Name
	case script.PersistentVolumeClaim != nil:
		return script.PersistentVolumeClaim.File + " of volume " + script.PersistentVolumeClaim.ClaimName
	default:
		return script.Path
	}
}

// spoken writes a duration without the zeros Go adds: 30m, not 30m0s.
func spoken(duration time.Duration) string {
	text := duration.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func timeOf(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}

// capital begins a sentence.
func capital(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
