// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Logins whose tokens expire after seconds. */
class SessionIT {
  private static final String CREDENTIALS = "{\"username\":\"diku_admin\",\"password\":\"admin\"}";
  private static Library library;

  @BeforeAll
  static void start() throws Exception {
    Map<String, String> env = Backends.shared().environment(1);
    env.putAll(Map.of("ACCESS_TOKEN_SECONDS", "3", "REFRESH_TOKEN_SECONDS", "9"));
    library = Library.start(env);
    library.useToken("");
  }

  @AfterAll
  static void stop() {
    library.close();
  }

  private static HttpResponse<String> logIn() throws IOException, InterruptedException {
    return library.request("gateway", "POST", "/authn/login-with-expiry", CREDENTIALS);
  }

  private static HttpResponse<String> refresh(String cookies) throws IOException, InterruptedException {
    return library.request("gateway", "POST", "/authn/refresh", null, "Cookie", cookies);
  }

  private static int users(String cookies) throws IOException, InterruptedException {
    return library.request("gateway", "GET", "/users", null, "Cookie", cookies).statusCode();
  }

  /** {@code name=value} of the cookie a response sets. */
  private static String cookie(HttpResponse<String> response, String name) {
    return response.headers().allValues("Set-Cookie").stream().filter(c -> c.startsWith(name + "="))
        .map(c -> c.substring(0, c.indexOf(';'))).findFirst().orElseThrow();
  }

  private static Instant end(ObjectNode body, String name) {
    return Instant.parse(body.path(name).asText());
  }

  private static void sleepUntil(Instant end) throws InterruptedException {
    Thread.sleep(Math.max(Duration.between(Instant.now(), end).toMillis() + 1, 0));
  }

  @Test
  void refreshesAnAccessTokenUntilTheRefreshTokenIsOver() throws Exception {
    Instant began = Instant.now();
    HttpResponse<String> login = logIn();
    assertEquals(201, login.statusCode(), login.body());
    ObjectNode body = Json.parseObject(login.body());
    Instant accessEnd = end(body, "accessTokenExpiration");
    Instant refreshEnd = end(body, "refreshTokenExpiration");
    assertTrue(accessEnd.isAfter(began.plusSeconds(1)) && accessEnd.isBefore(Instant.now().plusSeconds(3)), login.body());
    assertEquals(accessEnd.plusSeconds(6), refreshEnd);
    String access = cookie(login, "folioAccessToken");
    String refresh = cookie(login, "folioRefreshToken");
    assertEquals(200, users(access));

    sleepUntil(accessEnd);
    assertEquals(401, users(access));
    HttpResponse<String> refreshed = refresh(refresh);
    assertEquals(201, refreshed.statusCode(), refreshed.body());
    assertEquals(200, users(cookie(refreshed, "folioAccessToken")));
    assertTrue(end(Json.parseObject(refreshed.body()), "refreshTokenExpiration").isAfter(refreshEnd));

    sleepUntil(refreshEnd);
    assertEquals(401, refresh(refresh).statusCode());
    assertEquals(201, refresh(cookie(refreshed, "folioRefreshToken")).statusCode());
  }

  @Test
  void takesNoTokenForTheOther() throws Exception {
    HttpResponse<String> login = logIn();
    String access = cookie(login, "folioAccessToken").replace("folioAccessToken=", "");
    String refresh = cookie(login, "folioRefreshToken").replace("folioRefreshToken=", "");
    assertEquals(401, users("folioAccessToken=" + refresh));
    assertEquals(401, refresh("folioRefreshToken=" + access).statusCode());
    assertEquals(400, refresh("folioAccessToken=" + access).statusCode());
  }

  @Test
  void letsBrowsersSendCookies() throws Exception {
    HttpResponse<String> preflight =
        library.request("gateway", "OPTIONS", "/users", null, "Origin", "http://pages.example");
    assertEquals("http://pages.example", preflight.headers().firstValue("Access-Control-Allow-Origin").orElseThrow());
    assertEquals("true", preflight.headers().firstValue("Access-Control-Allow-Credentials").orElseThrow());
    assertTrue(cookieAttributes(logIn()).contains("Secure; HttpOnly; SameSite=None"));
  }

  private static String cookieAttributes(HttpResponse<String> response) {
    return String.join(" ", response.headers().allValues("Set-Cookie"));
  }
}
