// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.MarcRecords;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class SplitImportIT {
  private static Backends backends;
  private static Library library;
  private static Imports imports;

  @BeforeAll
  static void start() throws Exception {
    backends = Backends.shared();
    Map<String, String> environment = backends.environment(2);
    environment.putAll(Map.of("SPLIT_FILES_ENABLED", "true", "RECORDS_PER_SPLIT_FILE", "100"));
    library = Library.start(environment);
    imports = new Imports(library);
  }

  @AfterAll
  static void stop() {
    library.close();
  }

  private static ObjectNode children(String job) throws Exception {
    return library.read("/change-manager/jobExecutions/" + job + "/children?limit=1000");
  }

  @Test
  void importsAFileInParts() throws Exception {
    assertTrue(library.read("/data-import/splitStatus").path("splitStatus").asBoolean());
    String job = imports.startSplit(List.of(MarcRecords.file(430)), Imports.PTF_CREATE);
    ObjectNode parent = imports.awaitEnd(job);
    assertEquals("COMMITTED", parent.path("status").asText(), parent.toString());
    assertEquals("COMPOSITE_PARENT", parent.path("subordinationType").asText());
    assertEquals(Json.parseObject("{\"committedState\":{\"chunksCount\":5,\"totalRecordsCount\":430,"
        + "\"currentlyProcessedCount\":430}}"), parent.path("compositeDetails"));
    assertEquals(430, imports.summary(job).path("itemSummary").path("totalCreatedEntities").asInt());
    assertEquals(430, backends.count(library.database(), "diku_inventory_storage.item WHERE import_job IN"
        + " (SELECT id FROM diku_data_import.job_execution WHERE parent_id = '" + job + "')"));
    Set<String> kinds = new TreeSet<>();
    int last = 0;
    for (JsonNode child : children(job).path("jobExecutions")) {
      kinds.add(child.path("subordinationType").asText() + " " + child.path("status").asText());
      assertEquals(job, child.path("parentJobId").asText());
      last = child.path("progress").path("total").asInt();
    }
    assertEquals(Set.of("COMPOSITE_CHILD COMMITTED"), kinds);
    assertEquals(30, last);
    ObjectNode parents = library.read("/metadata-provider/jobExecutions?subordinationTypeNotAny=COMPOSITE_CHILD&limit=50");
    parents.path("jobExecutions").forEach(execution ->
        assertEquals("COMPOSITE_PARENT", execution.path("subordinationType").asText()));
  }

  @Test
  void putsPartsTogether() throws Exception {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    byte[] block = MarcRecords.file(1_000);
    while (file.size() < 6 << 20) {
      file.writeBytes(block);
    }
    byte[] all = file.toByteArray();
    // The parts are split at a byte offset, regardless of records.
    List<byte[]> parts = List.of(Arrays.copyOf(all, (5 << 20) + 17), Arrays.copyOfRange(all, (5 << 20) + 17, all.length));
    String job = imports.startSplit(parts, "Default - Create instance and SRS MARC Bib");
    int records = all.length / block.length * 1_000;
    JsonNode parent = library.read("/change-manager/jobExecutions/" + job);
    while (parent.path("progress").path("total").asInt() == 0) {
      Thread.sleep(50);
      parent = library.read("/change-manager/jobExecutions/" + job);
    }
    assertEquals(records, parent.path("progress").path("total").asInt());
    assertEquals(records / 100, children(job).path("totalRecords").asInt());
    // The test does not need all jobs to finish.
    assertEquals(204, library.request("gateway", "DELETE", "/data-import/jobExecutions/" + job + "/cancel", null).statusCode());
    assertEquals("CANCELLED", imports.awaitEnd(job).path("status").asText());
  }

  @Test
  void endsInErrorWhenOnePartStops() throws Exception {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.writeBytes(MarcRecords.file(150));
    file.writeBytes(MarcRecords.untitled());
    file.writeBytes(MarcRecords.file(149));
    ObjectNode parent = imports.awaitEnd(imports.startSplit(List.of(file.toByteArray()), Imports.PTF_CREATE));
    assertEquals("ERROR", parent.path("status").asText());
    JsonNode states = parent.path("compositeDetails");
    assertEquals(2, states.path("committedState").path("chunksCount").asInt());
    assertEquals(1, states.path("errorState").path("chunksCount").asInt());
    assertEquals(299, imports.summary(parent.path("id").asText()).path("itemSummary").path("totalCreatedEntities").asInt());
  }

  @Test
  void stopsOneOfManyParts() throws Exception {
    library.stopRole("inventory-storage");
    String job;
    try {
      job = imports.startSplit(List.of(MarcRecords.file(300)), Imports.PTF_CREATE);
      while (children(job).path("totalRecords").asInt() < 3) {
        Thread.sleep(20);
      }
      String child = children(job).path("jobExecutions").get(1).path("id").asText();
      assertEquals(204, library.request("gateway", "DELETE", "/data-import/jobExecutions/" + child + "/cancel", null).statusCode());
      assertEquals(400, library.request("gateway", "DELETE", "/data-import/jobExecutions/" + child + "/cancel", null).statusCode());
    } finally {
      library.startRole("inventory-storage");
      library.awaitReady();
    }
    ObjectNode parent = imports.awaitEnd(job);
    assertEquals("ERROR", parent.path("status").asText());
    assertEquals(1, parent.path("compositeDetails").path("cancelledState").path("chunksCount").asInt());
    assertEquals(200, parent.path("compositeDetails").path("committedState").path("totalRecordsCount").asInt());
  }

  @Test
  void keepsToWhatItSigned() throws Exception {
    ObjectNode url = library.read("/data-import/uploadUrl?fileName=b.mrc");
    String address = url.path("url").asText();
    assertEquals(403, library.put(address.replace("partNumber=1", "partNumber=2"), new byte[3]).statusCode());
    assertEquals(403, library.put(address.substring(0, address.indexOf('?')), new byte[3]).statusCode());
    assertEquals(200, library.put(address, new byte[3]).statusCode());
    String path = "/data-import/uploadDefinitions/" + imports.define().path("id").asText() + "/files/x/assembleStorageFile";
    ObjectNode body = Json.object("uploadId", url.path("uploadId"), "key", url.path("key"), "tags", List.of("\"other\""));
    assertEquals(400, library.post(path, body).statusCode());
    // The last PUT of a part counts.
    String tag = library.put(address, new byte[] {1, 2, 3}).headers().firstValue("ETag").orElseThrow();
    assertEquals("\"5289df737df57326fcdd22597afb1fac\"", tag);
  }
}
