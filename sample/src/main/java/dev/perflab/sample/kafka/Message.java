// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.kafka;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** The content of an import's events. A record's order is its position in the file, from 0. */
public interface Message {

  /**
   * The action of a job for each record: create, modify or update a record of a type.
   *
   * @param matchField for all but CREATE, the field with the record's key: {@code 001},
   * {@code 901a}
   * @param additions for MODIFY, the fields to add, as MARC-in-JSON
   */
  record Step(String action, String recordType, String matchField, List<ObjectNode> additions) {
    public static Step create(String recordType) {
      return new Step("CREATE", recordType, null, List.of());
    }

    public boolean creates(String type) {
      return action.equals("CREATE") && recordType.equals(type);
    }
  }

  /** Raw records from the file. {@code number} counts the chunks of a job from 0. */
  record RawChunk(String jobExecutionId, int number, List<Step> steps, int firstOrder, List<byte[]> records)
      implements Message {}

  /** A parsed record, as MARC-in-JSON. */
  record ParsedRecord(int order, ObjectNode content) {}

  /** The records of a chunk that could be parsed. */
  record ParsedChunk(String jobExecutionId, int number, List<Step> steps, List<ParsedRecord> records)
      implements Message {}

  /** The ids of the created or updated records. An id is null if there is no such record. */
  record Made(String instanceId, String instanceHrid, String holdingsHrid, String itemHrid, String authorityId) {
    public static final Made NOTHING = new Made(null, null, null, null, null);
  }

  /** The result of one record; {@code error} is null if it succeeded. */
  record Completed(String jobExecutionId, int order, String title, Made made, String error) implements Message {
    public static Completed failed(String job, int order, String title, String error) {
      return new Completed(job, order, title, Made.NOTHING, error);
    }
  }

  String jobExecutionId();
}
