// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

func playedPod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: lab, Name: "pod", Labels: map[string]string{v1alpha1.LabelRun: "run", v1alpha1.LabelLoad: "cico"},
	}}
}

func TestKubeletServesLogs(t *testing.T) {
	k, err := startKubelet()
	expect.NoError(t, err)
	t.Cleanup(k.server.Close)
	k.print(client.ObjectKeyFromObject(playedPod()), []byte("hello"))
	for path, want := range map[string]string{
		"/containerLogs/lab/pod/k6?sinceSeconds=15": "hello",
		"/containerLogs/lab/other/k6":               "",
		"/pods":                                     "404 page not found\n",
	} {
		answer, err := k.server.Client().Get(k.server.URL + path)
		expect.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		if err != nil || string(text) != want {
			t.Errorf("%s: %q (%v), want %q", path, text, err, want)
		}
		_ = answer.Body.Close()
	}
}

func TestTargets(t *testing.T) {
	played := startTargets()
	t.Cleanup(played.close)
	for target, answers := range map[string]bool{played.silent.URL: false, played.answering.URL: true} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
		expect.NoError(t, err)
		answer, err := http.DefaultClient.Do(request)
		if (err == nil) != answers {
			t.Errorf("%s: %v, want an answer: %v", target, err, answers)
		}
		if err == nil {
			_ = answer.Body.Close()
		}
		cancel()
	}
}

func TestPodLogsAreReadable(t *testing.T) {
	began := time.Now().Add(-12 * time.Second)
	text, err := printed(playedPod(), began)
	expect.NoError(t, err)
	own, err := payload.Read(bytes.NewReader(text))
	if err != nil || own.Run != "run" || own.Load != "cico" || own.Runner != "pod" || own.End.Sub(own.Start) < 12*time.Second {
		t.Errorf("results %+v (%v)", own, err)
	}
	if text, err = sampled(playedPod(), began); err != nil {
		t.Fatal(err)
	}
	samples, err := payload.ReadSamples(bytes.NewReader(text))
	if err != nil || samples.Run != "run" || samples.Collector != "pod" || len(samples.Rounds) < 3 {
		t.Errorf("samples %+v (%v)", samples, err)
	}
	if text, err = progressed(began); err != nil {
		t.Fatal(err)
	}
	if progress, found := payload.LastProgress(bytes.NewReader(text)); !found || progress.Users != 4 {
		t.Errorf("progress %+v, found: %v", progress, found)
	}
}

func TestLiveExperimentIsValid(t *testing.T) {
	declared, err := parseDeclaration("live", liveExperiment)
	if err != nil || declared.runs() != 2 {
		t.Errorf("%+v (%v)", declared, err)
	}
}
