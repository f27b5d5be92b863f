// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import java.io.ByteArrayOutputStream;
import java.util.function.Consumer;

/**
 * Splits a stream of ISO 2709 bytes at record terminators, piece by piece as they arrive. It
 * ignores the lengths in the leaders: the parser reports a wrong length, which does not affect
 * where the next record starts.
 */
final class RecordCutter {
  /** The largest length a leader can state. */
  static final int MAX_RECORD_BYTES = 99_999;
  private static final byte RECORD_TERMINATOR = 0x1D;

  private final Consumer<byte[]> records;
  private final ByteArrayOutputStream current = new ByteArrayOutputStream(4_096);

  RecordCutter(Consumer<byte[]> records) {
    this.records = records;
  }

  void feed(byte[] bytes, int length) {
    int start = 0;
    for (int i = 0; i < length; i++) {
      if (bytes[i] == RECORD_TERMINATOR) {
        append(bytes, start, i + 1);
        complete();
        start = i + 1;
      }
    }
    append(bytes, start, length);
  }

  /** Passes on the bytes after the last terminator, unless they are blank. */
  void finish() {
    complete();
  }

  private void append(byte[] bytes, int from, int to) {
    int start = from;
    // Some files put line ends between records.
    while (current.size() == 0 && start < to && isBlank(bytes[start])) {
      start++;
    }
    // Keeps one byte more than allowed, so that the parser detects a record that is too long.
    int room = MAX_RECORD_BYTES + 1 - current.size();
    current.write(bytes, start, Math.min(room, to - start));
  }

  private static boolean isBlank(byte b) {
    return b == '\n' || b == '\r' || b == ' ' || b == 0x1A;
  }

  private void complete() {
    if (current.size() > 0) {
      records.accept(current.toByteArray());
      current.reset();
    }
  }
}
