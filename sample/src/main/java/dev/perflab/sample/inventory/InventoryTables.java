// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.db.Collection;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Inserts that mark a row as imported, so that a reset can delete it. */
final class InventoryTables {
  private InventoryTables() {}

  static void insert(Connection connection, Collection collection, ObjectNode document, String job)
      throws SQLException {
    String sql = "INSERT INTO " + collection.relation() + " (id, jsonb, import_job) VALUES (?, ?::jsonb, ?)";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, document.path("id").asText());
      statement.setString(2, document.toString());
      statement.setString(3, job);
      statement.executeUpdate();
    }
  }

  /** The next number for human-readable ids. */
  static long nextHrid(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("SELECT nextval('hrid')");
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }
}
