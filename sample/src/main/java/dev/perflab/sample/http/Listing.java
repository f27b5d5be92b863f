// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.http;

import dev.perflab.sample.cql.Cql;
import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Documents;
import io.javalin.http.Context;
import java.util.List;

/** GET of a collection by {@code query}, {@code limit}, {@code offset}, and of one document by id. */
public final class Listing {
  private static final int DEFAULT_LIMIT = 10;

  private final Database database;
  private final Collection collection;

  public Listing(Database database, Collection collection) {
    this.database = database;
    this.collection = collection;
  }

  /** {@code {"<key>": [...], "totalRecords": n}}. */
  public void list(Context ctx) {
    list(ctx, ctx.queryParam("query"));
  }

  /** Lists documents by a query that the URL has in another form. */
  public void list(Context ctx, String query) {
    Cql.Query parsed = Cql.parse(query);
    Documents.Range range = range(ctx);
    Documents.Page page = database.read(c -> Documents.list(c, collection, parsed, range));
    json(ctx, collection.key(), page.documents(), page.total());
  }

  /** One document by the path parameter {@code id}, or 404. */
  public void get(Context ctx) {
    String id = ctx.pathParam("id");
    String document = database.read(c -> Documents.byId(c, collection, id))
        .orElseThrow(() -> Problem.notFound("no record " + id + " in " + collection.key()))
        .toString();
    ctx.contentType("application/json").result(document);
  }

  /** Writes a listing of documents that are already JSON text. */
  public static void json(Context ctx, String key, List<String> documents, int total) {
    String body = "{\"" + key + "\":[" + String.join(",", documents) + "],\"totalRecords\":" + total + "}";
    ctx.contentType("application/json").result(body);
  }

  public static Documents.Range range(Context ctx) {
    return new Documents.Range(number(ctx, "offset", 0), number(ctx, "limit", DEFAULT_LIMIT));
  }

  private static int number(Context ctx, String name, int fallback) {
    String value = ctx.queryParam(name);
    if (value == null) {
      return fallback;
    }
    try {
      int number = Integer.parseInt(value);
      if (number >= 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw Problem.badRequest(name + " is \"" + value + "\", not a whole number");
    }
    throw Problem.badRequest(name + " is " + value + ", must not be negative");
  }
}
