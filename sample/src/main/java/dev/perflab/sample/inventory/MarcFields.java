// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** Reads values from the fields of a MARC-in-JSON record. */
final class MarcFields {
  private final JsonNode fields;

  MarcFields(JsonNode record) {
    fields = record.path("fields");
  }

  /**
   * Returns a text for each field with one of the tags: its subfields with one of the codes, joined
   * in order.
   */
  List<String> values(List<String> tags, String codes) {
    List<String> values = new ArrayList<>();
    for (JsonNode field : fields) {
      String tag = field.fieldNames().next();
      if (tags.contains(tag)) {
        values.add(String.join(" ", subfields(field.path(tag), codes)));
      }
    }
    return values;
  }

  /** The text of the first field with the tag; empty if there is none. */
  String first(String tag, String codes) {
    return values(List.of(tag), codes).stream().findFirst().orElse("");
  }

  /**
   * Returns the value of a control field, {@code 001}, or of a subfield, {@code 901a}. It is empty
   * if missing.
   */
  String at(String place) {
    String tag = place.substring(0, 3);
    for (JsonNode field : fields) {
      if (field.has(tag)) {
        return place.length() == 3
            ? field.path(tag).asText()
            : String.join(" ", subfields(field.path(tag), place.substring(3)));
      }
    }
    return "";
  }

  private static List<String> subfields(JsonNode field, String codes) {
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
