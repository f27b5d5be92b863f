// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.kafka.Message.RawChunk;
import dev.perflab.sample.kafka.Message.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Groups records into chunks of a given number of records, or fewer if the records are large. */
final class Chunker {
  /**
   * A chunk grows severalfold when it is parsed to JSON, and must still fit into a message of 1 MB.
   */
  private static final int MAX_CHUNK_BYTES = 150_000;

  private final String job;
  private final List<Step> steps;
  private final int size;
  private final Consumer<RawChunk> chunks;
  private List<byte[]> current = new ArrayList<>();
  private int currentBytes;
  private int records;
  private int number;

  Chunker(String job, List<Step> steps, int size, Consumer<RawChunk> chunks) {
    this.job = job;
    this.steps = List.copyOf(steps);
    this.size = size;
    this.chunks = chunks;
  }

  void add(byte[] record) {
    if (!current.isEmpty() && currentBytes + record.length > MAX_CHUNK_BYTES) {
      finish();
    }
    current.add(record);
    currentBytes += record.length;
    records++;
    if (current.size() == size) {
      finish();
    }
  }

  /** Passes the current chunk on, unless it is empty. */
  void finish() {
    if (current.isEmpty()) {
      return;
    }
    chunks.accept(new RawChunk(job, number++, steps, records - current.size(), current));
    current = new ArrayList<>();
    currentBytes = 0;
  }

  int records() {
    return records;
  }

  int chunks() {
    return number;
  }
}
