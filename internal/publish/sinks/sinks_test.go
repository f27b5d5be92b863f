// SPDX-License-Identifier: Apache-2.0

package sinks_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/publish/announcement"
	"perflab.dev/perflab/internal/publish/sinks"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
	"perflab.dev/perflab/internal/testing/receivers"
)

var began = metav1.Time{Time: time.Date(2026, time.March, 1, 8, 0, 0, 0, time.UTC)}

func told() announcement.Announcement {
	return announcement.Announcement{
		ID: "id-1", Type: announcement.TypeChanged, Source: "/apis/x", Subject: "lab/heap", Time: began.Time,
		Data: map[string]string{"a": "b"}, Namespace: "lab", Experiment: "heap-3",
		Change: &v1alpha1.SeriesChange{
			Verdict: v1alpha1.VerdictWorse, Time: began, Experiments: []string{"heap-1", "heap-2"},
			Sentence: "Check-Out p95 rose by 6.1 % between <1> and 2",
		},
	}
}

// open opens one sink with these files in its directory of credentials.
func open(t *testing.T, cloudEvents, grafana string, credentials map[string]string) sinks.Sink {
	t.Helper()
	folder := t.TempDir()
	expect.NoError(t, os.Mkdir(filepath.Join(folder, "ci"), 0o700))
	for name, text := range credentials {
		expect.NoError(t, os.WriteFile(filepath.Join(folder, "ci", name), []byte(text), 0o600))
	}
	var events, boards []string
	if cloudEvents != "" {
		events = []string{"ci=" + cloudEvents}
	}
	if grafana != "" {
		boards = []string{"ci=" + grafana}
	}
	all, err := sinks.Open(events, boards, folder, loopback.Rules())
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sinks, %v", len(all), err)
	}
	return all[0]
}

func TestCloudEvents(t *testing.T) {
	receiver := receivers.NewCloudEvents(t)
	sink := open(t, receiver.URL, "", map[string]string{"token": "t0ken\n", "header": "X-Api-Key: k3y"})
	expect.NoError(t, sink.Send(t.Context(), told()))
	events := receiver.Events()
	if len(events) != 1 {
		t.Fatalf("%d events", len(events))
	}
	one := events[0]
	got := []string{one.SpecVersion(), one.ID(), one.Type(), one.Source(), one.Subject(), one.Time().Format(time.RFC3339), one.DataContentType(), string(one.Data())}
	want := []string{"1.0", "id-1", "dev.perflab.series.changed", "/apis/x", "lab/heap", "2026-03-01T08:00:00Z", "application/json", `{"a":"b"}`}
	expect.Equal(t, want, got)
	if header := receiver.Requests()[0]; header.Get("Authorization") != "Bearer t0ken" || header.Get("X-Api-Key") != "k3y" || header.Get("Content-Type") != "application/cloudevents+json" {
		t.Errorf("%v", header)
	}
}

// A replaced token is used from the next call on.
func TestCredentialsAreReadForEachRequest(t *testing.T) {
	receiver := receivers.NewCloudEvents(t)
	folder := t.TempDir()
	all, err := sinks.Open([]string{"ci=" + receiver.URL}, nil, folder, loopback.Rules())
	expect.NoError(t, err)
	for _, token := range []string{"", "first", "second"} {
		if token != "" {
			expect.NoError(t, errors.Join(os.MkdirAll(filepath.Join(folder, "ci"), 0o700), os.WriteFile(filepath.Join(folder, "ci", "token"), []byte(token), 0o600)))
		}
		expect.NoError(t, all[0].Send(t.Context(), told()))
	}
	var seen []string
	for _, header := range receiver.Requests() {
		seen = append(seen, header.Get("Authorization"))
	}
	expect.Equal(t, []string{"", "Bearer first", "Bearer second"}, seen)
}

// The error of a response contains neither its body, nor the address, nor credentials.
func TestSendFailsOnErrorStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		want   error
	}{
		"an error of its own": {http.StatusInternalServerError, sinks.ErrUnavailable},
		"too busy":            {http.StatusTooManyRequests, sinks.ErrUnavailable},
		"not let in":          {http.StatusForbidden, sinks.ErrRefuses},
		"no such address":     {http.StatusNotFound, sinks.ErrRefuses},
	} {
		t.Run(name, func(t *testing.T) {
			receiver, grafana := receivers.NewCloudEvents(t), receivers.NewGrafana(t, "t0ken")
			receiver.Fail(tc.status)
			grafana.Fail(tc.status)
			for address, sink := range map[string]sinks.Sink{
				receiver.URL: open(t, receiver.URL, "", map[string]string{"token": "t0ken"}),
				grafana.URL:  open(t, "", grafana.URL, map[string]string{"token": "t0ken"}),
			} {
				err := sink.Send(t.Context(), told())
				if !errors.Is(err, tc.want) {
					t.Fatalf("%v, want %v", err, tc.want)
				}
				for _, hidden := range []string{"t0ken", "secret words", address, strings.TrimPrefix(receiver.URL, "http://")} {
					if strings.Contains(err.Error(), hidden) {
						t.Errorf("%v tells %q", err, hidden)
					}
				}
			}
		})
	}
}

func TestSendFailsWithoutServer(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// Without reading the body, the handler would not notice that the client has gone.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	other := httptest.NewTLSServer(http.NotFoundHandler())
	other.Config.ErrorLog = nil
	t.Cleanup(other.Close)
	for name, tc := range map[string]struct{ address, want string }{
		"gone":                 {"http://127.0.0.1:1", "the connection failed"},
		"silent":               {silent.URL, "no response within 10s"},
		"of another authority": {other.URL, "its certificate is not trusted"},
		"of an unknown host":   {"https://sink.invalid", "its host name does not resolve"},
	} {
		t.Run(name, func(t *testing.T) {
			// Only the silent server runs into the timeout.
			patience := 10 * time.Second
			if name == "silent" {
				patience = 300 * time.Millisecond
			}
			ctx, stop := context.WithTimeout(t.Context(), patience)
			defer stop()
			err := open(t, tc.address, "", nil).Send(ctx, told())
			if !errors.Is(err, sinks.ErrUnavailable) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "127.0.0.1") {
				// Some resolvers do not respond to unknown names.
				if name == "of an unknown host" && errors.Is(err, sinks.ErrUnavailable) {
					return
				}
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// Credentials are sent only to the named server, and an endless response is not read to its
// end.
func TestSendRejectsRedirects(t *testing.T) {
	elsewhere := receivers.NewCloudEvents(t)
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, sinks.ErrRefuses},
		"without end": {func(w http.ResponseWriter, _ *http.Request) {
			for block := make([]byte, 32<<10); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.answer)
			t.Cleanup(server.Close)
			if err := open(t, server.URL, "", map[string]string{"token": "t0ken"}).Send(t.Context(), told()); !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
	if asked := elsewhere.Requests(); len(asked) > 0 {
		t.Errorf("the other address was asked: %v", asked)
	}
}

func TestGrafanaAnnotationIsUnique(t *testing.T) {
	grafana := receivers.NewGrafana(t, "t0ken")
	sink := open(t, "", grafana.URL, map[string]string{"token": "t0ken"})
	if sink.Wants(announcement.Announcement{Type: announcement.TypeCompleted}) || !sink.Wants(told()) {
		t.Error("Grafana receives more than changes")
	}
	// The first annotation is stored, but its response is lost.
	grafana.LoseNext = true
	if err := sink.Send(t.Context(), told()); !errors.Is(err, sinks.ErrUnavailable) {
		t.Fatal(err)
	}
	grafana.LoseNext = false
	another := told()
	another.ID = "id-2"
	for _, one := range []announcement.Announcement{told(), another, told()} {
		expect.NoError(t, sink.Send(t.Context(), one))
	}
	want := []receivers.Annotation{
		{ID: 1, Time: began.UnixMilli(), Tags: []string{"perflab", "lab", "heap-2", "worse", "perflab-id:id-1"}, Text: "Check-Out p95 rose by 6.1 % between &lt;1&gt; and 2: Worse."},
		{ID: 2, Time: began.UnixMilli(), Tags: []string{"perflab", "lab", "heap-2", "worse", "perflab-id:id-2"}, Text: "Check-Out p95 rose by 6.1 % between &lt;1&gt; and 2: Worse."},
	}
	expect.Equal(t, want, grafana.Annotations())
}

func TestGrafanaRejectsOtherResponses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(server.Close)
	if err := open(t, "", server.URL, nil).Send(t.Context(), told()); !errors.Is(err, sinks.ErrRefuses) || !strings.Contains(err.Error(), "not Grafana") {
		t.Error(err)
	}
}

func TestInvalidCredentials(t *testing.T) {
	receiver := receivers.NewCloudEvents(t)
	for name, credentials := range map[string]map[string]string{
		"two lines":   {"token": "one\ntwo"},
		"too long":    {"token": strings.Repeat("x", 20<<10)},
		"no value":    {"header": "X-Api-Key"},
		"empty value": {"header": "X-Api-Key: "},
	} {
		t.Run(name, func(t *testing.T) {
			if err := open(t, receiver.URL, "", credentials).Send(t.Context(), told()); !errors.Is(err, sinks.ErrConfiguration) || strings.Contains(err.Error(), "Key:") {
				t.Error(err)
			}
		})
	}
	if asked := receiver.Requests(); len(asked) > 0 {
		t.Errorf("it was asked: %v", asked)
	}
}

func TestOpen(t *testing.T) {
	for name, tc := range map[string]struct {
		events, grafana []string
		want            string
	}{
		"no name":                     {[]string{"https://example.org"}, nil, "write NAME=URL"},
		"a name with a path":          {[]string{"../x=https://example.org"}, nil, "write NAME=URL"},
		"no URL":                      {[]string{"ci=example"}, nil, "write https://HOST/PATH"},
		"a login":                     {[]string{"ci=https://me:secret@example.org"}, nil, "put the login into a Secret"},
		"in the clear, far away":      {[]string{"ci=http://example.org"}, nil, "must begin with https://"},
		"another protocol":            {[]string{"ci=ftp://example.org"}, nil, "must begin with https://"},
		"a fragment":                  {[]string{"ci=https://example.org/#a"}, nil, "fragment"},
		"two of a name":               {[]string{"ci=https://example.org"}, []string{"ci=https://example.org"}, `two sinks are named "ci"`},
		"a query for Grafana":         {nil, []string{"g=https://example.org?a=b"}, "has a query"},
		"a Service":                   {[]string{"ci=http://broker-ingress.knative-eventing.svc.cluster.local/lab/default"}, []string{"g=http://grafana.monitoring.svc"}, ""},
		"a query, which some ask for": {[]string{"ci=https://example.org/hook?channel=a"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sinks.Open(tc.events, tc.grafana, "", egress.Rules{})
			switch {
			case tc.want == "" && err != nil, tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%v, want %q", err, tc.want)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("%v tells a password", err)
			}
		})
	}
	var many []string
	for _, name := range strings.Split("abcdefghi", "") {
		many = append(many, name+"=https://example.org")
	}
	if _, err := sinks.Open(many, nil, "", egress.Rules{}); err == nil || !strings.Contains(err.Error(), "at most 8") {
		t.Error(err)
	}
}

// Flags name a sink, and the name may lead to an address that the egress rules deny.
func TestSendIsDeniedByEgressRules(t *testing.T) {
	receiver := receivers.NewCloudEvents(t)
	for _, address := range []string{receiver.URL, strings.Replace(receiver.URL, "127.0.0.1", "localhost", 1)} {
		all, err := sinks.Open([]string{"ci=" + address}, nil, "", egress.Rules{})
		expect.NoError(t, err)
		err = all[0].Send(t.Context(), told())
		if want := "its address is a loopback address: allow it with --allow-targets"; !errors.Is(err, sinks.ErrConfiguration) || !strings.Contains(err.Error(), want) {
			t.Errorf("telling %s gave %v", address, err)
		}
	}
	if asked := receiver.Requests(); len(asked) > 0 {
		t.Errorf("it was told %d times", len(asked))
	}
}
