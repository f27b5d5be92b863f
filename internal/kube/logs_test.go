// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/expect"
)

// Temporary failures of a node or the API server are distinguished from responses about
// the log.
func TestLogsAreTemporarilyUnavailable(t *testing.T) {
	for name, test := range map[string]struct {
		serve  http.HandlerFunc
		unread bool
	}{
		"read":              {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a line\n") }, false},
		"gone":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, false},
		"not yet there":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, false},
		"a node is silent":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, true},
		"the server is off": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, true},
		"it breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "a li")
		}, true},
		"no response": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(test.serve)
			defer server.Close()
			if test.serve == nil {
				server.Close()
			}
			clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
			expect.NoError(t, err)
			log, err := kube.PodLogs{Clientset: clientset}.Log(t.Context(), "lab", "pod", "k6")
			if err == nil {
				_, err = io.ReadAll(log)
				_ = log.Close()
			}
			if kube.IsLogUnavailable(err) != test.unread {
				t.Errorf("read with %v, unread for now: %t", err, !test.unread)
			}
		})
	}
}
