// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.MarcRecords;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.marc4j.MarcStreamReader;
import org.marc4j.marc.ControlField;
import org.marc4j.marc.DataField;
import org.marc4j.marc.Record;

/** Imports of holdings and authorities, and the path of a record through create, export and update. */
class ImportKindsIT {
  private static final String HOLDINGS = "Default - Create Holdings and SRS MARC Holdings";
  private static final String AUTHORITIES = "Default - Create SRS MARC Authority";
  private static Library library;
  private static Imports imports;

  @BeforeAll
  static void start() throws Exception {
    library = Library.start(Backends.shared().environment(1));
    imports = new Imports(library);
  }

  @AfterAll
  static void stop() {
    library.close();
  }

  private static ObjectNode only(String path, String key, String cql) throws Exception {
    JsonNode found = library.read(path + "?" + Library.query(cql)).path(key);
    assertEquals(1, found.size(), path + " " + cql);
    return (ObjectNode) found.get(0);
  }

  @Test
  void importsHoldings() throws Exception {
    ObjectNode instance = (ObjectNode) library.read("/instance-storage/instances?limit=1&"
        + Library.query("source==MARC sortBy hrid")).path("instances").get(0);
    ObjectNode location = (ObjectNode) library.read("/locations").path("locations").get(0);
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.writeBytes(MarcRecords.holdings(instance.path("hrid").asText(), location.path("code").asText()));
    file.writeBytes(MarcRecords.holdings("none", location.path("code").asText()));
    file.writeBytes(MarcRecords.holdings(instance.path("hrid").asText(), "NOWHERE"));
    String job = imports.start(file.toByteArray(), HOLDINGS);
    assertEquals("ERROR", imports.awaitEnd(job).path("status").asText());
    assertEquals(1, imports.summary(job).path("holdingSummary").path("totalCreatedEntities").asInt());
    JsonNode errors = library.read("/metadata-provider/jobLogEntries/" + job + "?errorsOnly=true").path("entries");
    assertEquals("no record in instances has the HRID \"none\" (004)", errors.get(0).path("error").asText());
    assertEquals("no location has the code \"NOWHERE\" (852 $b)", errors.get(1).path("error").asText());
    String query = "instanceId==" + instance.path("id").asText() + " and permanentLocationId==" + location.path("id").asText();
    JsonNode holdings = library.read("/holdings-storage/holdings?" + Library.query(query)).path("holdingsRecords");
    assertEquals(2, holdings.size());
    assertTrue(holdings.toString().contains("\"QA76 .P1\""), holdings.toString());
  }

  @Test
  void importsAnAuthorityOnce() throws Exception {
    byte[] record = MarcRecords.authority("n  0212345", "Müller, Ärne");
    assertEquals("COMMITTED", imports.awaitEnd(imports.start(record, AUTHORITIES)).path("status").asText());
    assertEquals("Müller, Ärne",
        only("/authority-storage/authorities", "authorities", "naturalId==n0212345").path("personalName").asText());
    String again = imports.start(record, AUTHORITIES);
    assertEquals("ERROR", imports.awaitEnd(again).path("status").asText());
    assertEquals(0, imports.summary(again).path("authoritySummary").path("totalCreatedEntities").asInt());
  }

  @Test
  void updatesWhatItExported() throws Exception {
    String created = imports.start(MarcRecords.file(30), Imports.PTF_CREATE);
    assertEquals("COMMITTED", imports.awaitEnd(created).path("status").asText());
    List<Record> exported = export(created, 30);
    Record first = exported.get(0);
    String hrid = ((ControlField) first.getVariableField("001")).getData();
    String holdingsHrid = subfield(first, "901", 'a');
    String itemHrid = subfield(first, "902", 'a');
    ObjectNode before = only("/instance-storage/instances", "instances", "hrid==" + hrid);
    assertEquals("Title 0", before.path("title").asText());
    assertEquals(before.path("id").asText(), subfield(first, "999", 'i'));

    ((DataField) first.getVariableField("245")).getSubfield('a').setData("Another title");
    String updated = imports.start(bytes(exported), updateProfile());
    assertEquals("COMMITTED", imports.awaitEnd(updated).path("status").asText());
    ObjectNode summary = imports.summary(updated);
    for (String kind : List.of("sourceRecordSummary", "instanceSummary", "holdingSummary", "itemSummary")) {
      assertEquals(30, summary.path(kind).path("totalUpdatedEntities").asInt(), kind);
      assertEquals(0, summary.path(kind).path("totalCreatedEntities").asInt(), kind);
    }
    ObjectNode after = only("/instance-storage/instances", "instances", "hrid==" + hrid);
    assertEquals("Another title", after.path("title").asText());
    assertEquals(before.path("id"), after.path("id"));
    assertEquals(2, after.path("_version").asInt());
    assertEquals(2, only("/holdings-storage/holdings", "holdingsRecords", "hrid==" + holdingsHrid).path("_version").asInt());
    assertEquals(2, only("/item-storage/items", "items", "hrid==" + itemHrid).path("_version").asInt());

    Record again = export(updated, 30).get(0);
    assertEquals("Another title", subfield(again, "245", 'a'));
    assertEquals("Addition", subfield(again, "947", 'b'));
    assertEquals(1, again.getVariableFields("901").size());
  }

  @Test
  void updatesNothingThatIsNotThere() throws Exception {
    String job = imports.start(MarcRecords.file(2), updateProfile());
    assertEquals("ERROR", imports.awaitEnd(job).path("status").asText());
    assertEquals(0, imports.summary(job).path("instanceSummary").path("totalUpdatedEntities").asInt());
  }

  @Test
  void refusesProfilesThatHangInTheAir() throws Exception {
    ObjectNode body = Json.object("profile", Json.object("name", "broken"));
    body.putArray("addedRelations").add(relation("JOB_PROFILE", null, "ACTION_PROFILE", "none"));
    assertEquals(422, library.post("/data-import-profiles/jobProfiles", body).statusCode());
    assertEquals(422, library.post("/data-import-profiles/jobProfiles",
        Json.object("profile", Json.object("name", Imports.PTF_CREATE))).statusCode());
    assertFalse(library.read("/data-import-profiles/jobProfiles?limit=100").toString().contains("broken"));
    assertEquals(404, library.get("/data-import-profiles/profileSnapshots/none?profileType=JOB_PROFILE").statusCode());
  }

  /** The exported instances of a job. */
  private static List<Record> export(String job, int count) throws Exception {
    List<String> ids = new ArrayList<>();
    library.read("/metadata-provider/jobLogEntries/" + job + "?limit=1000").path("entries")
        .forEach(entry -> ids.add(entry.path("relatedInstanceInfo").path("idList").get(0).asText()));
    ObjectNode mapping = Json.object("name", "mapping " + job);
    mapping.putArray("transformations")
        .add(Json.object("fieldId", "holdings.hrid", "transformation", "901  $a"))
        .add(Json.object("fieldId", "item.hrid", "transformation", "902  $a"));
    String mappingId = made("/data-export/mapping-profiles", mapping);
    String profileId = made("/data-export/job-profiles", Json.object("name", "job " + job, "mappingProfileId", mappingId));
    String fileId = made("/data-export/file-definitions", Json.object("fileName", "ids.csv", "uploadFormat", "csv"));
    HttpResponse<String> uploaded = library.upload("/data-export/file-definitions/" + fileId + "/upload",
        String.join("\n", ids).getBytes(java.nio.charset.StandardCharsets.UTF_8));
    String exportJob = Json.parseObject(uploaded.body()).path("jobExecutionId").asText();
    assertEquals(204, library.post("/data-export/export",
        Json.object("fileDefinitionId", fileId, "jobProfileId", profileId, "idType", "instance")).statusCode());
    JsonNode execution = Json.object();
    while (!execution.path("status").asText().startsWith("COMPLETED")) {
      Thread.sleep(50);
      execution = library.read("/data-export/job-executions?" + Library.query("id==" + exportJob))
          .path("jobExecutions").path(0);
    }
    assertEquals("COMPLETED", execution.path("status").asText(), execution.toString());
    String file = execution.path("exportedFiles").get(0).path("fileId").asText();
    byte[] marc = library.fetch(
        library.read("/data-export/job-executions/" + exportJob + "/download/" + file).path("link").asText());
    List<Record> records = new ArrayList<>();
    MarcStreamReader reader = new MarcStreamReader(new ByteArrayInputStream(marc));
    while (reader.hasNext()) {
      records.add(reader.next());
    }
    assertEquals(count, records.size());
    return records;
  }

  /** A profile as the load script creates it: modify by 001, update holdings by 901 and items by 902. */
  private static String updateProfile() throws Exception {
    String name = "PTF - Updates " + System.nanoTime();
    ObjectNode body = Json.object("profile", Json.object("name", name, "dataType", "MARC"));
    ArrayNode relations = body.putArray("addedRelations");
    addStep(relations, name, "MODIFY", "MARC_BIBLIOGRAPHIC", "001", "");
    addStep(relations, name, "UPDATE", "HOLDINGS", "901", "a");
    addStep(relations, name, "UPDATE", "ITEM", "902", "a");
    made("/data-import-profiles/jobProfiles", body);
    return name;
  }

  private static void addStep(ArrayNode relations, String name, String action, String type, String tag, String code)
      throws Exception {
    String own = name + " " + type;
    ObjectNode details = Json.object("recordType", type);
    if (action.equals("MODIFY")) {
      details.putArray("marcMappingDetails").add(Json.parseObject("{\"action\": \"ADD\", \"field\": {\"field\": \"947\","
          + " \"subfields\": [{\"subfield\": \"a\", \"data\": {\"text\": \"Test\"}},"
          + " {\"subfield\": \"b\", \"data\": {\"text\": \"Addition\"}}]}}"));
    }
    String mapping = made("/data-import-profiles/mappingProfiles",
        Json.object("profile", Json.object("name", own, "mappingDetails", details)));
    ObjectNode actionBody = Json.object("profile", Json.object("name", own, "action", action, "folioRecord", type));
    actionBody.putArray("addedRelations").add(relation("ACTION_PROFILE", null, "MAPPING_PROFILE", mapping));
    String actionId = made("/data-import-profiles/actionProfiles", actionBody);
    ObjectNode match = Json.parseObject("{\"profile\": {\"name\": \"" + own + "\", \"matchDetails\": [{\"incomingMatchExpression\":"
        + " {\"fields\": [{\"label\": \"field\", \"value\": \"" + tag + "\"}, {\"label\": \"indicator1\", \"value\": \"\"},"
        + " {\"label\": \"recordSubfield\", \"value\": \"" + code + "\"}]}}]}}");
    String matchId = made("/data-import-profiles/matchProfiles", match);
    relations.add(relation("JOB_PROFILE", null, "MATCH_PROFILE", matchId).put("order", relations.size()));
    relations.add(relation("MATCH_PROFILE", matchId, "ACTION_PROFILE", actionId).put("reactTo", "MATCH"));
  }

  private static ObjectNode relation(String masterType, String master, String detailType, String detail) {
    return Json.object("masterProfileType", masterType, "masterProfileId", master, "detailProfileType", detailType,
        "detailProfileId", detail);
  }

  private static String made(String path, ObjectNode body) throws Exception {
    HttpResponse<String> response = library.post(path, body);
    assertEquals(201, response.statusCode(), response.body());
    return Json.parseObject(response.body()).path("id").asText();
  }

  private static String subfield(Record record, String tag, char code) {
    return ((DataField) record.getVariableField(tag)).getSubfield(code).getData();
  }

  private static byte[] bytes(List<Record> records) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    org.marc4j.MarcStreamWriter writer = new org.marc4j.MarcStreamWriter(bytes, "UTF-8");
    records.forEach(writer::write);
    writer.close();
    return bytes.toByteArray();
  }
}
