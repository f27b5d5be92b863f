// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.MarcRecords;
import dev.perflab.sample.dataimport.MarcParser.MalformedRecord;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class MarcParserTest {
  private static String problem(byte[] record) {
    return assertThrows(MalformedRecord.class, () -> MarcParser.parse(record)).getMessage();
  }

  @Test
  void readsFieldsIndicatorsAndSubfields() throws MalformedRecord {
    ObjectNode record = MarcParser.parse(MarcRecords.titled("Größe"));
    assertEquals('a', record.path("leader").asText().charAt(9));
    assertEquals("{\"100\":{\"ind1\":\"1\",\"ind2\":\" \",\"subfields\":[{\"a\":\"Müller, Ärne,\"},{\"d\":\"1950-\"}]}}",
        record.path("fields").get(1).toString());
    assertEquals("Größe", record.path("fields").get(2).path("245").path("subfields").get(0).path("a").asText());
  }

  @Test
  void refusesARecordWithAWrongLength() {
    byte[] record = MarcRecords.titled("short");
    byte[] cut = Arrays.copyOf(record, record.length - 10);
    assertTrue(problem(cut).startsWith("the leader states a length of"), problem(cut));
  }

  @Test
  void refusesWhatIsNoMarc() {
    assertEquals("the record has 5 bytes, less than a leader", problem("hello".getBytes(StandardCharsets.US_ASCII)));
    assertTrue(problem(MarcRecords.garbled()).startsWith("the record cannot be read"));
    assertTrue(problem(new byte[100_000]).contains("longer than 99999"));
  }

  @Test
  void refusesWhatTheDatabaseCannotKeep() {
    byte[] record = MarcRecords.titled("a0b");
    for (int i = 1; i < record.length - 1; i++) {
      if (record[i] == '0' && record[i - 1] == 'a' && record[i + 1] == 'b') {
        record[i] = 0;
      }
    }
    assertEquals("the record holds a NUL character", problem(record));
  }
}
