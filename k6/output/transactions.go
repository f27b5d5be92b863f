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

// transactions configures what a script's transactions are.
type transactions struct {
	// metric is the trend whose samples are transactions.
	metric string
	// tag is the tag of requests that names their transaction; "" for the path of
	// their group.
	tag string
}

// parseTransactions parses PERFLAB_TRANSACTIONS.
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
	return transactions{}, fmt.Errorf(`output perflab: PERFLAB_TRANSACTIONS is %q: write "group", or "tag:" and the name of a tag, or unset it`, text)
}

// subject is the parsed form of a sample's tags, with the recorders of its durations.
type subject struct {
	// outside is true if the sample belongs to setup or teardown.
	outside bool
	// named is true if the request belongs to a transaction.
	named bool
	// transaction is the row of a transaction's sample.
	transaction payload.Row
	// transactions and requests record samples of their kind.
	transactions, requests *payload.RowRecorder
}

// subject parses tags. It is a pure function of the tags.
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

// isOutside reports whether this is the group of setup() or teardown(), or nested in it. A
// script's own group whose name starts in the same way is not.
func isOutside(group string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(group, "::"), "::")
	return first == "setup" || first == "teardown"
}

// name returns a sample's transaction in package label's form, or "" if there is none.
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

// outcome returns a transaction's outcome. A group's sample does not show whether the group
// succeeded.
func (t transactions) outcome(tags *metrics.TagSet) string {
	if t.metric == metrics.HTTPReqDurationName {
		return requestOutcome(tags)
	}
	if outcome, ok := tags.Get("outcome"); ok && t.metric == transactionDuration {
		return outcome
	}
	return payload.OK
}

// requestOutcome agrees with k6's http_req_failed.
func requestOutcome(tags *metrics.TagSet) string {
	if expected, _ := tags.Get(metrics.TagExpectedResponse.String()); expected == "false" {
		return payload.Error
	}
	return payload.OK
}

// statusClass returns "2xx" for "204". k6 uses "0" if there was no response.
func statusClass(status string) string {
	if len(status) != 3 || status[0] < '1' || status[0] > '5' {
		return payload.Error
	}
	return status[:1] + "xx"
}

// requestName returns a request's name in reports: GET /inventory/items. Without a name, k6 uses
// the URL, of which only the path is kept. The host is always the same, and a query may vary and
// contain secrets.
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
