// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/k6/internal/k6test"
	"perflab.dev/perflab/payload"
)

const workflows = "workflows.js"

// transactionsOf are the transactions that each workflow records.
var transactionsOf = map[string][]string{
	"invoices":           {"Create Invoices", "Invoices Approve", "Paying Invoices"},
	"check-in-check-out": {"Check-In", "Check-Out"},
	"share-instance":     {"Share local instance"},
	"export-custom":      {"Exporting MARC Bib records custom workflow"},
	"export-default":     {"Exporting MARC Bib records workflow"},
	"view-account":       {"View Account"},
	"item-request":       {"Create ILR"},
	"search-authority":   {"mod search by auth query"},
	"search-boolean":     {"mod search by boolean query"},
	"search-contributor": {"mod search by contributors"},
	"search-filter":      {"mod search by filter query"},
	"search-keyword":     {"mod search by keyword query"},
	"search-subject":     {"mod search by subject query"},
	"search-title":       {"mod search by title query"},
	"oai-records":        {"OAI records"},
	"orders":             {"Create Order", "Add Order Lines", "Approve Order"},
	"rtac":               {"edge-rtac"},
	"import-create":      {"Single Record Import (Create)"},
	"import-update":      {"Single Record Import (Update)"},
	"receiving":          {"Receiving-an-Order-Line", "Unreceiving-a-Piece"},
	"serials":            {"Serials-Receiving-Workflow"},
	"renew-loan":         {"Users loan Renewal Transaction"},
}

// forWorkflows returns the environment of workflows with short think times.
func forWorkflows(w *whole, chosen string, own ...string) []string {
	return environment(w.URL, append([]string{
		"WORKFLOWS=" + chosen, "DURATION_SECONDS=90", "THINK_TIME_SECONDS=0.01", "POLL_SECONDS=0.1", "EDGE_API_KEY=the-key",
	}, own...)...)
}

// told returns the number of calls with a prefix and a response status below 400.
func (w *whole) told(prefix string) int {
	n := 0
	for _, conversation := range w.conversations() {
		for _, c := range conversation {
			if strings.HasPrefix(c.line, prefix) && c.status < http.StatusBadRequest {
				n++
			}
		}
	}
	return n
}

// alone runs one workflow with one user until a call was made this many times.
func alone(t *testing.T, w *whole, name, call string, times int) (k6test.Result, *payload.Payload) {
	t.Helper()
	result := k6test.RunUntil(t, func() bool { return w.told(call) >= times }, workflows, forWorkflows(w, name+"=1"))
	return result, result.Payload(t)
}

// wantOK requires a minimum number of successful transactions, and no failed ones.
func wantOK(t *testing.T, result k6test.Result, p *payload.Payload, atLeast int, transactions ...string) {
	t.Helper()
	for _, name := range transactions {
		if ok, failed := counted(t, p, name, "ok"), counted(t, p, name, "error"); ok < atLeast || failed > 0 {
			t.Errorf("%s: %d went well and %d failed, want at least %d and none\n%s", name, ok, failed, atLeast, result.Stderr)
		}
	}
}

// leftBehind are checks of the system after a workflow. They return what is wrong.
var leftBehind = map[string]func(w *whole) string{
	"invoices": func(w *whole) string {
		paid, numbers := w.invoices.where("status", "Paid"), map[any]bool{}
		for _, one := range w.invoices.rows {
			numbers[one["vendorInvoiceNo"]] = true
		}
		if len(paid) < 3 || len(paid) < len(w.invoices.rows)-1 || len(numbers) != len(w.invoices.rows) || len(w.vouchers.rows) < len(paid) {
			return fmt.Sprintf("%d of %d invoices are paid, with %d numbers and %d vouchers", len(paid), len(w.invoices.rows), len(numbers), len(w.vouchers.rows))
		}
		return ""
	},
	"orders": func(w *whole) string {
		open := w.orders.where("workflowStatus", "Open")
		for _, order := range open {
			if order["approved"] != true || len(w.lines.where("purchaseOrderId", order["id"])) != 1 {
				return fmt.Sprintf("an open order is %v", order)
			}
		}
		if len(open) < 3 || len(open) < len(w.orders.rows)-1 {
			return fmt.Sprintf("%d of %d orders are open", len(open), len(w.orders.rows))
		}
		return ""
	},
	"receiving": func(w *whole) string {
		if len(w.orders.rows) != 1 || len(w.pieces.rows) != 1 {
			return fmt.Sprintf("there are %d orders and %d pieces, want one each", len(w.orders.rows), len(w.pieces.rows))
		}
		return ""
	},
	"serials": func(w *whole) string {
		received := w.pieces.where("receivingStatus", "Received")
		if len(w.orders.rows) != 1 || w.orders.rows[0]["orderType"] != "Ongoing" || len(received) < 3 || received[2]["enumeration"] != "v.3" {
			return fmt.Sprintf("there are %d orders, and the pieces %v", len(w.orders.rows), w.pieces.rows)
		}
		return ""
	},
	"renew-loan": func(w *whole) string {
		if len(w.lentTo) > 1 {
			return fmt.Sprintf("%d items are still on loan", len(w.lentTo))
		}
		return ""
	},
	"item-request": func(w *whole) string {
		if len(w.holds) < 3 || len(w.lentTo) < len(w.holds) || len(w.lentTo) > len(w.holds)+1 {
			return fmt.Sprintf("%d items have holds and %d are lent", len(w.holds), len(w.lentTo))
		}
		for item, holds := range w.holds {
			if len(holds) > 10 {
				return fmt.Sprintf("item %s has %d holds", item, len(holds))
			}
		}
		return ""
	},
	"share-instance": func(w *whole) string {
		if len(w.instances.where("source", "CONSORTIUM-FOLIO")) < 2 {
			return fmt.Sprintf("the instances are %v", w.instances.rows)
		}
		return ""
	},
	"import-create": func(w *whole) string {
		bodies := map[any]bool{}
		for _, one := range w.imports {
			bodies[one["body"]] = true
			if one["updates"] == true || one["external"] != "" {
				return fmt.Sprintf("an import is %v", one)
			}
		}
		if len(bodies) != len(w.imports) {
			return fmt.Sprintf("%d imports are of %d records", len(w.imports), len(bodies))
		}
		return ""
	},
	"import-update": func(w *whole) string {
		for i, one := range w.imports {
			if one["instance"] != w.imports[0]["instance"] || one["updates"] != (i > 0) {
				return fmt.Sprintf("import %d is %v", i, one)
			}
		}
		return ""
	},
	"export-custom": func(w *whole) string {
		for _, job := range w.jobs.rows {
			if job["profile"] != "PerfLab - Instances with HRIDs of holdings and items" && job["status"] != "NEW" {
				return fmt.Sprintf("a job is %v", job)
			}
		}
		if len(w.exportMaps.rows) != 1 || len(w.uploaded[w.jobs.rows[0]["definition"].(string)]) != 3 {
			return fmt.Sprintf("%d mapping profiles, exported %v", len(w.exportMaps.rows), w.uploaded)
		}
		return ""
	},
	"oai-records": func(w *whole) string {
		if w.edge.harvests < 2 {
			return fmt.Sprintf("%d harvests", w.edge.harvests)
		}
		return ""
	},
}

// TestWorkflowsMakeTheirCalls runs each workflow by itself. It compares all calls of its user
// with the list of calls, and then checks the state of the system.
func TestWorkflowsMakeTheirCalls(t *testing.T) {
	t.Parallel()
	type test struct {
		name        string
		once, cycle []string
		last        string // the call by which iterations are counted
		times       int
	}
	tests := []test{
		{"invoices", nil, invoiceCalls, "PUT /invoice/invoices/", 6},
		{"orders", nil, orderCalls, "PUT /orders/composite-orders/", 6},
		{"receiving", titleMade, receivingCalls, "POST /orders/receive", 4},
		{"serials", titleMade, serialsCalls, "POST /orders/check-in", 4},
		{"item-request", nil, heldCalls(), "POST /circulation/requests", 24},
		{"renew-loan", nil, renewCalls, "POST /circulation/renew-by-barcode", 5},
		{"rtac", nil, rtacCalls, "GET /rtac", 10},
		{"view-account", nil, accountCalls, "GET /patron/account/", 10},
		{"oai-records", nil, oaiCalls, "GET /oai/records", 10},
		{"export-default", nil, exportCalls, "POST /data-export/export", 3},
		{"export-custom", nil, exportCalls, "POST /data-export/export", 3},
		{"share-instance", nil, shareCalls, "POST /consortia/", 3},
		{"import-create", nil, importCreateCalls, "GET /remote-storage/mappings", 4},
		{"import-update", []string{`POST /copycat/imports`}, importUpdateCalls, "POST /copycat/imports", 4},
	}
	for name, calls := range searchCalls {
		tests = append(tests, test{name, nil, calls, "GET /search/", 4 * len(calls)})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWhole(t, 50, 20)
			result, p := alone(t, w, tt.name, tt.last, tt.times)
			conversations := w.conversations()
			if len(conversations) != 2 {
				t.Fatalf("%d users spoke, want setup and one\n%s", len(conversations), result.Stderr)
			}
			if n := cycles(t, conversations[1], tt.once, tt.cycle); n < 2 {
				t.Errorf("%d iterations are complete", n)
			}
			wantOK(t, result, p, 2, transactionsOf[tt.name]...)
			w.mu.Lock()
			defer w.mu.Unlock()
			if left, ok := leftBehind[tt.name]; ok && left(w) != "" {
				t.Errorf("%s\n%s", left(w), result.Stderr)
			}
		})
	}
}

func TestWorkflowsMatchCheckInCheckOut(t *testing.T) {
	t.Parallel()
	w := newWhole(t, 200, 20)
	enough := func() bool { return len(w.counted("in")) > 4 && len(w.counted("out")) > 4 }
	result := k6test.RunUntil(t, enough, workflows, forWorkflows(w, "check-in-check-out=2"))
	talk(t, w.library, pages2023)
	wantOK(t, result, result.Payload(t), 3, "Check-In", "Check-Out")
}

// TestARefusalIsAnError makes one call of each workflow fail, every time.
func TestARefusalIsAnError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, call, transaction string
		// never is a call that must not follow the rejection.
		never string
	}{
		{"invoices", "POST /invoice/invoice-lines", "Create Invoices", "PUT /invoice/"},
		{"invoices", "PUT /invoice/invoices/", "Invoices Approve", "GET /voucher/"},
		{"orders", "POST /orders/composite-orders", "Create Order", "POST /orders/order-lines"},
		{"orders", "POST /orders/order-lines", "Add Order Lines", "PUT /orders/"},
		{"orders", "PUT /orders/composite-orders/", "Approve Order", ""},
		{"receiving", "POST /orders/check-in", "Receiving-an-Order-Line", "POST /orders/receive"},
		{"receiving", "PUT /orders/composite-orders/", "Receiving-an-Order-Line", "POST /orders/check-in"},
		{"serials", "POST /orders/pieces", "Serials-Receiving-Workflow", "POST /orders/check-in"},
		{"renew-loan", "POST /circulation/renew-by-barcode", "Users loan Renewal Transaction", ""},
		{"renew-loan", "POST /circulation/check-out-by-barcode", "Users loan Renewal Transaction", "POST /circulation/renew"},
		{"item-request", "POST /circulation/requests", "Create ILR", ""},
		{"item-request", "POST /circulation/check-out-by-barcode", "Create ILR", "POST /circulation/requests"},
		{"share-instance", "POST /consortia/", "Share local instance", ""},
		{"share-instance", "POST /inventory/instances", "Share local instance", "POST /consortia/"},
		{"export-default", "POST /data-export/export", "Exporting MARC Bib records workflow", ""},
		{"import-create", "POST /copycat/imports", "Single Record Import (Create)", "GET /inventory/"},
		{"import-update", "POST /copycat/imports", "Single Record Import (Update)", "GET /search/"},
		{"search-title", "GET /search/instances", "mod search by title query", ""},
		{"rtac", "GET /rtac", "edge-rtac", ""},
		{"oai-records", "GET /oai/records", "OAI records", ""},
		{"view-account", "GET /patron/account/", "View Account", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.call, func(t *testing.T) {
			t.Parallel()
			w := newWhole(t, 60, 30)
			w.refuse = func(line string, _ int) int {
				if strings.HasPrefix(line, tt.call) {
					return http.StatusUnprocessableEntity
				}
				return 0
			}
			enough := func() bool { return w.answered(http.StatusUnprocessableEntity) >= 3 }
			result := k6test.RunUntil(t, enough, workflows, forWorkflows(w, tt.name+"=1"))
			p := result.Payload(t)
			if failed, ok := counted(t, p, tt.transaction, "error"), counted(t, p, tt.transaction, "ok"); failed < 2 || ok > 0 {
				t.Errorf("%s: %d failed and %d went well, of 3 that were refused\n%s", tt.transaction, failed, ok, result.Stderr)
			}
			if tt.never != "" && w.told(tt.never) > 0 {
				t.Errorf("users went on to %s", tt.never)
			}
			if !strings.Contains(result.Stderr, tt.transaction+": ") || !strings.Contains(result.Stderr, "answered 422 instead of") {
				t.Errorf("the log does not say why:\n%s", result.Stderr)
			}
		})
	}
}

// TestAFailureInAnAnswerIsAnError tests failures that a response reports, even with status 200.
func TestAFailureInAnAnswerIsAnError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, transaction, sentence string
		spoil                       func(w *whole)
	}{
		{"oai-records", "OAI records", "answered badResumptionToken: Resumption token is unknown", func(w *whole) { w.edge.forget = true }},
		{"receiving", "Receiving-an-Order-Line", "POST /orders/check-in answered 200 and failed: The piece record failed to be updated", func(w *whole) { w.receivingFails = true }},
		{"export-default", "Exporting MARC Bib records workflow", "the export of 3 instances ended COMPLETED_WITH_ERRORS", func(w *whole) { w.exportsEnd = "COMPLETED_WITH_ERRORS" }},
		{"renew-loan", "Users loan Renewal Transaction", "loan at maximum renewal number", func(w *whole) { w.maxRenewals = 0 }},
		{"view-account", "View Account", "Access requires API Key", func(w *whole) { w.edge.key = "another" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWhole(t, 60, 30)
			tt.spoil(w)
			result := k6test.Run(t, workflows, forWorkflows(w, tt.name+"=1", "DURATION_SECONDS=4"))
			if failed := counted(t, result.Payload(t), tt.transaction, "error"); failed == 0 || !strings.Contains(result.Stderr, tt.sentence) {
				t.Errorf("%d failed, want some and %q in the log\n%s", failed, tt.sentence, result.Stderr)
			}
			if w.edge.forget && w.edge.harvests < 2 {
				t.Error("the user does not start again after a failed page")
			}
		})
	}
}

// TestReceivedPieceIsReset checks that a failed reset is repeated. Otherwise, the user could not
// receive a piece again.
func TestReceivedPieceIsReset(t *testing.T) {
	t.Parallel()
	w := newWhole(t, 10, 10)
	w.refuse = func(line string, nth int) int {
		if line == "POST /orders/receive" && nth == 1 {
			return http.StatusInternalServerError
		}
		return 0
	}
	result, p := alone(t, w, "receiving", "POST /orders/receive", 3)
	if failed := counted(t, p, "Unreceiving-a-Piece", "error"); failed != 1 {
		t.Errorf("%d failed, want one\n%s", failed, result.Stderr)
	}
	wantOK(t, result, p, 2, "Receiving-an-Order-Line")
}

// TestTransactionSetupDoesNotCount checks that neither the requests nor the time of the setup
// count.
func TestTransactionSetupDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWhole(t, 50, 20)
	sum, transactions := 0.0, 0
	for _, p := range pointsOf(t, workflows, forWorkflows(w, "renew-loan=1", "DURATION_SECONDS=3", "THINK_TIME_SECONDS=0.1")) {
		tags := p.Data.Tags
		if p.Metric == "http_req_duration" && tags["transaction"] != "" {
			sum += p.Data.Value
			if strings.Contains(tags["name"], "check-") {
				t.Errorf("%s belongs to the transaction", tags["name"])
			}
		}
		if p.Metric != "transaction_duration" {
			continue
		}
		if math.Abs(p.Data.Value-sum) > 1e-6 {
			t.Errorf("%s took %v ms, its requests %v ms", tags["transaction"], p.Data.Value, sum)
		}
		sum = 0
		transactions++
	}
	if transactions < 3 {
		t.Errorf("%d transactions", transactions)
	}
}

// TestAsynchronousWaitCounts checks that an export lasts until its job has ended.
func TestAsynchronousWaitCounts(t *testing.T) {
	t.Parallel()
	w := newWhole(t, 10, 10)
	exports := 0
	for _, p := range pointsOf(t, workflows, forWorkflows(w, "export-default=1", "DURATION_SECONDS=4", "POLL_SECONDS=0.5")) {
		if p.Metric != "transaction_duration" {
			continue
		}
		if exports++; p.Data.Value < 500 {
			t.Errorf("an export that was looked at twice, half a second apart, took %v ms", p.Data.Value)
		}
	}
	if exports < 2 {
		t.Errorf("%d exports", exports)
	}
}

// TestEachWorkflowHasAThinkTimeOfItsOwn compares two workflows: harvesters wait for 0.4 s between
// pages, and users with loans for 40 s.
func TestEachWorkflowHasAThinkTimeOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWhole(t, 50, 20)
	result := k6test.Run(t, workflows, forWorkflows(w, "oai-records,renew-loan", "THINK_TIME_SECONDS=", "DURATION_SECONDS=8"))
	p := result.Payload(t)
	if pages, renewals := counted(t, p, "OAI records", "ok"), counted(t, p, "Users loan Renewal Transaction", "ok"); pages < 8 || pages > 40 || renewals > 1 {
		t.Errorf("%d pages and %d renewals in 8 s, want about 20 and hardly any\n%s", pages, renewals, result.Stderr)
	}
}

// TestEdgeModulesGetNoLogin checks that a user who is logged in with cookies sends only the key
// to edge modules.
func TestEdgeModulesGetNoLogin(t *testing.T) {
	t.Parallel()
	w := newWhole(t, 50, 20)
	w.accessLife, w.sessionLife = time.Minute, time.Hour
	enough := func() bool { return w.told("GET /rtac") > 3 && w.told("POST /circulation/renew") > 3 }
	result := k6test.RunUntil(t, enough, workflows, forWorkflows(w, "rtac,renew-loan", "LOGIN=Expiring"))
	wantOK(t, result, result.Payload(t), 2, "edge-rtac", "Users loan Renewal Transaction")
}

func TestItemsThatAreUsedUpEndTheTest(t *testing.T) {
	t.Parallel()
	w := newWhole(t, 3, 30)
	result := k6test.Run(t, workflows, forWorkflows(w, "item-request=1"))
	sentence := "Create ILR: the 3 items of one user are used up, after 10 holds on each"
	if result.Code != 108 || !strings.Contains(result.Stderr, sentence) {
		t.Errorf("exit code %d, want 108 and %q\n%s", result.Code, sentence, result.Stderr)
	}
}

// TestAllWorkflowsTogether runs the mix of the performance team's page.
func TestAllWorkflowsTogether(t *testing.T) {
	t.Parallel()
	w := newWhole(t, 2000, 200)
	last := map[string]string{
		"invoices": "GET /voucher/voucher-lines", "orders": "PUT /orders/composite-orders", "receiving": "POST /orders/receive", "serials": "POST /orders/pieces",
		"renew-loan": "POST /circulation/renew", "item-request": "POST /circulation/requests", "share-instance": "POST /consortia/",
		"export": "POST /data-export/export", "search": "GET /search/", "rtac": "GET /rtac", "oai": "GET /oai/", "account": "GET /patron/",
		"import": "POST /copycat/imports", "in": "POST /circulation/check-in-by-barcode", "out": "POST /circulation/check-out-by-barcode",
	}
	enough := func() bool {
		for _, call := range last {
			if w.told(call) < 3 {
				return false
			}
		}
		return len(w.counted("in")) > 6 && len(w.jobsEnded()) > 4
	}
	result := k6test.RunUntil(t, enough, workflows, forWorkflows(w, "all", "THINK_TIME_SECONDS=1"))
	p := result.Payload(t)
	for _, transactions := range transactionsOf {
		wantOK(t, result, p, 1, transactions...)
	}
	if n := len(p.Transactions()); n != 28 {
		t.Errorf("%d transactions, want the page's 28: %v", n, p.Transactions())
	}
	noCollisions(t, w.library)
	if n := p.Total("http_req_failed"); n > 0 {
		t.Errorf("%v requests failed\n%s", n, result.Stderr)
	}
}

// jobsEnded returns the completed exports, by profile and id.
func (w *whole) jobsEnded() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	ended := map[string]int{}
	for _, job := range w.jobs.where("status", "COMPLETED") {
		ended[fmt.Sprint(job["profile"], job["id"])]++
	}
	return ended
}

func TestWorkflowsUseFolderData(t *testing.T) {
	t.Parallel()
	w := newWhole(t, 50, 20)
	ids := []string{w.instances.rows[1]["id"].(string)}
	dir := folder(t, map[string][]string{
		"instances.csv": ids, "search-words.csv": {"alpha", "beta", "gamma"}, "accounts.csv": {"external-user-0003"}, "external-identifiers.csv": {"100", "200"},
		"check-out-items.csv": w.items, "check-in-items.csv": w.items, "users.csv": w.users, "service-points.csv": {servicePoint},
	})
	enough := func() bool {
		return w.told("GET /rtac") > 2 && w.told("GET /search/") > 6 && w.told("GET /patron/") > 2 && w.told("POST /copycat/imports") > 2 && w.told("POST /circulation/renew") > 1
	}
	result := k6test.RunUntil(t, enough, workflows, forWorkflows(w, "rtac,search-title,view-account,import-create,renew-loan", "DATA_DIR="+dir))
	for name, transactions := range transactionsOf {
		if slices.Contains([]string{"rtac", "search-title", "view-account", "import-create", "renew-loan"}, name) {
			wantOK(t, result, result.Payload(t), 1, transactions...)
		}
	}
	for _, conversation := range w.conversations()[1:] {
		for _, c := range conversation {
			if strings.HasPrefix(c.line, "GET /rtac") && !strings.Contains(c.line, ids[0]+","+ids[0]) ||
				strings.HasPrefix(c.line, "GET /patron") && !strings.Contains(c.line, "external-user-0003") {
				t.Errorf("the folder does not have what is in %s", c.line)
			}
		}
	}
	external := map[any]bool{}
	for _, one := range w.imports {
		external[one["external"]] = true
	}
	if !maps.Equal(external, map[any]bool{"100": true, "200": true}) {
		t.Errorf("imported %v", external)
	}
}

func TestInvalidWorkflowsFailEarly(t *testing.T) {
	t.Parallel()
	fine, lonely, bare := newWhole(t, 10, 10), newWhole(t, 10, 10), newWhole(t, 10, 10)
	lonely.consortium, lonely.targets = nil, nil
	bare.instances.rows = nil
	missing := filepath.Join(t.TempDir(), "none")
	tests := []struct {
		name     string
		w        *whole
		chosen   string
		env      []string
		args     []string
		code     int
		sentence string
	}{
		{"an unknown workflow", fine, "search-titel=5", nil, nil, 107, `environment variable WORKFLOWS names "search-titel", not one of all, invoices, `},
		{"no number", fine, "rtac=many", nil, nil, 107, `environment variable WORKFLOWS gives rtac "many" users, not a whole number`},
		{"no users", fine, "rtac=0", nil, nil, 107, `which leaves no workflow with a user`},
		{"JSON that is none", fine, "{rtac", nil, nil, 107, `environment variable WORKFLOWS begins with "{" and is not JSON`},
		{"nothing", fine, "", nil, nil, 107, "environment variable WORKFLOWS is not set"},
		{"no key", fine, "rtac", []string{"EDGE_API_KEY="}, nil, 107, "environment variable EDGE_API_KEY is not set"},
		{"no consortium", lonely, "share-instance", nil, nil, 108, "tenant diku is no member of a consortium, which sharing an instance needs"},
		{"no target", lonely, "import-create", nil, nil, 108, "enable a target under Settings, Inventory"},
		{"no instances", bare, "rtac", nil, nil, 108, "no instance has the source MARC: import bibliographic records first"},
		{"no folder", fine, "renew-loan", []string{"DATA_DIR=" + missing}, nil, 107, "cannot be read"},
		{"a part of the users", fine, "rtac=2", nil, []string{"--execution-segment=0:1/2", "--execution-segment-sequence=0,1/2,1"}, 108, "workflows.js runs in one runner"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result := k6test.Run(t, workflows, forWorkflows(tt.w, tt.chosen, tt.env...), tt.args...)
			if result.Code != tt.code || !strings.Contains(result.Stderr, strings.ReplaceAll(tt.sentence, `"`, `\"`)) {
				t.Errorf("exit code %d, want %d and %q\n%s", result.Code, tt.code, tt.sentence, result.Stderr)
			}
		})
	}
}

// TestWorkflowsAreChosen checks that the chosen workflows run with the chosen numbers of users.
func TestWorkflowsAreChosen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		chosen string
		users  int
	}{
		{"search-title=3, rtac", 4},
		{`{"search-title": 2, "rtac": 1}`, 3},
		{"all=0,oai-records=2", 2},
	}
	for _, tt := range tests {
		t.Run(tt.chosen, func(t *testing.T) {
			t.Parallel()
			w := newWhole(t, 10, 10)
			enough := func() bool { return len(w.conversations()) > tt.users && w.told("GET /") > 40 }
			result := k6test.RunUntil(t, enough, workflows, forWorkflows(w, tt.chosen))
			// The first is setup's.
			if users := len(w.conversations()) - 1; users != tt.users {
				t.Errorf("%d users came, want %d\n%s", users, tt.users, result.Stderr)
			}
		})
	}
}
