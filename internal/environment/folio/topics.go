// SPDX-License-Identifier: Apache-2.0

package folio

// DataImportTopics returns the data import topics of a tenant, one for each of 65 events,
// without the ENV prefix.
func DataImportTopics(tenant string) []string {
	return prefixed("Default."+tenant+".", dataImportEvents)
}

// DomainTopics returns the domain event topics, without the ENV prefix: 32 named
// <tenant>.<module>.<topic> and the six of acquisitions, which are named like those of data
// import.
func DomainTopics(tenant string) []string {
	return append(prefixed(tenant+".", domainTopics), prefixed("Default."+tenant+".", acquisitionEvents)...)
}

// PubSubTopics returns the topics of a version of mod-pubsub, one for each of the ten
// events of circulation and fees, without the ENV prefix.
func PubSubTopics(tenant, version string) []string {
	topics := prefixed("pub-sub."+tenant+".", pubSubEvents)
	for i := range topics {
		topics[i] += ".mod-pubsub-" + version
	}
	return topics
}

func prefixed(prefix string, names []string) []string {
	topics := make([]string, 0, len(names))
	for _, name := range names {
		topics = append(topics, prefix+name)
	}
	return topics
}

// domainTopics are those of mod-inventory-storage, mod-inventory,
// mod-circulation-storage, mod-users, mod-entities-links and
// mod-source-record-storage, in this order.
var domainTopics = []string{
	"inventory.async-migration",
	"inventory.bound-with",
	"inventory.call-number-type",
	"inventory.campus",
	"inventory.classification-type",
	"inventory.holdings-record",
	"inventory.instance",
	"inventory.instance-contribution",
	"inventory.instance-date-type",
	"inventory.institution",
	"inventory.item",
	"inventory.library",
	"inventory.location",
	"inventory.reindex-records",
	"inventory.reindex.file-ready",
	"inventory.service-point",
	"inventory.subject-source",
	"inventory.subject-type",
	"inventory.instance_ingress",
	"circulation.check-in",
	"circulation.loan",
	"circulation.request",
	"circulation.rules",
	"users.userGroup",
	"users.users",
	"users.USER_CREATED",
	"users.USER_DELETED",
	"users.USER_UPDATED",
	"authorities.authority",
	"links.instance-authority",
	"links.instance-authority-stats",
	"srs.source_records",
}

// acquisitionEvents are those of mod-orders-storage, mod-invoice-storage and
// mod-organizations-storage.
var acquisitionEvents = []string{
	"ACQ_ORDER_CHANGED",
	"ACQ_ORDER_LINE_CHANGED",
	"ACQ_PIECE_CHANGED",
	"ACQ_INVOICE_CHANGED",
	"ACQ_INVOICE_LINE_CHANGED",
	"ACQ_ORGANIZATION_CHANGED",
}

// pubSubEvents are those that mod-circulation, mod-feesfines and
// mod-patron-blocks declare.
var pubSubEvents = []string{
	"FEE_FINE_BALANCE_CHANGED",
	"ITEM_AGED_TO_LOST",
	"ITEM_CHECKED_IN",
	"ITEM_CHECKED_OUT",
	"ITEM_CLAIMED_RETURNED",
	"ITEM_DECLARED_LOST",
	"LOAN_CLOSED",
	"LOAN_DUE_DATE_CHANGED",
	"LOAN_RELATED_FEE_FINE_CLOSED",
	"LOG_RECORD",
}

// dataImportEvents are all event types of data import.
var dataImportEvents = []string{
	"DI_INITIALIZATION_STARTED",
	"DI_EDIFACT_RECORD_CREATED",
	"DI_INCOMING_EDIFACT_RECORD_PARSED",
	"DI_RAW_RECORDS_CHUNK_READ",
	"DI_MARC_FOR_UPDATE_RECEIVED",
	"DI_MARC_FOR_DELETE_RECEIVED",
	"DI_RAW_RECORDS_CHUNK_PARSED",
	"DI_PARSED_RECORDS_CHUNK_SAVED",
	"DI_SRS_MARC_BIB_RECORD_CREATED",
	"DI_INCOMING_MARC_BIB_RECORD_PARSED",
	"DI_SRS_MARC_BIB_INSTANCE_HRID_SET",
	"DI_SRS_MARC_AUTHORITY_RECORD_CREATED",
	"DI_SRS_MARC_HOLDING_RECORD_CREATED",
	"DI_SRS_MARC_HOLDINGS_HOLDING_HRID_SET",
	"DI_SRS_MARC_HOLDINGS_RECORD_UPDATED",
	"DI_SRS_MARC_HOLDINGS_RECORD_MODIFIED_READY_FOR_POST_PROCESSING",
	"DI_SRS_MARC_HOLDINGS_RECORD_MATCHED",
	"DI_SRS_MARC_HOLDINGS_RECORD_NOT_MATCHED",
	"DI_SRS_MARC_BIB_RECORD_UPDATED",
	"DI_SRS_MARC_AUTHORITY_RECORD_UPDATED",
	"DI_SRS_MARC_BIB_RECORD_MODIFIED",
	"DI_SRS_MARC_AUTHORITY_RECORD_MODIFIED",
	"DI_SRS_MARC_BIB_RECORD_MODIFIED_READY_FOR_POST_PROCESSING",
	"DI_SRS_MARC_AUTHORITY_RECORD_MODIFIED_READY_FOR_POST_PROCESSING",
	"DI_SRS_MARC_BIB_RECORD_MATCHED",
	"DI_SRS_MARC_AUTHORITY_RECORD_MATCHED",
	"DI_SRS_MARC_BIB_RECORD_MATCHED_READY_FOR_POST_PROCESSING",
	"DI_SRS_MARC_BIB_RECORD_NOT_MATCHED",
	"DI_SRS_MARC_AUTHORITY_RECORD_NOT_MATCHED",
	"DI_SRS_MARC_AUTHORITY_RECORD_DELETED",
	"DI_INCOMING_MARC_BIB_FOR_ORDER_PARSED",
	"DI_INVENTORY_INSTANCE_CREATED",
	"DI_INVENTORY_INSTANCE_MATCHED",
	"DI_INVENTORY_INSTANCE_NOT_MATCHED",
	"DI_INVENTORY_INSTANCE_UPDATED_READY_FOR_POST_PROCESSING",
	"DI_INVENTORY_INSTANCE_UPDATED",
	"DI_INVENTORY_INSTANCE_CREATED_READY_FOR_POST_PROCESSING",
	"DI_INVENTORY_HOLDINGS_CREATED_READY_FOR_POST_PROCESSING",
	"DI_INVENTORY_HOLDINGS_UPDATED_READY_FOR_POST_PROCESSING",
	"DI_INVENTORY_AUTHORITY_CREATED_READY_FOR_POST_PROCESSING",
	"DI_INVENTORY_AUTHORITY_UPDATED_READY_FOR_POST_PROCESSING",
	"DI_ORDER_CREATED_READY_FOR_POST_PROCESSING",
	"DI_INVENTORY_ITEM_CREATED",
	"DI_INVENTORY_ITEM_MATCHED",
	"DI_INVENTORY_ITEM_NOT_MATCHED",
	"DI_INVENTORY_ITEM_UPDATED",
	"DI_INVENTORY_HOLDING_CREATED",
	"DI_INVENTORY_HOLDING_MATCHED",
	"DI_INVENTORY_HOLDING_NOT_MATCHED",
	"DI_INVENTORY_HOLDING_UPDATED",
	"DI_INVENTORY_AUTHORITY_CREATED",
	"DI_INVENTORY_AUTHORITY_MATCHED",
	"DI_INVENTORY_AUTHORITY_NOT_MATCHED",
	"DI_INVENTORY_AUTHORITY_UPDATED",
	"DI_INVOICE_CREATED",
	"DI_ORDER_CREATED",
	"DI_PENDING_ORDER_CREATED",
	"DI_LOG_SRS_MARC_BIB_RECORD_CREATED",
	"DI_LOG_SRS_MARC_BIB_RECORD_UPDATED",
	"DI_LOG_SRS_MARC_AUTHORITY_RECORD_CREATED",
	"DI_LOG_SRS_MARC_AUTHORITY_RECORD_UPDATED",
	"DI_ERROR",
	"DI_COMPLETED",
	"DI_JOB_COMPLETED",
	"DI_JOB_CANCELLED",
}
