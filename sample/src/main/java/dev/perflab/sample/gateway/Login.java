// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.Settings;
import dev.perflab.sample.http.Problem;
import dev.perflab.sample.http.Server;
import io.javalin.http.Context;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;

/** Login of the one user there is, in FOLIO's legacy and expiring forms. */
final class Login {
  private static final Duration ACCESS_TOKEN_LIFE = Duration.ofMinutes(10);

  private final String username;
  private final String password;
  private final String tenant;
  private final Tokens tokens;

  Login(Settings settings, Tokens tokens) {
    this.username = settings.text("ADMIN_USERNAME", "diku_admin");
    this.password = settings.text("ADMIN_PASSWORD", "admin");
    this.tenant = settings.tenant();
    this.tokens = tokens;
  }

  /** A token without an end, in the header {@code x-okapi-token}. */
  void legacy(Context ctx) {
    authenticate(ctx);
    String token = tokens.issue(username, null);
    ctx.status(201).header("x-okapi-token", token).contentType("application/json")
        .result(Json.object("okapiToken", token).toString());
  }

  /** A token for ten minutes, in the cookie {@code folioAccessToken}. */
  void withExpiry(Context ctx) {
    authenticate(ctx);
    Instant expires = Instant.now().plus(ACCESS_TOKEN_LIFE);
    String cookie = "folioAccessToken=" + tokens.issue(username, expires)
        + "; Max-Age=" + ACCESS_TOKEN_LIFE.toSeconds() + "; Path=/; HttpOnly";
    ctx.status(201).header("Set-Cookie", cookie).contentType("application/json")
        .result(Json.object("accessTokenExpiration", expires.toString()).toString());
  }

  private void authenticate(Context ctx) {
    Server.requireTenant(ctx, tenant);
    ObjectNode credentials = Json.parseObject(ctx.body());
    String givenName = credentials.path("username").asText();
    if (!givenName.equals(username)) {
      throw Problem.unprocessable(
          "Error verifying user existence: No user found by username " + givenName,
          "username.incorrect", "username", givenName);
    }
    if (!same(credentials.path("password").asText(), password)) {
      throw Problem.unprocessable("Password does not match", "password.incorrect", "username", givenName);
    }
  }

  private static boolean same(String given, String expected) {
    return MessageDigest.isEqual(
        given.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8));
  }
}
