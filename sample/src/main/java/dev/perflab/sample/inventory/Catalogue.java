// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import static dev.perflab.sample.db.Collection.indexed;
import static dev.perflab.sample.db.Collection.plain;
import static dev.perflab.sample.db.Collection.unique;

import dev.perflab.sample.db.Collection;
import java.util.ArrayList;
import java.util.List;

/** The collections of inventory-storage. */
final class Catalogue {
  static final Collection ITEMS = Collection.of("items", "item",
      unique("barcode"), indexed("holdingsRecordId"), indexed("status.name"), unique("hrid"));
  static final Collection HOLDINGS = Collection.of("holdingsRecords", "holdings_record",
      indexed("instanceId"), unique("hrid"), plain("permanentLocationId"));
  static final Collection INSTANCES = Collection.of("instances", "instance",
      unique("hrid"), plain("title"), plain("source"));
  static final Collection SERVICE_POINTS =
      Collection.of("servicepoints", "service_point", plain("name"), plain("code"));
  static final Collection AUTHORITIES =
      Collection.of("authorities", "authority", unique("naturalId"), plain("personalName"));
  static final Collection LOCATIONS = Collection.of("locations", "location", plain("name"), unique("code"));
  static final Collection MATERIAL_TYPES = Collection.of("mtypes", "material_type", plain("name"));
  static final Collection LOAN_TYPES = Collection.of("loantypes", "loan_type", plain("name"));
  /** Items as the inventory page shows them: with the title and the call number. */
  static final Collection INVENTORY_ITEMS = ITEMS.from("inventory_item");

  private Catalogue() {}

  static List<String> definition() {
    List<String> statements = new ArrayList<>();
    List.of(ITEMS, HOLDINGS, INSTANCES, SERVICE_POINTS, AUTHORITIES, LOCATIONS, MATERIAL_TYPES, LOAN_TYPES)
        .forEach(c -> statements.addAll(c.definition()));
    for (Collection collection : List.of(ITEMS, HOLDINGS, INSTANCES, AUTHORITIES)) {
      statements.add("ALTER TABLE " + collection.relation() + " ADD COLUMN IF NOT EXISTS import_job text");
    }
    statements.add("CREATE OR REPLACE VIEW inventory_item AS SELECT i.id, i.barcode, i.\"holdingsRecordId\","
        + " i.\"status.name\", i.hrid, i.jsonb || jsonb_build_object('title', t.jsonb->'title',"
        + " 'callNumber', h.jsonb->'callNumber') AS jsonb FROM item i"
        + " LEFT JOIN holdings_record h ON h.id = i.\"holdingsRecordId\""
        + " LEFT JOIN instance t ON t.id = h.\"instanceId\"");
    statements.add("CREATE SEQUENCE IF NOT EXISTS hrid");
    statements.add("CREATE TABLE IF NOT EXISTS imported_record (job_id text, record_order int,"
        + " made jsonb NOT NULL, error text, PRIMARY KEY (job_id, record_order))");
    return statements;
  }
}
