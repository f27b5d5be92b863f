// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.http.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;

/**
 * Uploaded files, kept in the database in parts: the replica that gets {@code processFiles} is not
 * always the one that got the file.
 */
final class FileParts {
  private static final int PART_BYTES = 512 * 1024;

  private FileParts() {}

  /** What was stored: bytes, and records as the reader will cut them. */
  record Stored(long bytes, int records) {}

  /** Reads {@code body} to its end; 413 when it is longer than {@code maxBytes}. */
  static Stored store(Connection connection, String fileId, InputStream body, long maxBytes) throws SQLException {
    delete(connection, fileId);
    int[] records = {0};
    RecordCutter counter = new RecordCutter(record -> records[0]++);
    long bytes = 0;
    String sql = "INSERT INTO file_part (file_id, number, content) VALUES (?, ?, ?)";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      byte[] part = new byte[PART_BYTES];
      for (int number = 0; ; number++) {
        int length = read(body, part);
        if (length == 0) {
          break;
        }
        bytes += length;
        if (bytes > maxBytes) {
          throw Problem.tooLarge("the file is larger than MAX_UPLOAD_BYTES, " + maxBytes);
        }
        counter.feed(part, length);
        statement.setString(1, fileId);
        statement.setInt(2, number);
        statement.setBytes(3, length == part.length ? part : Arrays.copyOf(part, length));
        statement.executeUpdate();
      }
    }
    counter.finish();
    return new Stored(bytes, records[0]);
  }

  private static int read(InputStream body, byte[] part) {
    try {
      return body.readNBytes(part, 0, part.length);
    } catch (IOException e) {
      throw Problem.badRequest("the upload broke off: " + e.getMessage());
    }
  }

  /** Takes a file's bytes in pieces. */
  @FunctionalInterface
  interface Sink {
    void take(byte[] bytes);
  }

  static void read(Connection connection, String fileId, Sink sink) throws SQLException {
    String sql = "SELECT content FROM file_part WHERE file_id = ? AND number = ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int number = 0; ; number++) {
        statement.setString(1, fileId);
        statement.setInt(2, number);
        try (ResultSet row = statement.executeQuery()) {
          if (!row.next()) {
            return;
          }
          sink.take(row.getBytes(1));
        }
      }
    }
  }

  static void delete(Connection connection, String fileId) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("DELETE FROM file_part WHERE file_id = ?")) {
      statement.setString(1, fileId);
      statement.executeUpdate();
    }
  }
}
