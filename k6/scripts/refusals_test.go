// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// client makes raw calls to the fake FOLIO, each with these headers.
type client struct {
	t       *testing.T
	w       *whole
	headers map[string]string
}

func newClient(t *testing.T) *client {
	t.Helper()
	w := newWhole(t, 20, 20)
	w.forgiving = true
	w.access["raw"] = w.access["none"]
	return &client{t, w, map[string]string{"X-Okapi-Tenant": "diku", "X-Okapi-Token": "raw", "Content-Type": "application/json", "Accept": "application/json", "User-Agent": "perflab/run-1 user/1"}}
}

// do makes a call. body is an object or a text.
func (c *client) do(call string, body any) (int, string) {
	c.t.Helper()
	method, path, _ := strings.Cut(call, " ")
	text, isText := body.(string)
	if !isText && body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		text = string(encoded)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.w.URL+path, bytes.NewReader([]byte(text)))
	if err != nil {
		c.t.Fatal(err)
	}
	for name, value := range c.headers {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// must makes a call that must succeed, and returns the response.
func (c *client) must(call string, body any) map[string]any {
	c.t.Helper()
	status, answer := c.do(call, body)
	if status >= http.StatusBadRequest {
		c.t.Fatalf("%s answered %d: %s", call, status, answer)
	}
	var value map[string]any
	if answer != "" {
		if err := json.Unmarshal([]byte(answer), &value); err != nil {
			c.t.Fatal(err)
		}
	}
	return value
}

func (c *client) want(call string, body any, status int, words string) {
	c.t.Helper()
	got, answer := c.do(call, body)
	if got != status || !strings.Contains(answer, words) {
		c.t.Errorf("%s with %v answered %d %s, want %d and %q", call, body, got, answer, status, words)
	}
}

type record = map[string]any

func with(base record, changes record) record {
	changed := record{}
	for name, value := range base {
		changed[name] = value
	}
	for name, value := range changes {
		changed[name] = value
	}
	return changed
}

// TestFakeFOLIORejectsInvalidRequests tests the fake FOLIO, because one that accepts everything
// cannot test a script.
func TestFakeFOLIORejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	for header, status := range map[string]int{"X-Okapi-Tenant": http.StatusBadRequest, "X-Okapi-Token": http.StatusUnauthorized} {
		value := c.headers[header]
		c.headers[header] = ""
		c.want("GET /invoice/invoices", nil, status, "")
		c.headers[header] = value
	}
	if c.w.wrongs == 0 {
		t.Error("a call without a tenant does not fail the test of a script")
	}
	c.headers["Content-Type"] = "text/plain"
	c.want("POST /invoice/invoices", record{}, http.StatusBadRequest, "Content-type header must be")
	c.headers["Content-Type"] = "application/json"
	c.want("POST /invoice/invoices", "{", http.StatusBadRequest, "Json content error")
	c.want("GET /invoice/invoices?query=status", nil, http.StatusBadRequest, "CQL")
	c.want("GET /search/instances?query=keyword+all+two+words", nil, http.StatusBadRequest, "Failed to parse CQL query")
	c.want("GET /search/instances?query=colour+all+red", nil, http.StatusBadRequest, "Invalid search field provided in the CQL query: colour")
}

func TestFakeFOLIOEnforcesInvoiceStates(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	full := record{
		"batchGroupId": groupID, "currency": "USD", "invoiceDate": "2026-11-24", "paymentMethod": "Cash", "status": "Open", "source": "User",
		"vendorInvoiceNo": "1", "vendorId": vendorID,
	}
	for field := range full {
		c.want("POST /invoice/invoices", with(full, record{field: nil}), http.StatusUnprocessableEntity, field)
	}
	c.want("POST /invoice/invoices", with(full, record{"status": "Paid"}), http.StatusUnprocessableEntity, "incompatibleInvoiceFields")
	invoice := c.must("POST /invoice/invoices", full)
	path := fmt.Sprintf("PUT /invoice/invoices/%v", invoice["id"])
	c.want(path, with(invoice, record{"status": "Paid"}), http.StatusBadRequest, "cannotPayInvoiceWithoutApproval")
	c.want(path, with(invoice, record{"status": "Approved"}), http.StatusBadRequest, "fundDistributionsNotPresent")
	line := record{"invoiceId": invoice["id"], "invoiceLineStatus": "Open", "description": "d", "quantity": 1, "subTotal": 0}
	c.want("POST /invoice/invoice-lines", with(line, record{"quantity": "1"}), http.StatusBadRequest, "quantity")
	c.must("POST /invoice/invoice-lines", with(line, record{"fundDistributions": []any{record{"distributionType": "percentage", "value": 100, "fundId": fundID}}}))
	c.want(path, with(invoice, record{"status": "Approved", "id": "other"}), http.StatusUnprocessableEntity, "idMismatch")
	c.want(path, with(invoice, record{"status": "Approved", "_version": 7}), http.StatusConflict, "optimistic locking")
	c.must(path, with(invoice, record{"status": "Approved"}))
	c.want("POST /invoice/invoice-lines", line, http.StatusInternalServerError, "prohibitedInvoiceLineCreation")
	invoice = c.must(strings.Replace(path, "PUT", "GET", 1), nil)
	c.must(path, with(invoice, record{"status": "Paid"}))
	invoice = c.must(strings.Replace(path, "PUT", "GET", 1), nil)
	c.want(path, with(invoice, record{"status": "Approved"}), http.StatusUnprocessableEntity, "invalidInvoiceStatusTransitionOnPaidStatus")
}

func TestFakeFOLIOEnforcesOrderStates(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	c.w.approvalRequired = true
	full := record{"orderType": "One-Time", "vendor": vendorID, "workflowStatus": "Pending", "poNumber": "1"}
	c.want("POST /orders/composite-orders", with(full, record{"vendor": nil}), http.StatusUnprocessableEntity, "vendor")
	c.want("POST /orders/composite-orders", with(full, record{"workflowStatus": "Open"}), http.StatusUnprocessableEntity, "compositeOrderMissingPoLines")
	c.want("POST /orders/composite-orders", with(full, record{"orderType": "Ongoing"}), http.StatusUnprocessableEntity, "missingOngoing")
	c.want("POST /orders/composite-orders", with(full, record{"ongoing": record{}}), http.StatusUnprocessableEntity, "ongoingNotAllowed")
	order := c.must("POST /orders/composite-orders", full)
	c.want("POST /orders/composite-orders", full, http.StatusBadRequest, "poNumberNotUnique")
	path := fmt.Sprintf("PUT /orders/composite-orders/%v", order["id"])
	c.want(path, with(order, record{"workflowStatus": "Open"}), http.StatusUnprocessableEntity, "compositeOrderMissingPoLines")

	line := record{
		"purchaseOrderId": order["id"], "titleOrPackage": "T", "acquisitionMethod": methodID, "orderFormat": "Physical Resource", "source": "User",
		"cost": record{"currency": "USD", "quantityPhysical": 1}, "physical": record{"createInventory": "Instance, Holding, Item", "materialType": materialID},
		"locations":        []any{record{"locationId": locationID, "quantityPhysical": 1}},
		"fundDistribution": []any{record{"distributionType": "percentage", "value": 100, "fundId": fundID}},
	}
	c.want("POST /orders/order-lines", with(line, record{"titleOrPackage": nil}), http.StatusUnprocessableEntity, "titleOrPackage")
	c.want("POST /orders/order-lines", with(line, record{"locations": []any{}}), http.StatusUnprocessableEntity, "physicalLocCostQtyMismatch")
	c.want("POST /orders/order-lines", with(line, record{"physical": record{"createInventory": "Instance, Holding, Item"}}), http.StatusUnprocessableEntity, "materialTypeRequired")
	c.want("POST /orders/order-lines", with(line, record{"fundDistribution": []any{}}), http.StatusUnprocessableEntity, "incorrectFundDistributionTotal")
	line = c.must("POST /orders/order-lines", line)
	titles := c.must(fmt.Sprintf("GET /orders/titles?query=poLineId==%v", line["id"]), nil)["titles"].([]any)
	piece := record{"format": "Physical", "poLineId": line["id"], "titleId": titles[0].(record)["id"], "locationId": locationID}
	c.want("POST /orders/pieces?createItem=false", piece, http.StatusUnprocessableEntity, "createPiecePendingOrderError")
	c.want(path, with(order, record{"workflowStatus": "Open"}), http.StatusBadRequest, "orderApprovalRequired")
	c.want(path, with(order, record{"approved": true, "_version": 5}), http.StatusConflict, "optimistic locking")
	c.must(path, with(order, record{"approved": true, "workflowStatus": "Open"}))
	c.want("POST /orders/order-lines", with(line, record{"id": nil}), http.StatusUnprocessableEntity, "orderOpen")
	c.want("POST /orders/pieces?createItem=false", with(piece, record{"locationId": nil}), http.StatusUnprocessableEntity, "mayBeLinkToEitherHoldingOrLocationError")
	c.want("POST /orders/pieces?createItem=false", with(piece, record{"format": "Electronic"}), http.StatusUnprocessableEntity, "pieceFormatIsNotValid")

	receive := func(id any) record {
		return record{"toBeCheckedIn": []any{record{"poLineId": line["id"], "checkedIn": 1, "checkInPieces": []any{record{"id": id, "itemStatus": "In process"}}}}, "totalRecords": 1}
	}
	unreceive := func(id any) record {
		return record{"toBeReceived": []any{record{"poLineId": line["id"], "received": 1, "receivedItems": []any{record{"pieceId": id, "itemStatus": "On order"}}}}, "totalRecords": 1}
	}
	id := c.w.pieces.rows[0]["id"]
	c.want("POST /orders/receive", unreceive(id), http.StatusOK, `"type":"failure"`)
	c.want("POST /orders/check-in", receive("none"), http.StatusOK, "pieceNotFound")
	c.want("POST /orders/check-in", receive(id), http.StatusOK, `"processedSuccessfully":1`)
	c.want("POST /orders/check-in", receive(id), http.StatusOK, "pieceAlreadyReceived")
	c.want("POST /orders/receive", unreceive(id), http.StatusOK, `"processedSuccessfully":1`)
}

func TestFakeFOLIOEnforcesLoanRules(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	c.w.lentTo["item-0001"] = "user-0001"
	renew := func(item, user string) record { return record{"itemBarcode": item, "userBarcode": user} }
	c.want("POST /circulation/renew-by-barcode", renew("item-0001", "user-0002"), http.StatusUnprocessableEntity, "different user")
	c.want("POST /circulation/renew-by-barcode", renew("item-0002", "user-0001"), http.StatusUnprocessableEntity, "is on loan")
	c.want("POST /circulation/renew-by-barcode", renew("", ""), http.StatusUnprocessableEntity, "must have")
	c.must("POST /circulation/renew-by-barcode", renew("item-0001", "user-0001"))
	c.must("POST /circulation/renew-by-barcode", renew("item-0001", "user-0001"))
	c.want("POST /circulation/renew-by-barcode", renew("item-0001", "user-0001"), http.StatusUnprocessableEntity, "loan at maximum renewal number")
	request := record{
		"requestType": "Hold", "requestLevel": "Item", "fulfillmentPreference": "Hold Shelf", "itemId": "id-of-item-0001", "holdingsRecordId": "holdings-of-item-0001",
		"instanceId": "instance-of-holdings-of-item-0001", "requesterId": "id-of-user-0002", "pickupServicePointId": servicePoint, "requestDate": "2026-11-24T00:00:00Z",
	}
	c.want("POST /circulation/requests", with(request, record{"requesterId": "id-of-user-0001"}), http.StatusUnprocessableEntity, "currently has this item on loan")
	c.want("POST /circulation/requests", with(request, record{"instanceId": nil}), http.StatusUnprocessableEntity, "instance")
	c.want("POST /circulation/requests", with(request, record{"itemId": "id-of-item-0002", "holdingsRecordId": "holdings-of-item-0002", "instanceId": "instance-of-holdings-of-item-0002"}),
		http.StatusUnprocessableEntity, "Hold requests are not allowed")
	c.must("POST /circulation/requests", request)
	c.want("POST /circulation/requests", request, http.StatusUnprocessableEntity, "already has an open request")
}

func TestFakeFOLIORejectsUnknownPaths(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	c.want("POST /copycat/imports", record{"externalIdentifier": "1"}, http.StatusUnprocessableEntity, "profileId")
	c.want("POST /copycat/imports", record{"profileId": "target-1", "selectedJobProfileId": "job-create"}, http.StatusBadRequest, "Missing record.json or externalIdentifier")
	c.want("POST /copycat/imports", record{"profileId": "target-1", "selectedJobProfileId": "job-create", "record": record{"marc": "!"}}, http.StatusBadRequest, "record.marc")
	c.want("POST /copycat/imports", record{"profileId": "target-1", "selectedJobProfileId": "job-update", "internalIdentifier": "x", "externalIdentifier": "1"}, http.StatusBadRequest, "to overlay")
	c.want("POST /consortia/consortium-2/sharing/instances", record{"instanceIdentifier": "x", "sourceTenantId": "diku", "targetTenantId": "central"}, http.StatusNotFound, "NOT_FOUND_ERROR")
	c.want("POST /consortia/consortium-1/sharing/instances", record{"instanceIdentifier": "x", "sourceTenantId": "diku", "targetTenantId": "diku"}, http.StatusBadRequest, "central tenant")
	c.want("POST /data-export/file-definitions", record{"fileName": "a b.csv", "uploadFormat": "csv"}, http.StatusUnprocessableEntity, "csv format")
	c.want("POST /data-export/export", record{"fileDefinitionId": "x", "jobProfileId": "y"}, http.StatusBadRequest, "not found")
	c.headers = map[string]string{"Accept": "text/xml", "User-Agent": "perflab/run-1 user/1"}
	c.want("GET /oai/records?verb=ListRecords&metadataPrefix=marc21", nil, http.StatusUnauthorized, "API Key")
	c.want("GET /oai/records?verb=ListRecords&apikey=the-key&resumptionToken=x", nil, http.StatusOK, "badResumptionToken")
	c.want("GET /oai/records?verb=Identify&apikey=the-key", nil, http.StatusBadRequest, "badVerb")
	c.headers["Accept"] = "application/xml"
	c.want("GET /rtac?instanceIds=x&apikey=the-key", nil, http.StatusBadRequest, "Invalid instance id")
}
