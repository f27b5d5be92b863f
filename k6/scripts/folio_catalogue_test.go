// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// searchable are the indexes of mod-search that the workflows use.
var searchable = map[string][]string{
	"/search/instances":   {"id", "keyword", "title", "subjects", "contributors", "languages", "items.status.name"},
	"/search/authorities": {"id", "keyword"},
}

func (w *whole) serveCatalogue() {
	for i, title := range []string{"Water and fire", "The kitchen of flowers", "Gardens in winter and summer"} {
		w.instances.add(map[string]any{"id": w.uuidOf(), "hrid": fmt.Sprintf("in%011d", i+1), "source": "MARC", "title": title})
	}
	w.strict("/instance-storage/instances", "instances", w.rows(w.instances))
	for path, indexes := range searchable {
		w.handle("GET "+path, func(r *http.Request, _ []byte) (int, any) {
			condition, err := cql(r.URL.Query().Get("query"))
			if err != nil {
				return http.StatusBadRequest, problems("Failed to parse CQL query: " + err.Error())
			}
			for _, index := range condition.indexes {
				if !slices.Contains(indexes, index) {
					return http.StatusBadRequest, problems(fmt.Sprintf("Invalid search field provided in the CQL query: %s", index))
				}
			}
			return http.StatusOK, map[string]any{"totalRecords": 0, "instances": []any{}}
		})
	}
}

// edges are FOLIO's edge modules, which identify callers by a key.
type edges struct {
	key string
	// pages is the number of pages of a harvest. tokens are the valid tokens, each for one use.
	pages    int
	tokens   map[string]int
	forget   bool // rejects every token as unknown
	harvests int
}

func (w *whole) serveEdges() {
	w.edge = edges{key: "the-key", pages: 3, tokens: map[string]int{}}
	w.handleEdge("GET /rtac", "application/xml", w.availability)
	w.handleEdge("GET /oai/records", "text/xml", w.harvest)
	w.handleEdge("GET /patron/account/{id}", "application/json", w.account)
}

// handleEdge registers a call that requires a key, and neither tenant nor token.
func (w *whole) handleEdge(pattern, kind string, answer func(*http.Request) (int, string)) {
	w.mux.HandleFunc(pattern, func(writer http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if r.Header.Get("X-Okapi-Tenant")+r.Header.Get("X-Okapi-Token")+r.Header.Get("Cookie") != "" || r.Header.Get("Accept") != kind {
			w.wrong("%s has the headers %v", line(r), r.Header)
		}
		status, body := w.refusal(r), "as the test wishes"
		if status == 0 && r.URL.Query().Get("apikey") != w.edge.key {
			status, body = http.StatusUnauthorized, "Access requires API Key"
		}
		if status == 0 {
			status, body = answer(r)
		}
		w.note(r, "", status)
		writer.Header().Set("Content-Type", kind)
		writer.WriteHeader(status)
		_, _ = writer.Write([]byte(body))
	})
}

func (w *whole) availability(r *http.Request) (int, string) {
	query, holdings := r.URL.Query(), ""
	for _, id := range strings.Split(query.Get("instanceIds"), ",") {
		if !uuid.MatchString(id) {
			return http.StatusBadRequest, "Invalid instance id"
		}
		if w.instances.get(id) == nil {
			return http.StatusNotFound, "Instance not found"
		}
		holdings += "<holdings><instanceId>" + id + "</instanceId><holding><status>Available</status></holding></holdings>"
	}
	return http.StatusOK, "<instances>" + holdings + "</instances>"
}

func (w *whole) account(r *http.Request) (int, string) {
	barcode, known := strings.CutPrefix(r.PathValue("id"), "external-")
	if !known || !slices.Contains(w.users, barcode) {
		return http.StatusNotFound, `{"code": 404, "errorMessage": "Unable to find patron"}`
	}
	for _, include := range []string{"includeLoans", "includeCharges", "includeHolds"} {
		if r.URL.Query().Get(include) != "true" {
			w.wrong("%s leaves out %s", line(r), include)
		}
	}
	return http.StatusOK, `{"totalCharges": {"amount": 0}, "loans": [], "holds": [], "charges": []}`
}

func (w *whole) harvest(r *http.Request) (int, string) {
	query, page := r.URL.Query(), 1
	token, given := query.Get("resumptionToken"), query.Has("resumptionToken")
	switch {
	case query.Get("verb") != "ListRecords":
		return http.StatusBadRequest, oai(`<error code="badVerb">Bad verb</error>`)
	case given == query.Has("metadataPrefix"):
		return http.StatusBadRequest, oai(`<error code="badArgument">Either metadataPrefix or resumptionToken</error>`)
	case given && (w.edge.tokens[token] == 0 || w.edge.forget):
		return http.StatusOK, oai(`<error code="badResumptionToken">Resumption token is unknown</error>`)
	case given:
		page = w.edge.tokens[token]
		delete(w.edge.tokens, token)
	default:
		w.edge.harvests++
	}
	body := fmt.Sprintf("<ListRecords><record>%d</record>", page)
	if page < w.edge.pages {
		next := fmt.Sprintf("page&%d-%d", page+1, w.edge.harvests)
		w.edge.tokens[next] = page + 1
		body += fmt.Sprintf(`<resumptionToken completeListSize="9" cursor="%d">%s</resumptionToken>`, page, strings.ReplaceAll(next, "&", "&amp;"))
	} else {
		body += `<resumptionToken completeListSize="9" cursor="2"/>`
	}
	return http.StatusOK, oai(body + "</ListRecords>")
}

func oai(body string) string {
	return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><OAI-PMH>` + body + "</OAI-PMH>"
}

// serveExports simulates data export. Each poll advances a job.
func (w *whole) serveExports() {
	w.exportProfiles.add(map[string]any{"id": w.uuidOf(), "name": "Default instances export job profile"})
	w.strict("/data-export/job-profiles", "jobProfiles", w.rows(w.exportProfiles))
	w.strict("/data-export/mapping-profiles", "mappingProfiles", w.rows(w.exportMaps))
	w.keep("POST /data-export/mapping-profiles", w.exportMaps, "name", "recordTypes", "outputFormat")
	w.keep("POST /data-export/job-profiles", w.exportProfiles, "name", "mappingProfileId")
	w.strict("/data-export/job-executions", "jobExecutions", func() []map[string]any {
		for _, job := range w.jobs.rows {
			w.proceed(job)
		}
		return w.jobs.rows
	})
	w.handle("POST /data-export/file-definitions", func(_ *http.Request, body []byte) (int, any) {
		definition, status, why := object(body)
		if status == 0 {
			status, why = lacks(definition, "fileName")
		}
		if status != 0 {
			return status, why
		}
		if name, _ := definition["fileName"].(string); !regexp.MustCompile(`^\w+\.csv$`).MatchString(name) || definition["uploadFormat"] != "csv" {
			return http.StatusUnprocessableEntity, problems("File name extension does not corresponds csv format")
		}
		definition["id"] = w.uuidOf()
		w.uploaded[definition["id"].(string)] = []string{}
		return http.StatusCreated, definition
	})
	w.handle("POST /data-export/file-definitions/{id}/upload", func(r *http.Request, body []byte) (int, any) {
		id := r.PathValue("id")
		if _, known := w.uploaded[id]; !known {
			return http.StatusNotFound, problems("File definition not found")
		}
		if r.Header.Get("Content-Type") != "application/octet-stream" {
			return http.StatusBadRequest, problems("Content-type header must be application/octet-stream")
		}
		w.uploaded[id] = strings.Split(string(body), "\n")
		w.jobs.add(map[string]any{"id": w.uuidOf(), "status": "NEW", "definition": id})
		return http.StatusOK, map[string]any{"id": id, "jobExecutionId": w.jobs.rows[len(w.jobs.rows)-1]["id"]}
	})
	w.handle("POST /data-export/export", w.export)
}

// keep registers a POST that accepts records with the required fields.
func (w *whole) keep(pattern string, into *records, required ...string) {
	w.handle(pattern, func(_ *http.Request, body []byte) (int, any) {
		record, status, why := object(body)
		if status == 0 {
			status, why = lacks(record, required...)
		}
		if status != 0 {
			return status, why
		}
		record["id"] = w.uuidOf()
		into.add(record)
		return http.StatusCreated, record
	})
}

func (w *whole) export(_ *http.Request, body []byte) (int, any) {
	request, status, why := object(body)
	if status == 0 {
		status, why = lacks(request, "fileDefinitionId", "jobProfileId")
	}
	if status != 0 {
		return status, why
	}
	profile := w.exportProfiles.get(request["jobProfileId"].(string))
	jobs := w.jobs.where("definition", request["fileDefinitionId"])
	if profile == nil || len(jobs) != 1 || request["idType"] != "instance" {
		return http.StatusBadRequest, problems("JobProfile, file definition or type of ids not found")
	}
	for _, id := range w.uploaded[request["fileDefinitionId"].(string)] {
		if w.instances.get(id) == nil {
			w.wrong("exports %q, which is no instance", id)
		}
	}
	jobs[0]["status"], jobs[0]["profile"], jobs[0]["began"] = "IN_PROGRESS", profile["name"], time.Now()
	return http.StatusNoContent, nil
}

// proceed ends a job that has been polled three times.
func (w *whole) proceed(job map[string]any) {
	looks, _ := job["looks"].(int)
	if job["status"] != "IN_PROGRESS" {
		return
	}
	job["looks"] = looks + 1
	if looks+1 > 3 {
		job["status"] = w.exportsEnd
	}
}
