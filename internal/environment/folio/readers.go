// SPDX-License-Identifier: Apache-2.0

// Package folio describes FOLIO's modules. It is pure.
package folio

import "strings"

// reader is how a module uses DB_HOST_READER and DB_PORT_READER.
type reader int

const (
	// readsReplica: based on raml-module-builder, which opens a second pool if both are
	// set.
	readsReplica reader = iota + 1
	// ignoresReplica: has a database and no setting for a replica, such as modules on
	// folio-spring-support, and mod-source-record-storage with its own pool.
	ignoresReplica
	// noDatabase: has no database.
	noDatabase
)

var readers = map[string]reader{
	"mod-audit":                 readsReplica,
	"mod-circulation-storage":   readsReplica,
	"mod-configuration":         readsReplica,
	"mod-data-import":           readsReplica,
	"mod-di-converter-storage":  readsReplica,
	"mod-feesfines":             readsReplica,
	"mod-finance-storage":       readsReplica,
	"mod-inventory-storage":     readsReplica,
	"mod-invoice-storage":       readsReplica,
	"mod-orders-storage":        readsReplica,
	"mod-organizations-storage": readsReplica,
	"mod-patron-blocks":         readsReplica,
	"mod-permissions":           readsReplica,
	"mod-pubsub":                readsReplica,
	"mod-source-record-manager": readsReplica,
	"mod-users":                 readsReplica,

	"mod-calendar":              ignoresReplica,
	"mod-data-export-spring":    ignoresReplica,
	"mod-data-export-worker":    ignoresReplica,
	"mod-dcb":                   ignoresReplica,
	"mod-entities-links":        ignoresReplica,
	"mod-notes":                 ignoresReplica,
	"mod-quick-marc":            ignoresReplica,
	"mod-search":                ignoresReplica,
	"mod-source-record-storage": ignoresReplica,
	"mod-tags":                  ignoresReplica,

	"mod-circulation":     noDatabase,
	"mod-circulation-bff": noDatabase,
	"mod-inventory":       noDatabase,
	"mod-users-bl":        noDatabase,
	"nginx-edge":          noDatabase,
	"nginx-okapi":         noDatabase,
}

// ReadsFromReplica reports whether FOLIO's module of this name is known and, if so, whether
// it sends reads to the replica in DB_HOST_READER and DB_PORT_READER. A module without a
// database, such as an edge module, does not.
func ReadsFromReplica(module string) (known, reads bool) {
	kind := readerFor(module)
	return kind != 0, kind == readsReplica
}

// HasDatabase is false only for a module that is known to have none.
func HasDatabase(module string) bool { return readerFor(module) != noDatabase }

func readerFor(module string) reader {
	if strings.HasPrefix(module, "edge-") {
		return noDatabase
	}
	return readers[module]
}
