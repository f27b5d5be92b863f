// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/internal/load/k6options"
	"perflab.dev/perflab/internal/load/kind"
)

// trendTag is the tag with the transaction of a sample of the script's trend.
const trendTag = "transaction"

// systemTags are the tags that k6 sets on requests.
var systemTags = []string{"proto", "subproto", "status", "method", "url", "name", "group", "check", "error", "error_code", "tls_version", "scenario", "service", "expected_response", "rpc_type", "vu", "iter", "ip", "ocsp_status"}

// DeclaredTransactions returns the transactions in the script, if it is available; false if
// there may be others.
func (s script) DeclaredTransactions(configMaps kind.ConfigMaps) ([]string, bool) {
	run, by := s.run(configMaps), transactions(s.Script.Transactions)
	names := k6options.Names{}
	switch {
	case s.isSummary():
	case by == byGroup:
		names = k6options.Groups(run)
	case by == "":
		names = k6options.Tags(run, trendTag)
	case !slices.Contains(systemTags, s.Script.Transactions.Tag):
		names = k6options.Tags(run, s.Script.Transactions.Tag)
	}
	return names.Known, names.Complete
}

// CountsFailures is false for groups.
func (s script) CountsFailures() bool { return transactions(s.Script.Transactions) != byGroup }

// NoTransactions warns of a script without transactions: all its requests are then measured
// as one.
func (s script) NoTransactions(path *field.Path) kind.Warning {
	lacks, advice := "has no group", "put them into k6 groups, or use one of their tags as the transaction: script.transactions {by: Tag, tag: name}"
	switch by := s.Script.Transactions; {
	case by != nil && by.By == byTrend:
		lacks, advice = fmt.Sprintf("does not set the tag %q", trendTag), `record each transaction: new Trend("transaction_duration", true).add(milliseconds, {transaction: "Check-In", outcome: "ok"})`
	case by != nil && by.By == "Tag":
		lacks, advice = fmt.Sprintf("does not set the tag %q", by.Tag), fmt.Sprintf("give them the tag: {tags: {%s: \"Check-In\"}}", by.Tag)
	}
	return kind.Warningf(path.Child("script"), "the script of load %q (%s) %s: all its requests are measured together and belong to no transaction, so its runs are invalid; %s",
		s.load.Name, s.ConfigMap.Key, lacks, advice)
}
