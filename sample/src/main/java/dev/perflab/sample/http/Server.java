// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.Settings;
import dev.perflab.sample.cql.CqlException;
import dev.perflab.sample.db.Database.DatabaseException;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import java.util.Map;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTP server of every role: health, tenant and token headers, and errors in FOLIO's form. */
public final class Server {
  public static final String TENANT = "X-Okapi-Tenant";
  public static final String TOKEN = "X-Okapi-Token";
  /** FOLIO's modules name their gateway in their requests; users' programs don't. */
  public static final String ASKED_BY_MODULE = "X-Okapi-Url";
  private static final Logger LOG = LoggerFactory.getLogger(Server.class);

  private Server() {}

  /**
   * Returns a server that responds to the health check at once. The roles add their routes later.
   */
  public static Javalin create(Settings settings, Readiness readiness) {
    Javalin app = Javalin.create(config -> configure(config, settings));
    app.get("/admin/health", ctx -> health(ctx, readiness));
    app.exception(Problem.class, (e, ctx) -> answer(ctx, e));
    app.exception(CqlException.class, (e, ctx) -> answer(ctx, Problem.badRequest("query: " + e.getMessage())));
    app.exception(Json.MalformedJson.class,
        (e, ctx) -> answer(ctx, Problem.badRequest("body: " + e.getMessage())));
    app.exception(DatabaseException.class, (e, ctx) -> databaseFailed(ctx, e));
    app.exception(Exception.class, Server::failed);
    return app;
  }

  private static void configure(JavalinConfig config, Settings settings) {
    config.showJavalinBanner = false;
    config.startupWatcherEnabled = false;
    config.http.defaultContentType = "application/json";
    config.http.disableCompression();
    config.http.maxRequestSize = 10_000_000;
    config.jetty.threadPool =
        new QueuedThreadPool(settings.atLeast(8, "HTTP_THREADS", 64), 8, 60_000);
  }

  /** Refuses requests of an unknown tenant or without a token. The gateway verifies tokens. */
  public static void requireOkapiHeaders(Context ctx, String tenant) {
    if (isAdministration(ctx)) {
      return;
    }
    requireTenant(ctx, tenant);
    if (ctx.header(TOKEN) == null) {
      throw Problem.unauthorized("Token missing, access requires header " + TOKEN);
    }
  }

  /** Requests of Kubernetes and the gateway, not of users. */
  public static boolean isAdministration(Context ctx) {
    return ctx.path().startsWith("/admin/");
  }

  public static void requireTenant(Context ctx, String tenant) {
    String given = ctx.header(TENANT);
    if (given == null) {
      throw Problem.badRequest("header " + TENANT + " is missing");
    }
    if (!given.equals(tenant)) {
      throw Problem.notFound("no such tenant " + given);
    }
  }

  private static void health(Context ctx, Readiness readiness) {
    Map<String, String> problems = readiness.problems();
    ObjectNode body = Json.object("status", problems.isEmpty() ? "UP" : "DOWN");
    if (!problems.isEmpty()) {
      body.set("missing", Json.tree(problems));
    }
    ctx.status(problems.isEmpty() ? 200 : 503).contentType("application/json").result(body.toString());
  }

  private static void answer(Context ctx, Problem problem) {
    ctx.status(problem.status()).contentType(problem.contentType()).result(problem.body());
  }

  private static void databaseFailed(Context ctx, DatabaseException e) {
    LOG.warn("{} {}: {}", ctx.method(), ctx.path(), e.getMessage());
    ctx.status(e.isTransient() ? 503 : 500).contentType("text/plain").result("database: " + e.getMessage());
  }

  private static void failed(Exception e, Context ctx) {
    LOG.error("{} {} failed", ctx.method(), ctx.path(), e);
    ctx.status(500).contentType("text/plain").result("Internal server error");
  }
}
