// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTest {
  @Test
  void takesAnEmptyVariableForAnAbsentOne() {
    Settings settings = new Settings(Map.of("A", " "));
    assertEquals("x", settings.text("A", "x"));
    assertThrows(IllegalArgumentException.class, () -> settings.required("A"));
  }

  @Test
  void refusesWhatIsNoNumberOrTooSmall() {
    Settings settings = new Settings(Map.of("A", "many", "B", "0"));
    assertEquals("environment variable A is \"many\", not a whole number",
        assertThrows(IllegalArgumentException.class, () -> settings.number("A", 1)).getMessage());
    assertEquals("environment variable B is 0, must be at least 1",
        assertThrows(IllegalArgumentException.class, () -> settings.atLeast(1, "B", 1)).getMessage());
  }

  @Test
  void readsKafkaSettingsInBothSpellingsTheDottedOneFirst() {
    Settings settings = new Settings(Map.of(
        "KAFKA_CONSUMER_MAX_POLL_RECORDS", "5",
        "kafka.consumer.max.poll.records", "7",
        "KAFKA_CONSUMER_FETCH_MIN_BYTES", "1",
        "KAFKA_HOST", "k"));
    assertEquals(Map.of("max.poll.records", "7", "fetch.min.bytes", "1"), settings.under("kafka.consumer"));
  }

  @Test
  void refusesAnUnknownRole() {
    assertThrows(IllegalArgumentException.class, () -> new Service("cataloguing", new Settings(Map.of())));
  }
}
