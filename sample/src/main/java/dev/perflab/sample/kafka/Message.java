// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.kafka;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** The content of an import's events. Record orders count from 0 through the file. */
public interface Message {

  /**
   * What a job does with each record: create, modify or update a record of a type.
   *
   * @param matchField for all but CREATE, the field that says which record: {@code 001}, {@code 901a}
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

  /** Records as bytes, cut from the file; {@code number} counts the chunks of a job from 0. */
  record RawChunk(String jobExecutionId, int number, List<Step> steps, int firstOrder, List<byte[]> records)
      implements Message {}

  /** A record parsed: MARC as JSON. */
  record ParsedRecord(int order, ObjectNode content) {}

  /** The records of a chunk which could be parsed. */
  record ParsedChunk(String jobExecutionId, int number, List<Step> steps, List<ParsedRecord> records)
      implements Message {}

  /** What was created or updated; null if nothing was. */
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
