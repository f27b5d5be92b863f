// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Documents;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the files of queued exports. A file has the latest imported source record of each
 * instance, with its HRIDs. A row lock claims an export while its file is written.
 */
final class Exporter {
  private static final Logger LOG = LoggerFactory.getLogger(Exporter.class);
  private static final int INSTANCES_AT_ONCE = 1_000;

  private final Database database;

  Exporter(Database database) {
    this.database = database;
  }

  void work() {
    while (database.write(this::exportOne)) {
      // Repeats until the queue is empty.
    }
  }

  private boolean exportOne(Connection connection) throws SQLException {
    String sql = "SELECT jsonb::text FROM export_job WHERE status = 'IN_PROGRESS' LIMIT 1 FOR UPDATE SKIP LOCKED";
    try (PreparedStatement statement = connection.prepareStatement(sql); ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        return false;
      }
      export(connection, Json.parseObject(row.getString(1)));
      return true;
    }
  }

  private static void export(Connection connection, ObjectNode job) throws SQLException {
    ByteArrayOutputStream csv = new ByteArrayOutputStream();
    FileParts.read(connection, job.path("idsFileId").asText(), csv::writeBytes);
    String[] ids = Exports.ids(csv.toByteArray());
    String key = Exports.key(job.path("id").asText());
    int exported = 0;
    // Each batch is a part of the file, so that only one batch is in memory.
    for (int from = 0, part = 0; from < ids.length; from += INSTANCES_AT_ONCE, part++) {
      ByteArrayOutputStream file = new ByteArrayOutputStream();
      String[] batch = Arrays.copyOfRange(ids, from, Math.min(from + INSTANCES_AT_ONCE, ids.length));
      exported += write(connection, batch, job.path("transformations"), file);
      FileParts.store(connection, key, part, new ByteArrayInputStream(file.toByteArray()), Long.MAX_VALUE);
    }
    finish(connection, job, ids.length, exported);
  }

  private static void finish(Connection connection, ObjectNode job, int total, int exported) throws SQLException {
    String id = job.path("id").asText();
    String status = exported == total ? "COMPLETED" : exported == 0 ? "FAIL" : "COMPLETED_WITH_ERRORS";
    job.put("status", status).put("completedDate", Instant.now().toString());
    job.set("progress", Json.object("exported", exported, "failed", total - exported, "total", total));
    job.putArray("exportedFiles").add(Json.object("fileId", id, "fileName", id + ".mrc"));
    Documents.replace(connection, Catalogue.EXPORT_JOBS, job);
    LOG.info("export {}: {} of {} instances", id, exported, total);
  }

  private static int write(Connection connection, String[] ids, JsonNode transformations, ByteArrayOutputStream file)
      throws SQLException {
    String sql = "SELECT DISTINCT ON (wanted.position) s.content, j.made"
        + " FROM unnest(?::text[]) WITH ORDINALITY wanted (id, position)"
        + " JOIN journal j ON j.instance_id = wanted.id AND j.error IS NULL"
        + " JOIN source_record s ON s.job_id = j.job_id AND s.record_order = j.record_order"
        + " JOIN job_execution e ON e.id = j.job_id ORDER BY wanted.position, e.hr_id DESC";
    int written = 0;
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setArray(1, connection.createArrayOf("text", ids));
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          file.writeBytes(MarcWriter.exported(
              Json.parseObject(rows.getString(1)), Json.parseObject(rows.getString(2)), transformations));
          written++;
        }
      }
    }
    return written;
  }
}
