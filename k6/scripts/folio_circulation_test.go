// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// serveLoans serves loans, their renewals and requests of items, with the restrictions of FOLIO.
func (l *library) serveLoans() {
	l.list("/circulation/loans", "loans", l.findLoans)
	l.handle("GET /users/{id}", func(r *http.Request, _ []byte) (int, any) {
		barcode, known := strings.CutPrefix(r.PathValue("id"), "id-of-")
		if !known && r.PathValue("id") != selfID {
			return http.StatusNotFound, "User not found"
		}
		return http.StatusOK, map[string]any{"id": r.PathValue("id"), "barcode": barcode, "active": true}
	})
	l.handle("POST /circulation/renew-by-barcode", l.renew)
	l.handle("GET /holdings-storage/holdings/{id}", func(r *http.Request, _ []byte) (int, any) {
		return http.StatusOK, map[string]any{"id": r.PathValue("id"), "instanceId": "instance-of-" + r.PathValue("id")}
	})
	l.handle("POST /circulation/requests", l.request)
}

func (l *library) findLoans(query url.Values) []any {
	condition, err := cql(query.Get("query"))
	if err != nil {
		l.wrong("asks for loans: %v", err)
		return []any{}
	}
	found := []any{}
	for _, barcode := range l.items {
		user := l.lentTo[barcode]
		loan := map[string]any{
			"id": "loan-of-" + barcode, "userId": id(user), "status": map[string]any{"name": "Open"}, "item": map[string]any{"barcode": barcode},
			"renewalCount": l.renewals[barcode],
		}
		if user != "" && condition.matches(loan) {
			found = append(found, loan)
		}
	}
	return found
}

func (l *library) renew(_ *http.Request, body []byte) (int, any) {
	var request struct{ ItemBarcode, UserBarcode string }
	l.decodeBytes(body, &request)
	borrower := l.lentTo[request.ItemBarcode]
	switch {
	case request.ItemBarcode == "" || request.UserBarcode == "":
		return http.StatusUnprocessableEntity, problems("Renewal request must have an item barcode and a user barcode")
	case borrower == "":
		return http.StatusUnprocessableEntity, problems(fmt.Sprintf("No item with barcode %s is on loan", request.ItemBarcode))
	case borrower != request.UserBarcode:
		return http.StatusUnprocessableEntity, problems("Cannot renew item checked out to different user")
	case l.renewals[request.ItemBarcode] >= l.maxRenewals:
		return http.StatusUnprocessableEntity, problems("loan at maximum renewal number")
	}
	l.renewals[request.ItemBarcode]++
	return http.StatusOK, map[string]any{"id": "loan-of-" + request.ItemBarcode, "userId": id(borrower), "renewalCount": l.renewals[request.ItemBarcode]}
}

// request accepts holds on items that are on loan, from other patrons, once each.
func (l *library) request(_ *http.Request, body []byte) (int, any) {
	var request struct {
		RequestType, RequestLevel, FulfillmentPreference, InstanceID, HoldingsRecordID, ItemID, RequesterID, PickupServicePointID, RequestDate string
	}
	l.decodeBytes(body, &request)
	l.checkDate(request.RequestDate)
	item, requester := strings.TrimPrefix(request.ItemID, "id-of-"), strings.TrimPrefix(request.RequesterID, "id-of-")
	switch {
	case request.RequestLevel != "Item" || request.FulfillmentPreference != "Hold Shelf":
		return http.StatusUnprocessableEntity, problems("requestLevel and fulfillmentPreference must be given")
	case request.InstanceID != "instance-of-"+request.HoldingsRecordID || request.HoldingsRecordID != "holdings-of-"+item:
		return http.StatusUnprocessableEntity, problems("Cannot create a request with inconsistent instance and holdings")
	case !slices.Contains(l.servicePoints, request.PickupServicePointID):
		return http.StatusUnprocessableEntity, problems("Hold Shelf Fulfillment Requests require a Pickup Service Point")
	case !slices.Contains(l.items, item) || !slices.Contains(l.users, requester):
		return http.StatusUnprocessableEntity, problems("Item or user does not exist")
	case request.RequestType != "Hold" || l.lentTo[item] == "":
		return http.StatusUnprocessableEntity, problems("Hold requests are not allowed for this patron and item combination")
	case l.lentTo[item] == requester:
		return http.StatusUnprocessableEntity, problems("This requester currently has this item on loan.")
	case slices.Contains(l.holds[item], requester):
		return http.StatusUnprocessableEntity, problems("This requester already has an open request for this item")
	}
	l.holds[item] = append(l.holds[item], requester)
	return http.StatusCreated, map[string]any{"id": fmt.Sprintf("request-%s-%d", item, len(l.holds[item])), "status": "Open - Not yet filled"}
}
