// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.db;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.perflab.sample.Settings;
import dev.perflab.sample.db.Database.DatabaseException;
import dev.perflab.sample.db.Database.Endpoint;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DatabaseTest {
  private static Settings settings(String readerHost, String readerPort) {
    Map<String, String> env = new HashMap<>(Map.of("DB_HOST", "rw", "DB_PORT", "5432"));
    if (readerHost != null) {
      env.put("DB_HOST_READER", readerHost);
    }
    if (readerPort != null) {
      env.put("DB_PORT_READER", readerPort);
    }
    return new Settings(env);
  }

  @ParameterizedTest
  @CsvSource({"ro,5433,ro,5433", "ro,,rw,5432", ",5433,rw,5432", ",,rw,5432", "'',5433,rw,5432"})
  void readsFromTheReaderOnlyIfBothItsVariablesAreSet(String host, String port, String expected, int expectedPort) {
    assertEquals(new Endpoint(expected, expectedPort), Database.readerEndpoint(settings(host, port)));
  }

  @Test
  void namesTheVariableThatIsMissing() {
    Exception e = assertThrows(
        IllegalArgumentException.class, () -> Database.writerEndpoint(new Settings(Map.of())));
    assertEquals("environment variable DB_HOST is not set", e.getMessage());
  }

  @ParameterizedTest
  @CsvSource({"08006,true", "57P01,true", "53300,true", "40001,true", "25006,true", "23505,false", "22P05,false"})
  void tellsWhatMayPassFromWhatIsWrongWithTheData(String state, boolean passing) {
    assertEquals(passing, new DatabaseException("x", new SQLException("y", state)).isTransient());
  }

  @Test
  void knowsDuplicates() {
    assertTrue(new DatabaseException("x", new SQLException("y", "23505")).isDuplicate());
    assertFalse(new DatabaseException("x", new SQLException("y", "23503")).isDuplicate());
  }
}
