// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.marc4j.MarcException;
import org.marc4j.MarcStreamReader;
import org.marc4j.marc.ControlField;
import org.marc4j.marc.DataField;
import org.marc4j.marc.Record;
import org.marc4j.marc.Subfield;

/** Converts an ISO 2709 record to MARC-in-JSON. */
final class MarcParser {
  private static final int LEADER_BYTES = 24;

  private MarcParser() {}

  /** A record that is not MARC; the message has the reason. */
  static final class MalformedRecord extends Exception {
    MalformedRecord(String message, Throwable cause) {
      super(message, cause);
    }
  }

  static ObjectNode parse(byte[] bytes) throws MalformedRecord {
    requireLength(bytes);
    try {
      MarcStreamReader reader = new MarcStreamReader(new ByteArrayInputStream(bytes));
      if (!reader.hasNext()) {
        throw new MalformedRecord("the record is empty", null);
      }
      ObjectNode json = json(reader.next());
      // PostgreSQL's jsonb cannot store NUL.
      if (json.toString().contains("\\u0000")) {
        throw new MalformedRecord("the record holds a NUL character", null);
      }
      return json;
    } catch (MarcException | IndexOutOfBoundsException | IllegalArgumentException e) {
      throw new MalformedRecord("the record cannot be read: " + e.getMessage(), e);
    }
  }

  private static void requireLength(byte[] bytes) throws MalformedRecord {
    if (bytes.length > RecordCutter.MAX_RECORD_BYTES) {
      throw new MalformedRecord("the record is longer than " + RecordCutter.MAX_RECORD_BYTES + " bytes", null);
    }
    if (bytes.length < LEADER_BYTES) {
      throw new MalformedRecord("the record has " + bytes.length + " bytes, less than a leader", null);
    }
    String stated = new String(bytes, 0, 5, StandardCharsets.US_ASCII);
    if (!stated.equals("%05d".formatted(bytes.length))) {
      throw new MalformedRecord(
          "the leader states a length of \"" + stated + "\", the record has " + bytes.length + " bytes", null);
    }
  }

  private static ObjectNode json(Record record) {
    ObjectNode json = Json.object("leader", record.getLeader().marshal());
    ArrayNode fields = json.putArray("fields");
    for (ControlField field : record.getControlFields()) {
      fields.addObject().put(field.getTag(), field.getData());
    }
    for (DataField field : record.getDataFields()) {
      ObjectNode content = fields.addObject().putObject(field.getTag());
      content.put("ind1", String.valueOf(field.getIndicator1())).put("ind2", String.valueOf(field.getIndicator2()));
      ArrayNode subfields = content.putArray("subfields");
      for (Subfield subfield : field.getSubfields()) {
        subfields.addObject().put(String.valueOf(subfield.getCode()), subfield.getData());
      }
    }
    return json;
  }
}
