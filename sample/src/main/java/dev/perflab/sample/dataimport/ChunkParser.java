// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.db.Database;
import dev.perflab.sample.kafka.Event;
import dev.perflab.sample.kafka.EventConsumer;
import dev.perflab.sample.kafka.Message.Completed;
import dev.perflab.sample.kafka.Message.ParsedChunk;
import dev.perflab.sample.kafka.Message.ParsedRecord;
import dev.perflab.sample.kafka.Message.RawChunk;
import dev.perflab.sample.kafka.Publisher;
import java.util.ArrayList;
import java.util.List;

/** Parses the MARC records of a chunk. Invalid ones count as errors and are dropped. */
final class ChunkParser implements EventConsumer.Handler {
  private final Database database;
  private final Publisher publisher;

  ChunkParser(Database database, Publisher publisher) {
    this.database = database;
    this.publisher = publisher;
  }

  @Override
  public void handle(List<byte[]> messages) {
    for (byte[] message : messages) {
      RawChunk chunk = EventConsumer.readOrNull(message, RawChunk.class);
      if (chunk != null && database.write(c -> Jobs.isActive(c, chunk.jobExecutionId()))) {
        parse(chunk);
      }
    }
  }

  private void parse(RawChunk chunk) {
    List<ParsedRecord> parsed = new ArrayList<>();
    List<Completed> errors = new ArrayList<>();
    int order = chunk.firstOrder();
    for (byte[] record : chunk.records()) {
      try {
        parsed.add(new ParsedRecord(order, MarcParser.parse(record)));
      } catch (MarcParser.MalformedRecord e) {
        errors.add(Completed.failed(chunk.jobExecutionId(), order, null, e.getMessage()));
      }
      order++;
    }
    forward(chunk, parsed, errors);
  }

  private void forward(RawChunk chunk, List<ParsedRecord> parsed, List<Completed> errors) {
    String job = chunk.jobExecutionId();
    if (!parsed.isEmpty()) {
      ParsedChunk next = new ParsedChunk(job, chunk.number(), chunk.steps(), parsed);
      try {
        publisher.send(Event.RAW_RECORDS_CHUNK_PARSED, List.of(next), ParsedChunk::number);
      } catch (Publisher.TooLarge e) {
        parsed.forEach(r -> errors.add(Completed.failed(job, r.order(), null, e.getMessage())));
      }
    }
    if (!errors.isEmpty()) {
      database.write(c -> {
        Jobs.complete(c, job, errors);
        return null;
      });
    }
  }
}
