// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import dev.perflab.sample.Role;
import dev.perflab.sample.Settings;
import dev.perflab.sample.http.HttpCalls;
import dev.perflab.sample.http.Problem;
import dev.perflab.sample.http.Readiness;
import dev.perflab.sample.http.Server;
import io.javalin.Javalin;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The entry point: logs users in, checks tenant and token, forwards all other requests to modules. */
public final class GatewayModule implements Role {
  private final Settings settings;
  private final Routes routes;
  private final Tokens tokens;
  private final Login login;
  private final HttpClient client = HttpCalls.client();
  private final Proxy proxy = new Proxy(client);
  /** Accessed only by the readiness thread. */
  private final Set<String> seenReady = new HashSet<>();

  public GatewayModule(Settings settings) {
    this.settings = settings;
    routes = new Routes(settings);
    tokens = new Tokens(settings.text("ADMIN_PASSWORD", "admin"), settings.tenant());
    login = new Login(settings, tokens);
  }

  @Override
  public void start(Javalin app, Readiness readiness) {
    routes.modules().forEach((name, address) -> readiness.require(name, () -> checkModule(name, address)));
    new Slowdown(settings.atLeast(0, "PERFLAB_SLOWDOWN_PERCENT", 0)).install(app);
    app.post("/authn/login", login::legacy);
    app.post("/authn/login-with-expiry", login::withExpiry);
    app.post("/authn/refresh", login::refresh);
    app.options("/*", GatewayModule::preflight);
    for (HandlerType method : List.of(HandlerType.GET, HandlerType.POST, HandlerType.PUT, HandlerType.DELETE)) {
      app.addHttpHandler(method, "/*", this::pass);
    }
  }

  /** Responds to preflight requests, as in Okapi: modules do not get them. */
  private static void preflight(Context ctx) {
    String origin = ctx.header("Origin");
    ctx.status(204)
        .header("Access-Control-Allow-Origin", origin == null ? "*" : origin)
        // Without it, browsers would not send the cookies of an expiring login.
        .header("Access-Control-Allow-Credentials", "true")
        .header("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE, OPTIONS")
        .header("Access-Control-Allow-Headers", "content-type, x-okapi-tenant, x-okapi-token")
        .header("Access-Control-Max-Age", "7200");
  }

  private void pass(Context ctx) {
    Server.requireTenant(ctx, settings.tenant());
    String token = Login.token(ctx)
        .orElseThrow(() -> Problem.unauthorized("Token missing, access requires header " + Server.TOKEN));
    if (!tokens.valid(Tokens.Kind.ACCESS, token)) {
      throw Problem.unauthorized("Invalid token");
    }
    URI module = routes.of(ctx.path())
        .orElseThrow(() -> Problem.notFound("no module serves " + ctx.method() + " " + ctx.path()));
    proxy.pass(ctx, module, token);
  }

  /**
   * Checks a module until it is ready for the first time. A module that responds slowly later is
   * busy, and one that ends affects only its own users. A gateway that became unready with it would
   * fail all users.
   */
  private void checkModule(String name, URI address) throws IOException, InterruptedException {
    if (seenReady.contains(name)) {
      return;
    }
    HttpRequest request = HttpRequest.newBuilder(URI.create(address + "/admin/health"))
        .timeout(Duration.ofSeconds(2)).build();
    try {
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new IOException(address + " answers " + response.statusCode() + " " + response.body());
      }
      seenReady.add(name);
    } catch (HttpTimeoutException e) {
      throw new IOException(address + " does not answer within 2 s", e);
    } catch (java.net.ConnectException e) {
      throw new IOException("nothing answers at " + address, e);
    }
  }

  @Override
  public void close() {
    // The HTTP client has no resources that outlive the process.
  }
}
