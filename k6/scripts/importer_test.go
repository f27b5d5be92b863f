// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/marctest"
)

const profileID = "e34d7b92-9b83-11eb-a8b3-0242ac130003"

// importer is a folio that imports files. A job has processed more records at each poll.
type importer struct {
	*folio
	files []string // as uploaded through the gateway, or the storage
	jobs  []*job

	// The behavior of jobs: records per poll, the record at which they stall (0 means never),
	// their final status, the job that ends as ERROR, and the number of lost records.
	step, stallAt int
	status        string
	failing       string
	lost          int
	noSummary     bool
	dates         time.Duration // completedDate - startedDate

	// profiles are the job profiles, by name. made are all profiles that were posted.
	profiles map[string]string
	made     []profile

	storage *storage
	// stopped are the final states of children that are not COMMITTED, by number.
	stopped map[int]string
	exports *exporter
}

type job struct {
	id               string
	profile          string // its name
	total, through   int
	processing, done bool
}

// childRecords is the number of records per child job of a split file.
const childRecords = 1000

func newImporter(t *testing.T) *importer {
	t.Helper()
	m := &importer{folio: newFolio(t), step: 40, status: "COMMITTED", dates: 1234 * time.Millisecond}
	m.profiles = map[string]string{"Other": "other", "PTF - Create 2": profileID}
	m.handle("GET /data-import/uploadDefinitions", m.uploads)
	m.handle("POST /data-import/uploadDefinitions", m.define)
	m.handle("GET /data-import/uploadDefinitions/{upload}", m.defined)
	m.handle("POST /data-import/uploadDefinitions/{upload}/files/{file}", m.upload)
	m.handle("POST /data-import/uploadDefinitions/{upload}/processFiles", m.process)
	m.list("/data-import/fileExtensions", "fileExtensions", func(url.Values) []any { return []any{map[string]any{"extension": ".mrc"}} })
	m.handle("GET /metadata-provider/jobExecutions", m.executions)
	m.handle("GET /metadata-provider/jobSummary/{id}", m.summary)
	m.handle("GET /change-manager/jobExecutions/{id}/children", m.children)
	m.serveProfiles()
	m.storage = newStorage(m)
	m.exports = newExporter(m)
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
	n := m.numberOf(r)
	if r.PathValue("file") != fmt.Sprintf("file-%d", n) || m.jobs[n-1].total > 0 {
		m.wrong("uploads to %s", r.URL.Path)
	}
	if r.Header.Get("Content-Type") != "application/octet-stream" || int(r.ContentLength) != len(body) {
		m.wrong("uploads %d bytes as %q, length %d", len(body), r.Header.Get("Content-Type"), r.ContentLength)
	}
	m.files = append(m.files, string(body))
	m.jobs[n-1].total = marctest.Count(string(body))
	return http.StatusOK, definition(n, "LOADED")
}

func (m *importer) defined(*http.Request, []byte) (int, any) {
	return http.StatusOK, definition(len(m.jobs), "LOADED")
}

// numberOf is the number of the upload in a path; that of the last one if there is no such upload.
func (m *importer) numberOf(r *http.Request) int {
	n, err := strconv.Atoi(strings.TrimPrefix(r.PathValue("upload"), "upload-"))
	if err != nil || n < 1 || n > len(m.jobs) {
		m.wrong("calls %s of %d uploads", r.URL.Path, len(m.jobs))
		return len(m.jobs)
	}
	return n
}

func (m *importer) process(r *http.Request, body []byte) (int, any) {
	n := m.numberOf(r)
	var request struct {
		UploadDefinition map[string]any `json:"uploadDefinition"`
		JobProfileInfo   map[string]any `json:"jobProfileInfo"`
	}
	m.decodeBytes(body, &request)
	name, _ := request.JobProfileInfo["name"].(string)
	got, _ := json.Marshal(request)
	want, _ := json.Marshal(map[string]any{
		"uploadDefinition": definition(n, "LOADED"),
		"jobProfileInfo":   map[string]any{"id": m.profiles[name], "name": name, "dataType": "MARC"},
	})
	if !sameJSON(got, want) || r.URL.RawQuery != "defaultMapping=false" {
		m.wrong("processes ?%s with %s, want %s", r.URL.RawQuery, got, want)
	}
	m.jobs[n-1].processing = true
	m.jobs[n-1].profile = name
	return http.StatusNoContent, nil
}

// executions responds to the page's two queries, for running jobs and for ended jobs.
func (m *importer) executions(r *http.Request, _ []byte) (int, any) {
	ended := r.URL.Query().Has("statusAny")
	if filtered := r.URL.Query().Get("subordinationTypeNotAny") == "COMPOSITE_CHILD"; filtered != m.storage.split {
		m.wrong("lists jobs with children left out: %v", filtered)
	}
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
		"subordinationType": "PARENT_SINGLE", "progress": map[string]any{"current": j.through, "total": j.total},
	}
	if m.storage.split {
		m.compose(j, execution)
	}
	if j.done {
		execution["status"] = m.status
		if j.id == m.failing {
			execution["status"] = "ERROR"
		}
		execution["completedDate"] = started.Add(m.dates).Format("2006-01-02T15:04:05.000+00:00")
	}
	return execution
}

// compose makes a job the parent of others. The parent reports its progress by state.
func (m *importer) compose(j *job, execution map[string]any) {
	execution["subordinationType"] = "COMPOSITE_PARENT"
	delete(execution, "progress")
	execution["compositeDetails"] = map[string]any{
		"committedState": map[string]any{"chunksCount": 1, "totalRecordsCount": j.through / 2, "currentlyProcessedCount": j.through / 2},
		"processingInProgressState": map[string]any{
			"chunksCount": 1, "totalRecordsCount": j.total - j.through/2, "currentlyProcessedCount": j.through - j.through/2,
		},
	}
}

// childrenOf returns a composite job's children. Those that stopped have processed half of their
// records.
func (m *importer) childrenOf(j *job) []map[string]any {
	var children []map[string]any
	for n := 0; n*childRecords < j.total; n++ {
		status, records := "COMMITTED", min(childRecords, j.total-n*childRecords)
		current := records
		if other, ok := m.stopped[n+1]; ok {
			status, current = other, records/2
		}
		children = append(children, map[string]any{
			"id": fmt.Sprintf("%s-%d", j.id, n+1), "parentJobId": j.id, "subordinationType": "COMPOSITE_CHILD", "status": status,
			"progress": map[string]any{"current": current, "total": records},
		})
	}
	return children
}

func (m *importer) children(r *http.Request, _ []byte) (int, any) {
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	for _, j := range m.jobs {
		if j.id == r.PathValue("id") {
			all := m.childrenOf(j)
			return http.StatusOK, map[string]any{"jobExecutions": all[min(offset, len(all)):min(offset+limit, len(all))], "totalRecords": len(all)}
		}
	}
	return http.StatusNotFound, nil
}

func (m *importer) summary(r *http.Request, _ []byte) (int, any) {
	if m.noSummary {
		return http.StatusNotFound, nil
	}
	for _, j := range m.jobs {
		if j.id == r.PathValue("id") {
			return http.StatusOK, summarised(j.id, j.profile, j.total-m.lost, m.lost)
		}
		for _, child := range m.childrenOf(j) {
			if child["id"] == r.PathValue("id") {
				return http.StatusOK, summarised(j.id, j.profile, child["progress"].(map[string]any)["current"].(int), 0)
			}
		}
	}
	return http.StatusNotFound, nil
}

func summarised(id, profile string, records, lost int) map[string]any {
	count := map[string]any{"totalCreatedEntities": records, "totalUpdatedEntities": 0, "totalErrors": lost}
	if strings.Contains(profile, "Update") {
		count = map[string]any{"totalCreatedEntities": 0, "totalUpdatedEntities": records, "totalErrors": lost}
	}
	return map[string]any{"jobExecutionId": id, "totalErrors": lost, "sourceRecordSummary": count}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
