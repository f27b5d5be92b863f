// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.db;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.cql.Cql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads and writes the documents of a {@link Collection} on a given connection. */
public final class Documents {
  private Documents() {}

  /** A page of documents, as JSON text, and the total number. */
  public record Page(List<String> documents, int total) {}

  /** The rows of a page: after {@code offset}, at most {@code limit}. */
  public record Range(int offset, int limit) {}

  public static Page list(Connection connection, Collection collection, Cql.Query query, Range range)
      throws SQLException {
    CqlSql.Condition condition = CqlSql.of(collection, query);
    List<String> documents = rows(connection, collection, condition, range);
    // A page that is neither full nor beyond the end gives the total without counting.
    boolean last = documents.size() < range.limit() && (range.offset() == 0 || !documents.isEmpty());
    int total = last ? range.offset() + documents.size() : count(connection, collection, condition);
    return new Page(documents, total);
  }

  private static List<String> rows(
      Connection connection, Collection collection, CqlSql.Condition condition, Range range)
      throws SQLException {
    String sql = "SELECT jsonb::text FROM " + collection.relation() + " WHERE " + condition.where()
        + " ORDER BY " + condition.orderBy() + " LIMIT ? OFFSET ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int at = bind(statement, condition.parameters());
      statement.setInt(at, range.limit());
      statement.setInt(at + 1, range.offset());
      List<String> documents = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          documents.add(rows.getString(1));
        }
      }
      return documents;
    }
  }

  private static int count(Connection connection, Collection collection, CqlSql.Condition condition)
      throws SQLException {
    String sql = "SELECT count(*) FROM " + collection.relation() + " WHERE " + condition.where();
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      bind(statement, condition.parameters());
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getInt(1);
      }
    }
  }

  private static int bind(PreparedStatement statement, List<String> parameters) throws SQLException {
    int at = 1;
    for (String parameter : parameters) {
      statement.setString(at++, parameter);
    }
    return at;
  }

  public static Optional<ObjectNode> byId(Connection connection, Collection collection, String id)
      throws SQLException {
    return first(connection, collection, "id = ?", id);
  }

  /**
   * Returns the first document for which {@code where} holds. {@code parameters} replace the
   * question marks in order.
   */
  public static Optional<ObjectNode> first(
      Connection connection, Collection collection, String where, String... parameters)
      throws SQLException {
    String sql = "SELECT jsonb::text FROM " + collection.relation() + " WHERE " + where + " LIMIT 1";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      bind(statement, List.of(parameters));
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? Optional.of(Json.parseObject(rows.getString(1))) : Optional.empty();
      }
    }
  }

  /** A document, locked until the transaction ends. */
  public static Optional<ObjectNode> lockedById(Connection connection, Collection collection, String id)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(
        "SELECT jsonb::text FROM " + collection.relation() + " WHERE id = ? FOR UPDATE")) {
      statement.setString(1, id);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? Optional.of(Json.parseObject(rows.getString(1))) : Optional.empty();
      }
    }
  }

  public static void insert(Connection connection, Collection collection, ObjectNode document)
      throws SQLException {
    String sql = "INSERT INTO " + collection.relation() + " (id, jsonb) VALUES (?, ?::jsonb)";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, document.path("id").asText());
      statement.setString(2, document.toString());
      statement.executeUpdate();
    }
  }

  public static void replace(Connection connection, Collection collection, ObjectNode document)
      throws SQLException {
    String sql = "UPDATE " + collection.relation() + " SET jsonb = ?::jsonb WHERE id = ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, document.toString());
      statement.setString(2, document.path("id").asText());
      statement.executeUpdate();
    }
  }

  /**
   * Replaces a document if it still has the version that the caller read ({@code _version}), and
   * increments the version. Returns whether it did.
   */
  public static boolean replaceVersion(Connection connection, Collection collection, ObjectNode document)
      throws SQLException {
    int version = document.path("_version").asInt();
    ObjectNode next = document.deepCopy().put("_version", version + 1);
    String sql = "UPDATE " + collection.relation()
        + " SET jsonb = ?::jsonb WHERE id = ? AND (jsonb->>'_version')::int = ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, next.toString());
      statement.setString(2, document.path("id").asText());
      statement.setInt(3, version);
      return statement.executeUpdate() == 1;
    }
  }
}
