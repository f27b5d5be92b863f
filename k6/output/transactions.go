// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.k6.io/k6/v2/metrics"

	"perflab.dev/perflab/payload"
	"perflab.dev/perflab/payload/label"
)

// transactionDuration is the trend whose samples are transactions: milliseconds,
// tagged "transaction" and "outcome".
const transactionDuration = "transaction_duration"

// transactions says what a script's transactions are.
type transactions struct {
	// metric is the trend whose samples are transactions.
	metric string
	// tag is the tag of requests that names their transaction; "" for the path of
	// their group.
	tag string
}

// parseTransactions reads PERFLAB_TRANSACTIONS.
func parseTransactions(text string) (transactions, error) {
	if text == "" {
		return transactions{metric: transactionDuration, tag: "transaction"}, nil
	}
	if text == "group" {
		return transactions{metric: metrics.GroupDurationName}, nil
	}
	if tag, ok := strings.CutPrefix(text, "tag:"); ok && tag != "" {
		return transactions{metric: metrics.HTTPReqDurationName, tag: tag}, nil
	}
	return transactions{}, fmt.Errorf(`output perflab: PERFLAB_TRANSACTIONS is %q, write "group", "tag:" and the name of a tag, or leave it out`, text)
}

// subject is what the tags of a sample say, and where its durations are kept.
type subject struct {
	// outside of the load is what setup and teardown do.
	outside bool
	// named says that a request belongs to a transaction.
	named bool
	// transaction is the row of a transaction's sample.
	transaction payload.Row
	// transactions and requests are where a sample of the respective kind is kept.
	transactions, requests *payload.RowRecorder
}

// subject reads tags. Its answer is the same for the same tags.
func (t transactions) subject(tags *metrics.TagSet, into *payload.Payload) *subject {
	get := func(tag metrics.SystemTag) string {
		value, _ := tags.Get(tag.String())
		return value
	}
	group := get(metrics.TagGroup)
	name := t.name(tags, group)
	scenario := get(metrics.TagScenario)
	transaction := payload.Row{Scenario: scenario, Transaction: cmp.Or(name, payload.Other), Outcome: t.outcome(tags)}
	return &subject{
		outside:      isOutside(group),
		named:        name != "",
		transaction:  transaction,
		transactions: into.RowRecorder(transaction),
		requests: into.RowRecorder(payload.Row{
			Scenario: scenario, Transaction: name, Request: requestName(get(metrics.TagName), get(metrics.TagMethod)),
			Outcome: requestOutcome(tags), Status: statusClass(get(metrics.TagStatus)),
		}),
	}
}

// isOutside tells the groups of setup() and teardown() and those within them, not a
// script's own group whose name begins like that.
func isOutside(group string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(group, "::"), "::")
	return first == "setup" || first == "teardown"
}

// name is the transaction that a sample belongs to, as package label writes it; "" for
// none.
func (t transactions) name(tags *metrics.TagSet, group string) string {
	path := strings.Split(strings.TrimPrefix(group, "::"), "::")
	if t.tag != "" {
		value, _ := tags.Get(t.tag)
		path = []string{value}
	}
	if slices.Equal(path, []string{""}) {
		return ""
	}
	return label.Join(path...)
}

// outcome is that of a transaction. Nothing in a group's sample says whether
// what was inside of the group worked.
func (t transactions) outcome(tags *metrics.TagSet) string {
	if t.metric == metrics.HTTPReqDurationName {
		return requestOutcome(tags)
	}
	if outcome, ok := tags.Get("outcome"); ok && t.metric == transactionDuration {
		return outcome
	}
	return payload.OK
}

// requestOutcome is what k6's http_req_failed says too.
func requestOutcome(tags *metrics.TagSet) string {
	if expected, _ := tags.Get(metrics.TagExpectedResponse.String()); expected == "false" {
		return payload.Error
	}
	return payload.OK
}

// statusClass is "2xx" for "204"; k6 says "0" where there was no answer.
func statusClass(status string) string {
	if len(status) != 3 || status[0] < '1' || status[0] > '5' {
		return payload.Error
	}
	return status[:1] + "xx"
}

// requestName is a request as reports name it: GET /inventory/items. A script that
// gives none gets its URL from k6. Of that the path is kept: the host is the same for
// all, and a query may differ from request to request and hold what nobody should
// read.
func requestName(name, method string) string {
	if address, err := url.Parse(name); err == nil && address.Host != "" {
		name = address.EscapedPath()
	}
	switch {
	case name == "":
		return payload.Other
	case method == "" || strings.HasPrefix(name, method+" "):
		return name
	}
	return method + " " + name
}
