// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perflab.sample.Settings;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A module's connections: a writer pool and, when {@code DB_HOST_READER} and {@code DB_PORT_READER}
 * are <em>both</em> set, a reader pool for plain reads. As in FOLIO, each pool has up to
 * {@code DB_MAXPOOLSIZE} connections, so the split doubles the maximum for a replica.
 */
public final class Database implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Database.class);

  private final HikariDataSource writer;
  private final HikariDataSource reader;

  /** The address of one pool. */
  public record Endpoint(String host, int port) {
    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  /** Work on a connection. */
  @FunctionalInterface
  public interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  private Database(HikariDataSource writer, HikariDataSource reader) {
    this.writer = writer;
    this.reader = reader;
  }

  public static Endpoint writerEndpoint(Settings settings) {
    return new Endpoint(settings.required("DB_HOST"), settings.atLeast(1, "DB_PORT", 5432));
  }

  /** The reader's address, or the writer's if either reader variable is missing. */
  public static Endpoint readerEndpoint(Settings settings) {
    if (!settings.has("DB_HOST_READER") || !settings.has("DB_PORT_READER")) {
      return writerEndpoint(settings);
    }
    return new Endpoint(settings.required("DB_HOST_READER"), settings.atLeast(1, "DB_PORT_READER", 5432));
  }

  /** Opens the pools. Nothing connects before the first use. */
  public static Database open(Settings settings, String schema) {
    Endpoint writerEndpoint = writerEndpoint(settings);
    Endpoint readerEndpoint = readerEndpoint(settings);
    HikariDataSource writer = pool(settings, schema, writerEndpoint, "writer");
    if (readerEndpoint.equals(writerEndpoint)) {
      LOG.info("database {} schema {}, one pool of {}", writerEndpoint, schema, writer.getMaximumPoolSize());
      return new Database(writer, writer);
    }
    HikariDataSource reader = pool(settings, schema, readerEndpoint, "reader");
    LOG.info("database {} schema {}, reads from {}, two pools of {}",
        writerEndpoint, schema, readerEndpoint, writer.getMaximumPoolSize());
    return new Database(writer, reader);
  }

  private static HikariDataSource pool(Settings settings, String schema, Endpoint endpoint, String name) {
    PGSimpleDataSource source = dataSource(settings, schema, endpoint);
    // Shows in pg_stat_activity which pool a connection belongs to.
    source.setApplicationName(schema + "-" + name);
    // Also outside of transactions: a read that writes must fail on every server, not only on a standby.
    source.setReadOnlyMode("always");
    HikariConfig config = new HikariConfig();
    config.setPoolName(name);
    config.setDataSource(source);
    config.setMaximumPoolSize(settings.atLeast(1, "DB_MAXPOOLSIZE", 4));
    config.setMinimumIdle(1);
    config.setIdleTimeout(Math.max(10_000, settings.number("DB_CONNECTIONRELEASEDELAY", 60_000)));
    config.setConnectionTimeout(30_000);
    config.setReadOnly(name.equals("reader"));
    // The readiness check, not the constructor, checks that the database responds.
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  /** Connections outside the pools, for the start and the readiness check. */
  public static PGSimpleDataSource dataSource(Settings settings, String schema, Endpoint endpoint) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {endpoint.host()});
    source.setPortNumbers(new int[] {endpoint.port()});
    source.setDatabaseName(settings.required("DB_DATABASE"));
    source.setUser(settings.required("DB_USERNAME"));
    source.setPassword(settings.text("DB_PASSWORD", ""));
    source.setCurrentSchema(schema);
    source.setConnectTimeout(5);
    source.setSocketTimeout(60);
    source.setTcpKeepAlive(true);
    source.setApplicationName(schema);
    return source;
  }

  /**
   * Reads from the reader pool if there is one. The result may lag behind a writer without
   * synchronous replication.
   */
  public <T> T read(Work<T> work) {
    try (Connection connection = reader.getConnection()) {
      return work.on(connection);
    } catch (SQLException e) {
      throw new DatabaseException("reading", e);
    }
  }

  /**
   * Runs a transaction on the writer: commits when {@code work} returns, rolls back when it throws.
   */
  public <T> T write(Work<T> work) {
    try (Connection connection = writer.getConnection()) {
      connection.setAutoCommit(false);
      try {
        T result = work.on(connection);
        connection.commit();
        return result;
      } catch (SQLException | RuntimeException | Error e) {
        rollBack(connection, e);
        throw e;
      }
    } catch (SQLException e) {
      throw new DatabaseException("writing", e);
    }
  }

  private static void rollBack(Connection connection, Throwable cause) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      cause.addSuppressed(e);
    }
  }

  /** Whether plain reads use another server than writes. */
  public boolean split() {
    return reader != writer;
  }

  @Override
  public void close() {
    writer.close();
    reader.close();
  }

  /** A statement failed. */
  public static final class DatabaseException extends RuntimeException {
    private final String state;

    public DatabaseException(String doing, SQLException cause) {
      super(doing + ": " + cause.getMessage(), cause);
      state = cause.getSQLState() == null ? "" : cause.getSQLState();
    }

    /** Whether the statement broke a unique constraint. */
    public boolean isDuplicate() {
      return state.equals("23505");
    }

    /**
     * Whether a retry of the same statement may succeed: the connection broke, the server lacks a
     * resource or is stopping, or two transactions conflicted. All other errors are due to the data.
     */
    public boolean isTransient() {
      return state.isEmpty() || state.startsWith("08") || state.startsWith("53")
          || state.startsWith("57") || state.startsWith("40") || state.startsWith("25");
    }
  }
}
