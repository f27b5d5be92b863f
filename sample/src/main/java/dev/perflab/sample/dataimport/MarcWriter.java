// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.util.Map;
import org.marc4j.MarcStreamWriter;
import org.marc4j.marc.DataField;
import org.marc4j.marc.MarcFactory;
import org.marc4j.marc.Record;

/** Converts MARC-in-JSON to ISO 2709. */
final class MarcWriter {
  /** The HRIDs that a transformation can add, by its {@code fieldId}. */
  private static final Map<String, String> HRIDS =
      Map.of("holdings.hrid", "holdingsHrid", "item.hrid", "itemHrid");

  private MarcWriter() {}

  /**
   * Returns the exported form of a source record. Field 001 has the instance's HRID, and the
   * record's own number moves from 001 to 035. Field 999 has the instance's id, and transformations
   * add HRIDs.
   */
  static byte[] exported(ObjectNode source, ObjectNode made, JsonNode transformations) {
    MarcFactory factory = MarcFactory.newInstance();
    Record record = factory.newRecord(source.path("leader").asText());
    String hrid = made.path("instanceHrid").asText();
    for (JsonNode field : source.path("fields")) {
      String tag = field.fieldNames().next();
      if (tag.equals("001")) {
        record.addVariableField(factory.newControlField("001", hrid));
        if (!field.path(tag).asText().equals(hrid)) {
          record.addVariableField(factory.newDataField("035", ' ', ' ', "a", field.path(tag).asText()));
        }
      } else if (field.path(tag).isTextual()) {
        record.addVariableField(factory.newControlField(tag, field.path(tag).asText()));
      } else if (!replaced(tag, transformations)) {
        record.addVariableField(dataField(factory, tag, field.path(tag)));
      }
    }
    for (JsonNode transformation : transformations) {
      String wanted = transformation.path("transformation").asText();
      JsonNode value = made.path(HRIDS.getOrDefault(transformation.path("fieldId").asText(), ""));
      if (value.isTextual()) {
        record.addVariableField(factory.newDataField(wanted.substring(0, 3), wanted.charAt(3), wanted.charAt(4),
            wanted.substring(6, 7), value.asText()));
      }
    }
    record.addVariableField(factory.newDataField("999", 'f', 'f', "i", made.path("instanceId").asText()));
    return bytes(record);
  }

  /** Whether the export writes the field again. An earlier export may have added it. */
  private static boolean replaced(String tag, JsonNode transformations) {
    for (JsonNode transformation : transformations) {
      if (transformation.path("transformation").asText().startsWith(tag)) {
        return true;
      }
    }
    return tag.equals("999");
  }

  private static DataField dataField(MarcFactory factory, String tag, JsonNode content) {
    DataField field = factory.newDataField(tag, content.path("ind1").asText(" ").charAt(0), content.path("ind2").asText(" ").charAt(0));
    for (JsonNode subfield : content.path("subfields")) {
      String code = subfield.fieldNames().next();
      field.addSubfield(factory.newSubfield(code.charAt(0), subfield.path(code).asText()));
    }
    return field;
  }

  private static byte[] bytes(Record record) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(2_048);
    MarcStreamWriter writer = new MarcStreamWriter(bytes, "UTF-8");
    writer.write(record);
    writer.close();
    return bytes.toByteArray();
  }
}
