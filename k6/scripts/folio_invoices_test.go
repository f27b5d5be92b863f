// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"net/http"
)

func (w *whole) serveInvoices() {
	w.strict("/invoice/invoices", "invoices", w.rows(w.invoices))
	w.byID("/invoice/invoices/{id}", w.invoices, "The invoice")
	w.handle("GET /invoice/invoices/{id}/documents", func(*http.Request, []byte) (int, any) {
		return http.StatusOK, map[string]any{"documents": []any{}, "totalRecords": 0}
	})
	w.strict("/invoice/invoice-lines", "invoiceLines", w.rows(w.invoiceLines))
	w.strict("/voucher/vouchers", "vouchers", w.rows(w.vouchers))
	w.handle("POST /invoice/invoices", w.makeInvoice)
	w.handle("PUT /invoice/invoices/{id}", w.changeInvoice)
	w.handle("POST /invoice/invoice-lines", w.makeInvoiceLine)
}

func (w *whole) makeInvoice(_ *http.Request, body []byte) (int, any) {
	invoice, status, why := object(body)
	if status == 0 {
		status, why = lacks(invoice, "batchGroupId", "currency", "invoiceDate", "paymentMethod", "status", "source", "vendorInvoiceNo", "vendorId")
	}
	switch {
	case status != 0:
		return status, why
	case invoice["status"] != "Open" && invoice["status"] != "Reviewed":
		return http.StatusUnprocessableEntity, refused("incompatibleInvoiceFields", "Incompatible invoice fields on status transition")
	case invoice["vendorId"] != vendorID:
		return http.StatusNotFound, refused("organizationIsNotExist", "Organization is not exist")
	}
	invoice["id"], invoice["_version"], invoice["folioInvoiceNo"] = w.uuidOf(), 1.0, fmt.Sprint(10000+len(w.invoices.rows))
	w.invoices.add(invoice)
	return http.StatusCreated, invoice
}

func (w *whole) makeInvoiceLine(_ *http.Request, body []byte) (int, any) {
	line, status, why := object(body)
	if status == 0 {
		status, why = lacks(line, "description", "invoiceId", "invoiceLineStatus", "quantity", "subTotal")
	}
	if status != 0 {
		return status, why
	}
	invoice := w.invoices.get(line["invoiceId"].(string))
	_, whole := line["quantity"].(float64)
	switch {
	case invoice == nil:
		return http.StatusNotFound, refused("invoiceNotFound", "Invoice is not found")
	case invoice["status"] != "Open":
		return http.StatusInternalServerError, refused("prohibitedInvoiceLineCreation", "It is not allowed to add invoice line to the invoice that has been approved")
	case !whole:
		return http.StatusBadRequest, problems("Json content error: quantity is no number")
	}
	line["id"] = w.uuidOf()
	w.invoiceLines.add(line)
	return http.StatusCreated, line
}

func (w *whole) changeInvoice(r *http.Request, body []byte) (int, any) {
	invoice := w.invoices.get(r.PathValue("id"))
	changed, status, why := object(body)
	switch {
	case invoice == nil:
		return http.StatusNotFound, refused("notFound", "The invoice is not found")
	case status != 0:
		return status, why
	}
	before, after := invoice["status"], changed["status"]
	switch {
	case before == "Paid" && after != "Paid":
		return http.StatusUnprocessableEntity, refused("invalidInvoiceStatusTransitionOnPaidStatus", "Cannot transition invoice to any other statuses when it is in Paid status")
	case before == "Open" && after == "Paid":
		return http.StatusBadRequest, refused("cannotPayInvoiceWithoutApproval", "Cannot pay an invoice without approval")
	case before == "Open" && after == "Approved" && !w.approvable(invoice):
		return http.StatusBadRequest, refused("fundDistributionsNotPresent", "At least one fund distribution should present for every associated invoice line")
	}
	status, why = replace(invoice, changed, r.PathValue("id"))
	if status == http.StatusNoContent && before == "Open" && after == "Approved" {
		invoice["fiscalYearId"] = fiscalYearID
		w.vouchers.add(map[string]any{"id": w.uuidOf(), "invoiceId": invoice["id"], "status": "Awaiting payment"})
	}
	return status, why
}

func (w *whole) approvable(invoice map[string]any) bool {
	lines := w.invoiceLines.where("invoiceId", invoice["id"])
	for _, line := range lines {
		if !fullyDistributed(line["fundDistributions"]) {
			return false
		}
	}
	return len(lines) > 0
}
