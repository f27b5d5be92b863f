// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.MarcRecords;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DataImportIT {
  private static final List<String> CHUNK_GROUPS = List.of("DI_RAW_RECORDS_CHUNK_READ.data-import-1.0.0",
      "DI_RAW_RECORDS_CHUNK_PARSED.data-import-1.0.0", "DI_PARSED_RECORDS_CHUNK_SAVED.inventory-storage-1.0.0");
  private static Backends backends;
  private static Map<String, String> environment;
  private static Library library;
  private static Imports imports;

  @BeforeAll
  static void start() throws Exception {
    backends = Backends.shared();
    environment = backends.environment(2);
    environment.put("PERFLAB_RUN", "run-1");
    environment.put("MAX_UPLOAD_BYTES", "3000000");
    library = Library.start(environment);
    imports = new Imports(library);
  }

  @AfterAll
  static void stop() {
    library.close();
  }

  private static long imported(String table) throws Exception {
    return backends.count(library.database(), "diku_inventory_storage." + table + " WHERE import_job IS NOT NULL");
  }

  private static long importedBy(String job, String table) throws Exception {
    return backends.count(library.database(), "diku_inventory_storage." + table + " WHERE import_job = '" + job + "'");
  }

  @Test
  void importsAFile() throws Exception {
    String job = imports.start(MarcRecords.file(130), Imports.PTF_CREATE);
    ObjectNode execution = imports.awaitEnd(job);
    assertEquals("COMMITTED", execution.path("status").asText());
    assertEquals("RUNNING_COMPLETE", execution.path("uiStatus").asText());
    assertEquals(130, execution.path("progress").path("current").asInt());
    assertEquals(130, execution.path("progress").path("total").asInt());
    Instant started = Instant.parse(execution.path("startedDate").asText());
    assertTrue(Instant.parse(execution.path("completedDate").asText()).isAfter(started));
    ObjectNode summary = imports.summary(job);
    assertEquals(130, summary.path("instanceSummary").path("totalCreatedEntities").asInt());
    assertEquals(130, summary.path("itemSummary").path("totalCreatedEntities").asInt());
    assertEquals(0, summary.path("totalErrors").asInt());
    assertEquals(130, importedBy(job, "instance"));
    assertEquals(130, importedBy(job, "holdings_record"));
    assertEquals(130, importedBy(job, "item"));
    ObjectNode log = library.read("/metadata-provider/jobLogEntries/" + job + "?limit=1&offset=129");
    assertEquals("Title 129", log.path("entries").get(0).path("sourceRecordTitle").asText());
  }

  @Test
  void makesOfARecordWhatTheProfileSays() throws Exception {
    String job = imports.start(MarcRecords.file(3), "Default - Create instance and SRS MARC Bib");
    assertEquals("COMMITTED", imports.awaitEnd(job).path("status").asText());
    assertEquals(3, importedBy(job, "instance"));
    assertEquals(0, importedBy(job, "item"));
    assertTrue(imports.summary(job).path("itemSummary").isMissingNode());
  }

  @Test
  void countsWhatCannotBeImportedAndGoesOn() throws Exception {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.writeBytes(MarcRecords.file(60));
    file.writeBytes(MarcRecords.garbled());
    file.writeBytes("no record at all\u001D".getBytes(StandardCharsets.US_ASCII));
    file.writeBytes(MarcRecords.untitled());
    file.writeBytes(MarcRecords.titled("the last one"));
    String job = imports.start(file.toByteArray(), Imports.PTF_CREATE);
    ObjectNode execution = imports.awaitEnd(job);
    assertEquals("ERROR", execution.path("status").asText());
    assertEquals(64, execution.path("progress").path("current").asInt());
    ObjectNode summary = imports.summary(job);
    assertEquals(61, summary.path("instanceSummary").path("totalCreatedEntities").asInt());
    assertEquals(3, summary.path("totalErrors").asInt());
    assertEquals(61, importedBy(job, "item"));
    JsonNode errors = library.read("/metadata-provider/jobLogEntries/" + job + "?errorsOnly=true").path("entries");
    assertEquals("60 61 62", errors.get(0).path("sourceRecordOrder").asText() + " "
        + errors.get(1).path("sourceRecordOrder").asText() + " " + errors.get(2).path("sourceRecordOrder").asText());
    assertEquals("the record has no title (245 $a)", errors.get(2).path("error").asText());
  }

  @Test
  void endsAJobOfAnEmptyFile() throws Exception {
    String job = imports.start(" \n".getBytes(StandardCharsets.US_ASCII), Imports.PTF_CREATE);
    ObjectNode execution = imports.awaitEnd(job);
    assertEquals("ERROR", execution.path("status").asText());
    assertEquals("FILE_PROCESSING_ERROR", execution.path("errorStatus").asText());
  }

  @Test
  void refusesAFileThatIsTooLarge() throws Exception {
    ObjectNode upload = imports.define();
    String path = "/data-import/uploadDefinitions/" + upload.path("id").asText() + "/files/"
        + upload.path("fileDefinitions").get(0).path("id").asText();
    assertEquals(413, library.upload(path, new byte[3_000_001]).statusCode());
    assertEquals(200, library.upload(path, new byte[2_000_000]).statusCode());
  }

  @Test
  void refusesWhatIsNotThereToProcess() throws Exception {
    ObjectNode upload = imports.define();
    String path = "/data-import/uploadDefinitions/" + upload.path("id").asText() + "/processFiles";
    ObjectNode body = Json.object("uploadDefinition", upload, "jobProfileInfo", imports.profile(Imports.PTF_CREATE));
    assertEquals(400, library.post(path, body).statusCode());
    assertEquals(404, library.post("/data-import/uploadDefinitions/none/processFiles", body).statusCode());
    assertEquals(422, library.post(path, Json.object("jobProfileInfo", Json.object("id", "none"))).statusCode());
    assertEquals(422, library.post("/data-import/uploadDefinitions", Json.object("fileDefinitions", Json.array()))
        .statusCode());
    HttpResponse<String> noJson = library.request("gateway", "POST", "/data-import/uploadDefinitions", "[");
    assertEquals(400, noJson.statusCode());
  }

  @Test
  void losesAndDoublesNothingWhenModulesStopInTheMiddle() throws Exception {
    String job = imports.start(MarcRecords.file(3_000), Imports.PTF_CREATE);
    while (imported("item") < 200) {
      Thread.sleep(10);
    }
    library.stopRole("inventory-storage");
    library.stopRole("data-import");
    long before = importedBy(job, "item");
    assertTrue(before < 3_000, "the import was through before the modules stopped");
    library.startRole("data-import");
    library.startRole("inventory-storage");
    library.awaitReady();
    ObjectNode execution = imports.awaitEnd(job);
    assertEquals("COMMITTED", execution.path("status").asText());
    assertEquals(3_000, imports.summary(job).path("itemSummary").path("totalCreatedEntities").asInt());
    assertEquals(3_000, importedBy(job, "item"));
  }

  @Test
  void bearsTheRedeliveryOfEveryMessage() throws Exception {
    String job = imports.start(MarcRecords.file(120), Imports.PTF_CREATE);
    imports.awaitEnd(job);
    library.stopRole("inventory-storage");
    library.stopRole("data-import");
    // Not those of DI_COMPLETED: the counts must come from the second delivery.
    forgetOffsets(CHUNK_GROUPS);
    backends.execute(library.database(), "TRUNCATE diku_data_import.journal; UPDATE diku_data_import.job_execution"
        + " SET succeeded = 0, failed = 0, completed_date = NULL, status = 'PROCESSING_IN_PROGRESS' WHERE id = '" + job + "'");
    library.startRole("data-import");
    library.startRole("inventory-storage");
    library.awaitReady();
    ObjectNode execution = imports.awaitEnd(job);
    assertEquals("COMMITTED", execution.path("status").asText());
    assertEquals(120, execution.path("progress").path("current").asInt());
    assertEquals(120, importedBy(job, "instance"));
  }

  @Test
  void startsANewRunWithTheInitialDataAndPassesOldMessagesBy() throws Exception {
    imports.awaitEnd(imports.start(MarcRecords.file(60), Imports.PTF_CREATE));
    library.close();
    forgetOffsets(CHUNK_GROUPS);
    forgetOffsets(List.of("DI_COMPLETED.data-import-1.0.0"));
    environment.put("PERFLAB_RUN", "run-" + System.nanoTime());
    library = Library.start(environment);
    imports = new Imports(library);
    assertEquals(0, library.read("/metadata-provider/jobExecutions").path("totalRecords").asInt());
    String job = imports.start(MarcRecords.file(10), Imports.PTF_CREATE);
    assertEquals("COMMITTED", imports.awaitEnd(job).path("status").asText());
    assertEquals(10, imported("item"));
    assertEquals(10, backends.count(library.database(), "diku_inventory_storage.imported_record"));
    assertEquals(50, library.read("/inventory/items?limit=0").path("totalRecords").asInt());
  }

  private static void forgetOffsets(List<String> groups) throws Exception {
    try (Admin admin = backends.kafka().admin()) {
      admin.deleteConsumerGroups(groups).all().get();
    }
  }
}
