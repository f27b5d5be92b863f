// SPDX-License-Identifier: Apache-2.0

// Package sinks sends announcements to servers outside the cluster that the installation
// configures: receivers of CloudEvents, and Grafana.
//
// Requests have a deadline and follow no redirect. Only the status code of a response is used;
// its content is neither trusted nor repeated.
package sinks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/publish/announcement"
)

var (
	// ErrUnavailable means that a sink does not respond, or only with a server error.
	ErrUnavailable = errors.New("it is unavailable")
	// ErrRefuses means that a sink rejects an announcement.
	ErrRefuses = errors.New("it rejects the announcement")
	// ErrConfiguration means that the configuration of a sink does not work.
	ErrConfiguration = errors.New("it is not configured correctly")
)

// Bounds of a call, of a response, and of a credential.
const (
	callTime      = 10 * time.Second
	maxAnswer     = 64 << 10
	maxCredential = 16 << 10
	// Most is the maximum number of sinks.
	Most = 8
)

// Sink receives announcements.
type Sink interface {
	// Name in flags, conditions and logs.
	Name() string
	// Wants reports whether it receives this announcement.
	Wants(announcement.Announcement) bool
	// Send sends an announcement, which may be sent again. It fails with ErrUnavailable, ErrRefuses
	// or ErrConfiguration. The message contains neither the address, nor the response, nor
	// credentials.
	Send(context.Context, announcement.Announcement) error
}

// name of a sink: a DNS label, because it also names Secrets and directories.
var name = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

// parse reads a sink from NAME=URL.
func parse(given string) (string, *url.URL, error) {
	called, address, found := strings.Cut(given, "=")
	if !found || !name.MatchString(called) {
		return "", nil, fmt.Errorf("%q is not the name of a sink: write NAME=URL, with a name of at most 32 lowercase letters, digits and dashes", shorten(called))
	}
	target, err := url.Parse(address)
	switch {
	case err != nil || target.Host == "":
		return "", nil, fmt.Errorf("sink %q: its URL is invalid: write https://HOST/PATH", called)
	case target.User != nil:
		return "", nil, fmt.Errorf("sink %q: its URL contains a user, but other users can read flags: put the login into a Secret", called)
	case target.Fragment != "":
		return "", nil, fmt.Errorf("sink %q: its URL has a fragment, which is never sent to a server: remove the part from the # on", called)
	case target.Scheme != "https" && (target.Scheme != "http" || !isLocalHost(target.Hostname())):
		return "", nil, fmt.Errorf("sink %q: its URL must begin with https://; http:// is allowed for a Service of the cluster (NAME.NAMESPACE.svc)", called)
	}
	return called, target, nil
}

func shorten(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most]
	}
	return text
}

// isLocalHost reports whether a host is in the cluster or on this machine.
func isLocalHost(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback() ||
		strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".svc.cluster.local")
}

// Open opens the sinks of flags: receivers of CloudEvents and Grafana servers, each as
// NAME=URL. A sink's credentials are files in the directory of its name below credentials, and
// are read for each request: token, for an Authorization header with a bearer token, or
// header, for one line NAME: VALUE. A file ca.crt, read at once, has authorities that are
// trusted in addition to the system's. The rules determine the allowed addresses.
func Open(cloudEvents, grafana []string, credentials string, rules egress.Rules) ([]Sink, error) {
	var all []Sink
	for i, given := range slices.Concat(cloudEvents, grafana) {
		called, target, err := parse(given)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(known Sink) bool { return known.Name() == called }) {
			return nil, fmt.Errorf("two sinks are named %q: give each a unique name", called)
		}
		caller := &caller{name: called, target: target}
		if credentials != "" {
			caller.credentials = filepath.Join(credentials, called)
		}
		if caller.http, err = caller.client(rules); err != nil {
			return nil, fmt.Errorf("sink %q: %w", called, err)
		}
		if i < len(cloudEvents) {
			all = append(all, &events{caller})
			continue
		}
		if target.RawQuery != "" {
			return nil, fmt.Errorf("sink %q: Grafana's URL has a query: write https://HOST, or https://HOST/PATH if Grafana is served from a path", called)
		}
		all = append(all, &grafanaSink{caller})
	}
	if len(all) > Most {
		return nil, fmt.Errorf("there are %d sinks, but at most %d are allowed: configure one of them to forward announcements", len(all), Most)
	}
	return all, nil
}

// caller calls one server.
type caller struct {
	name   string
	target *url.URL
	http   *http.Client
	// credentials is their directory; empty: there are none.
	credentials string
}

// client returns the HTTP client of the sink. Credentials are sent only to the named server.
func (c *caller) client(rules egress.Rules) (*http.Client, error) {
	transport := rules.ProxiedTransport()
	transport.MaxIdleConnsPerHost, transport.IdleConnTimeout, transport.MaxResponseHeaderBytes = 1, time.Minute, maxAnswer
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if c.credentials != "" {
		authorities, err := os.ReadFile(filepath.Join(c.credentials, "ca.crt"))
		switch {
		case err == nil:
			roots, err := x509.SystemCertPool()
			if err != nil {
				roots = x509.NewCertPool()
			}
			if !roots.AppendCertsFromPEM(authorities) {
				return nil, errors.New("the file ca.crt of its credentials does not contain a PEM certificate")
			}
			transport.TLSClientConfig.RootCAs = roots
		case !errors.Is(err, os.ErrNotExist):
			return nil, errors.New("the file ca.crt of its credentials can't be read")
		}
	}
	return &http.Client{Timeout: callTime, Transport: transport, CheckRedirect: egress.NoRedirects}, nil
}

// Name of the sink.
func (c *caller) Name() string { return c.name }

// call sends a request with credentials and returns the response, of limited size.
func (c *caller) call(request *http.Request) ([]byte, error) {
	if err := c.authorize(request); err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "perflab")
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, connectionError(err)
	}
	defer answer.Body.Close() //nolint:errcheck // The response was read as far as needed.
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch status := answer.StatusCode; {
	case status >= 200 && status < 300 && err == nil:
		return body, nil
	case status >= 200 && status < 300:
		return nil, fmt.Errorf("%w: its response was interrupted", ErrUnavailable)
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return nil, fmt.Errorf("%w: %d %s", ErrUnavailable, status, http.StatusText(status))
	case egress.IsRedirect(status):
		return nil, fmt.Errorf("%w: it redirects to another address (%d), which PerfLab does not follow: use that address", ErrRefuses, status)
	default:
		return nil, fmt.Errorf("%w: %d %s", ErrRefuses, status, http.StatusText(status))
	}
}

// connectionError describes why there is no response. The client's error would repeat the
// address.
func connectionError(err error) error {
	var denied *egress.Denied
	if errors.As(err, &denied) {
		return fmt.Errorf("%w: its address is %s: allow it with --%s, or use another", ErrConfiguration, denied.What, egress.FlagAllow)
	}
	return fmt.Errorf("%w: %s", ErrUnavailable, failureReason(err))
}

// failureReason describes an error in words that are stable between retries.
func failureReason(err error) string {
	var resolve *net.DNSError
	var wrapped *url.Error
	switch {
	case errors.As(err, &wrapped) && wrapped.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no response within %s", callTime)
	case errors.As(err, &resolve):
		return "its host name does not resolve"
	case strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: "):
		return "its certificate is not trusted, or it does not use TLS"
	}
	return "the connection failed"
}

// authorize adds the sink's credentials.
func (c *caller) authorize(request *http.Request) error {
	if c.credentials == "" {
		return nil
	}
	token, err := c.credential("token")
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	line, err := c.credential("header")
	if line == "" || err != nil {
		return err
	}
	called, value, found := strings.Cut(line, ":")
	if !found || strings.TrimSpace(called) == "" || strings.TrimSpace(value) == "" {
		return fmt.Errorf("%w: the file header of its credentials must contain one line NAME: VALUE", ErrConfiguration)
	}
	request.Header.Set(strings.TrimSpace(called), strings.TrimSpace(value))
	return nil
}

// credential returns the content of a file; empty if it does not exist.
func (c *caller) credential(key string) (string, error) {
	file, err := os.Open(filepath.Join(c.credentials, key)) //nolint:gosec // A sink's name has no path in it.
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("%w: the file %s of its credentials can't be read", ErrConfiguration, key)
	}
	defer file.Close() //nolint:errcheck // It has been read.
	text, err := io.ReadAll(io.LimitReader(file, maxCredential+1))
	found := strings.TrimSpace(string(text))
	if err != nil || len(text) > maxCredential || strings.ContainsFunc(found, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%w: the file %s of its credentials must contain one line of text", ErrConfiguration, key)
	}
	return found, nil
}
