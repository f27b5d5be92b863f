// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"encoding/base64"
	"fmt"
	"net/http"

	"perflab.dev/perflab/k6/internal/marctest"
)

func (w *whole) serveCopycat() {
	w.targets = []map[string]any{
		{"id": "target-0", "name": "Disabled", "enabled": false},
		{"id": "target-1", "name": "OCLC WorldCat", "enabled": true, "createJobProfileId": "job-create", "updateJobProfileId": "job-update"},
	}
	w.strict("/copycat/profiles", "profiles", func() []map[string]any { return w.targets })
	w.handle("POST /copycat/imports", w.importOne)
	w.handle("GET /inventory/instances/{id}", w.readInstance)
	w.handle("GET /source-storage/records/{id}/formatted", func(r *http.Request, _ []byte) (int, any) {
		instance := w.instances.get(r.PathValue("id"))
		if instance == nil || instance["source"] != "MARC" || r.URL.Query().Get("idType") != "INSTANCE" {
			return http.StatusNotFound, problems("Couldn't find record")
		}
		return http.StatusOK, map[string]any{"id": r.PathValue("id"), "recordType": "MARC_BIB"}
	})
}

// readInstance returns a shared instance, which is shown as shared from the second poll on.
func (w *whole) readInstance(r *http.Request, _ []byte) (int, any) {
	instance := w.instances.get(r.PathValue("id"))
	if instance == nil {
		return http.StatusNotFound, "Instance not found"
	}
	if looks, shared := instance["looks"].(int); shared {
		instance["looks"] = looks + 1
		if looks > 0 {
			instance["source"] = "CONSORTIUM-FOLIO"
		}
	}
	return http.StatusOK, instance
}

// importOne imports a record from the request, or the record with an identifier.
func (w *whole) importOne(_ *http.Request, body []byte) (int, any) {
	var request struct {
		ExternalIdentifier, InternalIdentifier, ProfileID, SelectedJobProfileID string
		Record                                                                  *struct{ MARC string }
	}
	w.decodeBytes(body, &request)
	if status, why := w.checkImport(request.ProfileID, request.SelectedJobProfileID, request.InternalIdentifier); status != 0 {
		return status, why
	}
	switch {
	case (request.ExternalIdentifier == "") == (request.Record == nil):
		return http.StatusBadRequest, problems("Missing record.json or externalIdentifier")
	case request.Record != nil:
		file, err := base64.StdEncoding.DecodeString(request.Record.MARC)
		if records := marctest.Count(string(file)); err != nil || records != 1 {
			return http.StatusBadRequest, problems(fmt.Sprintf("record.marc has %d records: %v", records, err))
		}
	}
	instance := w.instances.get(request.InternalIdentifier)
	if instance == nil {
		instance = map[string]any{"id": w.uuidOf(), "source": "MARC", "title": "Imported", "imports": 0}
		w.instances.add(instance)
	}
	instance["imports"] = instance["imports"].(int) + 1
	w.imports = append(w.imports, map[string]any{"instance": instance["id"], "external": request.ExternalIdentifier, "updates": request.InternalIdentifier != "", "body": string(body)})
	return http.StatusOK, map[string]any{"profileId": request.ProfileID, "internalIdentifier": instance["id"]}
}

func (w *whole) checkImport(target, job, internal string) (int, any) {
	wanted := "job-create"
	if internal != "" {
		wanted = "job-update"
	}
	switch {
	case target == "":
		return lacks(map[string]any{}, "profileId")
	case target != "target-1":
		return http.StatusBadRequest, problems("No such profileId " + target)
	case job != wanted:
		return http.StatusBadRequest, problems("Job profile " + job + " is not one of the target's for this")
	case internal != "" && (w.instances.get(internal) == nil || w.instances.get(internal)["imports"] == nil):
		return http.StatusBadRequest, problems("No instance " + internal + " to overlay")
	}
	return 0, nil
}

// serveConsortium simulates a member of a consortium.
func (w *whole) serveConsortium() {
	w.consortium = map[string]any{"consortiumId": "consortium-1", "centralTenantId": "central"}
	w.handle("GET /user-tenants", func(*http.Request, []byte) (int, any) {
		members := []any{}
		if w.consortium != nil {
			members = append(members, w.consortium)
		}
		return http.StatusOK, map[string]any{"userTenants": members, "totalRecords": len(members)}
	})
	w.handle("POST /inventory/instances", func(_ *http.Request, body []byte) (int, any) {
		instance, status, why := object(body)
		if status == 0 {
			status, why = lacks(instance, "source", "title", "instanceTypeId")
		}
		if status != 0 {
			return status, why
		}
		if id, _ := instance["id"].(string); !uuid.MatchString(id) || w.instances.get(id) != nil {
			return http.StatusBadRequest, problems("id is no new UUID")
		}
		w.instances.add(instance)
		return http.StatusCreated, nil
	})
	w.handle("POST /consortia/{id}/sharing/instances", w.share)
}

func (w *whole) share(r *http.Request, body []byte) (int, any) {
	request, status, why := object(body)
	if status == 0 {
		status, why = lacks(request, "instanceIdentifier", "sourceTenantId", "targetTenantId")
	}
	if status != 0 {
		return status, why
	}
	instance := w.instances.get(request["instanceIdentifier"].(string))
	switch {
	case r.PathValue("id") != "consortium-1":
		return http.StatusNotFound, refused("NOT_FOUND_ERROR", "Object with consortiumId ["+r.PathValue("id")+"] was not found")
	case request["sourceTenantId"] != "diku" || request["targetTenantId"] != "central":
		return http.StatusBadRequest, refused("VALIDATION_ERROR", "Both sourceTenantId and targetTenantId must be members and one of them the central tenant")
	case instance == nil:
		return http.StatusCreated, map[string]any{"status": "ERROR", "error": "Failed to get inventory instance"}
	case instance["source"] != "FOLIO" || instance["looks"] != nil:
		return http.StatusConflict, refused("DUPLICATE_ERROR", "Instance is shared already")
	}
	instance["looks"] = 0
	request["id"], request["status"] = w.uuidOf(), "COMPLETE"
	return http.StatusCreated, request
}
