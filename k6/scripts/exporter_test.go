// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// exporter simulates FOLIO's data export. It exports the records of the last imported file, with
// "exported" before each.
type exporter struct {
	m *importer

	profiles map[string]map[string]any // mapping-profiles, job-profiles
	ids      []string                  // uploaded
	looks    int
	status   string // final status of exports
	lost     int    // records that exports lack
	files    map[string]string
}

func newExporter(m *importer) *exporter {
	e := &exporter{m: m, profiles: map[string]map[string]any{}, status: "COMPLETED", files: map[string]string{}}
	for path, key := range map[string]string{"mapping-profiles": "mappingProfiles", "job-profiles": "jobProfiles"} {
		m.list("/data-export/"+path, key, func(url.Values) []any {
			if made, ok := e.profiles[path]; ok {
				return []any{made}
			}
			return []any{}
		})
		m.handle("POST /data-export/"+path, func(_ *http.Request, body []byte) (int, any) {
			var made map[string]any
			m.decodeBytes(body, &made)
			made["id"] = path + "-1"
			e.profiles[path] = made
			return http.StatusCreated, made
		})
	}
	m.handle("GET /metadata-provider/jobLogEntries/{id}", e.logEntries)
	m.handle("POST /data-export/file-definitions", e.define)
	m.handle("POST /data-export/file-definitions/{id}/upload", e.upload)
	m.handle("POST /data-export/export", e.export)
	m.list("/data-export/job-executions", "jobExecutions", e.executions)
	m.handle("GET /data-export/job-executions/{job}/download/{file}", func(r *http.Request, _ []byte) (int, any) {
		return http.StatusOK, map[string]any{"fileId": r.PathValue("file"), "link": m.storage.URL + e.path(r.PathValue("job")) + "?X-Amz-Signature=abc"}
	})
	return e
}

func (e *exporter) path(job string) string { return "/bucket/exports/" + job + ".mrc" }

// logEntries returns an instance for each record of a job or of its part.
func (e *exporter) logEntries(r *http.Request, _ []byte) (int, any) {
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	entries := []any{}
	for n := offset; n < min(offset+limit, e.records(r.PathValue("id"))); n++ {
		entries = append(entries, map[string]any{"relatedInstanceInfo": map[string]any{"idList": []string{fmt.Sprintf("instance-%s-%d", r.PathValue("id"), n)}}})
	}
	return http.StatusOK, map[string]any{"entries": entries}
}

func (e *exporter) records(id string) int {
	for _, j := range e.m.jobs {
		if j.id == id && !e.m.storage.split {
			return j.total
		}
		for _, child := range e.m.childrenOf(j) {
			if child["id"] == id && e.m.storage.split {
				return child["progress"].(map[string]any)["total"].(int)
			}
		}
	}
	e.m.wrong("asks for the log of %s", id)
	return 0
}

func (e *exporter) define(_ *http.Request, body []byte) (int, any) {
	var request struct {
		FileName     string `json:"fileName"`
		UploadFormat string `json:"uploadFormat"`
		Size         int    `json:"size"`
	}
	e.m.decodeBytes(body, &request)
	if request.UploadFormat != "csv" || !strings.HasSuffix(request.FileName, ".csv") || request.Size == 0 {
		e.m.wrong("defines the export %s", body)
	}
	return http.StatusCreated, map[string]any{"id": "definition-1", "status": "NEW"}
}

func (e *exporter) upload(r *http.Request, body []byte) (int, any) {
	if r.PathValue("id") != "definition-1" || r.Header.Get("Content-Type") != "application/octet-stream" {
		e.m.wrong("uploads ids to %s as %q", r.URL.Path, r.Header.Get("Content-Type"))
	}
	e.ids, e.looks = strings.Split(string(body), "\n"), 0
	return http.StatusOK, map[string]any{"id": "definition-1", "status": "COMPLETED", "jobExecutionId": e.job()}
}

func (e *exporter) job() string { return fmt.Sprintf("export-%d", len(e.m.jobs)) }

func (e *exporter) export(_ *http.Request, body []byte) (int, any) {
	var request struct{ FileDefinitionID, JobProfileID, IDType string }
	e.m.decodeBytes(body, &request)
	if request.FileDefinitionID != "definition-1" || request.JobProfileID != "job-profiles-1" || request.IDType != "instance" {
		e.m.wrong("exports by %s", body)
	}
	last := e.m.files[len(e.m.files)-1]
	records := strings.SplitAfter(strings.TrimSuffix(last, ""), "\x1d")
	records = records[:len(records)-1]
	if unique := slices.Compact(slices.Sorted(slices.Values(e.ids))); len(unique) != len(records) {
		e.m.wrong("exports %d instances of %d", len(unique), len(records))
	}
	e.files[e.path(e.job())] = "exported" + strings.Join(records[e.lost:], "exported")
	return http.StatusNoContent, nil
}

func (e *exporter) executions(query url.Values) []any {
	id := strings.TrimPrefix(query.Get("query"), "id==")
	e.looks++
	if e.looks < 2 {
		return []any{map[string]any{"id": id, "status": "IN_PROGRESS", "progress": map[string]any{"exported": 1, "total": len(e.ids)}}}
	}
	return []any{map[string]any{"id": id, "status": e.status, "exportedFiles": []any{map[string]any{"fileId": "file-1", "fileName": "x.mrc"}}}}
}
