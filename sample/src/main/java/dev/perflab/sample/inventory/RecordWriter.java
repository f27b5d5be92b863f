// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import dev.perflab.sample.Json;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Database.DatabaseException;
import dev.perflab.sample.kafka.Event;
import dev.perflab.sample.kafka.EventConsumer;
import dev.perflab.sample.kafka.Message.Completed;
import dev.perflab.sample.kafka.Message.Made;
import dev.perflab.sample.kafka.Message.ParsedChunk;
import dev.perflab.sample.kafka.Message.ParsedRecord;
import dev.perflab.sample.kafka.Message.Step;
import dev.perflab.sample.kafka.Publisher;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Stores parsed records: applies the job profile to each, in its own transaction. A record that
 * cannot be stored becomes an error; only an unavailable database stops the work, and then the whole
 * chunk is delivered again.
 */
final class RecordWriter implements EventConsumer.Handler {
  private final Database database;
  private final Publisher publisher;

  RecordWriter(Database database, Publisher publisher) {
    this.database = database;
    this.publisher = publisher;
  }

  @Override
  public void handle(List<byte[]> messages) {
    for (byte[] message : messages) {
      ParsedChunk chunk = EventConsumer.readOrNull(message, ParsedChunk.class);
      if (chunk != null) {
        write(chunk);
      }
    }
  }

  private void write(ParsedChunk chunk) {
    List<Completed> outcomes = new ArrayList<>(chunk.records().size());
    for (ParsedRecord record : chunk.records()) {
      outcomes.add(write(chunk, record));
    }
    publisher.send(Event.COMPLETED, outcomes, Completed::order);
  }

  private Completed write(ParsedChunk chunk, ParsedRecord record) {
    InventoryMapping mapping = new InventoryMapping(chunk.jobExecutionId(), record);
    Completed claimed = Completed.failed(chunk.jobExecutionId(), record.order(), mapping.title(), null);
    try {
      return database.write(c -> writeOnce(c, chunk.steps(), mapping, claimed));
    } catch (RecordSteps.Refused e) {
      return keepFailure(claimed, e.getMessage());
    } catch (DatabaseException e) {
      if (e.isTransient()) {
        throw e;
      }
      return keepFailure(claimed, e.getMessage());
    }
  }

  private Completed keepFailure(Completed claimed, String error) {
    Completed failure = Completed.failed(claimed.jobExecutionId(), claimed.order(), claimed.title(), error);
    return database.write(c -> claim(c, failure) ? failure : earlierOutcome(c, failure));
  }

  /**
   * Writes the record unless an earlier delivery of the chunk has. The claim comes first: a second
   * writer of the same record waits on it until the first one's transaction has ended.
   */
  private static Completed writeOnce(
      Connection connection, List<Step> steps, InventoryMapping mapping, Completed claimed) throws SQLException {
    if (!claim(connection, claimed)) {
      return earlierOutcome(connection, claimed);
    }
    Made made = new RecordSteps(connection, claimed.jobExecutionId(), mapping).run(steps);
    Completed outcome = new Completed(claimed.jobExecutionId(), claimed.order(), claimed.title(), made, null);
    settle(connection, outcome);
    return outcome;
  }

  /** Adds the result to a claim. */
  private static void settle(Connection connection, Completed outcome) throws SQLException {
    String sql = "UPDATE imported_record SET made = ?::jsonb WHERE job_id = ? AND record_order = ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, new String(Json.bytes(outcome.made()), StandardCharsets.UTF_8));
      statement.setString(2, outcome.jobExecutionId());
      statement.setInt(3, outcome.order());
      statement.executeUpdate();
    }
  }

  private static boolean claim(Connection connection, Completed outcome) throws SQLException {
    String sql = "INSERT INTO imported_record (job_id, record_order, made, error) VALUES (?, ?, ?::jsonb, ?)"
        + " ON CONFLICT DO NOTHING";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, outcome.jobExecutionId());
      statement.setInt(2, outcome.order());
      statement.setString(3, new String(Json.bytes(outcome.made()), StandardCharsets.UTF_8));
      statement.setString(4, outcome.error());
      return statement.executeUpdate() == 1;
    }
  }

  private static Completed earlierOutcome(Connection connection, Completed again) throws SQLException {
    String sql = "SELECT made, error FROM imported_record WHERE job_id = ? AND record_order = ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, again.jobExecutionId());
      statement.setInt(2, again.order());
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        Made made = Json.parse(row.getBytes(1), Made.class);
        return new Completed(again.jobExecutionId(), again.order(), again.title(), made, row.getString(2));
      }
    }
  }
}
