// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const servicePoint = "3a40852d-49fd-4df2-a1f9-6e2641a6e91f"

// library is a folio with items and users for check-in and check-out.
type library struct {
	*folio
	items     []string          // barcodes
	users     []string          // barcodes
	lentTo    map[string]string // item barcode to user barcode
	checkedIn int
	lendings  []lending
	// release is the year of the users' pages.
	release int
	// servicePoints are the service points that users may use.
	servicePoints []string
	// renewals counts the renewals of a loan, by the item. maxRenewals is the limit of the loan
	// policy.
	renewals    map[string]int
	maxRenewals int
	// holds are the patrons who wait for an item, by its barcode.
	holds map[string][]string
}

// lending is a successful check-in or check-out, with its user and item.
type lending struct{ user, kind, barcode string }

// counted returns how often each item was lent, or taken back, so far.
func (l *library) counted(kind string) map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := map[string]int{}
	for _, one := range l.lendings {
		if one.kind == kind {
			times[one.barcode]++
		}
	}
	return times
}

func newLibrary(t *testing.T, items, users int) *library {
	t.Helper()
	l := &library{folio: newFolio(t), lentTo: map[string]string{}, renewals: map[string]int{}, maxRenewals: 2, holds: map[string][]string{}, release: 2023, servicePoints: []string{servicePoint}}
	for i := range items {
		l.items = append(l.items, fmt.Sprintf("item-%04d", i))
	}
	for i := range users {
		l.users = append(l.users, fmt.Sprintf("user-%04d", i))
	}
	l.empty(map[string]string{
		"/staff-slips-storage/staff-slips": "staffSlips", "/configurations/entries": "configs", "/circulation/requests": "requests",
		"/circulation/settings": "circulationSettings", "/user/settings": "settings",
		"/accounts": "accounts", "/lost-item-fees-policies": "lostItemFeePolicies", "/proxiesfor": "proxiesFor",
		"/note-links/domain/users/type/user/id/{id}": "notes", "/manualblocks": "manualblocks", "/automated-patron-blocks/{id}": "automatedPatronBlocks",
	})
	l.list("/groups", "usergroups", func(url.Values) []any { return []any{map[string]any{"id": "group-1", "group": "staff"}} })
	l.list("/service-points", "servicepoints", func(url.Values) []any { return []any{map[string]any{"id": servicePoint}} })
	l.list("/inventory/items", "items", l.findItems)
	l.list("/users", "users", l.findUsers)
	l.handle("POST /circulation/check-in-by-barcode", l.checkIn)
	l.handle("POST /circulation/check-out-by-barcode", l.checkOut)
	l.serveLoans()
	return l
}

// id returns the id of the item or user with a barcode.
func id(barcode string) string { return "id-of-" + barcode }

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

var barcodeQuery = regexp.MustCompile(`barcode=="([^"]+)"`)

func (l *library) findItems(query url.Values) []any {
	if found := barcodeQuery.FindStringSubmatch(query.Get("query")); found != nil {
		return []any{map[string]any{"id": id(found[1]), "barcode": found[1], "holdingsRecordId": "holdings-of-" + found[1]}}
	}
	if strings.HasPrefix(query.Get("query"), "purchaseOrderLineIdentifier==") {
		return []any{}
	}
	if query.Get("query") != `status.name=="Available" sortBy barcode` {
		l.wrong("asks for items with %q", query.Get("query"))
	}
	var available []string
	for _, barcode := range l.items {
		if l.lentTo[barcode] == "" {
			available = append(available, barcode)
		}
	}
	return page(available, query)
}

func (l *library) findUsers(query url.Values) []any {
	if found := barcodeQuery.FindStringSubmatch(query.Get("query")); found != nil {
		return []any{map[string]any{"id": id(found[1]), "barcode": found[1], "patronGroup": "group-1"}}
	}
	found := page(l.users, query)
	for _, user := range found {
		record := user.(map[string]any)
		record["externalSystemId"] = "external-" + record["barcode"].(string)
	}
	return found
}

func page(barcodes []string, query url.Values) []any {
	limit, offset := 10, 0
	if n, err := strconv.Atoi(query.Get("limit")); err == nil {
		limit = n
	}
	if n, err := strconv.Atoi(query.Get("offset")); err == nil {
		offset = n
	}
	found := []any{}
	for i := offset; i < min(offset+limit, len(barcodes)); i++ {
		found = append(found, map[string]any{"id": id(barcodes[i]), "barcode": barcodes[i], "active": true})
	}
	return found
}

func (l *library) checkIn(r *http.Request, body []byte) (int, any) {
	var request struct{ ItemBarcode, CheckInDate, ServicePointID, SessionID string }
	l.decodeBytes(body, &request)
	l.checkDate(request.CheckInDate)
	if uuid.MatchString(request.SessionID) != (l.release >= 2026) {
		l.wrong("checks in with session %q", request.SessionID)
	}
	if !slices.Contains(l.servicePoints, request.ServicePointID) {
		l.wrong("checks in at service point %q", request.ServicePointID)
	}
	answer := map[string]any{"item": map[string]any{"id": id(request.ItemBarcode), "barcode": request.ItemBarcode}}
	if user := l.lentTo[request.ItemBarcode]; user != "" {
		answer["loan"] = map[string]any{"id": "loan-of-" + request.ItemBarcode, "userId": id(user), "lostItemPolicyId": "policy-1"}
	}
	delete(l.lentTo, request.ItemBarcode)
	delete(l.renewals, request.ItemBarcode)
	l.checkedIn++
	l.lendings = append(l.lendings, lending{l.user(r), "in", request.ItemBarcode})
	return http.StatusOK, answer
}

func (l *library) checkOut(r *http.Request, body []byte) (int, any) {
	var request struct{ ItemBarcode, UserBarcode, LoanDate, ServicePointID string }
	l.decodeBytes(body, &request)
	l.checkDate(request.LoanDate)
	if !slices.Contains(l.servicePoints, request.ServicePointID) || request.UserBarcode == "" {
		l.wrong("checks out with %s", body)
	}
	if l.lentTo[request.ItemBarcode] != "" {
		return http.StatusUnprocessableEntity, problems("Item is already checked out")
	}
	l.lentTo[request.ItemBarcode] = request.UserBarcode
	l.lendings = append(l.lendings, lending{l.user(r), "out", request.ItemBarcode})
	return http.StatusCreated, map[string]any{"id": "loan-of-" + request.ItemBarcode, "userId": id(request.UserBarcode), "loanPolicyId": "p"}
}

// checkDate requires the current time in UTC, in 24-hour format.
func (l *library) checkDate(text string) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !strings.HasSuffix(text, "Z") || time.Since(at).Abs() > time.Minute {
		l.wrong("sends the date %q at %v", text, time.Now().UTC())
	}
}
