// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Documents;
import dev.perflab.sample.kafka.Message.Made;
import dev.perflab.sample.kafka.Message.Step;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Applies the steps of a job profile to one record, in the given transaction. */
final class RecordSteps {
  private final Connection connection;
  private final String job;
  private final InventoryMapping mapping;
  private String instanceId;
  private String instanceHrid;
  private String holdingsHrid;
  private String itemHrid;
  private String authorityId;

  RecordSteps(Connection connection, String job, InventoryMapping mapping) {
    this.connection = connection;
    this.job = job;
    this.mapping = mapping;
  }

  /** A record that a step cannot process; the message has the reason. */
  static final class Refused extends RuntimeException {
    Refused(String message) {
      super(message);
    }
  }

  Made run(List<Step> steps) throws SQLException {
    for (Step step : steps) {
      run(step, steps);
    }
    return new Made(instanceId, instanceHrid, holdingsHrid, itemHrid, authorityId);
  }

  private void run(Step step, List<Step> steps) throws SQLException {
    switch (step.action() + " " + step.recordType()) {
      case "CREATE INSTANCE" -> createInstance();
      case "CREATE HOLDINGS" -> createHoldings(steps.stream().anyMatch(s -> s.creates("INSTANCE")));
      case "CREATE ITEM" -> itemHrid = insert(Catalogue.ITEMS, mapping.item());
      case "CREATE AUTHORITY" -> createAuthority();
      case "MODIFY MARC_BIBLIOGRAPHIC", "UPDATE INSTANCE" -> updateInstance(step.matchField());
      case "UPDATE HOLDINGS" -> holdingsHrid =
          update(Catalogue.HOLDINGS, matched(Catalogue.HOLDINGS, step.matchField()).put("callNumber", mapping.callNumber()));
      case "UPDATE ITEM" -> {
        ObjectNode item = matched(Catalogue.ITEMS, step.matchField());
        item.putObject("status").put("name", "Available");
        itemHrid = update(Catalogue.ITEMS, item);
      }
      default -> throw new Refused("this system cannot " + step.action() + " " + step.recordType());
    }
  }

  private void createInstance() throws SQLException {
    mapping.missing().ifPresent(what -> {
      throw new Refused(what);
    });
    instanceId = mapping.instanceId();
    instanceHrid = insert(Catalogue.INSTANCES, mapping.instance(InventoryTables.nextHrid(connection)));
  }

  private void createHoldings(boolean ofNewInstance) throws SQLException {
    if (ofNewInstance) {
      holdingsHrid = insert(Catalogue.HOLDINGS, mapping.holdings());
      return;
    }
    ObjectNode instance = found(Catalogue.INSTANCES, "004");
    String code = mapping.fields().at("852b");
    ObjectNode location = Documents.first(connection, Catalogue.LOCATIONS, "code = ?", code)
        .orElseThrow(() -> new Refused("no location has the code \"" + code + "\" (852 $b)"));
    instanceId = instance.path("id").asText();
    instanceHrid = instance.path("hrid").asText();
    holdingsHrid = insert(Catalogue.HOLDINGS,
        mapping.holdings(instanceId, location.path("id").asText(), mapping.fields().first("852", "hi")));
  }

  private void createAuthority() throws SQLException {
    if (mapping.heading().isBlank()) {
      throw new Refused("the record has no heading (1XX)");
    }
    ObjectNode authority = mapping.authority();
    insert(Catalogue.AUTHORITIES, authority);
    authorityId = authority.path("id").asText();
  }

  private void updateInstance(String matchField) throws SQLException {
    mapping.missing().ifPresent(what -> {
      throw new Refused(what);
    });
    ObjectNode instance = matched(Catalogue.INSTANCES, matchField);
    instance.setAll(mapping.description());
    instanceId = instance.path("id").asText();
    instanceHrid = update(Catalogue.INSTANCES, instance);
  }

  /** Returns the record whose HRID is in a field. */
  private ObjectNode found(Collection collection, String field) throws SQLException {
    String hrid = mapping.fields().at(field);
    return Documents.first(connection, collection, "hrid = ?", hrid)
        .orElseThrow(() -> new Refused("no record in " + collection.key() + " has the HRID \"" + hrid + "\" (" + field + ")"));
  }

  /** Returns the record whose HRID is in a field, locked until the transaction ends. */
  private ObjectNode matched(Collection collection, String field) throws SQLException {
    String id = found(collection, field).path("id").asText();
    return Documents.lockedById(connection, collection, id)
        .orElseThrow(() -> new Refused("record " + id + " in " + collection.key() + " was deleted"));
  }

  private String insert(Collection collection, ObjectNode document) throws SQLException {
    InventoryTables.insert(connection, collection, document, job);
    return document.path("hrid").asText();
  }

  private String update(Collection collection, ObjectNode document) throws SQLException {
    if (!Documents.replaceVersion(connection, collection, document)) {
      throw new IllegalStateException("a locked record of " + collection.key() + " changed");
    }
    return document.path("hrid").asText();
  }
}
