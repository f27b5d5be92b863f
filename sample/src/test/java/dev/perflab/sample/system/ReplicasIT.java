// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.perflab.sample.MarcRecords;
import dev.perflab.sample.Service;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplicasIT {
  /** With one partition, the second replica's consumers get no partitions, but are ready. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void shareTheWorkOfAnImport(int partitions) throws Exception {
    Backends backends = Backends.shared();
    try (Library library = Library.start(backends.environment(partitions))) {
      try (Service dataImport = library.startReplica("data-import")) {
        library.awaitReady(dataImport);
        try (Service inventory = library.startReplica("inventory-storage")) {
          library.awaitReady(inventory);
          Imports imports = new Imports(library);
          String first = imports.start(MarcRecords.file(510), Imports.PTF_CREATE);
          String second = imports.start(MarcRecords.file(130), Imports.PTF_CREATE);
          assertEquals("COMMITTED", imports.awaitEnd(second).path("status").asText());
          assertEquals("COMMITTED", imports.awaitEnd(first).path("status").asText());
          assertEquals(510, imports.summary(first).path("itemSummary").path("totalCreatedEntities").asInt());
          assertEquals(130, imports.summary(second).path("itemSummary").path("totalCreatedEntities").asInt());
          assertEquals(640, backends.count(library.database(), "diku_inventory_storage.item WHERE import_job IS NOT NULL"));
        }
      }
    }
  }
}
