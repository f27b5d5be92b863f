// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.http.Problem;
import io.javalin.http.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Uploads through the storage, for files that are split: returns URLs for the parts, and joins the
 * parts into one file.
 */
final class StorageUploads {
  private final Database database;
  private final Storage storage;
  private final Uploads uploads;
  private final boolean splitting;
  private final String tenant;

  StorageUploads(Database database, Storage storage, Uploads uploads, boolean splitting, String tenant) {
    this.database = database;
    this.storage = storage;
    this.uploads = uploads;
    this.splitting = splitting;
    this.tenant = tenant;
  }

  void splitStatus(Context ctx) {
    ctx.contentType("application/json").result(Json.object("splitStatus", splitting).toString());
  }

  void firstUrl(Context ctx) {
    requireSplitting();
    String file = parameter(ctx, ctx.queryParam("fileName") == null ? "filename" : "fileName");
    String uploadId = UUID.randomUUID().toString();
    String key = "data-import/" + tenant + "/" + System.currentTimeMillis() + "-" + file;
    database.write(c -> {
      Uploaded.begin(c, uploadId, key);
      return null;
    });
    answer(ctx, key, uploadId, 1);
  }

  void nextUrl(Context ctx) {
    requireSplitting();
    String part = parameter(ctx, "partNumber");
    if (!part.matches("[1-9]\\d{0,4}")) {
      throw Problem.badRequest("partNumber is \"" + part + "\", not a whole number from 1 to 10000");
    }
    answer(ctx, parameter(ctx, "key"), parameter(ctx, "uploadId"), Integer.parseInt(part));
  }

  private void answer(Context ctx, String key, String uploadId, int part) {
    ctx.contentType("application/json").result(
        Json.object("url", storage.partUrl(key, uploadId, part), "key", key, "uploadId", uploadId).toString());
  }

  /** Joins the parts into a file of its definition, and responds with 204. */
  void assemble(Context ctx) {
    requireSplitting();
    ObjectNode body = Json.parseObject(ctx.body());
    String uploadId = body.path("uploadId").asText();
    List<String> tags = new ArrayList<>();
    body.path("tags").forEach(tag -> tags.add(tag.asText()));
    database.write(c -> {
      long bytes = Uploaded.complete(c, uploadId, body.path("key").asText(), tags);
      uploads.received(c, ctx.pathParam("id"), ctx.pathParam("fileId"), bytes, job -> Jobs.stored(c, job, uploadId));
      return null;
    });
    ctx.status(204);
  }

  private void requireSplitting() {
    if (!splitting) {
      throw Problem.badRequest("files are not split: SPLIT_FILES_ENABLED is not true");
    }
  }

  private static String parameter(Context ctx, String name) {
    String value = ctx.queryParam(name);
    if (value == null || value.isBlank()) {
      throw Problem.badRequest("the parameter " + name + " is missing");
    }
    return value;
  }
}
