// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.db;

import dev.perflab.sample.Settings;
import dev.perflab.sample.db.Database.Endpoint;
import dev.perflab.sample.http.Readiness;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that a database server responds and has the module's schema. It has its own connection,
 * because a busy, healthy module may use all connections of the pools.
 */
public final class DatabaseCheck implements Readiness.Check {
  private static final Logger LOG = LoggerFactory.getLogger(DatabaseCheck.class);

  private final DataSource source;
  private final Endpoint endpoint;
  private Connection connection;

  private DatabaseCheck(Settings settings, String schema, Endpoint endpoint) {
    this.endpoint = endpoint;
    source = Database.dataSource(settings, schema, endpoint);
  }

  /** Requires the writer and, with a read-write split, the reader. */
  public static void require(Readiness readiness, Settings settings, String schema) {
    Endpoint writer = Database.writerEndpoint(settings);
    Endpoint reader = Database.readerEndpoint(settings);
    readiness.require("database", new DatabaseCheck(settings, schema, writer));
    if (!reader.equals(writer)) {
      readiness.require("database reader", new DatabaseCheck(settings, schema, reader));
    }
  }

  @Override
  public void run() throws IOException {
    try {
      if (connection == null) {
        connection = source.getConnection();
      }
      try (Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery("SELECT 1 FROM state WHERE key = 'seed'")) {
        if (!rows.next()) {
          throw new IOException(endpoint + " is not seeded");
        }
      }
    } catch (SQLException e) {
      forget();
      throw new IOException(endpoint + ": " + e.getMessage(), e);
    }
  }

  private void forget() {
    Connection broken = connection;
    connection = null;
    if (broken == null) {
      return;
    }
    try {
      broken.close();
    } catch (SQLException e) {
      LOG.debug("closing a broken connection to {}: {}", endpoint, e.getMessage());
    }
  }
}
