// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.kafka;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** What travels in the events of an import. Record orders count from 0 through the file. */
public interface Message {

  /** Records as bytes, cut from the file; {@code number} counts the chunks of a job from 0. */
  record RawChunk(String jobExecutionId, int number, List<String> actions, int firstOrder, List<byte[]> records)
      implements Message {}

  /** A record parsed: MARC as JSON. */
  record ParsedRecord(int order, ObjectNode content) {}

  /** The records of a chunk which could be parsed. */
  record ParsedChunk(String jobExecutionId, int number, List<String> actions, List<ParsedRecord> records)
      implements Message {}

  /** How one record ended; {@code error} is null if all went well. */
  record Completed(String jobExecutionId, int order, String title, String instanceId, String error)
      implements Message {}

  String jobExecutionId();
}
