// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.kafka.Message.ParsedRecord;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Maps a MARC bibliographic record to an instance, a holdings record and an item; a MARC holdings
 * record to a holdings record; and an authority record to an authority. Ids depend only on the job
 * and the record, so mapping a record again gives the same rows.
 */
final class InventoryMapping {
  private static final List<String> CONTRIBUTORS = List.of("100", "110", "111", "700", "710", "711");
  private static final List<String> SUBJECTS = List.of("600", "610", "611", "630", "650", "651", "655");
  private static final List<String> NOTES = List.of("500", "504", "505", "520");
  private static final Map<String, String> IDENTIFIERS =
      Map.of("010", "LCCN", "020", "ISBN", "022", "ISSN", "035", "System control number");
  private static final List<String> CALL_NUMBERS = List.of("050", "090", "099", "082");
  private static final List<String> HEADINGS = List.of("100", "110", "111", "130", "150", "151", "155");

  private final String job;
  private final int order;
  private final MarcFields fields;
  private final String title;

  InventoryMapping(String job, ParsedRecord record) {
    this.job = job;
    this.order = record.order();
    this.fields = new MarcFields(record.content());
    this.title = fields.first("245", "abnpc");
  }

  MarcFields fields() {
    return fields;
  }

  /** Returns the reason why the record cannot become an instance, if there is one. */
  Optional<String> missing() {
    return title.isBlank() ? Optional.of("the record has no title (245 $a)") : Optional.empty();
  }

  /** Returns the record's name in the journal: its title or its heading. */
  String title() {
    return title.isBlank() ? heading() : title;
  }

  String heading() {
    return fields.values(HEADINGS, "abcdq").stream().findFirst().orElse("");
  }

  String instanceId() {
    return id("instance");
  }

  ObjectNode instance(long hrid) {
    ObjectNode instance = Json.object("id", instanceId(), "_version", 1, "hrid", "in%011d".formatted(hrid));
    instance.setAll(description());
    return instance;
  }

  /** The content of an instance, without its identity. */
  ObjectNode description() {
    ObjectNode instance = Json.object("source", "MARC", "title", title, "instanceTypeId",
        InventoryContent.INSTANCE_TYPE, "subjects", fields.values(SUBJECTS, "avxyz"),
        "notes", fields.values(NOTES, "a"));
    ArrayNode contributors = instance.putArray("contributors");
    fields.values(CONTRIBUTORS, "abcdq").forEach(name -> contributors.addObject().put("name", name));
    ArrayNode identifiers = instance.putArray("identifiers");
    IDENTIFIERS.keySet().stream().sorted().forEach(tag -> fields.values(List.of(tag), "a").forEach(
        value -> identifiers.addObject().put("type", IDENTIFIERS.get(tag)).put("value", value)));
    ArrayNode publications = instance.putArray("publication");
    fields.values(List.of("260", "264"), "abc").forEach(text -> publications.addObject().put("statement", text));
    return instance;
  }

  ObjectNode holdings() {
    return holdings(instanceId(), InventoryContent.LOCATION, callNumber());
  }

  /** A holdings record for an existing instance and location. */
  ObjectNode holdings(String instanceId, String locationId, String callNumber) {
    return Json.object("id", id("holdings"), "_version", 1, "hrid", "ho" + suffix(), "instanceId", instanceId,
        "permanentLocationId", locationId, "callNumber", callNumber);
  }

  String callNumber() {
    return fields.values(CALL_NUMBERS, "ab").stream().findFirst().orElse("");
  }

  ObjectNode item() {
    ObjectNode item = Json.object("id", id("item"), "_version", 1, "hrid", "it" + suffix(),
        "holdingsRecordId", id("holdings"), "barcode", "di" + suffix(),
        "materialTypeId", InventoryContent.MATERIAL_TYPE, "permanentLoanTypeId", InventoryContent.LOAN_TYPE,
        "effectiveLocationId", InventoryContent.LOCATION);
    item.putObject("status").put("name", "Available");
    return item;
  }

  ObjectNode authority() {
    return Json.object("id", id("authority"), "_version", 1, "source", "MARC", "personalName", heading(),
        "naturalId", fields.at("010a").replace(" ", ""), "sftPersonalName", fields.values(List.of("400", "410"), "a"),
        "notes", fields.values(List.of("670", "678"), "a"));
  }

  private String suffix() {
    return job.replace("-", "") + "-" + order;
  }

  private String id(String kind) {
    return UUID.nameUUIDFromBytes((kind + job + order).getBytes(StandardCharsets.UTF_8)).toString();
  }
}
