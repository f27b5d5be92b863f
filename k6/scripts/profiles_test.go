// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// profile is a profile that a script posted, with its relations.
type profile struct {
	kind      string // jobProfiles, actionProfiles, …
	id        string
	content   map[string]any
	relations []map[string]any
}

func (p profile) name() string {
	name, _ := p.content["name"].(string)
	return name
}

var profileTypes = map[string]string{
	"jobProfiles": "JOB_PROFILE", "matchProfiles": "MATCH_PROFILE", "actionProfiles": "ACTION_PROFILE", "mappingProfiles": "MAPPING_PROFILE",
}

// serveProfiles serves the calls of FOLIO's page for profiles, and the inventory data that
// profiles need.
func (m *importer) serveProfiles() {
	m.list("/data-import-profiles/jobProfiles", "jobProfiles", func(url.Values) []any {
		found := []any{}
		for name, id := range m.profiles {
			found = append(found, map[string]any{"id": id, "name": name})
		}
		return found
	})
	m.handle("GET /data-import-profiles/jobProfiles/{id}", func(r *http.Request, _ []byte) (int, any) {
		for name, id := range m.profiles {
			if id == r.PathValue("id") {
				return http.StatusOK, map[string]any{"id": id, "name": name, "dataType": "MARC"}
			}
		}
		return http.StatusNotFound, nil
	})
	m.handle("GET /data-import-profiles/profileSnapshots/{id}", func(r *http.Request, _ []byte) (int, any) {
		if q := r.URL.Query(); q.Get("profileType") != "JOB_PROFILE" || q.Get("jobProfileId") != r.PathValue("id") {
			m.wrong("asks for a snapshot by %s", r.URL.RawQuery)
		}
		return http.StatusOK, map[string]any{"id": "snapshot", "profileId": r.PathValue("id")}
	})
	for kind := range profileTypes {
		m.handle("POST /data-import-profiles/"+kind, func(_ *http.Request, body []byte) (int, any) { return m.makeProfile(kind, body) })
		if kind != "jobProfiles" {
			m.list("/data-import-profiles/"+kind, kind, func(q url.Values) []any { return m.named(kind, q.Get("query")) })
		}
	}
	for path, key := range map[string]string{"locations": "locations", "material-types": "mtypes", "loan-types": "loantypes"} {
		m.list("/"+path, key, func(url.Values) []any {
			return []any{map[string]any{"id": key + "-1", "name": "First of " + key, "code": "KU/CC/DI/M"}}
		})
	}
	m.list("/instance-storage/instances", "instances", func(q url.Values) []any {
		if q.Get("query") != "source==MARC sortBy hrid" {
			m.wrong("looks for instances by %q", q.Get("query"))
		}
		found := []any{map[string]any{"hrid": "in00000000001"}, map[string]any{"hrid": "in00000000002"}}
		limit, _ := strconv.Atoi(q.Get("limit"))
		return found[:min(limit, len(found))]
	})
}

func (m *importer) named(kind, query string) []any {
	found := []any{}
	for _, p := range m.made {
		if p.kind == kind && query == fmt.Sprintf("name==%q", p.name()) {
			found = append(found, map[string]any{"id": p.id, "name": p.name()})
		}
	}
	return found
}

func (m *importer) makeProfile(kind string, body []byte) (int, any) {
	var request struct {
		Profile          map[string]any   `json:"profile"`
		AddedRelations   []map[string]any `json:"addedRelations"`
		DeletedRelations []map[string]any `json:"deletedRelations"`
	}
	m.decodeBytes(body, &request)
	made := profile{kind: kind, id: fmt.Sprintf("%s-%d", kind, len(m.made)+1), content: request.Profile, relations: request.AddedRelations}
	for _, p := range m.made {
		if p.kind == kind && p.name() == made.name() {
			return http.StatusUnprocessableEntity, map[string]any{"errors": []any{map[string]any{"message": "the name is taken"}}}
		}
	}
	for _, relation := range request.AddedRelations {
		m.checkRelation(kind, relation)
	}
	m.made = append(m.made, made)
	if kind == "jobProfiles" {
		m.profiles[made.name()] = made.id
	}
	return http.StatusCreated, map[string]any{"id": made.id, "profile": request.Profile}
}

// checkRelation requires that both ends of a relation exist and have the types in it.
func (m *importer) checkRelation(kind string, relation map[string]any) {
	master, _ := relation["masterProfileId"].(string)
	if master == "" && relation["masterProfileType"] == profileTypes[kind] {
		master = "itself"
	}
	if master != "itself" && !m.has(master, relation["masterProfileType"]) || !m.has(relation["detailProfileId"], relation["detailProfileType"]) {
		m.wrong("relates %v in %s", relation, kind)
	}
}

func (m *importer) has(id, profileType any) bool {
	for _, p := range m.made {
		if p.id == id && profileTypes[p.kind] == profileType {
			return true
		}
	}
	return false
}

// steps returns the steps of the job profile with a name, one line each.
func (m *importer) steps(name string) []string {
	byID := map[string]profile{}
	for _, p := range m.made {
		byID[p.id] = p
	}
	action := func(id any) string {
		p := byID[id.(string)]
		mapping := byID[p.relations[0]["detailProfileId"].(string)]
		return fmt.Sprintf("%v %v by %v", p.content["action"], p.content["folioRecord"], mapping.content["existingRecordType"])
	}
	var steps []string
	job := byID[m.profiles[name]]
	for _, relation := range job.relations {
		if relation["masterProfileType"] == "MATCH_PROFILE" {
			steps[len(steps)-1] += " " + action(relation["detailProfileId"])
			continue
		}
		if p := byID[relation["detailProfileId"].(string)]; p.kind == "matchProfiles" {
			steps = append(steps, "match "+incoming(p)+":")
			continue
		}
		steps = append(steps, action(relation["detailProfileId"]))
	}
	return steps
}

// incoming returns the field of the record that a match profile compares.
func incoming(p profile) string {
	detail := p.content["matchDetails"].([]any)[0].(map[string]any)
	var parts []string
	for _, field := range detail["incomingMatchExpression"].(map[string]any)["fields"].([]any) {
		parts = append(parts, field.(map[string]any)["value"].(string))
	}
	return strings.Join(parts, "")
}
