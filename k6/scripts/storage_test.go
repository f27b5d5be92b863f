// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"

	"perflab.dev/perflab/k6/internal/marctest"
)

// storage simulates the S3 server behind an importer that splits files. By default, it keeps no
// content, because uploads may be large.
type storage struct {
	*httptest.Server
	m *importer

	split bool // whether the importer splits files
	keep  bool // whether content is kept
	// tags, sizes and records are those of the parts of the current file.
	tags    []string
	sizes   []int
	records int
	content strings.Builder
}

func newStorage(m *importer) *storage {
	s := &storage{m: m}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	m.t.Cleanup(s.Close)
	m.handle("GET /data-import/splitStatus", func(*http.Request, []byte) (int, any) {
		return http.StatusOK, map[string]any{"splitStatus": s.split}
	})
	m.handle("GET /data-import/uploadUrl", func(r *http.Request, _ []byte) (int, any) {
		if !strings.HasSuffix(r.URL.Query().Get("filename"), ".mrc") || strings.Contains(r.URL.Query().Get("filename"), "-") {
			m.wrong("asks for a URL by %s", r.URL.RawQuery)
		}
		s.tags, s.sizes, s.records = nil, nil, 0
		s.content.Reset()
		return http.StatusOK, s.presigned(1)
	})
	m.handle("GET /data-import/uploadUrl/subsequent", func(r *http.Request, _ []byte) (int, any) {
		q := r.URL.Query()
		part, _ := strconv.Atoi(q.Get("partNumber"))
		if q.Get("key") != s.key() || q.Get("uploadId") != "upload-id" || part != len(s.tags)+1 {
			m.wrong("asks for the next URL by %s after %d parts", r.URL.RawQuery, len(s.tags))
		}
		return http.StatusOK, s.presigned(part)
	})
	m.handle("POST /data-import/uploadDefinitions/{upload}/files/{file}/assembleStorageFile", s.assemble)
	return s
}

func (s *storage) key() string { return fmt.Sprintf("data-import/diku/%d.mrc", len(s.m.jobs)) }

func (s *storage) presigned(part int) map[string]any {
	return map[string]any{
		"url": fmt.Sprintf("%s/bucket/%s?partNumber=%d&uploadId=upload-id&X-Amz-Signature=abc", s.URL, s.key(), part),
		"key": s.key(), "uploadId": "upload-id",
	}
}

// serve accepts a part, or returns an exported file.
func (s *storage) serve(w http.ResponseWriter, r *http.Request) {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Okapi") || name == "Cookie" || name == "Authorization" {
			s.m.wrong("sends the header %s to the storage", name)
		}
	}
	if r.URL.Query().Get("X-Amz-Signature") != "abc" {
		s.m.wrong("changes a presigned URL to %s", r.URL)
	}
	if r.Method == http.MethodGet {
		s.m.mu.Lock()
		defer s.m.mu.Unlock()
		_, _ = io.WriteString(w, s.m.exports.files[r.URL.Path])
		return
	}
	part, size, records := make([]byte, 64<<10), 0, 0
	var content strings.Builder
	for {
		n, err := r.Body.Read(part)
		size += n
		records += marctest.Count(string(part[:n]))
		if s.keep {
			content.Write(part[:n])
		}
		if err != nil {
			break
		}
	}
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if len(s.sizes) > 0 && s.sizes[len(s.sizes)-1] < 5<<20 {
		s.m.wrong("sends part %d after one of %d bytes", len(s.sizes)+1, s.sizes[len(s.sizes)-1])
	}
	s.tags = append(s.tags, fmt.Sprintf(`"etag-%d"`, len(s.tags)+1))
	s.sizes = append(s.sizes, size)
	s.records += records
	s.content.WriteString(content.String())
	w.Header().Set("ETag", s.tags[len(s.tags)-1])
}

func (s *storage) assemble(_ *http.Request, body []byte) (int, any) {
	var request struct {
		UploadID string   `json:"uploadId"`
		Key      string   `json:"key"`
		Tags     []string `json:"tags"`
	}
	s.m.decodeBytes(body, &request)
	if request.UploadID != "upload-id" || request.Key != s.key() || !slices.Equal(request.Tags, s.tags) {
		s.m.wrong("assembles %+v of the parts %q", request, s.tags)
	}
	s.m.files = append(s.m.files, s.content.String())
	s.m.jobs[len(s.m.jobs)-1].total = s.records
	return http.StatusNoContent, nil
}
