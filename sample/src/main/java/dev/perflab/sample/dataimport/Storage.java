// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.Settings;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.http.Problem;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The storage of files that are split: the subset of S3 that presigned URLs need, PUT of a part of
 * a multipart upload and GET of an object. Objects are stored in the database, so that every
 * replica can read them.
 */
final class Storage {
  private static final Duration LIFETIME = Duration.ofHours(6);

  private final Database database;
  private final Presigned presigned;
  private final String url;
  private final String host;
  private final String bucket;
  private final long maxBytes;

  Storage(Database database, Settings settings, long maxBytes) {
    this.database = database;
    this.maxBytes = maxBytes;
    url = settings.text("S3_URL", settings.text("DATA_IMPORT_URL", "http://data-import:8081")).replaceAll("/+$", "");
    host = URI.create(url).getRawAuthority();
    if (host == null) {
      throw new IllegalArgumentException("environment variable S3_URL is \"" + url + "\", not an http URL");
    }
    bucket = settings.text("S3_BUCKET", "folio");
    presigned = new Presigned(settings.text("S3_ACCESS_KEY_ID", "sample"),
        settings.text("S3_SECRET_ACCESS_KEY", "sample-secret"), settings.text("S3_REGION", "us-east-1"));
  }

  /** The path prefix of all objects. */
  String path() {
    return "/" + bucket + "/";
  }

  /** Returns a URL for the PUT of one part of an upload. */
  String partUrl(String key, String uploadId, int part) {
    return url("PUT", key, Map.of("partNumber", Integer.toString(part), "uploadId", uploadId));
  }

  /** Returns a URL for the GET of an object. */
  String objectUrl(String key) {
    return url("GET", key, Map.of());
  }

  private String url(String method, String key, Map<String, String> query) {
    Presigned.Request request = new Presigned.Request(method, host, path() + key, query);
    return url + Presigned.escapedPath(path() + key) + "?" + presigned.query(request, Instant.now(), LIFETIME);
  }

  /**
   * Stores a part as it arrives. The response's ETag is the MD5 of its content in quotation marks.
   */
  void putPart(Context ctx) {
    requireSignature(ctx);
    String uploadId = String.valueOf(ctx.queryParam("uploadId"));
    int part = Integer.parseInt(String.valueOf(ctx.queryParam("partNumber")));
    String etag = database.write(c -> {
      if (!Uploaded.isOpen(c, uploadId)) {
        throw Problem.notFound("NoSuchUpload: " + uploadId);
      }
      FileParts.Stored stored = FileParts.store(c, uploadId, part, ctx.bodyInputStream(), maxBytes);
      Uploaded.add(c, uploadId, part, '"' + stored.md5() + '"', stored.bytes());
      return '"' + stored.md5() + '"';
    });
    ctx.header("ETag", etag).result("");
  }

  void getObject(Context ctx) {
    requireSignature(ctx);
    String key = ctx.path().substring(path().length());
    database.read(c -> {
      OutputStream out = ctx.contentType("application/octet-stream").outputStream();
      boolean[] found = {false};
      FileParts.read(c, objectId(c, key), bytes -> {
        found[0] = true;
        write(out, bytes);
      });
      if (!found[0]) {
        throw Problem.notFound("NoSuchKey: " + key);
      }
      return null;
    });
  }

  private static void write(OutputStream out, byte[] bytes) {
    try {
      out.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException("sending an object", e);
    }
  }

  /** Returns the id under which an object's parts are stored: its upload's id, or its key. */
  private static String objectId(Connection connection, String key) throws SQLException {
    String sql = "SELECT id FROM storage_upload WHERE object_key = ? AND complete";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, key);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? row.getString(1) : key;
      }
    }
  }

  private void requireSignature(Context ctx) {
    Map<String, String> query = new LinkedHashMap<>();
    ctx.queryParamMap().forEach((name, values) -> query.put(name, values.get(0)));
    Presigned.Request request = new Presigned.Request(ctx.method().name(), ctx.header("Host"), ctx.path(), query);
    if (!presigned.permits(request, Instant.now())) {
      throw Problem.forbidden("SignatureDoesNotMatch: the URL was not made for this " + ctx.method() + " to "
          + ctx.header("Host") + ", or has expired");
    }
  }
}
