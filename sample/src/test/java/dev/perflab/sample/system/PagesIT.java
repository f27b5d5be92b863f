// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Service;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The calls around check-in and check-out, and the gateway's checks of callers. */
class PagesIT {
  private static Library library;

  @BeforeAll
  static void start() throws Exception {
    library = Library.start(Backends.shared().environment(1));
  }

  @AfterAll
  static void stop() {
    library.close();
  }

  @AfterEach
  void logInAgain() throws Exception {
    library.login();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      /groups                                        |                                                        | usergroups         | 4
      /users                                         |                                                        | users              | 10
      /users                                         | (barcode=="2000000001" OR externalSystemId=="2000000001" OR id=="2000000001" OR username=="2000000001") | users | 1
      /staff-slips-storage/staff-slips               |                                                        | staffSlips         | 4
      /service-points                                |                                                        | servicepoints      | 2
      /configurations/entries                        | (module=CHECKOUT and configName=other_settings)        | configs            | 1
      /configurations/entries                        | (module==USERS and configName==profile_pictures)       | configs            | 1
      /circulation/settings                          | (name==other_settings)                                 | circulationSettings | 1
      /inventory/items                               | barcode=="1000000001"                                  | items              | 1
      /inventory/items                               | status.name=="Available"                               | items              | 40
      /circulation/loans                             | (status.name==Closed)                                  | loans              | 10
      /user/settings                                 |                                                        | settings           | 1
      /circulation/requests                          | (status=="Open")                                       | requests           | 0
      /circulation/requests                          | (requesterId==u and status=="Open*")                   | requests           | 0
      /circulation/requests                          | (requesterId==u and    pickupServicePointId=s and     status=="Open - Awaiting pickup") | requests | 0
      /circulation/requests                          | (itemId==i and (status=="Open - Awaiting pickup" or status=="Open - Awaiting delivery")) | requests | 0
      /accounts                                      | (userId==u and itemId==i) AND (status.name=="Open" OR status.name=="Closed") | accounts | 0
      /accounts                                      | loanId=="NOT_FOUND"                                    | accounts           | 0
      /accounts                                      | status.name=="Closed"                                  | accounts           | 10
      /lost-item-fees-policies                       | id==NOT_FOUND                                          | lostItemFeePolicies | 0
      /manualblocks                                  | userId==u                                              | manualblocks       | 0
      /proxiesfor                                    | query=(userId==u)                                      | proxiesFor         | 0
      /automated-patron-blocks/u                     |                                                        | automatedPatronBlocks | 0
      /note-links/domain/users/type/user/id/6a6e72f0-69da-4b4c-8254-7154679e9d80 |                            | notes              | 0
      /data-import/uploadDefinitions                 | (status==("NEW" OR "LOADED")) sortBy createdDate/sort.descending | uploadDefinitions | 0
      /data-import/fileExtensions                    | extension==".mrc"                                      | fileExtensions     | 1
      """)
  void lists(String path, String query, String key, int total) throws Exception {
    ObjectNode page = library.read(path + "?limit=1000" + (query == null ? "" : "&" + Library.query(query)));
    assertEquals(total, page.path("totalRecords").asInt());
    assertEquals(total, page.path(key).size());
  }

  @Test
  void pagesThroughAllItemsWithoutGapOrOverlap() throws Exception {
    List<String> barcodes = new ArrayList<>();
    for (int offset = 0; offset < 40; offset += 15) {
      ObjectNode page = library.read("/inventory/items?limit=15&offset=" + offset);
      assertEquals(40, page.path("totalRecords").asInt());
      for (JsonNode item : page.path("items")) {
        barcodes.add(item.path("barcode").asText());
      }
    }
    assertEquals(40, barcodes.size());
    assertEquals(40, new HashSet<>(barcodes).size());
    assertEquals(40, library.read("/inventory/items?limit=0").path("totalRecords").asInt());
  }

  @Test
  void showsAnItemWithItsTitle() throws Exception {
    JsonNode item = library.read("/inventory/items?" + Library.query("barcode==\"1000000001\"")).path("items").get(0);
    assertTrue(item.path("title").asText().endsWith("volume 1"), item.toString());
    assertEquals(item.path("id"), library.read("/inventory/items/" + item.path("id").asText()).path("id"));
  }

  @ParameterizedTest
  @CsvSource({
      "/users?query=foo==1, 400", "/users?query=barcode, 400", "/users?limit=x, 400", "/users?limit=-1, 400",
      "/metadata-provider/jobExecutions?sortBy=colour, 400",
      "/users/none, 404", "/nothing, 404", "/change-manager/jobExecutions/none, 404"})
  void refuses(String path, int status) throws Exception {
    assertEquals(status, library.get(path).statusCode());
  }

  @Test
  void saysWhichFieldsAQueryMayName() throws Exception {
    String answer = library.get("/accounts?query=colour==red").body();
    assertEquals("query: there is no field \"colour\" in accounts;"
        + " known fields are id, userId, itemId, loanId, status.name", answer);
  }

  @ParameterizedTest
  @CsvSource({"diku_admin, wrong, Password does not match",
      "nobody, admin, Error verifying user existence: No user found by username nobody"})
  void letsNobodyInWithoutThePassword(String user, String password, String message) throws Exception {
    HttpResponse<String> refused = library.request("gateway", "POST", "/authn/login",
        "{\"username\":\"" + user + "\",\"password\":\"" + password + "\"}");
    assertEquals(422, refused.statusCode());
    assertTrue(refused.body().contains(message), refused.body());
  }

  @Test
  void refusesCallersWithoutAValidToken() throws Exception {
    library.useToken("forged");
    assertEquals(401, library.get("/users").statusCode());
    library.useToken("");
    assertEquals(401, library.get("/users").statusCode());
    assertEquals(401, library.request("circulation", "GET", "/users", null).statusCode());
  }

  @Test
  void answersPreflightsItself() throws Exception {
    library.useToken("");
    HttpResponse<String> preflight = library.request("gateway", "OPTIONS", "/accounts", null);
    assertEquals(204, preflight.statusCode());
    assertTrue(preflight.headers().firstValue("Access-Control-Allow-Headers").orElseThrow().contains("x-okapi-token"));
  }

  @Test
  void staysReadyWithoutAModule() throws Exception {
    library.stopRole("circulation");
    assertEquals(502, library.get("/users").statusCode());
    // Waits longer than the interval of the readiness check.
    Thread.sleep(2500);
    assertEquals(200, library.request("gateway", "GET", "/admin/health", null).statusCode());
    library.startRole("circulation");
    library.awaitReady();
    assertEquals(200, library.get("/users").statusCode());
  }

  @Test
  void isNotReadyBeforeEveryModuleWas() throws Exception {
    library.stopRole("circulation");
    try (Service another = library.startReplica("gateway")) {
      HttpResponse<String> health = library.health(another);
      for (int i = 0; i < 100 && !health.body().contains("circulation"); i++) {
        Thread.sleep(100);
        health = library.health(another);
      }
      assertEquals(503, health.statusCode());
      assertTrue(health.body().contains("circulation"), health.body());
      library.startRole("circulation");
      library.awaitReady();
      library.awaitReady(another);
    }
  }
}
