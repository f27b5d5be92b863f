// SPDX-License-Identifier: Apache-2.0

package folio_test

import (
	"regexp"
	"slices"
	"testing"

	"perflab.dev/perflab/internal/environment/folio"
)

func TestTopics(t *testing.T) {
	cases := map[string]struct {
		topics []string
		count  int
		has    []string
	}{
		"DataImport": {
			topics: folio.DataImportTopics("fs09000000"), count: 65,
			has: []string{"Default.fs09000000.DI_COMPLETED", "Default.fs09000000.DI_RAW_RECORDS_CHUNK_PARSED"},
		},
		"Domain": {
			topics: folio.DomainTopics("ALL"), count: 38,
			has: []string{"ALL.inventory.instance", "ALL.srs.source_records", "Default.ALL.ACQ_ORDER_CHANGED"},
		},
		"PubSub": {
			topics: folio.PubSubTopics("fs09000000", "2.7.0"), count: 10,
			has: []string{"pub-sub.fs09000000.FEE_FINE_BALANCE_CHANGED.mod-pubsub-2.7.0"},
		},
	}
	legal := regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if len(tc.topics) != tc.count {
				t.Errorf("%d topics, want %d", len(tc.topics), tc.count)
			}
			for _, want := range tc.has {
				if !slices.Contains(tc.topics, want) {
					t.Errorf("%s is missing", want)
				}
			}
			sorted := slices.Sorted(slices.Values(tc.topics))
			if len(slices.Compact(sorted)) != len(tc.topics) {
				t.Error("a topic is there twice")
			}
			for _, topic := range tc.topics {
				if !legal.MatchString(topic) {
					t.Errorf("%q is no name for a topic", topic)
				}
			}
		})
	}
}

func TestReadsFromReplica(t *testing.T) {
	cases := map[string]struct{ known, reads, database bool }{
		"mod-inventory-storage":     {known: true, reads: true, database: true},
		"mod-source-record-manager": {known: true, reads: true, database: true},
		"mod-source-record-storage": {known: true, database: true},
		"mod-search":                {known: true, database: true},
		"mod-inventory":             {known: true},
		"edge-patron":               {known: true},
		"gateway":                   {database: true},
	}
	for module, want := range cases {
		known, reads := folio.ReadsFromReplica(module)
		if known != want.known || reads != want.reads || folio.HasDatabase(module) != want.database {
			t.Errorf("%s: known %t, reads %t, database %t, want %+v", module, known, reads, folio.HasDatabase(module), want)
		}
	}
}
