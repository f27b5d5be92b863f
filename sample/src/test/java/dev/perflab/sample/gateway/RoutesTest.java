// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.perflab.sample.Settings;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoutesTest {
  private static final Map<String, String> ENV = Map.of(
      "CIRCULATION_URL", "http://c:8081", "INVENTORY_STORAGE_URL", "http://i:8081/", "DATA_IMPORT_URL", "http://d:8081");

  @ParameterizedTest
  @CsvSource({
      "/users,http://c:8081", "/circulation/loans/1,http://c:8081", "/accounts,http://c:8081",
      "/inventory/items,http://i:8081", "/service-points,http://i:8081",
      "/data-import/uploadDefinitions,http://d:8081", "/data-import-profiles/jobProfiles,http://d:8081",
      "/metadata-provider/jobExecutions,http://d:8081"})
  void knowsWhoServesAPath(String path, String module) {
    assertEquals(Optional.of(URI.create(module)), new Routes(new Settings(ENV)).of(path));
  }

  @ParameterizedTest
  @CsvSource({"/", "/unknown", "/usersabc"})
  void knowsWhatNobodyServes(String path) {
    assertEquals(Optional.empty(), new Routes(new Settings(ENV)).of(path));
  }

  @Test
  void namesAnAddressItCannotUse() {
    Map<String, String> env = new HashMap<>(ENV);
    env.put("DATA_IMPORT_URL", "data-import:8081");
    Exception e = assertThrows(IllegalArgumentException.class, () -> new Routes(new Settings(env)));
    assertEquals("environment variable DATA_IMPORT_URL is \"data-import:8081\", not an http URL", e.getMessage());
  }
}
