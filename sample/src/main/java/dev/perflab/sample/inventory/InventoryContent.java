// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Schema;
import dev.perflab.sample.db.Seed;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** One instance, one holdings record and one item per number, and their reference data. */
final class InventoryContent implements Schema.Content {
  static final String LOCATION = "fcd64ce1-6995-48f0-840e-89ffa2288371";
  static final String MATERIAL_TYPE = "1a54b431-2e4f-452d-9cae-9cee66c9a892";
  static final String LOAN_TYPE = "2b94c631-fca9-4892-a730-03ee529ffe27";
  static final String INSTANCE_TYPE = "6312d172-f0cf-40f6-b27d-9fa8feaf332f";

  private final Seed seed;

  InventoryContent(Seed seed) {
    this.seed = seed;
  }

  @Override
  public String fingerprint() {
    return seed + ", with locations";
  }

  @Override
  public void seed(Statement statement) throws SQLException {
    statement.execute("INSERT INTO service_point (id, jsonb) SELECT id, jsonb_build_object('id', id, 'name', name,"
        + " 'code', code, 'discoveryDisplayName', name, 'pickupLocation', true, 'shelvingLagTime', 0)"
        + " FROM (VALUES ('3a40852d-49fd-4df2-a1f9-6e2641a6e91f', 'Circ Desk 1', 'cd1'),"
        + " ('c4c90014-c8c9-4ade-8f24-b5e313319f4b', 'Circ Desk 2', 'cd2')) p (id, name, code)");
    reference(statement, "location", LOCATION, "Main Library", "KU/CC/DI/M");
    reference(statement, "material_type", MATERIAL_TYPE, "book", null);
    reference(statement, "loan_type", LOAN_TYPE, "Can circulate", null);
    fill(statement, "instance", "instance", title());
    fill(statement, "holdings_record", "holdings", "'instanceId', " + seed.id("instance", "n")
        + ", 'permanentLocationId', '" + LOCATION + "', 'callNumber', 'QA' || (100 + n % 900) || ' .S' || n");
    fill(statement, "item", "item", "'barcode', " + Seed.itemBarcode("n") + ", 'holdingsRecordId', "
        + seed.id("holdings", "n") + ", 'materialTypeId', '" + MATERIAL_TYPE + "', 'permanentLoanTypeId', '"
        + LOAN_TYPE + "', 'effectiveLocationId', '" + LOCATION + "', 'status', jsonb_build_object('name', 'Available')");
  }

  private static void reference(Statement statement, String table, String id, String name, String code)
      throws SQLException {
    ObjectNode document = Json.object("id", id, "name", name);
    if (code != null) {
      document.put("code", code).put("isActive", true);
    }
    statement.execute("INSERT INTO " + table + " (id, jsonb) VALUES ('" + id + "', '" + document + "')");
  }

  private String title() {
    return "'source', 'MARC', 'instanceTypeId', '" + INSTANCE_TYPE + "', 'title', "
        + seed.pick("adjective", "n", "A short", "The complete", "A new", "The quiet", "An early") + " || ' ' || "
        + seed.pick("noun", "n", "history", "theory", "atlas", "grammar", "survey", "chronicle") + " || ' of ' || "
        + seed.pick("subject", "n", "rivers", "music", "algebra", "islands", "glass", "birds", "cities")
        + " || ', volume ' || n";
  }

  private void fill(Statement statement, String table, String kind, String properties) throws SQLException {
    String id = seed.id(kind, "n");
    statement.execute("INSERT INTO " + table + " (id, jsonb) SELECT " + id + ", jsonb_build_object('id', " + id
        + ", '_version', 1, 'hrid', '" + kind + "' || n, " + properties + ")"
        + " FROM generate_series(1, " + seed.items() + ") n");
  }

  @Override
  public void clear(Statement statement) throws SQLException {
    statement.execute("TRUNCATE " + String.join(", ", tables()));
  }

  @Override
  public void restore(Statement statement) throws SQLException {
    statement.execute("TRUNCATE imported_record");
    for (String table : List.of("item", "holdings_record", "instance", "authority")) {
      statement.execute("DELETE FROM " + table + " WHERE import_job IS NOT NULL");
    }
    statement.execute("UPDATE item SET jsonb = jsonb_set(jsonb, '{status}', '{\"name\": \"Available\"}')"
        + " WHERE \"status.name\" <> 'Available'");
  }

  @Override
  public List<String> tables() {
    return List.of("item", "holdings_record", "instance", "authority", "service_point", "location", "material_type",
        "loan_type", "imported_record");
  }
}
