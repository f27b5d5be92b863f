// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.circulation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.http.HttpCalls;
import dev.perflab.sample.http.Problem;
import dev.perflab.sample.http.Server;
import io.javalin.http.Context;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Reads and updates items in inventory-storage, through the gateway and with the caller's token.
 */
final class InventoryClient {
  private final HttpClient client = HttpCalls.client();
  private final String gateway;

  InventoryClient(String gateway) {
    this.gateway = gateway;
  }

  /** Returns the item with a barcode. */
  Optional<ObjectNode> byBarcode(Context caller, String barcode) {
    String query = "barcode==\"" + barcode.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    String path = "/inventory/items?limit=1&query=" + URLEncoder.encode(query, StandardCharsets.UTF_8);
    JsonNode items = Json.parseObject(ok(send(caller, get(path)), path)).path("items");
    return items.isEmpty() ? Optional.empty() : Optional.of((ObjectNode) items.get(0));
  }

  /**
   * Sets an item's status. If the item has changed since it was read, reads it again: the caller
   * holds the item's lock, so the status has not changed.
   */
  ObjectNode setStatus(Context caller, ObjectNode item, String status) {
    ObjectNode current = item;
    for (int attempt = 1; ; attempt++) {
      ObjectNode changed = withStatus(current, status);
      String path = "/item-storage/items/" + item.path("id").asText();
      HttpResponse<String> response = send(caller, put(path, changed));
      if (response.statusCode() != 409 || attempt == 3) {
        ok(response, path);
        return changed;
      }
      current = Json.parseObject(ok(send(caller, get(path)), path));
    }
  }

  private static ObjectNode withStatus(ObjectNode item, String status) {
    ObjectNode changed = item.deepCopy();
    // /inventory/items adds these fields from the instance and the holdings record.
    changed.remove(List.of("title", "callNumber"));
    changed.putObject("status").put("name", status).put("date", Instant.now().toString());
    return changed;
  }

  private HttpRequest.Builder get(String path) {
    return HttpRequest.newBuilder(URI.create(gateway + path)).GET();
  }

  private HttpRequest.Builder put(String path, ObjectNode body) {
    return HttpRequest.newBuilder(URI.create(gateway + path))
        .header("Content-Type", "application/json")
        .PUT(HttpRequest.BodyPublishers.ofString(body.toString()));
  }

  private HttpResponse<String> send(Context caller, HttpRequest.Builder request) {
    HttpRequest complete = request.timeout(HttpCalls.TIMEOUT)
        .header(Server.TENANT, caller.header(Server.TENANT))
        .header(Server.TOKEN, caller.header(Server.TOKEN))
        .header(Server.ASKED_BY_MODULE, gateway)
        .build();
    try {
      return client.send(complete, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw Problem.badGateway(complete.method() + " " + complete.uri() + ": " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Problem.badGateway(complete.method() + " " + complete.uri() + " was interrupted");
    }
  }

  private static String ok(HttpResponse<String> response, String path) {
    if (response.statusCode() == 409) {
      throw Problem.conflict(response.body());
    }
    if (response.statusCode() / 100 != 2) {
      throw Problem.badGateway(path + " answered " + response.statusCode() + ": " + response.body());
    }
    return response.body();
  }
}
