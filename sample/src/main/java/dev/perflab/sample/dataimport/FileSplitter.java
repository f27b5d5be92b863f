// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;

/** Splits a file into smaller files of a given number of records, each with its own job. */
final class FileSplitter {
  private final Connection connection;
  private final String parent;
  private final int size;
  private final RecordCutter cutter = new RecordCutter(this::add);
  private final ByteArrayOutputStream current = new ByteArrayOutputStream(1 << 20);
  private int inCurrent;
  private int records;
  private int files;

  FileSplitter(Connection connection, String parent, int size) {
    this.connection = connection;
    this.parent = parent;
    this.size = size;
  }

  void feed(byte[] bytes) {
    cutter.feed(bytes, bytes.length);
  }

  void finish() {
    cutter.finish();
    complete();
  }

  int records() {
    return records;
  }

  int files() {
    return files;
  }

  private void add(byte[] record) {
    current.writeBytes(record);
    records++;
    if (++inCurrent == size) {
      complete();
    }
  }

  private void complete() {
    if (inCurrent == 0) {
      return;
    }
    String id = UUID.randomUUID().toString();
    try {
      FileParts.store(connection, id, new ByteArrayInputStream(current.toByteArray()), Long.MAX_VALUE);
      Jobs.addChild(connection, parent, id, ++files, inCurrent);
    } catch (SQLException e) {
      throw new dev.perflab.sample.db.Database.DatabaseException("splitting a file", e);
    }
    current.reset();
    inCurrent = 0;
  }
}
