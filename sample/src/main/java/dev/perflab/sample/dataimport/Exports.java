// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Documents;
import dev.perflab.sample.http.Problem;
import io.javalin.http.Context;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;

/**
 * Serves the requests of data-export's page: uploads of lists of ids, export jobs, and links to
 * files in the storage.
 */
final class Exports {
  private final Database database;
  private final Storage storage;
  private Runnable started = () -> {};

  Exports(Database database, Storage storage) {
    this.database = database;
    this.storage = storage;
  }

  /** Sets the task that runs when an export is queued. */
  void onStart(Runnable task) {
    started = task;
  }

  void createProfile(Context ctx, Collection collection) {
    ObjectNode profile = Json.parseObject(ctx.body());
    if (profile.path("name").asText("").isBlank()) {
      throw Problem.unprocessable("the profile has no name", "profile.name.missing", "name", "");
    }
    insert(ctx, collection, profile);
  }

  void define(Context ctx) {
    ObjectNode file = Json.parseObject(ctx.body());
    if (!file.path("uploadFormat").asText("csv").equals("csv")) {
      throw Problem.badRequest("uploadFormat is \"" + file.path("uploadFormat").asText() + "\"; this system takes csv");
    }
    insert(ctx, Catalogue.EXPORT_FILES, file.put("status", "NEW").put("jobExecutionId", UUID.randomUUID().toString()));
  }

  private void insert(Context ctx, Collection collection, ObjectNode document) {
    document.put("id", UUID.randomUUID().toString());
    database.write(c -> {
      Documents.insert(c, collection, document);
      return null;
    });
    ctx.status(201).contentType("application/json").result(document.toString());
  }

  /** Stores the uploaded ids, one per line. */
  void upload(Context ctx) {
    String id = ctx.pathParam("id");
    byte[] ids = body(ctx);
    ObjectNode definition = database.write(c -> {
      ObjectNode file = Documents.lockedById(c, Catalogue.EXPORT_FILES, id)
          .orElseThrow(() -> Problem.notFound("no file definition " + id));
      FileParts.store(c, id, new ByteArrayInputStream(ids), ids.length);
      Documents.replace(c, Catalogue.EXPORT_FILES, file.put("status", "COMPLETED"));
      return file;
    });
    ctx.contentType("application/json").result(definition.toString());
  }

  private static byte[] body(Context ctx) {
    try {
      return ctx.bodyInputStream().readAllBytes();
    } catch (IOException e) {
      throw Problem.badRequest("the upload broke off: " + e.getMessage());
    }
  }

  /** Queues an export and responds with 204. The export runs in the background. */
  void start(Context ctx) {
    ObjectNode request = Json.parseObject(ctx.body());
    String fileId = request.path("fileDefinitionId").asText();
    String profileId = request.path("jobProfileId").asText();
    database.write(c -> {
      ObjectNode file = Documents.byId(c, Catalogue.EXPORT_FILES, fileId)
          .filter(f -> f.path("status").asText().equals("COMPLETED"))
          .orElseThrow(() -> Problem.badRequest("no ids were uploaded for file definition \"" + fileId + "\""));
      ObjectNode profile = Documents.byId(c, Catalogue.EXPORT_JOB_PROFILES, profileId)
          .orElseThrow(() -> Problem.badRequest("there is no job profile \"" + profileId + "\""));
      ObjectNode mapping = Documents.byId(c, Catalogue.EXPORT_MAPPING_PROFILES, profile.path("mappingProfileId").asText())
          .orElseThrow(() -> Problem.badRequest("job profile \"" + profileId + "\" has no mapping profile"));
      ObjectNode job = Json.object("id", file.path("jobExecutionId").asText(), "jobProfileId", profileId,
          "status", "IN_PROGRESS", "startedDate", Instant.now().toString(), "idsFileId", fileId);
      job.set("transformations", mapping.path("transformations"));
      Documents.insert(c, Catalogue.EXPORT_JOBS, job);
      return null;
    });
    started.run();
    ctx.status(204);
  }

  /** Responds with a link to an exported file. */
  void download(Context ctx) {
    String id = ctx.pathParam("id");
    String fileId = ctx.pathParam("fileId");
    ObjectNode job = database.read(c -> Documents.byId(c, Catalogue.EXPORT_JOBS, id))
        .filter(j -> j.path("exportedFiles").path(0).path("fileId").asText().equals(fileId))
        .orElseThrow(() -> Problem.notFound("export " + id + " has no file " + fileId));
    ctx.contentType("application/json").result(Json.object("fileId", fileId, "link",
        storage.objectUrl(key(job.path("id").asText()))).toString());
  }

  /** The path of an export's file in the storage. */
  static String key(String job) {
    return "mod-data-export/" + job + ".mrc";
  }

  /** The ids of an export's instances. */
  static String[] ids(byte[] csv) {
    return new String(csv, StandardCharsets.UTF_8).replace("\"", "").strip().split("\\s+");
  }
}
