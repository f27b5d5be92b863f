// SPDX-License-Identifier: AGPL-3.0-only

package scripts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The calls of the workflows, in order, with decoded queries. <name> stands for a value that is
// the same wherever the name occurs in one iteration.
const (
	allUnits       = `GET /acquisitions-units/units?query=cql.allRecords=1 sortby name&limit=1000`
	allTags        = `GET /tags?query=cql.allRecords=1 sortby label&limit=1000`
	tagsSetting    = `GET /configurations/entries?query=(module=TAGS and configName=tags_enabled)&limit=1000`
	allBatchGroups = `GET /batch-groups?query=cql.allRecords=1 sortby name&limit=1000`
	allClasses     = `GET /finance/expense-classes?query=cql.allRecords=1 sortby name&limit=1000`
	allFunds       = `GET /finance/funds?query=cql.allRecords=1 sortby name&limit=1000`
	allMaterials   = `GET /material-types?query=cql.allRecords=1 sortby name&limit=1000`
	addresses      = `GET /configurations/entries?query=(module=TENANT and configName=tenant.addresses)&limit=1000`
	memberships    = `GET /acquisitions-units/memberships?query=userId==` + selfID + `&limit=1000`
	creatableUnits = `GET /acquisitions-units/units?query=protectCreate==false&limit=1000`
	vendor         = `GET /organizations/organizations/` + vendorID + `?limit=1000`
	vendorByID     = `GET /organizations/organizations?query=id==` + vendorID + `&limit=1000`
	allVendors     = `GET /organizations/organizations?query=id==*&limit=1000`
	userByID       = `GET /users?query=id==` + selfID
	invoice        = `GET /invoice/invoices/<invoice>?limit=1000`
	invoiceLines   = `GET /invoice/invoice-lines?query=(invoiceId==<invoice>) sortBy metadata.createdDate invoiceLineNumber&limit=1000`
	documents      = `GET /invoice/invoices/<invoice>/documents?limit=1000`
	approvals      = `GET /configurations/entries?query=(module=INVOICE and configName=approvals)&limit=1000`
	exportSettings = `GET /batch-voucher/export-configurations?query=batchGroupId==` + groupID + `&limit=1000`
	batchGroup     = `GET /batch-groups/` + groupID + `?limit=1000`
	approvedList   = `GET /invoice/invoices?offset=0&query=(status=="Approved") sortby invoiceDate/sort.descending&limit=50`
	prefixes       = `GET /orders/configuration/prefixes?query=cql.allRecords=1 sortby name&limit=1000`
	suffixes       = `GET /orders/configuration/suffixes?query=cql.allRecords=1 sortby name&limit=1000`
	closureReasons = `GET /orders/configuration/reasons-for-closure?query=cql.allRecords=1 sortby reason&limit=1000`
	templatesCall  = `GET /orders/order-templates?query=cql.allRecords=1 sortby templateName&limit=1000`
	methods        = `GET /orders/acquisition-methods?query=cql.allRecords=1 sortby value&limit=1000`
	order          = `GET /orders/composite-orders/<order>?limit=1000`
	nameTypes      = `GET /contributor-name-types?query=cql.allRecords=1 sortby name&limit=1000`
	idTypes        = `GET /identifier-types?query=cql.allRecords=1 sortby name&limit=1000`
	allLocations   = `GET /locations?query=cql.allRecords=1 sortby name&limit=1000`
	fiveLocations  = `GET /locations?query=cql.allRecords=1 sortby name&limit=5000`
	poNumber       = `GET /orders/po-number?limit=1000`
)

var invoiceList = []string{allUnits, allTags, tagsSetting, allBatchGroups, allClasses, allFunds}

var invoiceView = []string{
	invoice, vendor, invoiceLines, approvals, exportSettings, tagsSetting, userByID, batchGroup, vendor, documents, allFunds, allMaterials,
}

var voucherView = []string{
	`GET /batch-voucher/batch-voucher-exports?query=batchVouchers.batchedVouchers=folioInvoiceNo:<folioNo>&limit=1000`,
	tagsSetting,
	`GET /voucher/vouchers?query=invoiceId==<invoice>&limit=1000`,
	userByID,
	`GET /users/` + selfID + `?limit=1000`,
	batchGroup, vendor, documents,
	`GET /finance/fiscal-years/` + fiscalYearID,
	allFunds, allMaterials,
	`GET /organizations-storage/categories?query=id==*&limit=1000`,
	`GET /voucher/voucher-lines?query=voucherId==<voucher>&limit=1000`,
}

var invoiceCalls = slices.Concat(
	// Create Invoices
	invoiceList,
	[]string{
		allBatchGroups,
		`GET /configurations/entries?query=(module=INVOICE and configName=INVOICE.adjustments) sortby code&limit=1000`,
		addresses, memberships, creatableUnits,
		allTags, tagsSetting,
		`GET /organizations/organizations?offset=0&query=(((name="Vendor*" or code="Vendor*" or language="Vendor*" or aliases="Vendor*" or erpCode="Vendor*" or taxId="Vendor*"))) sortby name/sort.ascending&limit=50`,
		`GET /invoice/invoices?query=id<>"undefined" AND vendorInvoiceNo=="PerfLab <number>" AND invoiceDate=="<day>*" AND vendorId=="` + vendorID + `"&limit=1000`,
		vendor,
		`POST /invoice/invoices`,
		`POST /invoice/invoice-lines`,
	},
	invoiceList, invoiceView,
	// Invoices Approve
	invoiceList,
	[]string{
		`GET /invoice/invoices?offset=0&query=(((voucherNumber="PerfLab <number>*" or vendorInvoiceNo="PerfLab <number>*" or poNumbers="PerfLab <number>*" or accountingCode="PerfLab <number>*" or invoiceLines.description="PerfLab <number>*"))) sortby invoiceDate/sort.descending&limit=50`,
		vendorByID,
	},
	invoiceView,
	[]string{
		`GET /invoice/invoices?query=id<>"<invoice>" AND           vendorInvoiceNo=="PerfLab <number>" AND           invoiceDate=="<day>*" AND           vendorId=="` + vendorID + `"`,
		`PUT /invoice/invoices/<invoice>`,
	},
	// Paying Invoices
	[]string{approvedList, allVendors, invoice, vendor, invoiceLines, approvals, exportSettings},
	voucherView,
	[]string{`PUT /invoice/invoices/<invoice>`, invoice, approvedList, vendor, invoiceLines, approvals, exportSettings, allVendors},
	voucherView,
)

var (
	ordersApp = []string{
		prefixes, suffixes, allUnits, allTags, tagsSetting, allFunds, allMaterials, allClasses,
		`GET /orders/order-lines?offset=0&query=(eresource.materialType == ` + materialID + `) sortby metadata.updatedDate/sort.descending&limit=50`,
	}
	ordersList = []string{prefixes, suffixes, allUnits, allTags, tagsSetting, addresses, closureReasons}
	orderView  = slices.Concat(ordersList, []string{
		order,
		`GET /orders-storage/order-invoice-relns?query=purchaseOrderId==<order>&limit=1000`,
		`GET /orders/order-lines?query=purchaseOrderId==<order>&limit=1000`,
		`GET /orders/composite-orders?query=id==<order>`,
		`GET /configurations/entries?query=(module=ORDERS and configName=poLines-limit)&limit=1000`,
		closureReasons, allFunds,
		`GET /configurations/entries?query=(module=ORDERS and configName=approvals)&limit=1000`,
		addresses, tagsSetting, userByID, vendor,
		`GET /users?query=id == ` + selfID,
		methods,
	})
	orderFound = slices.Concat(ordersApp, ordersList, []string{
		`GET /orders/composite-orders?offset=0&query=(poNumber=="<number>") sortby metadata.updatedDate/sort.descending&limit=50`,
	}, orderView)
	changedOrder = slices.Concat([]string{order, `PUT /orders/composite-orders/<order>`}, orderView)
)

var orderCalls = slices.Concat(
	// Create Order
	ordersApp, ordersList,
	[]string{
		poNumber, addresses,
		`GET /configurations/entries?query=(module=ORDERS and configName=orderNumber)&limit=1000`,
		prefixes, suffixes, templatesCall, memberships, allTags, tagsSetting, creatableUnits, vendor, vendor,
		`POST /orders/composite-orders`,
	},
	orderView,
	// Add Order Lines
	orderFound,
	[]string{
		`GET /configurations/entries?query=(module=ORDERS and configName=inventory)&limit=1000`,
		nameTypes, idTypes, fiveLocations, methods, allMaterials, allFunds, allClasses, templatesCall, allTags, tagsSetting, vendor,
		`POST /orders/order-lines`,
		`GET /orders/order-lines/<line>?limit=1000`,
		fiveLocations, allFunds, allMaterials, methods, vendor,
		`GET /orders/titles?query=poLineId==<line>&limit=1000`,
	},
	orderView,
	// Approve Order
	orderFound, changedOrder, changedOrder,
)

// titleMade are the calls of a user before its first iteration.
var titleMade = []string{
	poNumber, `POST /orders/composite-orders`, `POST /orders/order-lines`, order, `PUT /orders/composite-orders/<order>`,
	`GET /orders/titles?query=poLineId==<line>&limit=1`,
}

const expected = `receivingStatus==("Expected" or "Late" or "Claim delayed" or "Claim sent")`

var (
	receivingApp = []string{
		`GET /orders/titles?query=(purchaseOrder.workflowStatus==("Closed" or "Open" or "Pending")) sortby title/sort.ascending&limit=50&offset=0`,
		allMaterials, allTags, allUnits, tagsSetting,
		`GET /orders/order-lines?limit=1000&query=id==<line>`,
	}
	pieceLists = []string{
		`GET /orders/pieces?limit=30&offset=0&query=(titleId==<title> and poLineId==<line> and ` + expected + `) sortby receiptDate/sort.ascending`,
		`GET /orders/pieces?limit=30&offset=0&query=(titleId==<title> and poLineId==<line> and receivingStatus=="Received") sortby receivedDate/sort.descending`,
		`GET /orders/pieces?limit=30&offset=0&query=(titleId==<title> and poLineId==<line> and receivingStatus=="Unreceivable") sortby receivedDate/sort.descending`,
	}
	titleView = slices.Concat([]string{
		allLocations,
		`GET /orders/titles/<title>?limit=1000`,
		`GET /orders/order-lines/<line>?limit=1000`,
		`GET /orders/pieces?limit=1&query=titleId==<title> and poLineId==<line> and ` + expected,
		order,
		`GET /orders/pieces?limit=1&query=titleId==<title> and poLineId==<line> and receivingStatus==(Received)`,
		`GET /orders/pieces?limit=1&query=titleId==<title> and poLineId==<line> and receivingStatus==(Unreceivable)`,
		vendorByID, nameTypes, idTypes,
	}, pieceLists)
	receivingForm = []string{
		`GET /holdings-storage/holdings?query=instanceId==<instance>&limit=1000`,
		`GET /inventory/items?query=purchaseOrderLineIdentifier==<line>&limit=1000`,
	}
	receivingCalls = slices.Concat(
		pieceLists,
		// Receiving-an-Order-Line
		receivingApp, titleView, receivingForm, []string{`POST /orders/check-in`}, titleView,
		// Unreceiving-a-Piece
		pieceLists, []string{`POST /orders/receive`}, pieceLists,
	)
	serialsCalls = slices.Concat(
		receivingApp, titleView, receivingForm, []string{`POST /orders/pieces?createItem=false`}, pieceLists, []string{`POST /orders/check-in`}, titleView,
	)
)

var filterCalls = []string{
	`GET /search/instances?query=keyword all "<a> <b> <c>" AND languages == <language>&limit=100`,
	`GET /search/instances?query=languages == <language> AND items.status.name == Available&limit=100`,
	`GET /search/instances?query=languages == (<language>) AND items.status.name == (Available OR "In transit")&limit=100`,
	`GET /search/instances?query=languages == <language>&limit=100`,
}

// searchCalls are the calls of the search workflows.
var searchCalls = map[string][]string{
	"search-authority": {
		`GET /search/authorities?query=keyword all <word>&limit=100`,
		`GET /search/authorities?query=keyword any <word>&limit=100`,
		`GET /search/authorities?query=keyword = <word>&limit=100`,
		`GET /search/authorities?query=keyword <> <word>&limit=100`,
		`GET /search/authorities?query=keyword == <word>&limit=100`,
		`GET /search/authorities?query=keyword all *<word>*&limit=100`,
		`GET /search/authorities?query=keyword all "<a> <b> <c>"&limit=100`,
		`GET /search/authorities?query=keyword any "<a> <b> <c>"&limit=100`,
		`GET /search/authorities?query=keyword == "<a> <b> <c>"&limit=100`,
		`GET /search/authorities?query=keyword <> "<a> <b> <c>"&limit=100`,
		`GET /search/authorities?query=keyword = "<a> <b> <c>"&limit=100`,
		`GET /search/authorities?query=keyword = "*<a> <b> <c>*"&limit=100`,
	},
	"search-boolean": {
		`GET /search/instances?query=subjects all <word> AND title all <other>&limit=100`,
		`GET /search/instances?query=subjects all <word> OR title all <other>&limit=100`,
		`GET /search/instances?query=subjects = (<word> OR <other>)&limit=100`,
		`GET /search/instances?query=subjects all <word> NOT title all <other>&limit=100`,
	},
	"search-contributor": {
		`GET /search/instances?query=contributors all <word>&limit=100`,
		`GET /search/instances?query=contributors = <word>*&limit=100`,
		`GET /search/instances?query=contributors = *<word>&limit=100`,
		`GET /search/instances?query=contributors any "<a> <b>"&limit=100`,
		`GET /search/instances?query=contributors == "<a> <b>"&limit=100`,
		`GET /search/instances?query=contributors <> "<a> <b>"&limit=100`,
		`GET /search/instances?query=contributors all "<a> <b>"&limit=100`,
	},
	"search-filter":  filterCalls,
	"search-keyword": filterCalls,
	"search-subject": {
		`GET /search/instances?query=subjects all <word>&limit=100`,
		`GET /search/instances?query=subjects = <word>*&limit=100`,
		`GET /search/instances?query=subjects = *<word>&limit=100`,
		`GET /search/instances?query=subjects any "<a> <b>"&limit=100`,
		`GET /search/instances?query=subjects == <word>&limit=100`,
		`GET /search/instances?query=subjects <> <word>&limit=100`,
	},
	"search-title": {
		`GET /search/instances?query=title all "<a> <b> <c>"&limit=100`,
		`GET /search/instances?query=title any "<a> <b> <c>"&limit=100`,
		`GET /search/instances?query=title == "<a> <b> <c>"&limit=100`,
		`GET /search/instances?query=title <> "<a> <b> <c>"&limit=100`,
		`GET /search/instances?query=title all <word>*&limit=100`,
		`GET /search/instances?query=title all *<word>&limit=100`,
	},
}

const (
	enabledTargets = `GET /copycat/profiles?query=enabled=true sortby name&limit=1000`
	updateProfile  = `GET /data-import-profiles/jobProfiles?query=id==job-update sortBy name`
	relations      = `GET /instance-relationship-types?query=cql.allRecords=1 sortby name&limit=1000`
	tlrSetting     = `GET /configurations/entries?query=(module==SETTINGS and configName==TLR)`
	tagsFlag       = `GET /configurations/entries?query=(module==TAGS and configName==tags_enabled)`
	waterFound     = `GET /search/instances?query=(keyword all "water") sortby title&limit=100`
	holdingsOf     = `GET /holdings-storage/holdings?query=instanceId==<instance>&limit=1000`
	instanceOf     = `GET /inventory/instances/<instance>`
	sourceOf       = `GET /source-storage/records/<instance>/formatted?idType=INSTANCE`
	mappings       = `GET /remote-storage/mappings?limit=1000`
	itemsOf        = `GET /inventory/items-by-holdings-id?offset=0&query=holdingsRecordId==<instance> sortby barcode/sort.ascending&limit=0`
	titlesOf       = `GET /orders/titles?query=instanceId==<instance>&limit=5000`
	foundByID      = `GET /search/instances?query=id==<instance>`
)

var importCreateCalls = []string{
	`POST /copycat/imports`, relations, `GET /locations?limit=1000`, tagsFlag,
	`GET /copycat/profiles?query=enabled=true`, holdingsOf, instanceOf,
	`GET /users?query=id==` + selfID + `&limit=1000`, `GET /copycat/profiles?query=enabled=true`, sourceOf,
	holdingsOf, mappings,
}

// inventoryLists returns the calls with which the inventory app starts.
func inventoryLists() []string {
	var calls []string
	for _, one := range strings.Fields(`identifier-types:name:1000 contributor-types:name:400 contributor-name-types:ordering:1000 instance-formats:name:1000
		instance-types:name:1000 classification-types:name:1000 alternative-title-types:name:1000 locations:name:5000
		instance-relationship-types:name:1000 instance-statuses:name:1000 modes-of-issuance:name:1000 instance-note-types:name:1000
		electronic-access-relationships:name:1000 statistical-code-types:name:1000 statistical-codes:name:2000 ill-policies:name:1000
		holdings-types:name:1000 call-number-types:name:1000 holdings-note-types:name:1000 item-note-types:name:1000
		item-damaged-statuses:name:1000 nature-of-content-terms:name:1000 material-types:name:1000 loan-types:name:1000`) {
		parts := strings.Split(one, ":")
		calls = append(calls, fmt.Sprintf("GET /%s?query=cql.allRecords=1 sortby %s&limit=%s", parts[0], parts[1], parts[2]))
	}
	return append(calls, `GET /tags?limit=10000`, `GET /holdings-sources?query=cql.allRecords=1 sortby name&limit=1000`)
}

var importUpdateCalls = slices.Concat(
	[]string{enabledTargets}, inventoryLists(), []string{updateProfile, enabledTargets, updateProfile},
	[]string{waterFound, updateProfile, enabledTargets, holdingsOf, relations, tlrSetting, tagsFlag},
	[]string{foundByID, updateProfile, updateProfile, instanceOf, sourceOf, userByID, holdingsOf, mappings, titlesOf, itemsOf, fiveLocations, updateProfile},
	[]string{`POST /copycat/imports`},
	[]string{sourceOf, updateProfile, enabledTargets, holdingsOf, relations, tlrSetting, tagsFlag, updateProfile, enabledTargets},
	[]string{
		waterFound, userByID, itemsOf, fiveLocations, holdingsOf, mappings, titlesOf, foundByID, instanceOf,
		updateProfile, updateProfile, updateProfile, updateProfile,
	},
)

// exportCalls are the calls of an export, which is polled four times.
var exportCalls = []string{
	`POST /data-export/file-definitions`,
	`POST /data-export/file-definitions/<file>/upload`,
	`GET /data-export/job-profiles?limit=100&query=(cql.allRecords=1) sortby name`,
	`POST /data-export/export`,
	`GET /data-export/job-executions?query=status==IN_PROGRESS&limit=50`,
	`GET /data-export/job-executions?query=status==(COMPLETED OR COMPLETED_WITH_ERRORS OR FAIL) sortBy completedDate/sort.descending&limit=25`,
	`GET /data-export/job-executions?query=id==<job>&limit=1`,
	`GET /data-export/job-executions?query=id==<job>&limit=1`,
}

var renewCalls = []string{
	`POST /circulation/check-out-by-barcode`,
	`GET /users/<user>?limit=30`,
	`GET /circulation/loans?query=(userId==<user> and status.name==Open) sortby id&limit=100000`,
	`POST /circulation/renew-by-barcode`,
	`GET /circulation/loans?query=(userId==<user>) sortby id&limit=100000`,
	`POST /circulation/check-in-by-barcode`,
}

var requestCalls = []string{
	`GET /users?query=(barcode=="<user>")`,
	`GET /inventory/items?query=(barcode=="<item>")`,
	`GET /holdings-storage/holdings/holdings-of-<item>`,
	`POST /circulation/requests`,
}

// heldCalls returns the calls for an item, from its loan to the tenth hold on it.
func heldCalls() []string {
	calls := []string{`POST /circulation/check-out-by-barcode`}
	for n := range 10 {
		for _, one := range requestCalls {
			calls = append(calls, strings.Replace(one, "<user>", fmt.Sprintf("<user%d>", n), 1))
		}
	}
	return calls
}

var shareCalls = []string{
	`POST /inventory/instances`,
	`POST /consortia/consortium-1/sharing/instances`,
	`GET /inventory/instances/<instance>`,
	`GET /inventory/instances/<instance>`,
}

var (
	rtacCalls    = []string{`GET /rtac?instanceIds=<one>,<other>&apikey=the-key&fullPeriodicals=true`}
	accountCalls = []string{`GET /patron/account/<account>?apikey=the-key&includeLoans=true&includeCharges=true&includeHolds=true`}
	oaiCalls     = []string{
		`GET /oai/records?verb=ListRecords&metadataPrefix=marc21_withholdings&apikey=the-key`,
		`GET /oai/records?verb=ListRecords&apikey=the-key&resumptionToken=page&<second>`,
		`GET /oai/records?verb=ListRecords&apikey=the-key&resumptionToken=page&<third>`,
	}
)

// cycles compares a conversation with the calls that occur once and then with repeated cycles.
// The last cycle may be incomplete. It returns the number of cycles.
func cycles(t *testing.T, conversation []call, once, cycle []string) int {
	t.Helper()
	once = slices.Clone(once)
	values := map[string]string{}
	for i, template := range once {
		if i == len(conversation) {
			t.Fatalf("the conversation ends after %d of %d first calls", i, len(once))
		}
		if err := match(template, conversation[i].line, values); err != nil {
			t.Fatalf("first call %d: %v", i, err)
		}
	}
	rest := conversation[min(len(once), len(conversation)):]
	for i, c := range rest {
		if i%len(cycle) == 0 {
			values = map[string]string{}
		}
		if err := match(cycle[i%len(cycle)], c.line, values); err != nil {
			t.Fatalf("call %d of iteration %d: %v", i%len(cycle), i/len(cycle), err)
		}
	}
	return len(rest) / len(cycle)
}
