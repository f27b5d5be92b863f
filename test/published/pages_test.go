// SPDX-License-Identifier: Apache-2.0

package published

import (
	"fmt"
	"regexp"
	"strings"

	"perflab.dev/perflab/internal/measure/metric"
)

// row has the labels of a row of a page's table.
type row struct{ Table, Configuration, Scenario, Metric, Kind string }

// cell is a cell of a report: a value of an arm, or its difference from another arm.
type cell struct {
	Scenario, Metric, Arm, Versus string
	// Section is the section of the report.
	Section string
}

// page is a published comparison.
type page struct {
	id, title, sample, system string
	// cell returns the cell of a row, or the reason why no report has one.
	cell func(row) (cell, string)
}

// Reasons why some rows have no cell.
const (
	otherPair = "a percentile of a pair without the baseline, which does not decide; `perflab report -o csv`, then `perflab analyze --baseline`"
	otherDay  = "a run of another day with modules of another version; `perflab compare` of two experiments, not one report"
	noModule  = "a module of which the page publishes neither version nor memory, so that no system here has it"
	oneRun    = "a single repetition; the sample has six blocks in its place"
	proseOnly = "a figure of the page's prose on a test of its own"
)

// Sections of a report.
const (
	inResults       = "Results"
	inPhases        = "Results, by phase of the run"
	inImports       = "Results, Imports"
	inSeries        = "Results, individual imports"
	inRequests      = "Results, requests"
	inComparison    = "Comparison"
	inServiceCPU    = "Resource utilization, Service CPU"
	inServiceMemory = "Resource utilization, Service memory"
	inKafka         = "Resource utilization, Kafka"
)

var pages = []page{
	{"000", "KRaft or ZooKeeper (Quesnelia)", "seed-000-kraft-vs-zookeeper.yaml", "folio-quesnelia.yaml", kraft},
	{"001", "The read/write split (Nolana)", "seed-001-read-write-split.yaml", "folio-quesnelia.yaml", split},
	{"002", "Partitions of mod-pubsub (Orchid)", "seed-002-pubsub-partitions.yaml", "folio-quesnelia.yaml", partitions},
	{"003", "Node types and placement (Quesnelia)", "seed-003-placement.yaml", "folio-mcpt.yaml", placement},
	{"004", "-Xmx or MaxRAMPercentage (Poppy)", "seed-004-maxram-vs-xmx.yaml", "folio-poppy.yaml", heap},
}

// statistics has the statistics of check-in and check-out, by the pages' names.
var statistics = map[string]string{"avg": metric.Average, "p75": metric.P75, "p95": metric.P95}

// transaction returns the metric of labels such as "Check-in avg with DI" and "CO p95".
func transaction(text string) string {
	words := strings.Fields(text)
	of := map[string]string{"Check-in": metric.CheckIn, "CI": metric.CheckIn, "Check-out": metric.CheckOut, "CO": metric.CheckOut}[words[0]]
	if of == "" || len(words) < 2 || statistics[words[1]] == "" {
		return ""
	}
	return metric.Name("cico", of, statistics[words[1]])
}

// module returns "mod-inventory" for "mod-inventory-b CPU avg". okapi-b keeps its name.
func module(text string) string {
	name := strings.Fields(strings.TrimPrefix(text, "(label lost) probably "))[0]
	if name == "okapi-b" {
		return name
	}
	return strings.TrimSuffix(name, "-b")
}

var kraftArms = map[string]string{"kafka.m5.2xlarge / ZooKeeper": "zookeeper-m5", "kafka.m7g.2xlarge / KRaft": "kraft-m7g"}

var kraftImport = regexp.MustCompile(`(Create|Update)\D*\d? ?\D*? (5|25)k$`)

func kraft(r row) (cell, string) {
	arm, versus, isDelta := strings.Cut(r.Configuration, " minus ")
	at := cell{Arm: kraftArms[arm], Versus: kraftArms[versus], Section: inImports}
	under := "creates-under-cico"
	operation := "create"
	if strings.Contains(r.Scenario, "Update") {
		under, operation = "updates-under-cico", "update"
	}
	load := ""
	if found := kraftImport.FindStringSubmatch(r.Scenario); found != nil {
		load = fmt.Sprintf("%s-%sk", operation, found[2])
	}
	at.Scenario = under
	switch {
	case r.Metric == "DI duration without CICO":
		at.Scenario, at.Metric = operation+"s", metric.Name(load, metric.Duration)
	case r.Metric == "DI duration with CICO":
		at.Metric = metric.Name(load, metric.Duration)
	case strings.HasSuffix(r.Metric, " with DI"):
		at.Metric, at.Section = metric.In(transaction(r.Metric), metric.During(load)), inPhases
	case strings.HasPrefix(r.Metric, "Check-"):
		at.Metric, at.Section = metric.In(transaction(r.Metric), metric.Alone), inPhases
	case r.Table == "MSK broker CPU":
		window, broker := metric.Alone, int(r.Scenario[len(r.Scenario)-1]-'1')
		if strings.HasPrefix(r.Scenario, "CICO+DI") {
			window = metric.During("create-25k")
		}
		at.Metric, at.Section = metric.In(fmt.Sprintf("%s%d/cpu/percentOfRequest", metric.Broker, broker), window), inKafka
	case r.Table == "Service CPU":
		window := metric.During("create-25k")
		if strings.HasSuffix(r.Scenario, "Update") {
			window = metric.During("update-25k")
		}
		at.Metric, at.Section = metric.In(metric.Name(metric.Module, module(r.Metric), metric.CPU, metric.PercentOfRequest), window), inServiceCPU
	case r.Table == "Service memory":
		at.Metric, at.Section = metric.Name(metric.Module, module(r.Metric), metric.Memory, metric.PercentOfRequest), inServiceMemory
	}
	if isDelta && at.Section != inServiceMemory && at.Section != inKafka {
		at.Section = inComparison
	}
	return at, ""
}

var splitImport = regexp.MustCompile(`^MARC (BIB Create|BIB Update|holdings|Authorities)( \+ CICO 20 users)?( \(partitions changed\))? (\d+k), (1|2/50) `)

func splitArm(configuration, partitions string) string {
	levels := map[string]string{
		"no R/W split":                "no-split",
		"R/W split on all DI modules": "all-modules",
		"R/W split on all DI modules except mod-srm and mod-inventory-storage": "all-but-two",
	}
	if partitions == "1" {
		return levels[configuration] + "-one"
	}
	return levels[configuration] + "-two-and-50"
}

func split(r row) (cell, string) {
	switch {
	case strings.HasPrefix(r.Configuration, "degradation"):
		load := "create-" + strings.TrimSuffix(strings.Fields(r.Scenario)[5], ",")
		return cell{
			Scenario: "creates-under-cico", Metric: metric.In(transaction(r.Metric), metric.During(load)),
			Arm: "all-but-two-two-and-50", Versus: "all-modules-two-and-50", Section: inComparison,
		}, ""
	case strings.HasSuffix(r.Configuration, "(retest)"):
		return cell{}, oneRun
	case r.Scenario == "20 users, no DI":
		return cell{Scenario: "creates-under-cico", Metric: metric.In(transaction(r.Metric), metric.Alone), Arm: splitArm(r.Configuration, "2/50"), Section: inPhases}, ""
	case r.Table == "CICO response times":
		load := "create-" + strings.TrimSuffix(strings.Fields(r.Scenario)[5], ",")
		return cell{Scenario: "creates-under-cico", Metric: metric.In(transaction(r.Metric), metric.During(load)), Arm: splitArm(r.Configuration, "2/50"), Section: inPhases}, ""
	}
	found := splitImport.FindStringSubmatch(r.Scenario)
	if found == nil {
		return cell{}, ""
	}
	under := map[string]string{"BIB Create": "bibliographic-creates", "BIB Update": "bibliographic-updates", "holdings": "holdings", "Authorities": "authorities"}[found[1]]
	load := map[string]string{"BIB Create": "create-", "BIB Update": "update-", "holdings": "holdings-", "Authorities": "authorities-"}[found[1]] + found[4]
	if found[2] != "" {
		under = "creates-under-cico"
	}
	return cell{Scenario: under, Metric: metric.Name(load, metric.Duration), Arm: splitArm(r.Configuration, found[5]), Section: inImports}, ""
}

func partitions(r row) (cell, string) {
	if r.Table == "Current vs initial" && r.Configuration != "R/W split off, 1 partition" {
		return cell{}, otherDay
	}
	at := cell{Scenario: "cico-" + strings.Fields(r.Scenario)[0], Metric: transaction(r.Metric), Section: inResults}
	levels := map[string]string{
		"R/W split on, 1 partition": "one-split-on", "R/W split on, 2 partitions": "two-split-on",
		"R/W split off, 1 partition": "one-split-off", "R/W split off, 2 partitions": "two-split-off",
	}
	switch r.Configuration {
	case "R/W split off, 2 partitions minus 1 partition":
		at.Arm, at.Versus, at.Section = "two-split-off", "one-split-off", inComparison
	case "R/W on minus off, 1 partition":
		at.Arm, at.Versus, at.Section = "one-split-on", "one-split-off", inComparison
	case "R/W split on, 2 partitions minus 1 partition":
		at.Arm, at.Versus, at.Section = "two-split-on", "one-split-on", inComparison
	case "R/W on minus off, 2 partitions":
		at.Arm, at.Versus, at.Section = "two-split-on", "two-split-off", inComparison
	default:
		at.Arm = levels[r.Configuration]
	}
	isAverage := strings.HasSuffix(at.Metric, metric.Average)
	if at.Versus != "" && at.Versus != "one-split-off" && !isAverage {
		return cell{}, otherPair
	}
	return at, ""
}

// nodes maps the numbers of page 003's tests to arms.
var nodes = map[string]string{
	"1": "okapi-apart", "2": "okapi-apart-m6g", "3": "okapi-apart-m6g", "4": "small-ones-apart", "5": "small-ones-apart", "6": "small-ones-apart",
	"7": "small-ones-apart", "8": "small-ones-apart", "9": "small-ones-apart", "10": "small-ones-apart", "11": "eleven-nodes", "12": "eleven-nodes",
	"13": "eleven-nodes", "14": "eleven-nodes", "15": "authtoken-apart", "16": "r7g-2xlarge", "17": "r7g-2xlarge",
}

// workflows maps page 003's rows to the transactions of k6/scripts/workflows.js.
var workflows = map[string]string{
	"AIE_TC: Create Invoices": "Create Invoices", "AIE_TC: Invoices Approve": "Invoices Approve", "AIE_TC: Paying Invoices": "Paying Invoices",
	"CICO_TC_Check-In Controller": metric.CheckIn, "CICO_TC_Check-Out Controller": metric.CheckOut, "CSI_TC:Share local instance": "Share local instance",
	"DE_Exporting MARC Bib records custom workflow": "Exporting MARC Bib records custom workflow",
	"DE_Exporting MARC Bib records workflow":        "Exporting MARC Bib records workflow",
	"EVA_TC: View Account":                          "View Account", "ILR_TC: Create ILR": "Create ILR",
	"MSF_TC: mod search by auth query": "mod search by auth query", "MSF_TC: mod search by boolean query": "mod search by boolean query",
	"MSF_TC: mod search by contributors": "mod search by contributors", "MSF_TC: mod search by filter query": "mod search by filter query",
	"MSF_TC: mod search by keyword query": "mod search by keyword query", "MSF_TC: mod search by subject query": "mod search by subject query",
	"MSF_TC: mod search by title query": "mod search by title query", "OPIH_/oai/records": "OAI records", "POO_TC: Add Order Lines": "Add Order Lines",
	"POO_TC: Approve Order": "Approve Order", "POO_TC Create Order": "Create Order", "RTAC_TC: edge-rtac": "edge-rtac",
	"SDIC_Single Record Import (Create)": "Single Record Import (Create)", "SDIU_Single Record Import (Update)": "Single Record Import (Update)",
	"TC: Receiving-an-Order-Line": "Receiving-an-Order-Line", "Serials-Receiving-Workflow": "Serials-Receiving-Workflow", "Unreceiving-a-Piece": "Unreceiving-a-Piece",
	"ULR_TC: Users loan Renewal Transaction": "Users loan Renewal Transaction",
}

func placement(r row) (cell, string) {
	if r.Table == "Per-test prose" {
		return cell{}, proseOnly
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(r.Configuration, "Test "), ":")
	statistic := map[string]string{"avg response time": metric.Average, "errors": metric.Errors}[r.Metric]
	at := cell{Scenario: "fixed-average-load", Arm: nodes[number], Section: inResults}
	if of := workflows[r.Scenario]; of != "" && statistic != "" {
		at.Metric = metric.Name("workflows", of, statistic)
	}
	return at, ""
}

var heapArms = map[string]string{"#1 Xmx (baseline)": "xmx", "#2 MaxRAMPercentage default": "maxram-default", "#3 MaxRAMPercentage 66": "maxram-66"}

// heapModules has the modules whose memory the page lists without their settings.
var heapModules = []string{"mod-password-validator", "mod-permissions", "mod-quick-marc", "mod-search", "pub-okapi"}

// heapRequests maps the page's steps of check-in and check-out to our request names. A
// request that a transaction sends twice is one row here.
var heapRequests = map[string]string{
	"Check-Out Controller": "cico/Check-Out/average",
	"Check-In Controller":  "cico/Check-In/average",
	"POST_circulation/check-out-by-barcode (Submit_barcode_checkout)": "cico/Check-Out/POST /circulation/check-out-by-barcode/average",
	"POST_circulation/check-in-by-barcode (Submit_barcode_checkin)":   "cico/Check-In/POST /circulation/check-in-by-barcode/average",
	"GET_circulation/loans (Submit_barcode_checkout)":                 "cico/Check-Out/GET /circulation/loans/average",
	"GET_circulation/loans (Submit_patron_barcode)":                   "cico/Check-Out/GET /circulation/loans/average",
	"GET_inventory/items (Submit_barcode_checkin)":                    "cico/Check-In/GET /inventory/items/average",
}

func heap(r row) (cell, string) {
	arm, versus, isDelta := strings.Cut(strings.Replace(r.Configuration, " vs ", " minus ", 1), " minus ")
	at := cell{Scenario: "longevity", Arm: heapArms[arm], Versus: heapArms[versus]}
	switch {
	case r.Metric == "DI duration":
		_, number, _ := strings.Cut(r.Scenario, "#")
		at.Metric, at.Section = "create-100k/import-"+number+"/duration", inSeries
	case strings.HasSuffix(r.Metric, "without DI"):
		at.Metric, at.Section = metric.In(transaction(r.Metric), metric.Alone), inPhases
	case strings.HasSuffix(r.Metric, "with DI"):
		at.Metric, at.Section = metric.In(transaction(r.Metric), metric.During("create-100k")), inPhases
	case r.Table == "Detailed CICO (configuration #3)":
		if r.Scenario == "pure CICO" {
			at.Scenario = "cico-20"
		}
		at.Metric, at.Section = heapRequests[r.Metric], inRequests
	default:
		return heapUse(r, at)
	}
	if isDelta && at.Section != inSeries {
		at.Section = inComparison
	}
	return at, ""
}

// heapUse returns the cell of the CPU or memory use of a module.
func heapUse(r row, at cell) (cell, string) {
	name := module(r.Metric)
	for _, missing := range heapModules {
		if name == missing {
			return cell{}, noModule
		}
	}
	at.Metric, at.Section = metric.Name(metric.Module, name, metric.Memory, metric.PercentOfRequest), inServiceMemory
	switch {
	case strings.HasSuffix(r.Metric, "CPU avg"):
		at.Metric, at.Section = metric.Name(metric.Module, name, metric.CPU, metric.PercentOfRequest), inServiceCPU
	case strings.HasSuffix(r.Metric, "max"):
		at.Metric = metric.Name(metric.Module, name, metric.Memory, metric.Max)
	}
	return at, ""
}
