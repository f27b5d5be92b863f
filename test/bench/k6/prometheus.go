// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// prometheus is a real Prometheus that receives remote writes on this machine only.
type prometheus struct {
	url     string
	command *exec.Cmd
	output  bytes.Buffer
}

func startPrometheus(ctx context.Context, dir string) (*prometheus, error) {
	path, err := exec.LookPath("prometheus")
	if err != nil {
		return nil, errors.New("prometheus is missing: install Debian's package of this name, or omit it with -outputs=perflab,json,csv")
	}
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &prometheus{url: "http://" + address}
	p.command = exec.CommandContext(ctx, path, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"),
		"--web.listen-address="+address, "--web.enable-remote-write-receiver", "--log.level=warn")
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("starting prometheus: %w", err)
	}
	if err := p.ready(ctx); err != nil {
		p.stop()
		return nil, fmt.Errorf("%w\n%s", err, &p.output)
	}
	return p, nil
}

func (p *prometheus) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		if response, err := get(ctx, p.url+"/-/ready"); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("prometheus was not ready in 30 s")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// received checks that k6's samples arrived, because an output whose writes all fail is fast.
func (p *prometheus) received(ctx context.Context) error {
	response, err := get(ctx, p.url+"/api/v1/query?query=count(last_over_time(k6_http_reqs_total[1h]))")
	if err != nil {
		return fmt.Errorf("querying prometheus: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Data struct {
			Result []struct {
				Value [2]any `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("querying prometheus: %w", err)
	}
	if len(answer.Data.Result) != 1 || answer.Data.Result[0].Value[1] != fmt.Sprint(requestsPerIteration) {
		return fmt.Errorf("prometheus has %v series of requests, want %d", answer.Data.Result, requestsPerIteration)
	}
	return nil
}

func (p *prometheus) stop() {
	// The process may have ended already. Only its directory remains, which is deleted.
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait()
}

func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}
