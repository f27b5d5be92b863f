// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CirculationIT {
  private static final String SERVICE_POINT = "3a40852d-49fd-4df2-a1f9-6e2641a6e91f";
  private static Library library;

  @BeforeAll
  static void start() throws Exception {
    library = Library.start(Backends.shared().environment(1));
  }

  @AfterAll
  static void stop() {
    library.close();
  }

  private static ObjectNode user(int number) throws IOException, InterruptedException {
    return (ObjectNode) library.read("/users?limit=100&" + Library.query("barcode==\"200000000" + number + "\""))
        .path("users").get(0);
  }

  private static String itemBarcode(int number) {
    return "1%09d".formatted(number);
  }

  private static JsonNode item(int number) throws IOException, InterruptedException {
    return library.read("/inventory/items?" + Library.query("barcode==\"" + itemBarcode(number) + "\""))
        .path("items").get(0);
  }

  private static HttpResponse<String> checkOut(int item, int user) throws IOException, InterruptedException {
    return library.post("/circulation/check-out-by-barcode", Json.object("itemBarcode", itemBarcode(item),
        "userBarcode", "200000000" + user, "servicePointId", SERVICE_POINT, "loanDate", "2026-01-10T08:00:00Z"));
  }

  private static HttpResponse<String> checkIn(int item) throws IOException, InterruptedException {
    return library.post("/circulation/check-in-by-barcode", Json.object("itemBarcode", itemBarcode(item),
        "servicePointId", SERVICE_POINT, "checkInDate", "2026-01-11T08:00:00Z"));
  }

  private static int openLoans(String userId) throws IOException, InterruptedException {
    return library.read("/circulation/loans?limit=1&" + Library.query("(userId==" + userId + " and status.name<>Closed)"))
        .path("totalRecords").asInt();
  }

  @Test
  void lendsAnItemAndTakesItBack() throws Exception {
    ObjectNode user = user(1);
    HttpResponse<String> lent = checkOut(1, 1);
    assertEquals(201, lent.statusCode(), lent.body());
    ObjectNode loan = Json.parseObject(lent.body());
    assertEquals(user.path("id"), loan.path("userId"));
    assertEquals("2026-01-24T08:00:00Z", loan.path("dueDate").asText());
    assertEquals("Checked out", item(1).path("status").path("name").asText());
    assertEquals(1, openLoans(user.path("id").asText()));

    HttpResponse<String> returned = checkIn(1);
    assertEquals(200, returned.statusCode(), returned.body());
    ObjectNode answer = Json.parseObject(returned.body());
    assertEquals(loan.path("id"), answer.path("loan").path("id"));
    assertEquals("Closed", answer.path("loan").path("status").path("name").asText());
    assertEquals("Available", item(1).path("status").path("name").asText());
    assertEquals(0, openLoans(user.path("id").asText()));
  }

  @Test
  void refusesAnItemThatIsOut() throws Exception {
    assertEquals(201, checkOut(2, 2).statusCode());
    HttpResponse<String> again = checkOut(2, 3);
    assertEquals(422, again.statusCode());
    JsonNode error = Json.parseObject(again.body()).path("errors").get(0);
    assertEquals("Item is already checked out", error.path("message").asText());
    assertEquals(itemBarcode(2), error.path("parameters").get(0).path("value").asText());
  }

  /** Uses several items, because a single attempt would rarely show a race. */
  @ParameterizedTest
  @ValueSource(ints = {20, 21, 22, 23, 24, 25, 26, 27, 28, 29})
  void lendsAnItemOnlyOnceHoweverManyAsk(int item) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Callable<Integer>> attempts = new ArrayList<>();
      for (int user = 1; user <= 8; user++) {
        int number = user;
        attempts.add(() -> checkOut(item, number).statusCode());
      }
      List<Integer> statuses = new ArrayList<>();
      for (Future<Integer> attempt : threads.invokeAll(attempts)) {
        statuses.add(attempt.get());
      }
      statuses.sort(null);
      assertEquals(List.of(201, 422, 422, 422, 422, 422, 422, 422), statuses);
    } finally {
      threads.shutdown();
    }
  }

  @Test
  void takesBackWhatWasNotOut() throws Exception {
    HttpResponse<String> returned = checkIn(4);
    assertEquals(200, returned.statusCode());
    assertFalse(Json.parseObject(returned.body()).has("loan"));
    assertEquals(itemBarcode(4), Json.parseObject(returned.body()).path("item").path("barcode").asText());
  }

  @Test
  void refusesWhatIsRequestedByAnotherPatron() throws Exception {
    String itemId = item(5).path("id").asText();
    Backends.shared().execute(library.database(), "INSERT INTO diku_circulation.request (id, jsonb) VALUES ('r1',"
        + " '{\"id\": \"r1\", \"itemId\": \"" + itemId + "\", \"requesterId\": \"someone\", \"status\":"
        + " \"Open - Awaiting pickup\"}')");
    assertEquals(422, checkOut(5, 1).statusCode());
    assertEquals("Available", item(5).path("status").path("name").asText());
    String query = "(itemId==" + itemId + " and (status==\"Open - Awaiting pickup\" or status==\"Open - Awaiting delivery\"))";
    assertEquals(1, library.read("/circulation/requests?" + Library.query(query)).path("totalRecords").asInt());
  }

  @Test
  void refusesABlockedPatron() throws Exception {
    String userId = user(9).path("id").asText();
    Backends.shared().execute(library.database(), "INSERT INTO diku_circulation.manual_block (id, jsonb) VALUES ('b1',"
        + " '{\"id\": \"b1\", \"userId\": \"" + userId + "\", \"borrowing\": true}')");
    HttpResponse<String> refused = checkOut(6, 9);
    assertEquals(422, refused.statusCode());
    assertTrue(refused.body().contains("Patron blocked from borrowing"), refused.body());
  }

  @ParameterizedTest
  @CsvSource({
      "'{\"userBarcode\":\"2000000001\",\"servicePointId\":\"x\"}', itemBarcode is required",
      "'{\"itemBarcode\":\"none\",\"userBarcode\":\"2000000001\",\"servicePointId\":\"x\"}', No item with barcode none exists",
      "'{\"itemBarcode\":\"1000000007\",\"userBarcode\":\"none\",\"servicePointId\":\"x\"}', Could not find user with matching barcode",
      "'{\"itemBarcode\":\"1000000007\",\"userBarcode\":\"2000000001\",\"servicePointId\":\"x\",\"loanDate\":\"today\"}', loanDate is not an ISO 8601 date with a zone"})
  void saysWhatACheckOutLacks(String body, String message) throws Exception {
    HttpResponse<String> refused = library.request("gateway", "POST", "/circulation/check-out-by-barcode", body);
    assertEquals(422, refused.statusCode());
    assertEquals(message, Json.parseObject(refused.body()).path("errors").get(0).path("message").asText());
  }

  @Test
  void refusesAnItemChangedInTheMeantime() throws Exception {
    ObjectNode item = (ObjectNode) item(8);
    String path = "/item-storage/items/" + item.path("id").asText();
    assertEquals(204, library.request("gateway", "PUT", path, item.toString()).statusCode());
    assertEquals(409, library.request("gateway", "PUT", path, item.toString()).statusCode());
  }
}
