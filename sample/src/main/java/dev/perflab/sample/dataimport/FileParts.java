// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.http.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Stores uploaded files in the database in parts, because the replica that gets
 * {@code processFiles} may not be the one that got the file.
 */
final class FileParts {
  private static final int PART_BYTES = 512 * 1024;

  private FileParts() {}

  /** Maximum number of pieces of one part of a multipart upload. S3's largest part is 5 GiB. */
  private static final int PIECES_PER_PART = 100_000;

  /**
   * The stored bytes, the number of records as the reader splits them, and the MD5 of the bytes in
   * hexadecimal.
   */
  record Stored(long bytes, int records, String md5) {}

  /** Stores {@code body}. Fails with 413 if it is longer than {@code maxBytes}. */
  static Stored store(Connection connection, String fileId, InputStream body, long maxBytes) throws SQLException {
    return store(connection, fileId, 0, body, maxBytes);
  }

  /** Stores part {@code part} of a file and replaces an earlier one. Parts are read in order. */
  static Stored store(Connection connection, String fileId, int part, InputStream body, long maxBytes)
      throws SQLException {
    int first = part * PIECES_PER_PART;
    delete(connection, fileId, first, first + PIECES_PER_PART);
    MessageDigest digest = md5();
    int[] records = {0};
    RecordCutter counter = new RecordCutter(record -> records[0]++);
    long bytes = 0;
    String sql = "INSERT INTO file_part (file_id, number, content) VALUES (?, ?, ?)";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      byte[] piece = new byte[PART_BYTES];
      for (int number = first; ; number++) {
        int length = read(body, piece);
        if (length == 0) {
          break;
        }
        bytes += length;
        if (bytes > maxBytes) {
          throw Problem.tooLarge("the file is larger than MAX_UPLOAD_BYTES, " + maxBytes);
        }
        counter.feed(piece, length);
        digest.update(piece, 0, length);
        statement.setString(1, fileId);
        statement.setInt(2, number);
        statement.setBytes(3, length == piece.length ? piece : Arrays.copyOf(piece, length));
        statement.executeUpdate();
      }
    }
    counter.finish();
    return new Stored(bytes, records[0], HexFormat.of().formatHex(digest.digest()));
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has MD5", e);
    }
  }

  private static int read(InputStream body, byte[] part) {
    try {
      return body.readNBytes(part, 0, part.length);
    } catch (IOException e) {
      throw Problem.badRequest("the upload broke off: " + e.getMessage());
    }
  }

  /** Receives a file's bytes in pieces. */
  @FunctionalInterface
  interface Sink {
    void take(byte[] bytes);
  }

  static void read(Connection connection, String fileId, Sink sink) throws SQLException {
    String sql = "SELECT number, content FROM file_part WHERE file_id = ? AND number > ? ORDER BY number LIMIT 1";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int last = -1; ; ) {
        statement.setString(1, fileId);
        statement.setInt(2, last);
        try (ResultSet row = statement.executeQuery()) {
          if (!row.next()) {
            return;
          }
          last = row.getInt(1);
          sink.take(row.getBytes(2));
        }
      }
    }
  }

  static void delete(Connection connection, String fileId) throws SQLException {
    delete(connection, fileId, 0, Integer.MAX_VALUE);
  }

  private static void delete(Connection connection, String fileId, int from, int before) throws SQLException {
    String sql = "DELETE FROM file_part WHERE file_id = ? AND number >= ? AND number < ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, fileId);
      statement.setInt(2, from);
      statement.setInt(3, before);
      statement.executeUpdate();
    }
  }
}
