// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.http.Problem;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Multipart uploads. An upload is started, gets parts, and is completed with the list of their
 * ETags.
 */
final class Uploaded {
  /** Minimum size of every part except the last. */
  private static final int MIN_PART_BYTES = 5 << 20;

  private Uploaded() {}

  static void begin(Connection connection, String uploadId, String key) throws SQLException {
    Jobs.update(connection, "INSERT INTO storage_upload (id, object_key) VALUES (?, ?)", uploadId, key);
  }

  static boolean isOpen(Connection connection, String uploadId) throws SQLException {
    return Jobs.exists(connection, "SELECT 1 FROM storage_upload WHERE id = ? AND NOT complete", uploadId);
  }

  static void add(Connection connection, String uploadId, int part, String etag, long bytes) throws SQLException {
    Jobs.update(connection, "INSERT INTO storage_part (upload_id, number, etag, bytes) VALUES (?, ?, ?, ?)"
        + " ON CONFLICT (upload_id, number) DO UPDATE SET etag = EXCLUDED.etag, bytes = EXCLUDED.bytes",
        uploadId, part, etag, bytes);
  }

  /**
   * Creates an object from the parts and returns its size in bytes. The ETags must be those of the
   * uploaded parts, in order.
   */
  static long complete(Connection connection, String uploadId, String key, List<String> etags) throws SQLException {
    List<String> put = new ArrayList<>();
    long bytes = 0;
    long last = MIN_PART_BYTES;
    String sql = "SELECT p.etag, p.bytes FROM storage_upload u JOIN storage_part p ON p.upload_id = u.id"
        + " WHERE u.id = ? AND u.object_key = ? AND NOT u.complete ORDER BY p.number";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, uploadId);
      statement.setString(2, key);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          if (last < MIN_PART_BYTES) {
            throw Problem.badRequest("EntityTooSmall: part " + put.size() + " has " + last + " bytes and is not the last");
          }
          put.add(rows.getString(1));
          last = rows.getLong(2);
          bytes += last;
        }
      }
    }
    if (put.isEmpty() || !put.equals(etags)) {
      throw Problem.badRequest("InvalidPart: upload " + uploadId + " of " + key + " has the parts " + put + ", not " + etags);
    }
    Jobs.update(connection, "UPDATE storage_upload SET complete = true WHERE id = ?", uploadId);
    return bytes;
  }
}
