// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.MarcRecords;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StallIT {
  @Test
  void endsAJobNobodyWorksOn() throws Exception {
    Backends backends = Backends.shared();
    Map<String, String> environment = backends.environment(1);
    environment.put("IMPORT_STALL_SECONDS", "2");
    try (Library library = Library.start(environment)) {
      library.stopRole("inventory-storage");
      Imports imports = new Imports(library);
      ObjectNode execution = imports.awaitEnd(imports.start(MarcRecords.file(20), Imports.PTF_CREATE));
      assertEquals("ERROR", execution.path("status").asText());
      assertEquals("FILE_PROCESSING_ERROR", execution.path("errorStatus").asText());
      assertEquals(0, execution.path("progress").path("current").asInt());
    }
  }
}
