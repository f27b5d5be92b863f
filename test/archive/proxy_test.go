// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
)

// fault handles a request instead of forwarding it.
type fault func(p *proxy, writer http.ResponseWriter, request *http.Request)

// proxy is in front of a real store, and simulates failures of the network or of the
// store.
type proxy struct {
	*httptest.Server
	inner *httputil.ReverseProxy
	fault atomic.Pointer[fault]
	// requests counts all of them.
	requests atomic.Int64
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{inner: &httputil.ReverseProxy{Rewrite: func(request *httputil.ProxyRequest) {
		request.SetURL(&url.URL{Scheme: "http", Host: server.address})
		// The signature covers the host that the client used.
		request.Out.Host = request.In.Host
	}}}
	p.inner.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	p.Server = httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		p.requests.Add(1)
		if fault := p.fault.Load(); fault != nil {
			(*fault)(p, writer, request)
			return
		}
		p.inner.ServeHTTP(writer, request)
	}))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

// setFault sets the fault of later requests. If it is nil, there is none.
func (p *proxy) setFault(f fault) {
	if f == nil {
		p.fault.Store(nil)
		return
	}
	p.fault.Store(&f)
}

// pass forwards a request to the server and returns the response.
func (p *proxy) pass(request *http.Request) (http.Header, int, []byte) {
	recorder := httptest.NewRecorder()
	p.inner.ServeHTTP(recorder, request)
	return recorder.Header(), recorder.Code, recorder.Body.Bytes()
}

// hangUp closes the connection without a response.
func hangUp() { panic(http.ErrAbortHandler) }

func isWrite(request *http.Request) bool { return request.Method == http.MethodPut }
func isRead(request *http.Request) bool  { return request.Method == http.MethodGet }

// answers returns a fault that responds with an S3 error.
func answers(status int, code string) fault {
	return func(_ *proxy, writer http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		writer.Header().Set("Content-Type", "application/xml")
		writer.WriteHeader(status)
		if code != "" {
			_, _ = io.WriteString(writer, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>`+code+`</Code><Message>no</Message><RequestId>4711</RequestId></Error>`)
		}
	}
}

// only applies a fault to some requests. The others are forwarded.
func only(which func(*http.Request) bool, f fault) fault {
	return func(p *proxy, writer http.ResponseWriter, request *http.Request) {
		if which(request) {
			f(p, writer, request)
			return
		}
		p.inner.ServeHTTP(writer, request)
	}
}

// hangsUp closes the connection at once.
func hangsUp(*proxy, http.ResponseWriter, *http.Request) { hangUp() }

// hangsUpAfter closes the connection after the store has handled the request.
func hangsUpAfter(p *proxy, _ http.ResponseWriter, request *http.Request) {
	p.pass(request)
	hangUp()
}

// isSlow does not respond until the client times out.
func isSlow(_ *proxy, _ http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body)
	<-request.Context().Done()
}

// trickles sends half of the response at once, and never completes it.
func trickles(p *proxy, writer http.ResponseWriter, request *http.Request) {
	header, status, body := p.pass(request)
	copyHeader(writer, header)
	writer.WriteHeader(status)
	_, _ = writer.Write(body[:len(body)/2])
	_ = http.NewResponseController(writer).Flush()
	<-request.Context().Done()
}

// cutsUploads interrupts a request to the store.
func cutsUploads(p *proxy, _ http.ResponseWriter, request *http.Request) {
	half := request.ContentLength / 2
	request.Body = io.NopCloser(io.MultiReader(io.LimitReader(request.Body, half), brokenOff{}))
	p.pass(request)
	hangUp()
}

type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// cutsDownloads interrupts a response.
func cutsDownloads(p *proxy, writer http.ResponseWriter, request *http.Request) {
	header, status, body := p.pass(request)
	copyHeader(writer, header)
	writer.Header().Set("Content-Length", strconv.Itoa(len(body)))
	writer.WriteHeader(status)
	_, _ = writer.Write(body[:len(body)/2])
	_ = http.NewResponseController(writer).Flush()
	hangUp()
}

// changesUploads changes one bit of the request.
func changesUploads(p *proxy, writer http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	if len(body) > 0 {
		body[len(body)/2] ^= 4
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	p.inner.ServeHTTP(writer, request)
}

// gives returns a fault that responds with other bytes than those in the store.
func gives(change func([]byte) []byte) fault {
	return func(p *proxy, writer http.ResponseWriter, request *http.Request) {
		header, status, body := p.pass(request)
		if status == http.StatusOK {
			body = change(bytes.Clone(body))
		}
		copyHeader(writer, header)
		writer.Header().Set("Content-Length", strconv.Itoa(len(body)))
		writer.WriteHeader(status)
		_, _ = writer.Write(body)
	}
}

// forgets drops a write and reports success.
func forgets(_ *proxy, writer http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body)
	writer.Header().Set("ETag", `"d41d8cd98f00b204e9800998ecf8427e"`)
	writer.WriteHeader(http.StatusOK)
}

func copyHeader(writer http.ResponseWriter, from http.Header) {
	for name, values := range from {
		writer.Header()[name] = values
	}
}
