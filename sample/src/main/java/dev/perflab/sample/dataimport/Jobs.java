// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.kafka.Message.Completed;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The life cycle of a job execution: NEW, FILE_UPLOADED, PARSING_IN_PROGRESS while the file is
 * read, PROCESSING_IN_PROGRESS until every record is finished, then COMMITTED, or ERROR if any
 * record failed. The journal's key ensures that a record counts once, even if it is reported again.
 */
final class Jobs {
  private static final String ACTIVE = "status IN ('PARSING_IN_PROGRESS', 'PROCESSING_IN_PROGRESS')";

  private Jobs() {}

  static void create(Connection connection, String id, String fileId, String fileName) throws SQLException {
    String sql = "INSERT INTO job_execution (id, file_id, file_name, status, ui_status)"
        + " VALUES (?, ?, ?, 'NEW', 'INITIALIZATION')";
    update(connection, sql, id, fileId, fileName);
  }

  /** Records that the job's file is in the storage and will be split. The job becomes a parent. */
  static void stored(Connection connection, String id, String fileId) throws SQLException {
    update(connection, "UPDATE job_execution SET status = 'FILE_UPLOADED', subordination = 'COMPOSITE_PARENT',"
        + " file_id = ? WHERE id = ?", fileId, id);
  }

  /** Adds a job for a part of a split file, queued for reading. */
  static void addChild(Connection connection, String parent, String id, int number, int records) throws SQLException {
    update(connection, "INSERT INTO job_execution (id, parent_id, subordination, file_id, file_name, status, ui_status,"
        + " profile, total, started_date) SELECT ?, id, 'COMPOSITE_CHILD', ?, ? || '_' || file_name,"
        + " 'PARSING_IN_PROGRESS', 'PREPARING_FOR_PREVIEW', profile, ?, clock_timestamp() FROM job_execution WHERE id = ?",
        id, id, Integer.toString(number), records, parent);
    update(connection, "INSERT INTO job_reading (job_id) VALUES (?)", id);
  }

  /** Records that the parent's file is split. From then on, its children determine its status. */
  static void split(Connection connection, String id, int records) throws SQLException {
    update(connection, "DELETE FROM job_reading WHERE job_id = ?", id);
    update(connection, "UPDATE job_execution SET total = ?, status = 'PROCESSING_IN_PROGRESS', ui_status = 'RUNNING',"
        + " last_progress = now() WHERE id = ? AND " + ACTIVE, records, id);
    finishParent(connection, id);
  }

  static void uploaded(Connection connection, String id, int records) throws SQLException {
    update(connection, "UPDATE job_execution SET status = 'FILE_UPLOADED', total = ? WHERE id = ?", records, id);
  }

  /** Starts an uploaded file's job and queues the file for reading; returns whether it existed. */
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

  /** Counts finished records, and ends the job when all its records are finished. */
  static void complete(Connection connection, String id, List<Completed> outcomes) throws SQLException {
    // The lock serializes replicas that report for the same job.
    if (!exists(connection, "SELECT 1 FROM job_execution WHERE id = ? AND " + ACTIVE + " FOR UPDATE", id)) {
      return;
    }
    int succeeded = 0;
    int failed = 0;
    String sql = "INSERT INTO journal (job_id, record_order, title, made, error)"
        + " SELECT ?, record_order, title, made::jsonb, error"
        + " FROM unnest(?::int[], ?::text[], ?::text[], ?::text[]) r (record_order, title, made, error)"
        + " ON CONFLICT DO NOTHING RETURNING error IS NULL";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, id);
      statement.setArray(2, array(connection, "int4", outcomes.stream().map(Completed::order).toArray()));
      statement.setArray(3, array(connection, "text", outcomes.stream().map(Completed::title).toArray()));
      statement.setArray(4, array(connection, "text", outcomes.stream().map(Jobs::made).toArray()));
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
    // A file without records is an error too.
    update(connection, "UPDATE job_execution SET completed_date = clock_timestamp(),"
        + " status = CASE WHEN failed > 0 OR total = 0 THEN 'ERROR' ELSE 'COMMITTED' END,"
        + " ui_status = CASE WHEN failed > 0 OR total = 0 THEN 'ERROR' ELSE 'RUNNING_COMPLETE' END,"
        + " error_status = CASE WHEN total = 0 THEN 'FILE_PROCESSING_ERROR'"
        + " WHEN failed > 0 THEN 'RECORD_UPDATE_ERROR' END"
        + " WHERE id = ? AND succeeded + failed >= total AND subordination <> 'COMPOSITE_PARENT' AND " + ACTIVE, id);
    finishParentOf(connection, id);
  }

  private static void finishParentOf(Connection connection, String child) throws SQLException {
    String sql = "SELECT parent_id FROM job_execution WHERE id = ? AND parent_id IS NOT NULL AND NOT " + ACTIVE;
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, child);
      try (ResultSet row = statement.executeQuery()) {
        if (row.next()) {
          finishParent(connection, row.getString(1));
        }
      }
    }
  }

  /** Ends a parent when all its children have ended: as ERROR if any child failed. */
  private static void finishParent(Connection connection, String id) throws SQLException {
    // If the last two children end at the same time, the lock lets the second one see that the
    // first one has ended.
    if (!exists(connection, "SELECT 1 FROM job_execution WHERE id = ? AND " + ACTIVE + " FOR UPDATE", id)) {
      return;
    }
    update(connection, "UPDATE job_execution p SET completed_date = clock_timestamp(), succeeded = c.succeeded,"
        + " failed = c.failed, status = CASE WHEN c.good THEN 'COMMITTED' ELSE 'ERROR' END,"
        + " ui_status = CASE WHEN c.good THEN 'RUNNING_COMPLETE' ELSE 'ERROR' END,"
        + " error_status = CASE WHEN NOT c.good THEN 'RECORD_UPDATE_ERROR' END"
        + " FROM (SELECT coalesce(sum(succeeded), 0) AS succeeded, coalesce(sum(failed), 0) AS failed,"
        + " coalesce(bool_and(status = 'COMMITTED'), false) AS good, coalesce(bool_or(" + ACTIVE + "), false) AS active"
        + " FROM job_execution WHERE parent_id = ?) c WHERE p.id = ? AND NOT c.active", id, id);
  }

  /** Ends a job that cannot continue, as ERROR. */
  static void fail(Connection connection, String id) throws SQLException {
    end(connection, id, "ERROR");
    finishParentOf(connection, id);
    update(connection, "UPDATE job_execution SET error_status = 'FILE_PROCESSING_ERROR'"
        + " WHERE id = ? AND status = 'ERROR'", id);
  }

  /** Stops a job and its running children. Returns whether any job was stopped. */
  static boolean cancel(Connection connection, String id) throws SQLException {
    // Children come first and their parent last: reports for a child lock them in the same order.
    boolean any = false;
    for (String job : ids(connection, "SELECT id FROM job_execution WHERE (parent_id = ? OR id = ?) AND " + ACTIVE
        + " ORDER BY subordination", id, id)) {
      any |= end(connection, job, "CANCELLED");
    }
    finishParentOf(connection, id);
    return any;
  }

  private static boolean end(Connection connection, String id, String status) throws SQLException {
    update(connection, "DELETE FROM job_reading WHERE job_id = ?", id);
    return update(connection, "UPDATE job_execution SET completed_date = clock_timestamp(), status = ?,"
        + " ui_status = ? WHERE id = ? AND " + ACTIVE, status, status, id) > 0;
  }

  /**
   * Returns the active jobs without progress for {@code seconds}. While one job of a split file
   * makes progress, the other jobs of the file and their parent are not stalled.
   */
  static List<String> stalled(Connection connection, int seconds) throws SQLException {
    return ids(connection, "SELECT id FROM job_execution j WHERE " + ACTIVE
        + " AND last_progress < now() - make_interval(secs => ?)"
        + " AND NOT EXISTS (SELECT 1 FROM job_execution o WHERE o.parent_id IN (j.parent_id, j.id)"
        + " AND o.last_progress >= now() - make_interval(secs => ?))", seconds, seconds);
  }

  private static List<String> ids(Connection connection, String sql, Object... parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      List<String> ids = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          ids.add(rows.getString(1));
        }
      }
      return ids;
    }
  }

  private static String made(Completed outcome) {
    return new String(Json.bytes(outcome.made()), StandardCharsets.UTF_8);
  }

  private static Array array(Connection connection, String type, Object[] values) throws SQLException {
    return connection.createArrayOf(type, values);
  }

  static boolean exists(Connection connection, String sql, String id) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, id);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next();
      }
    }
  }

  static int update(Connection connection, String sql, Object... parameters) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      return statement.executeUpdate();
    }
  }
}
