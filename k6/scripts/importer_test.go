// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

const profileID = "e34d7b92-9b83-11eb-a8b3-0242ac130003"

// importer is a folio that imports files. A job is through with more records
// at each look.
type importer struct {
	*folio
	files []string // as uploaded
	jobs  []*job

	// How jobs go: records per look, the record at which they stop for good (0
	// is never), how they end and with how many records lost.
	step, stallAt int
	status        string
	lost          int
	noSummary     bool
	dates         time.Duration // completedDate - startedDate
}

type job struct {
	id               string
	total, through   int
	processing, done bool
}

func newImporter(t *testing.T) *importer {
	t.Helper()
	m := &importer{folio: newFolio(t), step: 40, status: "COMMITTED", dates: 1234 * time.Millisecond}
	m.handle("GET /data-import/uploadDefinitions", m.uploads)
	m.handle("POST /data-import/uploadDefinitions", m.define)
	m.handle("POST /data-import/uploadDefinitions/{upload}/files/{file}", m.upload)
	m.handle("POST /data-import/uploadDefinitions/{upload}/processFiles", m.process)
	m.list("/data-import/fileExtensions", "fileExtensions", func(url.Values) []any { return []any{map[string]any{"extension": ".mrc"}} })
	m.list("/data-import-profiles/jobProfiles", "jobProfiles", func(url.Values) []any {
		return []any{map[string]any{"id": "other", "name": "Other"}, map[string]any{"id": profileID, "name": "PTF - Create 2"}}
	})
	m.handle("GET /data-import-profiles/jobProfiles/{id}", func(r *http.Request, _ []byte) (int, any) {
		if r.PathValue("id") != profileID {
			return http.StatusNotFound, nil
		}
		return http.StatusOK, map[string]any{"id": profileID, "name": "PTF - Create 2", "dataType": "MARC"}
	})
	m.handle("GET /metadata-provider/jobExecutions", m.executions)
	m.handle("GET /metadata-provider/jobSummary/{id}", m.summary)
	return m
}

func (m *importer) uploads(*http.Request, []byte) (int, any) {
	return http.StatusOK, map[string]any{"uploadDefinitions": []any{}, "totalRecords": 0}
}

func definition(n int, status string) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("upload-%d", n), "status": status, "metaJobExecutionId": fmt.Sprintf("job-%d", n),
		"fileDefinitions": []any{map[string]any{
			"id": fmt.Sprintf("file-%d", n), "uploadDefinitionId": fmt.Sprintf("upload-%d", n), "jobExecutionId": fmt.Sprintf("job-%d", n),
		}},
	}
}

func (m *importer) define(_ *http.Request, body []byte) (int, any) {
	var request struct {
		FileDefinitions []struct {
			UIKey string `json:"uiKey"`
			Size  int    `json:"size"`
			Name  string `json:"name"`
		} `json:"fileDefinitions"`
	}
	m.decodeBytes(body, &request)
	if len(request.FileDefinitions) != 1 || request.FileDefinitions[0].Size != 1 {
		m.wrong("defines %s", body)
	}
	m.jobs = append(m.jobs, &job{id: fmt.Sprintf("job-%d", len(m.jobs)+1)})
	return http.StatusCreated, definition(len(m.jobs), "NEW")
}

func (m *importer) upload(r *http.Request, body []byte) (int, any) {
	n := len(m.jobs)
	if r.PathValue("upload") != fmt.Sprintf("upload-%d", n) || r.PathValue("file") != fmt.Sprintf("file-%d", n) {
		m.wrong("uploads to %s", r.URL.Path)
	}
	if r.Header.Get("Content-Type") != "application/octet-stream" || int(r.ContentLength) != len(body) {
		m.wrong("uploads %d bytes as %q, length %d", len(body), r.Header.Get("Content-Type"), r.ContentLength)
	}
	m.files = append(m.files, string(body))
	return http.StatusOK, definition(n, "LOADED")
}

func (m *importer) process(r *http.Request, body []byte) (int, any) {
	n := len(m.jobs)
	var request struct {
		UploadDefinition map[string]any `json:"uploadDefinition"`
		JobProfileInfo   map[string]any `json:"jobProfileInfo"`
	}
	m.decodeBytes(body, &request)
	got, _ := json.Marshal(request)
	want, _ := json.Marshal(map[string]any{
		"uploadDefinition": definition(n, "LOADED"),
		"jobProfileInfo":   map[string]any{"id": profileID, "name": "PTF - Create 2", "dataType": "MARC"},
	})
	if !sameJSON(got, want) || r.URL.RawQuery != "defaultMapping=false" {
		m.wrong("processes ?%s with %s, want %s", r.URL.RawQuery, got, want)
	}
	m.jobs[n-1].processing = true
	m.jobs[n-1].total = countRecords(m.files[len(m.files)-1])
	return http.StatusNoContent, nil
}

// executions answers the page's two questions, which jobs run and which ended.
func (m *importer) executions(r *http.Request, _ []byte) (int, any) {
	ended := r.URL.Query().Has("statusAny")
	found := []any{}
	for _, j := range m.jobs {
		if !ended && j.processing && !j.done {
			m.proceed(j)
		}
		if j.processing && j.done == ended {
			found = append(found, m.execution(j))
		}
	}
	return http.StatusOK, map[string]any{"jobExecutions": found, "totalRecords": len(found)}
}

func (m *importer) proceed(j *job) {
	j.through = min(j.through+m.step, j.total)
	if m.stallAt > 0 {
		j.through = min(j.through, m.stallAt)
	}
	j.done = j.through == j.total
}

func (m *importer) execution(j *job) map[string]any {
	started := time.Now().Add(-time.Hour).UTC()
	execution := map[string]any{
		"id": j.id, "status": "PROCESSING_IN_PROGRESS", "startedDate": started.Format(time.RFC3339Nano),
		"progress": map[string]any{"current": j.through, "total": j.total},
	}
	if j.done {
		execution["status"] = m.status
		execution["completedDate"] = started.Add(m.dates).Format("2006-01-02T15:04:05.000+00:00")
	}
	return execution
}

func (m *importer) summary(r *http.Request, _ []byte) (int, any) {
	if m.noSummary {
		return http.StatusNotFound, nil
	}
	for _, j := range m.jobs {
		if j.id == r.PathValue("id") {
			return http.StatusOK, map[string]any{
				"jobExecutionId": j.id, "totalErrors": m.lost,
				"sourceRecordSummary": map[string]any{"totalCreatedEntities": j.total - m.lost, "totalErrors": m.lost},
			}
		}
	}
	return http.StatusNotFound, nil
}
