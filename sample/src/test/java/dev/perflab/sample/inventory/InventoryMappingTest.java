// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.inventory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.kafka.Message.ParsedRecord;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class InventoryMappingTest {
  private static final String RECORD = """
      {"leader": "x", "fields": [
        {"001": "a1"},
        {"020": {"ind1": " ", "ind2": " ", "subfields": [{"a": "9783"}]}},
        {"050": {"ind1": " ", "ind2": "4", "subfields": [{"a": "QA76"}, {"b": ".K6"}]}},
        {"100": {"ind1": "1", "ind2": " ", "subfields": [{"a": "Knuth, D."}]}},
        {"245": {"ind1": "1", "ind2": "0", "subfields": [{"a": "Sorting"}, {"b": "and searching"}, {"c": "DK"}]}},
        {"650": {"ind1": " ", "ind2": "0", "subfields": [{"a": "Algorithms"}, {"x": "Study"}]}},
        {"650": {"ind1": " ", "ind2": "0", "subfields": [{"a": "Computers"}]}}]}""";

  private static InventoryMapping mapping(int order) {
    return new InventoryMapping("job", new ParsedRecord(order, Json.parseObject(RECORD)));
  }

  @Test
  void makesAnInstance() {
    ObjectNode instance = mapping(0).instance(7);
    assertEquals("Sorting and searching DK", instance.path("title").asText());
    assertEquals("in00000000007", instance.path("hrid").asText());
    assertEquals("[{\"name\":\"Knuth, D.\"}]", instance.path("contributors").toString());
    assertEquals("[\"Algorithms Study\",\"Computers\"]", instance.path("subjects").toString());
    assertEquals("[{\"type\":\"ISBN\",\"value\":\"9783\"}]", instance.path("identifiers").toString());
  }

  @Test
  void linksHoldingsAndItem() {
    InventoryMapping mapping = mapping(3);
    assertEquals(mapping.instanceId(), mapping.holdings().path("instanceId").asText());
    assertEquals(mapping.holdings().path("id"), mapping.item().path("holdingsRecordId"));
    assertEquals("QA76 .K6", mapping.holdings().path("callNumber").asText());
    assertEquals("Available", mapping.item().path("status").path("name").asText());
  }

  @Test
  void givesARecordTheSameIdsEveryTimeAndNoOtherRecordThose() {
    assertEquals(mapping(1).item(), mapping(1).item());
    assertNotEquals(mapping(1).instanceId(), mapping(2).instanceId());
  }

  @Test
  void missesTheTitle() {
    InventoryMapping untitled = new InventoryMapping("job", new ParsedRecord(0, Json.object("leader", "x")));
    assertEquals(Optional.of("the record has no title (245 $a)"), untitled.missing());
    assertEquals(Optional.empty(), mapping(0).missing());
  }
}
