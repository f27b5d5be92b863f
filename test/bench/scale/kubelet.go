// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// kubelet is a server for the logs of pods.
type kubelet struct {
	server *httptest.Server
	port   int32
	mutex  sync.Mutex
	logs   map[string][]byte
}

func startKubelet() (*kubelet, error) {
	k := &kubelet{logs: map[string][]byte{}}
	k.server = httptest.NewTLSServer(k)
	address, is := k.server.Listener.Addr().(*net.TCPAddr)
	if !is {
		return nil, errors.New("the kubelet does not listen on a TCP port")
	}
	k.port = int32(address.Port)
	return k, nil
}

// print replaces the log of a pod.
func (k *kubelet) print(pod client.ObjectKey, text []byte) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.logs[pod.String()] = text
}

// ServeHTTP answers /containerLogs/NAMESPACE/POD/CONTAINER.
func (k *kubelet) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	if len(parts) != 4 || parts[0] != "containerLogs" {
		http.NotFound(w, request)
		return
	}
	k.mutex.Lock()
	text := k.logs[parts[1]+"/"+parts[2]]
	k.mutex.Unlock()
	_, _ = w.Write(text)
}

// targets are two targets of load: one answers, and the other never does.
type targets struct {
	answering, silent *httptest.Server
	stop              context.CancelFunc
}

func startTargets() *targets {
	closed, stop := context.WithCancel(context.Background())
	return &targets{
		stop:      stop,
		answering: httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})),
		silent: httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
			select {
			case <-request.Context().Done():
			case <-closed.Done():
			}
		})),
	}
}

// close stops both servers, and cancels open requests.
func (t *targets) close() {
	t.stop()
	t.answering.Close()
	t.silent.Close()
}

// progressed returns the log of a runner while its load is running.
func progressed(began time.Time) ([]byte, error) {
	seconds := int64(time.Since(began) / payload.ProgressEvery)
	line, err := payload.Progress{
		At: began.Add(time.Duration(seconds) * payload.ProgressEvery), Users: 4, RequestsPerSecond: 40 + float64(seconds%7), Requests: 40 * seconds,
		P95: map[string]float64{metric.CheckIn: 460 + float64(seconds%5), metric.CheckOut: 940 + float64(seconds%3)},
	}.Line()
	return []byte(line), err
}

// printed returns the complete log of a runner.
func printed(pod *corev1.Pod, began time.Time) ([]byte, error) {
	own := payload.New(pod.Labels[v1alpha1.LabelLoad], pod.Labels[v1alpha1.LabelRun], pod.Name, began)
	own.Generator = "k6 v2.2.0"
	now := time.Now()
	for at := began; at.Before(now); at = at.Add(250 * time.Millisecond) {
		own.Record(metric.CheckIn, payload.OK, at, 100*time.Millisecond)
		own.Record(metric.CheckOut, payload.OK, at, 200*time.Millisecond)
	}
	own.End, own.Final = now, true
	var log bytes.Buffer
	err := payload.Write(&log, own)
	return log.Bytes(), err
}

// sampled returns the complete log of a collector.
func sampled(pod *corev1.Pod, began time.Time) ([]byte, error) {
	const every = 5 * time.Second
	own := payload.NewSampleRecorder(pod.Labels[v1alpha1.LabelRun], pod.Name, began)
	for at := began; at.Before(time.Now().Add(every)); at = at.Add(every) {
		own.Round(at, every)
		own.Record(metric.Module+"/gateway", "gateway-0/gateway", metric.CPU, metric.UnitCores, at, 0.3)
		own.Record(metric.Module+"/gateway", "gateway-0/gateway", metric.Memory, metric.UnitMebibytes, at, 300)
	}
	own.Samples.Final = true
	var log bytes.Buffer
	err := payload.WriteSamples(&log, own.Samples)
	return log.Bytes(), err
}
