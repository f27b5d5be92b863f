// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.perflab.sample.kafka.Message.RawChunk;
import dev.perflab.sample.kafka.Message.Step;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChunkerTest {
  private final List<RawChunk> chunks = new ArrayList<>();
  private final Chunker chunker = new Chunker("job", List.of(Step.create("INSTANCE")), 50, chunks::add);

  private void add(int records, int bytesEach) {
    for (int i = 0; i < records; i++) {
      chunker.add(new byte[bytesEach]);
    }
    chunker.finish();
  }

  private List<Integer> sizes() {
    return chunks.stream().map(c -> c.records().size()).toList();
  }

  @Test
  void makesFullChunksAndOneOfTheRest() {
    add(120, 100);
    assertEquals(List.of(50, 50, 20), sizes());
    assertEquals(List.of(0, 50, 100), chunks.stream().map(RawChunk::firstOrder).toList());
    assertEquals(List.of(0, 1, 2), chunks.stream().map(RawChunk::number).toList());
    assertEquals(120, chunker.records());
  }

  @Test
  void makesNoEmptyChunk() {
    add(100, 100);
    chunker.finish();
    assertEquals(List.of(50, 50), sizes());
  }

  @Test
  void makesSmallerChunksOfLargeRecords() {
    add(10, 40_000);
    assertEquals(List.of(3, 3, 3, 1), sizes());
    assertEquals(List.of(0, 3, 6, 9), chunks.stream().map(RawChunk::firstOrder).toList());
  }

  @Test
  void leavesEvenTheLargestRecordInAChunkOfItsOwn() {
    add(2, RecordCutter.MAX_RECORD_BYTES + 1);
    assertTrue(sizes().equals(List.of(1, 1)));
  }
}
