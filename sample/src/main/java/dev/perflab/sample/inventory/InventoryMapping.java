// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.kafka.Message.ParsedRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * From a MARC bibliographic record to an instance, a holdings record and an item. Ids follow from
 * job and record, so mapping a record again gives the same rows.
 */
final class InventoryMapping {
  private static final List<String> CONTRIBUTORS = List.of("100", "110", "111", "700", "710", "711");
  private static final List<String> SUBJECTS = List.of("600", "610", "611", "630", "650", "651", "655");
  private static final List<String> NOTES = List.of("500", "504", "505", "520");
  private static final Map<String, String> IDENTIFIERS =
      Map.of("010", "LCCN", "020", "ISBN", "022", "ISSN", "035", "System control number");
  private static final List<String> CALL_NUMBERS = List.of("050", "090", "099", "082");

  private final String job;
  private final int order;
  private final JsonNode fields;
  private final String title;

  InventoryMapping(String job, ParsedRecord record) {
    this.job = job;
    this.order = record.order();
    this.fields = record.content().path("fields");
    this.title = String.join(" ", subfields("245", "abnpc"));
  }

  /** What the record lacks to become an instance. */
  Optional<String> missing() {
    return title.isBlank() ? Optional.of("the record has no title (245 $a)") : Optional.empty();
  }

  String title() {
    return title;
  }

  String instanceId() {
    return id("instance");
  }

  ObjectNode instance(long hrid) {
    ObjectNode instance = Json.object("id", instanceId(), "_version", 1, "hrid", "in%011d".formatted(hrid),
        "source", "MARC", "title", title, "instanceTypeId", InventoryContent.INSTANCE_TYPE,
        "subjects", values(SUBJECTS, "avxyz"), "notes", values(NOTES, "a"));
    ArrayNode contributors = instance.putArray("contributors");
    values(CONTRIBUTORS, "abcdq").forEach(name -> contributors.addObject().put("name", name));
    ArrayNode identifiers = instance.putArray("identifiers");
    IDENTIFIERS.keySet().stream().sorted().forEach(tag -> values(List.of(tag), "a").forEach(
        value -> identifiers.addObject().put("type", IDENTIFIERS.get(tag)).put("value", value)));
    ArrayNode publications = instance.putArray("publication");
    values(List.of("260", "264"), "abc").forEach(text -> publications.addObject().put("statement", text));
    return instance;
  }

  ObjectNode holdings() {
    String callNumber = values(CALL_NUMBERS, "ab").stream().findFirst().orElse("");
    return Json.object("id", id("holdings"), "_version", 1, "hrid", "ho" + suffix(), "instanceId", instanceId(),
        "permanentLocationId", InventoryContent.LOCATION, "callNumber", callNumber);
  }

  ObjectNode item() {
    ObjectNode item = Json.object("id", id("item"), "_version", 1, "hrid", "it" + suffix(),
        "holdingsRecordId", id("holdings"), "barcode", "di" + suffix(),
        "materialTypeId", InventoryContent.MATERIAL_TYPE, "permanentLoanTypeId", InventoryContent.LOAN_TYPE,
        "effectiveLocationId", InventoryContent.LOCATION);
    item.putObject("status").put("name", "Available");
    return item;
  }

  private String suffix() {
    return job.replace("-", "") + "-" + order;
  }

  private String id(String kind) {
    return UUID.nameUUIDFromBytes((kind + job + order).getBytes(StandardCharsets.UTF_8)).toString();
  }

  private List<String> values(List<String> tags, String codes) {
    List<String> values = new ArrayList<>();
    for (JsonNode field : fields) {
      String tag = field.fieldNames().next();
      if (tags.contains(tag)) {
        values.add(String.join(" ", subfieldsOf(field.path(tag), codes)));
      }
    }
    return values;
  }

  private List<String> subfields(String tag, String codes) {
    for (JsonNode field : fields) {
      if (field.has(tag)) {
        return subfieldsOf(field.path(tag), codes);
      }
    }
    return List.of();
  }

  private static List<String> subfieldsOf(JsonNode field, String codes) {
    List<String> values = new ArrayList<>();
    for (JsonNode subfield : field.path("subfields")) {
      String code = subfield.fieldNames().next();
      if (codes.contains(code)) {
        values.add(subfield.path(code).asText());
      }
    }
    return values;
  }
}
