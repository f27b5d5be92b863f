// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	// The fallback CA certificates, if none are mounted.
	_ "golang.org/x/crypto/x509roots/fallback"
)

// Exit codes of curl that callers use.
const (
	exitNoAddress   = 6
	exitNoAnswer    = 7
	exitHTTPError   = 22
	exitNotWritten  = 23
	exitTimeout     = 28
	exitNoTransport = 35
)

// request is a parsed command line of curl.
type request struct {
	method, data, raw, output string
	headers                   []string
	silent, showError, fail   bool
	retries                   int
	maxSeconds                float64
	url                       string
}

// failure is the result of a failed request.
type failure struct {
	code      int
	transient bool
	problem   error
}

func runCurl(ctx context.Context, arguments []string, files streams) int {
	req, err := parseCurl(arguments)
	if err != nil {
		files.complain("curl", err)
		return exitUsage
	}
	if req.maxSeconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(req.maxSeconds*float64(time.Second)))
		defer cancel()
	}
	failed := req.perform(ctx, files.out)
	if failed.problem != nil && (!req.silent || req.showError) {
		files.complain("curl", fmt.Sprintf("(%d) %v", failed.code, failed.problem))
	}
	return failed.code
}

func parseCurl(arguments []string) (request, error) {
	var req request
	flags := pflag.NewFlagSet("curl", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVarP(&req.silent, "silent", "s", false, "")
	flags.BoolVarP(&req.showError, "show-error", "S", false, "")
	flags.BoolVarP(&req.fail, "fail", "f", false, "")
	flags.StringVarP(&req.method, "request", "X", "", "")
	flags.StringVarP(&req.output, "output", "o", "", "")
	flags.StringArrayVarP(&req.headers, "header", "H", nil, "")
	flags.StringVarP(&req.data, "data", "d", "", "")
	flags.StringVar(&req.raw, "data-raw", "", "")
	flags.IntVar(&req.retries, "retry", 0, "")
	flags.Float64VarP(&req.maxSeconds, "max-time", "m", 0, "")
	if err := flags.Parse(arguments); err != nil {
		return request{}, fmt.Errorf("%w: this curl supports only -s -S -f -X -o -H -d --data-raw --retry and -m", err)
	}
	if flags.NArg() != 1 {
		return request{}, fmt.Errorf("want one URL, got %d", flags.NArg())
	}
	if strings.HasPrefix(req.data, "@") {
		return request{}, errors.New("-d @file is not supported: pass the text itself, or --data-raw for text that begins with @")
	}
	req.url = withScheme(flags.Arg(0))
	req.data = cmp.Or(req.data, req.raw)
	return req, nil
}

// withScheme adds http:// to an address without a scheme, as curl does.
func withScheme(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return "http://" + address
}

// perform retries transient failures.
func (r request) perform(ctx context.Context, out io.Writer) failure {
	pause := time.Second
	for attempt := 0; ; attempt++ {
		failed := r.once(ctx, out)
		if !failed.transient || attempt >= r.retries {
			return failed
		}
		select {
		case <-ctx.Done():
			return failure{code: exitTimeout, problem: ctx.Err()}
		case <-time.After(pause):
			pause *= 2
		}
	}
}

func (r request) once(ctx context.Context, out io.Writer) failure {
	built, err := r.build(ctx)
	if err != nil {
		return failure{code: exitUsage, problem: err}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(built)
	if err != nil {
		return classify(err)
	}
	defer func() { _ = answer.Body.Close() }() // The body was read, or is not needed.
	transient := isTransient(answer.StatusCode)
	if r.fail && answer.StatusCode >= http.StatusBadRequest {
		return failure{code: exitHTTPError, transient: transient, problem: fmt.Errorf("the server answered %s", answer.Status)}
	}
	if transient && r.retries > 0 {
		return failure{transient: true}
	}
	return r.keep(answer.Body, out)
}

func (r request) build(ctx context.Context) (*http.Request, error) {
	method := cmp.Or(r.method, http.MethodGet)
	if r.method == "" && r.data != "" {
		method = http.MethodPost
	}
	built, err := http.NewRequestWithContext(ctx, method, r.url, strings.NewReader(r.data))
	if err != nil {
		return nil, err
	}
	if r.data != "" {
		built.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	built.Header.Set("Accept", "*/*")
	built.Header.Set("User-Agent", "perflab-curl")
	for _, header := range r.headers {
		name, value, found := strings.Cut(header, ":")
		if !found {
			return nil, fmt.Errorf("invalid header %q: write Name: value", name)
		}
		built.Header.Set(name, strings.TrimSpace(value))
	}
	return built, nil
}

// isTransient reports whether curl retries after this status.
func isTransient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	default:
		return false
	}
}

// classify returns curl's exit code for a connection error.
func classify(err error) failure {
	var lookup *net.DNSError
	var dial *net.OpError
	var slow net.Error
	switch {
	case errors.As(err, &slow) && slow.Timeout():
		return failure{code: exitTimeout, transient: true, problem: err}
	case errors.As(err, &lookup):
		return failure{code: exitNoAddress, problem: err}
	case errors.As(err, &dial) && dial.Op == "dial":
		return failure{code: exitNoAnswer, problem: err}
	default:
		return failure{code: exitNoTransport, problem: err}
	}
}

// keep writes the response to the output.
func (r request) keep(body io.Reader, out io.Writer) failure {
	if r.output != "" && r.output != "-" {
		file, err := os.Create(r.output)
		if err != nil {
			return failure{code: exitNotWritten, problem: err}
		}
		defer func() { _ = file.Close() }() // Copy reports failed writes.
		out = file
	}
	if _, err := io.Copy(out, body); err != nil {
		return failure{code: exitNotWritten, problem: err}
	}
	return failure{}
}
