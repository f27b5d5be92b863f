// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// whole is a library with everything that the workflows need: orders, invoices, a catalog to
// search, edge modules, exports, single imports and a consortium. It rejects what FOLIO would
// reject, with FOLIO's status and messages.
type whole struct {
	*library
	made int // ids

	// approvalRequired is the setting that an order must be approved before it is opened.
	approvalRequired                                      bool
	orders, lines, titles, pieces, invoices, invoiceLines *records
	vouchers, instances, jobs, exportProfiles, exportMaps *records
	edge                                                  edges
	targets                                               []map[string]any
	imports                                               []map[string]any
	consortium                                            map[string]any
	// uploaded are the ids of each export.
	uploaded map[string][]string
	// exportsEnd is the final status of exports.
	exportsEnd string
	// receivingFails makes receiving fail for all pieces.
	receivingFails bool
}

// records are the records of one kind, in the order of their creation.
type records struct{ rows []map[string]any }

func (r *records) add(record map[string]any) { r.rows = append(r.rows, record) }

func (r *records) get(id string) map[string]any {
	for _, row := range r.rows {
		if row["id"] == id {
			return row
		}
	}
	return nil
}

func (r *records) where(field string, value any) []map[string]any {
	var found []map[string]any
	for _, row := range r.rows {
		if row[field] == value {
			found = append(found, row)
		}
	}
	return found
}

const (
	vendorID     = "11111111-1111-4111-8111-111111111111"
	fundID       = "22222222-2222-4222-8222-222222222222"
	otherFundID  = "22222222-2222-4222-8222-222222222223"
	locationID   = "33333333-3333-4333-8333-333333333333"
	materialID   = "44444444-4444-4444-8444-444444444444"
	methodID     = "55555555-5555-4555-8555-555555555555"
	groupID      = "66666666-6666-4666-8666-666666666666"
	selfID       = "77777777-7777-4777-8777-777777777777"
	fiscalYearID = "88888888-8888-4888-8888-888888888888"
)

func newWhole(t *testing.T, items, users int) *whole {
	t.Helper()
	w := &whole{
		library: newLibrary(t, items, users), orders: &records{}, lines: &records{}, titles: &records{}, pieces: &records{}, invoices: &records{}, invoiceLines: &records{},
		vouchers: &records{}, instances: &records{}, jobs: &records{}, exportProfiles: &records{}, exportMaps: &records{},
		uploaded: map[string][]string{}, exportsEnd: "COMPLETED",
	}
	w.serveLists()
	w.serveCatalogue()
	w.serveEdges()
	w.serveOrders()
	w.serveReceiving()
	w.serveInvoices()
	w.serveExports()
	w.serveCopycat()
	w.serveConsortium()
	return w
}

// uuidOf returns the next id.
func (w *whole) uuidOf() string {
	w.made++
	return fmt.Sprintf("%08d-0000-4000-8000-000000000000", w.made)
}

// strict registers a GET whose query must parse. It returns the matching records.
func (w *whole) strict(path, key string, all func() []map[string]any) {
	w.handle("GET "+path, func(r *http.Request, _ []byte) (int, any) {
		query := r.URL.Query()
		matches := func(map[string]any) bool { return true }
		if text := query.Get("query"); query.Has("query") {
			condition, err := cql(text)
			if err != nil {
				return http.StatusBadRequest, problems("CQL: " + err.Error())
			}
			matches = condition.matches
		}
		found := []any{}
		for _, record := range all() {
			if matches(record) {
				found = append(found, record)
			}
		}
		return http.StatusOK, map[string]any{key: found[:min(len(found), limitOf(query))], "totalRecords": len(found)}
	})
}

func limitOf(query url.Values) int {
	if limit, err := strconv.Atoi(query.Get("limit")); err == nil {
		return limit
	}
	return 10
}

// byID registers a GET of one record.
func (w *whole) byID(path string, of *records, name string) {
	w.handle("GET "+path, func(r *http.Request, _ []byte) (int, any) {
		if found := of.get(r.PathValue("id")); found != nil {
			return http.StatusOK, found
		}
		return http.StatusNotFound, refused("notFound", name+" is not found")
	})
}

func (w *whole) rows(of *records) func() []map[string]any {
	return func() []map[string]any { return of.rows }
}

// object returns the JSON of a body, or FOLIO's status 400 if the body is not JSON.
func object(body []byte) (map[string]any, int, any) {
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		return nil, http.StatusBadRequest, problems("Json content error: " + err.Error())
	}
	return value, 0, nil
}

// lacks returns an error for missing required fields, as FOLIO's validation does.
func lacks(value map[string]any, fields ...string) (int, any) {
	var missing []any
	for _, field := range fields {
		if value[field] == nil || value[field] == "" {
			missing = append(missing, map[string]any{"message": "must not be null", "parameters": []any{map[string]any{"key": field, "value": "null"}}})
		}
	}
	if len(missing) == 0 {
		return 0, nil
	}
	return http.StatusUnprocessableEntity, map[string]any{"errors": missing, "total_records": len(missing)}
}

// replace replaces a record by one with the same id and version.
func replace(old, changed map[string]any, id string) (int, any) {
	if changed["id"] != id {
		return http.StatusUnprocessableEntity, refused("idMismatch", "Mismatch between id in path and request body")
	}
	if changed["_version"] != old["_version"] {
		return http.StatusConflict, fmt.Sprintf("Cannot update record %s because it has been changed (optimistic locking): Stored _version is %v, _version of request is %v", id, old["_version"], changed["_version"])
	}
	clear(old)
	maps.Copy(old, changed)
	old["_version"] = changed["_version"].(float64) + 1
	return http.StatusNoContent, nil
}

// serveLists serves the lists that pages show but do not use.
func (w *whole) serveLists() {
	for _, path := range strings.Fields(`/acquisitions-units/units /acquisitions-units/memberships /tags /finance/expense-classes /finance/funds
		/orders/configuration/prefixes /orders/configuration/suffixes /orders/configuration/reasons-for-closure /orders/order-templates
		/orders-storage/order-invoice-relns /organizations-storage/categories /batch-voucher/export-configurations
		/batch-voucher/batch-voucher-exports /voucher/voucher-lines /contributor-name-types /identifier-types /contributor-types
		/instance-formats /classification-types /alternative-title-types /instance-relationship-types /instance-statuses
		/modes-of-issuance /instance-note-types /electronic-access-relationships /statistical-code-types /statistical-codes /ill-policies
		/holdings-types /call-number-types /holdings-note-types /item-note-types /item-damaged-statuses /nature-of-content-terms
		/loan-types /holdings-sources /data-import-profiles/jobProfiles /remote-storage/mappings /inventory/items-by-holdings-id
		/holdings-storage/holdings`) {
		w.strict(path, "records", func() []map[string]any { return nil })
	}
	one := func(path, key string, record map[string]any) {
		w.strict(path, key, func() []map[string]any { return []map[string]any{record} })
	}
	one("/organizations/organizations", "organizations", map[string]any{"id": vendorID, "name": "Vendor", "isVendor": true, "status": "Active"})
	one("/locations", "locations", map[string]any{"id": locationID, "name": "Main"})
	one("/material-types", "mtypes", map[string]any{"id": materialID, "name": "book"})
	one("/orders/acquisition-methods", "acquisitionMethods", map[string]any{"id": methodID, "value": "Purchase"})
	one("/batch-groups", "batchGroups", map[string]any{"id": groupID, "name": "FOLIO"})
	one("/instance-types", "instanceTypes", map[string]any{"id": "type-1", "name": "text"})
	w.strict("/finance/budgets", "budgets", func() []map[string]any {
		return []map[string]any{
			{"id": "budget-1", "budgetStatus": "Active", "fundId": otherFundID, "available": 5},
			{"id": "budget-2", "budgetStatus": "Active", "fundId": fundID, "available": 5000},
			{"id": "budget-3", "budgetStatus": "Closed", "fundId": otherFundID, "available": 50000},
		}
	})
	known := map[string]string{
		"/organizations/organizations/{id}": vendorID, "/batch-groups/{id}": groupID, "/finance/fiscal-years/{id}": fiscalYearID, "/finance/funds/{id}": fundID,
	}
	for path, id := range known {
		w.handle("GET "+path, func(r *http.Request, _ []byte) (int, any) {
			if r.PathValue("id") != id {
				return http.StatusNotFound, refused("notFound", "Not Found")
			}
			return http.StatusOK, map[string]any{"id": id, "fund": map[string]any{"id": id, "code": "FUND"}}
		})
	}
	w.handle("GET /bl-users/_self", func(*http.Request, []byte) (int, any) {
		return http.StatusOK, map[string]any{"user": map[string]any{"id": selfID}}
	})
}
