// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.db;

import dev.perflab.sample.Deadline;
import dev.perflab.sample.Settings;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A module's schema: how to create, seed and restore it before a new run. This happens at the
 * start, under an advisory lock, so that replicas that start together do it once.
 */
public final class Schema {
  private static final Logger LOG = LoggerFactory.getLogger(Schema.class);

  private final String name;
  private final List<String> definition;
  private final Content content;

  /** The content of a module's schema at the start of a run. */
  public interface Content {
    /** Identifies the input of the seeded rows; when it changes, they are recreated. */
    String fingerprint();

    /** Fills empty tables. */
    void seed(Statement statement) throws SQLException;

    /** Empties every table. */
    void clear(Statement statement) throws SQLException;

    /** Reverts a run's changes to seeded tables. */
    void restore(Statement statement) throws SQLException;

    /** Tables to vacuum and analyze afterwards. */
    List<String> tables();
  }

  public Schema(String name, List<String> definition, Content content) {
    this.name = name;
    this.definition = List.copyOf(definition);
    this.content = content;
  }

  /** Waits for the database, then brings the schema into the initial state of the run. */
  public void prepare(Settings settings, Deadline deadline) {
    var source = Database.dataSource(settings, name, Database.writerEndpoint(settings));
    while (true) {
      try (Connection connection = source.getConnection()) {
        prepare(connection, settings.run());
        return;
      } catch (SQLException e) {
        if (e.getSQLState() != null && !new Database.DatabaseException("", e).isTransient()
            && !e.getSQLState().startsWith("28") && !e.getSQLState().startsWith("3D")) {
          throw new Database.DatabaseException("preparing schema " + name, e);
        }
        LOG.info("database {} is not there yet: {}", Database.writerEndpoint(settings), e.getMessage());
        deadline.pause(Duration.ofMillis(500), "database " + Database.writerEndpoint(settings), e);
      }
    }
  }

  private void prepare(Connection connection, String run) throws SQLException {
    long started = System.nanoTime();
    try (Statement statement = connection.createStatement()) {
      // A session lock: it is released if the process dies.
      statement.execute("SELECT pg_advisory_lock(hashtext('perflab-sample'), hashtext('" + name + "'))");
      String done = lockedPrepare(connection, statement, run);
      statement.execute("SELECT pg_advisory_unlock(hashtext('perflab-sample'), hashtext('" + name + "'))");
      LOG.info("schema {} {} in {} ms", name, done, (System.nanoTime() - started) / 1_000_000);
    }
  }

  private String lockedPrepare(Connection connection, Statement statement, String run) throws SQLException {
    connection.setAutoCommit(false);
    define(statement);
    String done = reset(connection, statement, run);
    connection.commit();
    connection.setAutoCommit(true);
    if (!done.equals("kept")) {
      for (String table : content.tables()) {
        statement.execute("VACUUM (ANALYZE) " + table);
      }
    }
    return done;
  }

  private void define(Statement statement) throws SQLException {
    statement.execute("CREATE SCHEMA IF NOT EXISTS " + name);
    statement.execute("CREATE TABLE IF NOT EXISTS state (key text PRIMARY KEY, value text NOT NULL)");
    for (String sql : definition) {
      statement.execute(sql);
    }
  }

  private String reset(Connection connection, Statement statement, String run) throws SQLException {
    String done = "kept";
    if (!content.fingerprint().equals(state(connection, "seed"))) {
      content.clear(statement);
      content.seed(statement);
      done = "seeded (" + content.fingerprint() + ")";
    } else if (!run.isEmpty() && !run.equals(state(connection, "run"))) {
      content.restore(statement);
      done = "restored for run " + run;
    }
    remember(connection, "seed", content.fingerprint());
    if (!run.isEmpty()) {
      remember(connection, "run", run);
    }
    return done;
  }

  private static String state(Connection connection, String key) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT value FROM state WHERE key = ?")) {
      statement.setString(1, key);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? row.getString(1) : "";
      }
    }
  }

  private static void remember(Connection connection, String key, String value) throws SQLException {
    String sql = "INSERT INTO state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, key);
      statement.setString(2, value);
      statement.executeUpdate();
    }
  }
}
