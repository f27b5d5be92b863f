// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Database.DatabaseException;
import dev.perflab.sample.kafka.Event;
import dev.perflab.sample.kafka.EventConsumer;
import dev.perflab.sample.kafka.Message.Completed;
import dev.perflab.sample.kafka.Message.ParsedChunk;
import dev.perflab.sample.kafka.Message.ParsedRecord;
import dev.perflab.sample.kafka.Publisher;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes inventory of parsed records: for each, in a transaction of its own, an instance and, as
 * the job profile says, a holdings record and an item. A record that cannot be stored becomes an
 * error; only a database that is away stops the work, and then the whole chunk comes again.
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
    Completed outcome = new Completed(chunk.jobExecutionId(), record.order(), mapping.title(),
        mapping.instanceId(), mapping.missing().orElse(null));
    try {
      return database.write(c -> writeOnce(c, chunk.actions(), mapping, outcome));
    } catch (DatabaseException e) {
      if (e.isTransient()) {
        throw e;
      }
      Completed failure = new Completed(
          outcome.jobExecutionId(), outcome.order(), outcome.title(), null, e.getMessage());
      return database.write(c -> claim(c, failure) ? failure : earlierOutcome(c, failure));
    }
  }

  /**
   * Writes the record unless an earlier delivery of the chunk has. The claim comes first: a second
   * writer of the same record waits on it until the first one's transaction has ended.
   */
  private static Completed writeOnce(
      Connection connection, List<String> actions, InventoryMapping mapping, Completed outcome)
      throws SQLException {
    if (!claim(connection, outcome)) {
      return earlierOutcome(connection, outcome);
    }
    if (outcome.error() == null) {
      insert(connection, actions, mapping, outcome.jobExecutionId());
    }
    return outcome;
  }

  private static void insert(Connection connection, List<String> actions, InventoryMapping mapping, String job)
      throws SQLException {
    long hrid = InventoryTables.nextHrid(connection);
    InventoryTables.insert(connection, Catalogue.INSTANCES, mapping.instance(hrid), job);
    if (actions.contains("HOLDINGS")) {
      InventoryTables.insert(connection, Catalogue.HOLDINGS, mapping.holdings(), job);
    }
    if (actions.contains("ITEM")) {
      InventoryTables.insert(connection, Catalogue.ITEMS, mapping.item(), job);
    }
  }

  private static boolean claim(Connection connection, Completed outcome) throws SQLException {
    String sql = "INSERT INTO imported_record (job_id, record_order, instance_id, error) VALUES (?, ?, ?, ?)"
        + " ON CONFLICT DO NOTHING";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, outcome.jobExecutionId());
      statement.setInt(2, outcome.order());
      statement.setString(3, outcome.instanceId());
      statement.setString(4, outcome.error());
      return statement.executeUpdate() == 1;
    }
  }

  private static Completed earlierOutcome(Connection connection, Completed again) throws SQLException {
    String sql = "SELECT instance_id, error FROM imported_record WHERE job_id = ? AND record_order = ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, again.jobExecutionId());
      statement.setInt(2, again.order());
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return new Completed(
            again.jobExecutionId(), again.order(), again.title(), row.getString(1), row.getString(2));
      }
    }
  }
}
