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
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * Login of the only user, in FOLIO's legacy and expiring forms. Tokens contain the whole session, so
 * that any replica of the gateway accepts those of another.
 */
final class Login {
  private static final String ACCESS_COOKIE = "folioAccessToken";
  private static final String REFRESH_COOKIE = "folioRefreshToken";

  private final String username;
  private final String password;
  private final String tenant;
  private final Tokens tokens;
  private final Duration accessLife;
  private final Duration refreshLife;

  Login(Settings settings, Tokens tokens) {
    this.username = settings.text("ADMIN_USERNAME", "diku_admin");
    this.password = settings.text("ADMIN_PASSWORD", "admin");
    this.tenant = settings.tenant();
    this.tokens = tokens;
    accessLife = Duration.ofSeconds(settings.atLeast(1, "ACCESS_TOKEN_SECONDS", 600));
    refreshLife = Duration.ofSeconds(settings.atLeast(1, "REFRESH_TOKEN_SECONDS", 3_600));
  }

  /** The token of a caller, in the header or in the cookie. */
  static Optional<String> token(Context ctx) {
    return Optional.ofNullable(ctx.header(Server.TOKEN)).or(() -> Optional.ofNullable(ctx.cookie(ACCESS_COOKIE)));
  }

  /** A token that does not expire, in the header {@code x-okapi-token}. */
  void legacy(Context ctx) {
    authenticate(ctx);
    String token = tokens.issue(Tokens.Kind.ACCESS, username, null);
    ctx.status(201).header("x-okapi-token", token).contentType("application/json")
        .result(Json.object("okapiToken", token).toString());
  }

  /** A pair of tokens that expire, in cookies. */
  void withExpiry(Context ctx) {
    authenticate(ctx);
    grant(ctx);
  }

  /** A new pair for a refresh token that has not expired. */
  void refresh(Context ctx) {
    Server.requireTenant(ctx, tenant);
    String token = ctx.cookie(REFRESH_COOKIE);
    if (token == null) {
      throw Problem.badRequest("cookie " + REFRESH_COOKIE + " is missing");
    }
    if (!tokens.valid(Tokens.Kind.REFRESH, token)) {
      throw Problem.unauthorized("Invalid refresh token");
    }
    grant(ctx);
  }

  private void grant(Context ctx) {
    // Tokens have whole seconds, and the response must match them.
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    Instant accessEnd = now.plus(accessLife);
    Instant refreshEnd = now.plus(refreshLife);
    addCookie(ctx, ACCESS_COOKIE, tokens.issue(Tokens.Kind.ACCESS, username, accessEnd), accessLife, "/");
    addCookie(ctx, REFRESH_COOKIE, tokens.issue(Tokens.Kind.REFRESH, username, refreshEnd), refreshLife, "/authn");
    ctx.status(201).contentType("application/json").result(Json.object(
        "accessTokenExpiration", accessEnd.toString(), "refreshTokenExpiration", refreshEnd.toString()).toString());
  }

  private static void addCookie(Context ctx, String name, String token, Duration life, String path) {
    ctx.res().addHeader("Set-Cookie", name + "=" + token + "; Max-Age=" + life.toSeconds() + "; Path=" + path
        + "; Secure; HttpOnly; SameSite=None");
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
