// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.perflab.sample.MarcRecords;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordCutterTest {
  private static List<byte[]> cut(byte[] file, int pieceLength) {
    List<byte[]> records = new ArrayList<>();
    RecordCutter cutter = new RecordCutter(records::add);
    for (int at = 0; at < file.length; at += pieceLength) {
      byte[] piece = Arrays.copyOfRange(file, at, Math.min(file.length, at + pieceLength));
      cutter.feed(piece, piece.length);
    }
    cutter.finish();
    return records;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 100, 1_000_000})
  void cutsTheSameRecordsWhateverThePieces(int pieceLength) {
    List<byte[]> records = cut(MarcRecords.file(20), pieceLength);
    assertEquals(20, records.size());
    assertArrayEquals(MarcRecords.titled("Title 19"), records.get(19));
  }

  @Test
  void skipsLineEndsBetweenRecords() {
    String text = "one\u001D\r\n\ntwo\u001D\n";
    List<String> records = cut(text.getBytes(StandardCharsets.US_ASCII), 2).stream()
        .map(r -> new String(r, StandardCharsets.US_ASCII)).toList();
    assertEquals(List.of("one\u001D", "two\u001D"), records);
  }

  @Test
  void handsOverWhatFollowsTheLastTerminator() {
    assertEquals(2, cut("one\u001Dtail".getBytes(StandardCharsets.US_ASCII), 3).size());
    assertEquals(0, cut(" \n".getBytes(StandardCharsets.US_ASCII), 3).size());
  }

  @Test
  void keepsNoMoreThanALeaderCanStateAndGoesOnAfterIt() {
    byte[] file = new byte[300_000];
    Arrays.fill(file, (byte) 'x');
    file[250_000] = 0x1D;
    file[299_999] = 0x1D;
    List<byte[]> records = cut(file, 65_536);
    assertEquals(List.of(100_000, 49_999), records.stream().map(r -> r.length).toList());
  }
}
