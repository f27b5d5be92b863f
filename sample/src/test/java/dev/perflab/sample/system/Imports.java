// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** The calls of a data import, as in the load script. */
final class Imports {
  static final String PTF_CREATE = "PTF - Create 2";
  private static final Duration DEADLINE = Duration.ofSeconds(90);

  private final Library library;

  Imports(Library library) {
    this.library = library;
  }

  /** Uploads a file and starts its job; returns the job's id. */
  String start(byte[] file, String profileName) throws IOException, InterruptedException {
    ObjectNode upload = define();
    String path = "/data-import/uploadDefinitions/" + upload.path("id").asText();
    JsonNode definition = upload.path("fileDefinitions").get(0);
    HttpResponse<String> uploaded = library.upload(path + "/files/" + definition.path("id").asText(), file);
    assertEquals(200, uploaded.statusCode(), uploaded.body());
    assertEquals("LOADED", Json.parseObject(uploaded.body()).path("status").asText());
    HttpResponse<String> processed = library.post(path + "/processFiles?defaultMapping=false",
        Json.object("uploadDefinition", library.read(path), "jobProfileInfo", profile(profileName)));
    assertEquals(204, processed.statusCode(), processed.body());
    return definition.path("jobExecutionId").asText();
  }

  /** Uploads a file through the storage, in parts, and starts its job. Returns the job's id. */
  String startSplit(List<byte[]> parts, String profileName) throws IOException, InterruptedException {
    ObjectNode upload = define();
    JsonNode definition = upload.path("fileDefinitions").get(0);
    String path = "/data-import/uploadDefinitions/" + upload.path("id").asText();
    ObjectNode url = library.read("/data-import/uploadUrl?filename=a.mrc");
    ObjectNode body = Json.object("uploadId", url.path("uploadId"), "key", url.path("key"));
    ArrayNode tags = body.putArray("tags");
    for (byte[] part : parts) {
      if (!tags.isEmpty()) {
        url = library.read("/data-import/uploadUrl/subsequent?key=" + url.path("key").asText() + "&uploadId="
            + url.path("uploadId").asText() + "&partNumber=" + (tags.size() + 1));
      }
      HttpResponse<String> put = library.put(url.path("url").asText(), part);
      assertEquals(200, put.statusCode(), put.body());
      tags.add(put.headers().firstValue("ETag").orElseThrow());
    }
    HttpResponse<String> assembled =
        library.post(path + "/files/" + definition.path("id").asText() + "/assembleStorageFile", body);
    assertEquals(204, assembled.statusCode(), assembled.body());
    HttpResponse<String> processed = library.post(path + "/processFiles?defaultMapping=false",
        Json.object("uploadDefinition", library.read(path), "jobProfileInfo", profile(profileName)));
    assertEquals(204, processed.statusCode(), processed.body());
    return definition.path("jobExecutionId").asText();
  }

  ObjectNode define() throws IOException, InterruptedException {
    ObjectNode body = Json.object();
    body.putArray("fileDefinitions").add(Json.object("uiKey", "a.mrc1", "size", 1, "name", "a.mrc"));
    HttpResponse<String> created = library.post("/data-import/uploadDefinitions", body);
    assertEquals(201, created.statusCode(), created.body());
    return Json.parseObject(created.body());
  }

  ObjectNode profile(String name) throws IOException, InterruptedException {
    for (JsonNode profile : library.read("/data-import-profiles/jobProfiles?limit=5000").path("jobProfiles")) {
      if (profile.path("name").asText().equals(name)) {
        return Json.object("id", profile.path("id").asText(), "name", name, "dataType", "MARC");
      }
    }
    throw new AssertionError("no job profile " + name);
  }

  /** Waits until the job has finished. */
  ObjectNode awaitEnd(String job) throws IOException, InterruptedException {
    Instant end = Instant.now().plus(DEADLINE);
    while (Instant.now().isBefore(end)) {
      ObjectNode finished = library.read("/metadata-provider/jobExecutions?statusAny=COMMITTED&statusAny=ERROR"
          + "&statusAny=CANCELLED&limit=25&sortBy=completed_date,desc");
      for (JsonNode execution : finished.path("jobExecutions")) {
        if (execution.path("id").asText().equals(job)) {
          return (ObjectNode) execution;
        }
      }
      Thread.sleep(50);
    }
    throw new AssertionError("job did not end: " + library.read("/change-manager/jobExecutions/" + job));
  }

  ObjectNode summary(String job) throws IOException, InterruptedException {
    return library.read("/metadata-provider/jobSummary/" + job);
  }
}
