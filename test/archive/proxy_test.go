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

// fault is what is done to a request instead of passing it on.
type fault func(p *proxy, writer http.ResponseWriter, request *http.Request)

// proxy is not a part of any store: it stands in front of a real one, and is the
// network, or the store on a bad day.
type proxy struct {
	*httptest.Server
	inner *httputil.ReverseProxy
	fault atomic.Pointer[fault]
	// asked counts requests.
	asked atomic.Int64
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{inner: &httputil.ReverseProxy{Rewrite: func(request *httputil.ProxyRequest) {
		request.SetURL(&url.URL{Scheme: "http", Host: server.address})
		// What was signed.
		request.Out.Host = request.In.Host
	}}}
	p.inner.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	p.Server = httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		p.asked.Add(1)
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

// does has a fault from now on; nil: none.
func (p *proxy) does(f fault) {
	if f == nil {
		p.fault.Store(nil)
		return
	}
	p.fault.Store(&f)
}

// pass asks the server, and gives its answer.
func (p *proxy) pass(request *http.Request) (http.Header, int, []byte) {
	recorder := httptest.NewRecorder()
	p.inner.ServeHTTP(recorder, request)
	return recorder.Header(), recorder.Code, recorder.Body.Bytes()
}

// hangUp ends the connection without another word.
func hangUp() { panic(http.ErrAbortHandler) }

func isWrite(request *http.Request) bool { return request.Method == http.MethodPut }
func isRead(request *http.Request) bool  { return request.Method == http.MethodGet }

// answers what a store says, in S3's words.
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

// only for some requests: the others are passed on.
func only(which func(*http.Request) bool, f fault) fault {
	return func(p *proxy, writer http.ResponseWriter, request *http.Request) {
		if which(request) {
			f(p, writer, request)
			return
		}
		p.inner.ServeHTTP(writer, request)
	}
}

// hangsUp at once.
func hangsUp(*proxy, http.ResponseWriter, *http.Request) { hangUp() }

// hangsUpAfter the store has done what it was asked.
func hangsUpAfter(p *proxy, _ http.ResponseWriter, request *http.Request) {
	p.pass(request)
	hangUp()
}

// isSlow until nobody waits any more.
func isSlow(_ *proxy, _ http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body)
	<-request.Context().Done()
}

// trickles: the answer begins at once, and its end never comes.
func trickles(p *proxy, writer http.ResponseWriter, request *http.Request) {
	header, status, body := p.pass(request)
	copyHeader(writer, header)
	writer.WriteHeader(status)
	_, _ = writer.Write(body[:len(body)/2])
	_ = http.NewResponseController(writer).Flush()
	<-request.Context().Done()
}

// cutsUploads in the middle, on their way to the store.
func cutsUploads(p *proxy, _ http.ResponseWriter, request *http.Request) {
	half := request.ContentLength / 2
	request.Body = io.NopCloser(io.MultiReader(io.LimitReader(request.Body, half), brokenOff{}))
	p.pass(request)
	hangUp()
}

type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// cutsDownloads in the middle.
func cutsDownloads(p *proxy, writer http.ResponseWriter, request *http.Request) {
	header, status, body := p.pass(request)
	copyHeader(writer, header)
	writer.Header().Set("Content-Length", strconv.Itoa(len(body)))
	writer.WriteHeader(status)
	_, _ = writer.Write(body[:len(body)/2])
	_ = http.NewResponseController(writer).Flush()
	hangUp()
}

// changesUploads by a bit.
func changesUploads(p *proxy, writer http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	if len(body) > 0 {
		body[len(body)/2] ^= 4
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	p.inner.ServeHTTP(writer, request)
}

// gives other bytes than the store has.
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

// forgets what it is given, and says that it has it.
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
