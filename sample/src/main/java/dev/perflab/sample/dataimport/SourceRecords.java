// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.db.Database;
import dev.perflab.sample.kafka.Event;
import dev.perflab.sample.kafka.EventConsumer;
import dev.perflab.sample.kafka.Message.ParsedChunk;
import dev.perflab.sample.kafka.Message.ParsedRecord;
import dev.perflab.sample.kafka.Message.Step;
import dev.perflab.sample.kafka.Publisher;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/**
 * Stores the parsed records of a chunk in one transaction, and sends the chunk to the inventory. A
 * record that updates another one is stored in addition to it, with the fields that the job adds.
 * The latest record is the valid one.
 */
final class SourceRecords implements EventConsumer.Handler {
  private final Database database;
  private final Publisher publisher;

  SourceRecords(Database database, Publisher publisher) {
    this.database = database;
    this.publisher = publisher;
  }

  @Override
  public void handle(List<byte[]> messages) {
    for (byte[] message : messages) {
      ParsedChunk chunk = EventConsumer.readOrNull(message, ParsedChunk.class);
      if (chunk != null && database.write(c -> save(c, modified(chunk)))) {
        publisher.send(Event.PARSED_RECORDS_CHUNK_SAVED, List.of(chunk), ParsedChunk::number);
      }
    }
  }

  private static ParsedChunk modified(ParsedChunk chunk) {
    for (Step step : chunk.steps()) {
      for (ParsedRecord record : chunk.records()) {
        record.content().withArray("fields").addAll(step.additions());
      }
    }
    return chunk;
  }

  private static boolean save(Connection connection, ParsedChunk chunk) throws SQLException {
    if (!Jobs.isActive(connection, chunk.jobExecutionId())) {
      return false;
    }
    String sql = "INSERT INTO source_record (job_id, record_order, content) VALUES (?, ?, ?::jsonb)"
        + " ON CONFLICT DO NOTHING";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (ParsedRecord record : chunk.records()) {
        statement.setString(1, chunk.jobExecutionId());
        statement.setInt(2, record.order());
        statement.setString(3, record.content().toString());
        statement.addBatch();
      }
      statement.executeBatch();
    }
    return true;
  }
}
