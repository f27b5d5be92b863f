// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"net/http"
)

func (w *whole) serveOrders() {
	numbers := 10000
	w.handle("GET /orders/po-number", func(*http.Request, []byte) (int, any) {
		numbers++
		return http.StatusOK, map[string]any{"poNumber": fmt.Sprint(numbers)}
	})
	w.strict("/orders/composite-orders", "purchaseOrders", w.rows(w.orders))
	w.byID("/orders/composite-orders/{id}", w.orders, "The order")
	w.strict("/orders/order-lines", "poLines", w.rows(w.lines))
	w.byID("/orders/order-lines/{id}", w.lines, "The order line")
	w.handle("POST /orders/composite-orders", w.makeOrder)
	w.handle("PUT /orders/composite-orders/{id}", w.changeOrder)
	w.handle("POST /orders/order-lines", w.makeLine)
}

func (w *whole) makeOrder(_ *http.Request, body []byte) (int, any) {
	order, status, why := object(body)
	if status == 0 {
		status, why = lacks(order, "orderType", "vendor")
	}
	if status != 0 {
		return status, why
	}
	switch {
	case order["workflowStatus"] != "Pending":
		return http.StatusUnprocessableEntity, refused("compositeOrderMissingPoLines", "Composite order is missing poLines for Open operations")
	case len(w.orders.where("poNumber", order["poNumber"])) > 0:
		return http.StatusBadRequest, refused("poNumberNotUnique", "PO Number already exists")
	case order["orderType"] == "Ongoing" && order["ongoing"] == nil:
		return http.StatusUnprocessableEntity, refused("missingOngoing", "Ongoing field must be present for Ongoing order")
	case order["orderType"] != "Ongoing" && order["ongoing"] != nil:
		return http.StatusUnprocessableEntity, refused("ongoingNotAllowed", "Ongoing field must be absent for One-time order")
	}
	order["id"], order["_version"], order["approved"] = w.uuidOf(), 1.0, false
	w.orders.add(order)
	return http.StatusCreated, order
}

func (w *whole) makeLine(_ *http.Request, body []byte) (int, any) {
	line, status, why := object(body)
	if status == 0 {
		status, why = lacks(line, "acquisitionMethod", "cost", "orderFormat", "purchaseOrderId", "source", "titleOrPackage")
	}
	if status == 0 {
		status, why = w.checkLine(line)
	}
	if status != 0 {
		return status, why
	}
	line["id"] = w.uuidOf()
	w.lines.add(line)
	w.titles.add(map[string]any{"id": w.uuidOf(), "title": line["titleOrPackage"], "poLineId": line["id"], "purchaseOrder": w.orders.get(line["purchaseOrderId"].(string))})
	return http.StatusCreated, line
}

func (w *whole) checkLine(line map[string]any) (int, any) {
	order := w.orders.get(line["purchaseOrderId"].(string))
	cost, _ := line["cost"].(map[string]any)
	physical, _ := line["physical"].(map[string]any)
	locations, _ := line["locations"].([]any)
	quantity := 0.0
	for _, location := range locations {
		quantity += location.(map[string]any)["quantityPhysical"].(float64)
	}
	switch {
	case order == nil:
		return http.StatusNotFound, refused("orderNotFound", "The order cannot be found by provided order id")
	case order["workflowStatus"] == "Open":
		return http.StatusUnprocessableEntity, refused("orderOpen", "Order cannot be modified in Open status")
	case cost["currency"] == nil:
		return lacks(cost, "currency")
	case cost["quantityPhysical"] == nil:
		return http.StatusUnprocessableEntity, refused("zeroCostQtyPhysical", "Physical cost quantity must be specified")
	case cost["quantityPhysical"] != quantity:
		return http.StatusUnprocessableEntity, refused("physicalLocCostQtyMismatch", "PO Line physical quantity and Locations physical quantity do not match")
	case physical["createInventory"] == "Instance, Holding, Item" && physical["materialType"] == nil:
		return http.StatusUnprocessableEntity, refused("materialTypeRequired", "The Material Type is required but not available in PO line")
	case !fullyDistributed(line["fundDistribution"]):
		return http.StatusUnprocessableEntity, refused("incorrectFundDistributionTotal", "Fund distribution total must add to 100% or totalPrice")
	}
	return 0, nil
}

// fullyDistributed reports whether all money is on the known fund.
func fullyDistributed(distributions any) bool {
	list, _ := distributions.([]any)
	sum := 0.0
	for _, one := range list {
		distribution := one.(map[string]any)
		if distribution["fundId"] != fundID || distribution["distributionType"] != "percentage" {
			return false
		}
		sum += distribution["value"].(float64)
	}
	return sum == 100
}

func (w *whole) changeOrder(r *http.Request, body []byte) (int, any) {
	order := w.orders.get(r.PathValue("id"))
	changed, status, why := object(body)
	switch {
	case order == nil:
		return http.StatusNotFound, refused("orderNotFound", "The order cannot be found by provided order id")
	case status != 0:
		return status, why
	}
	opens := order["workflowStatus"] == "Pending" && changed["workflowStatus"] == "Open"
	switch {
	case order["workflowStatus"] == "Open" && changed["workflowStatus"] == "Open":
		return http.StatusUnprocessableEntity, refused("orderOpen", "Order cannot be modified in Open status")
	case opens && len(w.lines.where("purchaseOrderId", order["id"])) == 0:
		return http.StatusUnprocessableEntity, refused("compositeOrderMissingPoLines", "Composite order is missing poLines for Open operations")
	case opens && w.approvalRequired && changed["approved"] != true:
		return http.StatusBadRequest, refused("orderApprovalRequired", "Approval is required to open order")
	}
	if status, why = replace(order, changed, r.PathValue("id")); status == http.StatusNoContent && opens {
		w.open(order)
	}
	return status, why
}

// open creates the records of an open order: instances, holdings, and pieces if they follow from
// the order.
func (w *whole) open(order map[string]any) {
	for _, line := range w.lines.where("purchaseOrderId", order["id"]) {
		for _, title := range w.titles.where("poLineId", line["id"]) {
			title["instanceId"] = w.uuidOf()
			if line["checkinItems"] != true {
				w.pieces.add(map[string]any{
					"id": w.uuidOf(), "poLineId": line["id"], "titleId": title["id"], "holdingId": w.uuidOf(), "format": "Physical", "receivingStatus": "Expected",
				})
			}
		}
	}
}

func (w *whole) serveReceiving() {
	w.strict("/orders/titles", "titles", w.rows(w.titles))
	w.byID("/orders/titles/{id}", w.titles, "The title")
	w.strict("/orders/pieces", "pieces", w.rows(w.pieces))
	w.handle("POST /orders/pieces", w.makePiece)
	w.handle("POST /orders/check-in", func(_ *http.Request, body []byte) (int, any) {
		var request struct {
			ToBeCheckedIn []struct {
				POLineID      string `json:"poLineId"`
				CheckedIn     int
				CheckInPieces []struct {
					ID, ItemStatus, HoldingID, LocationID, Enumeration, Chronology string
					DisplayOnHolding                                               bool
				}
			}
			TotalRecords int
		}
		w.decodeBytes(body, &request)
		if len(request.ToBeCheckedIn) != 1 || len(request.ToBeCheckedIn[0].CheckInPieces) != request.TotalRecords {
			return http.StatusUnprocessableEntity, problems("toBeCheckedIn and totalRecords must agree")
		}
		of := request.ToBeCheckedIn[0]
		return w.received(of.POLineID, of.CheckInPieces[0].ID, of.CheckInPieces[0].ItemStatus)
	})
	w.handle("POST /orders/receive", func(_ *http.Request, body []byte) (int, any) {
		var request struct {
			ToBeReceived []struct {
				POLineID      string `json:"poLineId"`
				Received      int
				ReceivedItems []struct {
					PieceID, ItemStatus string
					DisplayOnHolding    bool
				}
			}
			TotalRecords int
		}
		w.decodeBytes(body, &request)
		if len(request.ToBeReceived) != 1 || len(request.ToBeReceived[0].ReceivedItems) != request.TotalRecords {
			return http.StatusUnprocessableEntity, problems("toBeReceived and totalRecords must agree")
		}
		of := request.ToBeReceived[0]
		return w.received(of.POLineID, of.ReceivedItems[0].PieceID, of.ReceivedItems[0].ItemStatus)
	})
}

// received changes the status of a piece according to the status of its item. Both calls respond
// with 200, and the body contains any failure.
func (w *whole) received(lineID, pieceID, itemStatus string) (int, any) {
	piece := w.pieces.get(pieceID)
	code, message := "", ""
	switch {
	case piece == nil:
		code, message = "pieceNotFound", "The piece record is not found"
	case w.receivingFails:
		code, message = "pieceUpdateFailed", "The piece record failed to be updated"
	case piece["poLineId"] != lineID:
		code, message = "piecePolMismatch", "The piece does not correspond to PO line"
	case itemStatus == "On order" && piece["receivingStatus"] != "Received":
		code, message = "pieceNotRetrieved", "The piece record is not received"
	case itemStatus == "In process" && piece["receivingStatus"] == "Received":
		code, message = "pieceAlreadyReceived", "The piece record is already received"
	case itemStatus == "On order":
		piece["receivingStatus"] = "Expected"
	case itemStatus == "In process":
		piece["receivingStatus"] = "Received"
	default:
		return http.StatusUnprocessableEntity, problems(fmt.Sprintf("itemStatus is %q", itemStatus))
	}
	result := map[string]any{"poLineId": lineID, "processedSuccessfully": 1, "processedWithError": 0}
	state := map[string]any{"type": "success"}
	if code != "" {
		result["processedSuccessfully"], result["processedWithError"] = 0, 1
		state = map[string]any{"type": "failure", "error": map[string]any{"code": code, "message": message}}
	}
	result["receivingItemResults"] = []any{map[string]any{"pieceId": pieceID, "processingStatus": state}}
	return http.StatusOK, map[string]any{"receivingResults": []any{result}, "totalRecords": 1}
}

func (w *whole) makePiece(r *http.Request, body []byte) (int, any) {
	piece, status, why := object(body)
	if status == 0 {
		status, why = lacks(piece, "format", "poLineId", "titleId")
	}
	if status != 0 {
		return status, why
	}
	line := w.lines.get(piece["poLineId"].(string))
	switch {
	case line == nil:
		return http.StatusNotFound, refused("poLineNotFound", "The purchase order line record is not found")
	case w.orders.get(line["purchaseOrderId"].(string))["workflowStatus"] != "Open":
		return http.StatusUnprocessableEntity, refused("createPiecePendingOrderError", "Creating piece for pending order is not possible. Please open order.")
	case (piece["holdingId"] == nil) == (piece["locationId"] == nil):
		return http.StatusUnprocessableEntity, refused("mayBeLinkToEitherHoldingOrLocationError", "There may be a link to either the holding or the location")
	case piece["format"] != "Physical":
		return http.StatusUnprocessableEntity, refused("pieceFormatIsNotValid", "Piece format is not compatible with purchase line")
	case r.URL.Query().Get("createItem") == "":
		return http.StatusBadRequest, problems("createItem is missing")
	}
	piece["id"], piece["receivingStatus"] = w.uuidOf(), "Expected"
	w.pieces.add(piece)
	return http.StatusCreated, piece
}
