// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Documents;
import dev.perflab.sample.http.Problem;
import io.javalin.http.Context;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Upload definitions and their files, until a job is started for them. */
final class Uploads {
  private final Database database;
  private final long maxBytes;
  private final Runnable fileWaits;

  /** {@code fileWaits} is called when a file is ready to be read. */
  Uploads(Database database, long maxBytes, Runnable fileWaits) {
    this.database = database;
    this.maxBytes = maxBytes;
    this.fileWaits = fileWaits;
  }

  void create(Context ctx) {
    JsonNode files = Json.parseObject(ctx.body()).path("fileDefinitions");
    if (files.isEmpty()) {
      throw Problem.unprocessable("fileDefinitions names no file", "fileDefinition.list.empty", "fileDefinitions", "");
    }
    String now = Instant.now().toString();
    ObjectNode upload = Json.object("id", UUID.randomUUID().toString(), "status", "NEW", "createdDate", now);
    ArrayNode definitions = upload.putArray("fileDefinitions");
    files.forEach(file -> definitions.add(fileDefinition(upload.path("id").asText(), file, now)));
    upload.put("metaJobExecutionId", definitions.get(0).path("jobExecutionId").asText());
    upload.putObject("metadata").put("createdDate", now).put("updatedDate", now);
    database.write(c -> {
      Documents.insert(c, Catalogue.UPLOADS, upload);
      for (JsonNode file : definitions) {
        Jobs.create(c, file.path("jobExecutionId").asText(), file.path("id").asText(), file.path("name").asText());
      }
      return null;
    });
    ctx.status(201).contentType("application/json").result(upload.toString());
  }

  private static ObjectNode fileDefinition(String uploadId, JsonNode file, String now) {
    String name = file.path("name").asText("");
    if (name.isBlank()) {
      throw Problem.unprocessable("a file definition has no name", "REQUIRED_FIELD_MISSING", "name", "");
    }
    ObjectNode definition = Json.object("id", UUID.randomUUID().toString(), "uploadDefinitionId", uploadId,
        "jobExecutionId", UUID.randomUUID().toString(), "name", name, "status", "NEW", "createDate", now);
    definition.set("size", file.path("size"));
    definition.set("uiKey", file.path("uiKey"));
    return definition;
  }

  /** Stores the file's bytes as they arrive, with at most one part in memory. */
  void receive(Context ctx) {
    String uploadId = ctx.pathParam("id");
    String fileId = ctx.pathParam("fileId");
    InputStream body = ctx.bodyInputStream();
    ObjectNode upload = database.write(c -> {
      FileParts.Stored stored = FileParts.store(c, fileId, body, maxBytes);
      return received(c, uploadId, fileId, stored.bytes(), job -> Jobs.uploaded(c, job, stored.records()));
    });
    ctx.contentType("application/json").result(upload.toString());
  }

  /** Updates the job whose file has arrived. */
  @FunctionalInterface
  interface Arrival {
    void of(String job) throws SQLException;
  }

  /** Records that a file of a definition has arrived. */
  ObjectNode received(Connection connection, String uploadId, String fileId, long bytes, Arrival arrival)
      throws SQLException {
    ObjectNode definition = locked(connection, uploadId);
    ObjectNode file = file(definition, fileId);
    if (definition.path("status").asText().equals("COMPLETED")) {
      throw Problem.badRequest("upload definition " + uploadId + " is being processed already");
    }
    file.put("status", "UPLOADED").put("uploadedDate", Instant.now().toString()).put("size", bytes / 1024);
    arrival.of(file.path("jobExecutionId").asText());
    definition.put("status", allUploaded(definition) ? "LOADED" : "IN_PROGRESS");
    Documents.replace(connection, Catalogue.UPLOADS, definition);
    return definition;
  }

  /**
   * Starts the jobs of all uploaded files and responds with 204. The jobs run in the background.
   */
  void process(Context ctx) {
    String uploadId = ctx.pathParam("id");
    JsonNode profileInfo = Json.parseObject(ctx.body()).path("jobProfileInfo");
    String profileId = profileInfo.path("id").asText("");
    database.write(c -> {
      ObjectNode profile = Documents.byId(c, Catalogue.JOB_PROFILES, profileId).orElseThrow(() ->
          Problem.unprocessable("there is no job profile \"" + profileId + "\"", "jobProfile.notFound", "id", profileId));
      ObjectNode upload = locked(c, uploadId);
      int started = 0;
      for (String job : jobsOf(upload)) {
        started += Jobs.start(c, job, profileInfo(profile)) ? 1 : 0;
      }
      if (started == 0) {
        throw Problem.badRequest("upload definition " + uploadId + " has no file waiting to be processed");
      }
      Documents.replace(c, Catalogue.UPLOADS, upload.put("status", "COMPLETED"));
      return null;
    });
    fileWaits.run();
    ctx.status(204);
  }

  private static ObjectNode profileInfo(ObjectNode profile) {
    ObjectNode info = Json.object("id", profile.path("id").asText(), "name", profile.path("name").asText(),
        "dataType", profile.path("dataType").asText());
    info.set("steps", profile.path("steps"));
    return info;
  }

  private static List<String> jobsOf(ObjectNode upload) {
    List<String> jobs = new ArrayList<>();
    upload.path("fileDefinitions").forEach(file -> jobs.add(file.path("jobExecutionId").asText()));
    return jobs;
  }

  private static ObjectNode locked(Connection connection, String id) throws SQLException {
    return Documents.lockedById(connection, Catalogue.UPLOADS, id)
        .orElseThrow(() -> Problem.notFound("Upload definition with id '" + id + "' not found"));
  }

  private static ObjectNode file(ObjectNode upload, String fileId) {
    for (JsonNode file : upload.path("fileDefinitions")) {
      if (file.path("id").asText().equals(fileId)) {
        return (ObjectNode) file;
      }
    }
    throw Problem.notFound("file definition " + fileId + " not found");
  }

  private static boolean allUploaded(ObjectNode upload) {
    for (JsonNode file : upload.path("fileDefinitions")) {
      if (!file.path("status").asText().equals("UPLOADED")) {
        return false;
      }
    }
    return true;
  }
}
