// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.kafka.Message.Completed;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The life of a job execution: NEW, FILE_UPLOADED, PARSING_IN_PROGRESS while the file is read,
 * PROCESSING_IN_PROGRESS until every record is accounted for, then COMMITTED, or ERROR if any
 * record failed. A record counts once, however often it is reported: the journal's key sees to it.
 */
final class Jobs {
  private static final String ACTIVE = "status IN ('PARSING_IN_PROGRESS', 'PROCESSING_IN_PROGRESS')";

  private Jobs() {}

  static void create(Connection connection, String id, String fileId, String fileName) throws SQLException {
    String sql = "INSERT INTO job_execution (id, file_id, file_name, status, ui_status)"
        + " VALUES (?, ?, ?, 'NEW', 'INITIALIZATION')";
    update(connection, sql, id, fileId, fileName);
  }

  static void uploaded(Connection connection, String id, int records) throws SQLException {
    update(connection, "UPDATE job_execution SET status = 'FILE_UPLOADED', total = ? WHERE id = ?", records, id);
  }

  /** Starts an uploaded file's job and queues the file for reading; says whether it was there to start. */
  static boolean start(Connection connection, String id, ObjectNode profile) throws SQLException {
    String sql = "UPDATE job_execution SET status = 'PARSING_IN_PROGRESS', ui_status = 'PREPARING_FOR_PREVIEW',"
        + " profile = ?::jsonb, started_date = clock_timestamp(), last_progress = now()"
        + " WHERE id = ? AND status = 'FILE_UPLOADED'";
    if (update(connection, sql, profile.toString(), id) == 0) {
      return false;
    }
    update(connection, "INSERT INTO job_reading (job_id) VALUES (?)", id);
    finishIfThrough(connection, id);
    return true;
  }

  static void fileRead(Connection connection, String id) throws SQLException {
    update(connection, "DELETE FROM job_reading WHERE job_id = ?", id);
    update(connection, "UPDATE job_execution SET status = 'PROCESSING_IN_PROGRESS', ui_status = 'RUNNING',"
        + " last_progress = now() WHERE id = ? AND status = 'PARSING_IN_PROGRESS'", id);
  }

  static boolean isActive(Connection connection, String id) throws SQLException {
    return exists(connection, "SELECT 1 FROM job_execution WHERE id = ? AND " + ACTIVE, id);
  }

  /** Counts records that are through, and ends the job with the last of them. */
  static void complete(Connection connection, String id, List<Completed> outcomes) throws SQLException {
    // The lock puts replicas that report for the same job one after the other.
    if (!exists(connection, "SELECT 1 FROM job_execution WHERE id = ? AND " + ACTIVE + " FOR UPDATE", id)) {
      return;
    }
    int succeeded = 0;
    int failed = 0;
    String sql = "INSERT INTO journal (job_id, record_order, title, instance_id, error)"
        + " SELECT ?, * FROM unnest(?::int[], ?::text[], ?::text[], ?::text[])"
        + " ON CONFLICT DO NOTHING RETURNING error IS NULL";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, id);
      statement.setArray(2, array(connection, "int4", outcomes.stream().map(Completed::order).toArray()));
      statement.setArray(3, array(connection, "text", outcomes.stream().map(Completed::title).toArray()));
      statement.setArray(4, array(connection, "text", outcomes.stream().map(Completed::instanceId).toArray()));
      statement.setArray(5, array(connection, "text", outcomes.stream().map(Completed::error).toArray()));
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          succeeded += rows.getBoolean(1) ? 1 : 0;
          failed += rows.getBoolean(1) ? 0 : 1;
        }
      }
    }
    update(connection, "UPDATE job_execution SET succeeded = succeeded + ?, failed = failed + ?,"
        + " last_progress = now() WHERE id = ?", succeeded, failed, id);
    finishIfThrough(connection, id);
  }

  private static void finishIfThrough(Connection connection, String id) throws SQLException {
    // A file without a single record is an error too.
    update(connection, "UPDATE job_execution SET completed_date = clock_timestamp(),"
        + " status = CASE WHEN failed > 0 OR total = 0 THEN 'ERROR' ELSE 'COMMITTED' END,"
        + " ui_status = CASE WHEN failed > 0 OR total = 0 THEN 'ERROR' ELSE 'RUNNING_COMPLETE' END,"
        + " error_status = CASE WHEN total = 0 THEN 'FILE_PROCESSING_ERROR'"
        + " WHEN failed > 0 THEN 'RECORD_UPDATE_ERROR' END"
        + " WHERE id = ? AND succeeded + failed >= total AND " + ACTIVE, id);
  }

  /** Ends a job that cannot go on. */
  static void fail(Connection connection, String id) throws SQLException {
    update(connection, "DELETE FROM job_reading WHERE job_id = ?", id);
    update(connection, "UPDATE job_execution SET completed_date = clock_timestamp(), status = 'ERROR',"
        + " ui_status = 'ERROR', error_status = 'FILE_PROCESSING_ERROR' WHERE id = ? AND " + ACTIVE, id);
  }

  /** Active jobs nothing has happened to for a while. */
  static List<String> stalled(Connection connection, int seconds) throws SQLException {
    String sql = "SELECT id FROM job_execution WHERE " + ACTIVE
        + " AND last_progress < now() - make_interval(secs => ?)";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setInt(1, seconds);
      List<String> ids = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          ids.add(rows.getString(1));
        }
      }
      return ids;
    }
  }

  private static Array array(Connection connection, String type, Object[] values) throws SQLException {
    return connection.createArrayOf(type, values);
  }

  private static boolean exists(Connection connection, String sql, String id) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, id);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next();
      }
    }
  }

  private static int update(Connection connection, String sql, Object... parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      return statement.executeUpdate();
    }
  }
}
