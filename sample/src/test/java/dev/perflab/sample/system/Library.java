// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.Service;
import dev.perflab.sample.Settings;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The four roles in this JVM, each on its own port, and a client logged in at the gateway. */
final class Library implements AutoCloseable {
  static final List<String> ROLES = List.of("circulation", "inventory-storage", "data-import", "gateway");
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private final Map<String, String> env;
  private final Map<String, Integer> ports = new HashMap<>();
  private final Map<String, Service> services = new LinkedHashMap<>();
  private final HttpClient client = HttpClient.newHttpClient();
  private String token = "";

  Library(Map<String, String> environment) {
    env = new HashMap<>(environment);
    for (String role : ROLES) {
      int port = Ports.free();
      ports.put(role, port);
      env.put(role.replace('-', '_').toUpperCase() + "_URL", "http://127.0.0.1:" + port);
    }
    env.put("OKAPI_URL", env.get("GATEWAY_URL"));
  }

  /** Starts all roles, waits until the gateway is ready, logs in. */
  static Library start(Map<String, String> environment) throws IOException, InterruptedException {
    Library library = new Library(environment);
    for (String role : ROLES) {
      library.startRole(role);
    }
    library.awaitReady();
    library.login();
    return library;
  }

  void startRole(String role) {
    Map<String, String> own = new HashMap<>(env);
    own.put("HTTP_PORT", Integer.toString(ports.get(role)));
    Service service = new Service(role, new Settings(own));
    services.put(role, service);
    service.start();
  }

  /** One more replica of a role, on an unpublished port; the caller closes it. */
  Service startReplica(String role) {
    Map<String, String> own = new HashMap<>(env);
    own.put("HTTP_PORT", "0");
    Service replica = new Service(role, new Settings(own));
    replica.start();
    return replica;
  }

  void stopRole(String role) {
    services.remove(role).close();
  }

  void awaitReady() throws IOException, InterruptedException {
    for (Service service : services.values()) {
      awaitReady(service);
    }
  }

  void awaitReady(Service service) throws IOException, InterruptedException {
    Instant end = Instant.now().plus(DEADLINE);
    HttpResponse<String> health = health(service);
    while (health.statusCode() != 200) {
      if (Instant.now().isAfter(end)) {
        throw new IllegalStateException("not ready: " + health.body());
      }
      Thread.sleep(50);
      health = health(service);
    }
  }

  HttpResponse<String> health(Service service) throws IOException, InterruptedException {
    return client.send(builder(service.port(), "/admin/health").build(), HttpResponse.BodyHandlers.ofString());
  }

  void login() throws IOException, InterruptedException {
    HttpResponse<String> response =
        request("gateway", "POST", "/authn/login", "{\"username\":\"diku_admin\",\"password\":\"admin\"}");
    token = response.headers().firstValue("x-okapi-token").orElseThrow();
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return request("gateway", "GET", path, null);
  }

  /** The body of a GET that must succeed. */
  ObjectNode read(String path) throws IOException, InterruptedException {
    HttpResponse<String> response = get(path);
    if (response.statusCode() != 200) {
      throw new AssertionError("GET " + path + " gives " + response.statusCode() + " " + response.body());
    }
    return Json.parseObject(response.body());
  }

  HttpResponse<String> post(String path, ObjectNode body) throws IOException, InterruptedException {
    return request("gateway", "POST", path, body.toString());
  }

  HttpResponse<String> request(String role, String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = builder(ports.get(role), path).header("Content-Type", "application/json");
    if (headers.length > 0) {
      request.headers(headers);
    }
    HttpRequest.BodyPublisher publisher =
        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
    return client.send(request.method(method, publisher).build(), HttpResponse.BodyHandlers.ofString());
  }

  HttpResponse<String> upload(String path, byte[] file) throws IOException, InterruptedException {
    HttpRequest request = builder(ports.get("gateway"), path).header("Content-Type", "application/octet-stream")
        .POST(HttpRequest.BodyPublishers.ofByteArray(file)).build();
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  /** PUTs bytes to a URL, without FOLIO's headers. */
  HttpResponse<String> put(String url, byte[] bytes) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(DEADLINE)
        .PUT(HttpRequest.BodyPublishers.ofByteArray(bytes)).build();
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  /** Returns the bytes at a URL. */
  byte[] fetch(String url) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(DEADLINE).build();
    HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    if (response.statusCode() != 200) {
      throw new AssertionError("GET " + url + " gives " + response.statusCode());
    }
    return response.body();
  }

  private HttpRequest.Builder builder(int port, String path) {
    HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .timeout(DEADLINE).header("X-Okapi-Tenant", "diku");
    return token.isEmpty() ? builder : builder.header("X-Okapi-Token", token);
  }

  void useToken(String other) {
    token = other;
  }

  /** The gateway's address. */
  String address() {
    return env.get("GATEWAY_URL");
  }

  String database() {
    return env.get("DB_DATABASE");
  }

  static String query(String cql) {
    return "query=" + URLEncoder.encode(cql, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    services.values().forEach(Service::close);
  }
}
