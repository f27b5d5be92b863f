// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

// shortest is the minimum duration of a load: results are stored by the second.
const shortest = 3 * time.Second

// playK6 simulates k6-operator and k6: it starts a new TestRun, and ends a load that has run for a
// while.
func (l *lab) playK6() {
	l.t.Helper()
	for _, testRun := range l.foreign(contract.TestRunKind) {
		switch (contract.TestRun{Object: &testRun}).Stage() {
		case "":
			l.startRunners(&testRun)
			l.setStatus(&testRun, map[string]any{"stage": string(contract.StageStarted)})
		case contract.StageStarted:
			if l.endRunners(&testRun) {
				l.setStatus(&testRun, map[string]any{"stage": string(contract.StageFinished)})
			}
		default:
			// It has finished.
		}
	}
}

func (l *lab) startRunners(testRun *unstructured.Unstructured) {
	l.t.Helper()
	for n := range parallelism(testRun) {
		name := naming.RunnerJob(testRun.GetName(), n+1)
		labels := maps.Clone(testRun.GetLabels())
		maps.Copy(labels, map[string]string{contract.LabelTestRun: testRun.GetName(), contract.LabelRunner: "true", "app": "k6"})
		container := corev1.Container{Name: contract.RunnerContainer, Image: "example.org/k6:1"}
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Labels: labels,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(testRun, contract.TestRunKind)},
			},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{container},
			}}},
		}
		l.create(job)
		labels[batchv1.JobNameLabel] = name
		l.ensurePod(name+"-x", job, labels, nil)
		l.podAddress(name + "-x")
	}
}

// endRunners ends the runners that are not held and reports whether all have ended.
func (l *lab) endRunners(testRun *unstructured.Unstructured) bool {
	l.t.Helper()
	name := testRun.GetLabels()[v1alpha1.LabelLoad]
	all := true
	for n := range parallelism(testRun) {
		pods := l.pods(map[string]string{batchv1.JobNameLabel: naming.RunnerJob(testRun.GetName(), n+1)})
		all = all && (len(pods) > 0 || !l.outside.held[name])
		for _, pod := range pods {
			if pod.Status.PodIP == "" {
				// A runner from before an upgrade: the next round sees it with its address.
				l.podAddress(pod.Name)
				all = false
				continue
			}
			address := fmt.Sprintf("http://%s:%d", l.podAddress(pod.Name), load.RunnerPort)
			exit := l.outside.exit[name]
			if stopped, _ := l.runners.get(address); stopped {
				exit = 103
			} else if l.outside.held[name] {
				all = false
				continue
			}
			if l.now.Sub(pod.Status.StartTime.Time) < cmp.Or(l.outside.lasts, shortest) {
				all = false
				continue
			}
			l.endRunner(pod, testRun, name, exit)
			l.runners.over.put(address, true)
		}
	}
	return all
}

// endRunner makes k6 print its results and exit.
func (l *lab) endRunner(pod corev1.Pod, testRun *unstructured.Unstructured, load string, exit int32) {
	l.t.Helper()
	if pod.Status.ContainerStatuses[0].State.Running == nil {
		return
	}
	began := pod.Status.StartTime.Time
	var log bytes.Buffer
	own := l.measured(pod, testRun, load, began)
	if l.outside.forge != nil {
		l.outside.forge(own)
	}
	expect.NoError(l.t, payload.Write(&log, own))
	l.printLog(&log, exit)
	l.logs.put(pod.Name, log.Bytes())
	pod.Status.Phase = corev1.PodSucceeded
	if exit != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses[0].Ready = false
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: exit, StartedAt: metav1.NewTime(began), FinishedAt: metav1.NewTime(l.now),
	}}
	l.writeStatus(&pod)
}

// measuredCold is a load of at least ten seconds, plus the allowed difference of clocks.
func (l *lab) measuredCold(own *payload.Payload) *payload.Payload {
	const skew = 4 * time.Second
	own.Start, own.End, own.Final = own.Start.Add(-skew), l.now.Add(skew), true
	for at := own.Start; at.Before(own.End); at = at.Add(50 * time.Millisecond) {
		took := 200 * time.Millisecond
		if at.Sub(own.Start) < 3*time.Second {
			took = 900 * time.Millisecond
		}
		own.Record("Check-In", "ok", at, took)
	}
	return own
}

// printLog prints k6's log and, for our k6, its summary of the log.
func (l *lab) printLog(log *bytes.Buffer, exit int32) {
	l.t.Helper()
	level, words := "info", "hello, "+password
	if exit != 0 {
		level, words = "error", cmp.Or(l.outside.lastWords, "no such item")
	}
	fmt.Fprintf(log, "time=\"2026-03-01T12:00:00Z\" level=%s msg=%q source=console\n", level, words)
	if l.outside.foreignK6 {
		return
	}
	line, err := payload.NewLogLine(level, strings.ReplaceAll(words, password, "***")).Line()
	expect.NoError(l.t, err)
	log.WriteString(line)
}

// measured is the result of a runner: a check-in of 100 ms and a check-out of 200 ms each second, a
// tenth slower in the arm "slow"; or an import.
func (l *lab) measured(pod corev1.Pod, testRun *unstructured.Unstructured, name string, began time.Time) *payload.Payload {
	l.t.Helper()
	labels := testRun.GetLabels()
	own := payload.New(name, labels[v1alpha1.LabelRun], pod.Name, began)
	unit := 100 * time.Millisecond
	if labels[v1alpha1.LabelArm] == "slow" {
		unit = 110 * time.Millisecond
	}
	if name == importing {
		own.Count("perflab_imports", began, 1)
		own.Count("perflab_records", began, 500)
		own.Record("Import job", "ok", l.now.Add(-time.Second), 80*unit)
		own.Record("Import", "ok", l.now.Add(-time.Second), 90*unit)
	} else {
		for at := began; at.Before(l.now); at = at.Add(time.Second) {
			own.Record("Check-In", "ok", at, unit)
			own.Record("Check-Out", "ok", at, 2*unit)
			own.Count("http_reqs", at, 4)
			own.Count("iterations", at, 2)
			if l.outside.refusing {
				own.Count("http_req_failed", at, 4)
			}
		}
	}
	if l.outside.cold {
		return l.measuredCold(own)
	}
	if l.outside.bulky {
		// Random names don't compress, and a wider bucket has as many of them.
		chance := rand.NewChaCha8([32]byte{})
		name := func() string {
			name := make([]byte, payload.MaxName*3/4)
			_, _ = chance.Read(name)
			return base64.URLEncoding.EncodeToString(name)
		}
		for range payload.MaxSeries {
			own.Count(name(), began, 1)
			own.Add(payload.Row{Scenario: name(), Transaction: name(), Outcome: payload.OK}, began, time.Second)
			own.Add(payload.Row{Scenario: name(), Transaction: name(), Request: name(), Outcome: payload.OK}, began, time.Second)
		}
	}
	own.End, own.Final = l.now, true
	return own
}

func parallelism(testRun *unstructured.Unstructured) int32 {
	count, _, _ := unstructured.NestedInt64(testRun.Object, "spec", "parallelism")
	return int32(count)
}
