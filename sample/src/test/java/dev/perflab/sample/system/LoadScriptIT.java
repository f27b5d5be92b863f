// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Checks that the library supports every call of the experiments' users, and stores their changes.
 */
class LoadScriptIT {
  private static final int USERS = 3;
  private static Path k6;
  private static Library library;

  @BeforeAll
  static void start() throws Exception {
    Optional<Path> program = LoadScript.program();
    assumeTrue(program.isPresent(), "k6 is not here: run make build-k6, or let PERFLAB_K6 name it");
    k6 = program.get();
    Map<String, String> env = Backends.shared().environment(1);
    // The tokens expire several times in a run of 12 s, and there are items for all loans of three
    // runs.
    env.putAll(Map.of("ACCESS_TOKEN_SECONDS", "4", "REFRESH_TOKEN_SECONDS", "8", "SEED_ITEMS", "1000"));
    library = Library.start(env);
  }

  @AfterAll
  static void stop() {
    if (library != null) {
      library.close();
    }
  }

  @ParameterizedTest
  @CsvSource({"2023, true, Okapi", "2026, true, Expiring", "2026, false, Expiring"})
  void servesUsersAtTheDesk(String release, String preflights, String login) throws Exception {
    long before = loans();
    Map<String, String> env = new HashMap<>(Map.of(
        "BASE_URL", library.address(), "OKAPI_USERNAME", "diku_admin", "OKAPI_PASSWORD", "admin",
        "USERS", Integer.toString(USERS), "DURATION_SECONDS", "12", "THINK_TIME_SECONDS", "0.5",
        "RELEASE", release, "PREFLIGHTS", preflights, "LOGIN", login));
    LoadScript.Result result = LoadScript.run(k6, "cico.js", env);

    assertEquals(0, result.exitCode(), result.log());
    assertEquals(0, result.values("transaction_duration", "outcome", "error").size(), result.log());
    assertTrue(result.samples().stream().noneMatch(s -> s.metric().equals("http_req_failed") && s.value() != 0), result.log());
    int checkIns = result.values("transaction_duration", "transaction", "Check-In").size();
    int checkOuts = result.values("transaction_duration", "transaction", "Check-Out").size();
    assertTrue(checkIns > 2 && checkOuts > 2, checkIns + " check-ins, " + checkOuts + " check-outs");
    // Each check-out creates a loan. The end of the run may have interrupted the last check-out of
    // each user.
    long lent = loans() - before;
    assertTrue(lent >= checkOuts && lent <= checkOuts + USERS, lent + " loans of " + checkOuts + " check-outs");
    boolean asked = !result.values("http_req_duration", "name", "OPTIONS /users").isEmpty();
    assertEquals(Boolean.parseBoolean(preflights), asked);
    int refreshes = result.values("http_req_duration", "name", "POST /authn/refresh").size();
    assertEquals(login.equals("Expiring"), refreshes >= USERS, refreshes + " refreshes");
  }

  private static long loans() throws Exception {
    return Backends.shared().count(library.database(), "diku_circulation.loan");
  }
}
