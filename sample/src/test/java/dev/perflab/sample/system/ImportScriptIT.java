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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks that the library accepts every kind of file that experiments import, through both flows.
 */
class ImportScriptIT {
  private static Path k6;
  private static Backends backends;
  private static Library library;

  @BeforeAll
  static void start() throws Exception {
    Optional<Path> program = LoadScript.program();
    assumeTrue(program.isPresent(), "k6 is not here: run make build-k6, or let PERFLAB_K6 name it");
    k6 = program.get();
    backends = Backends.shared();
    Map<String, String> environment = backends.environment(2);
    environment.putAll(Map.of("SPLIT_FILES_ENABLED", "true", "RECORDS_PER_SPLIT_FILE", "100"));
    library = Library.start(environment);
  }

  @AfterAll
  static void stop() {
    if (library != null) {
      library.close();
    }
  }

  /** Runs an import of 250 records, which must succeed, and returns its log. */
  private static String run(Map<String, String> more) throws Exception {
    Map<String, String> env = new HashMap<>(Map.of("BASE_URL", library.address(), "RECORDS", "250",
        "OKAPI_USERNAME", "diku_admin", "OKAPI_PASSWORD", "admin", "POLL_SECONDS", "0.3", "STALL_TIMEOUT_SECONDS", "60"));
    env.put("PERFLAB_RUN", "run" + System.nanoTime());
    env.putAll(more);
    LoadScript.Result result = LoadScript.run(k6, "data-import.js", env);
    assertEquals(0, result.exitCode(), result.log());
    assertTrue(result.values("transaction_duration", "outcome", "error").isEmpty(), result.log());
    return result.log();
  }

  private static long rows(String from) throws Exception {
    return backends.count(library.database(), "diku_inventory_storage." + from);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Upload", "S3"})
  void createsBibliographicRecords(String flow) throws Exception {
    long before = rows("item WHERE import_job IS NOT NULL");
    run(Map.of("FLOW", flow, "JOB_PROFILE", "PTF - Create 2", "IMPORTS", "2"));
    assertEquals(before + 500, rows("item WHERE import_job IS NOT NULL"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Upload", "S3"})
  void updatesWhatItCreatedWithProfilesOfItsOwn(String flow) throws Exception {
    long before = rows("item WHERE jsonb->>'_version' = '2'");
    String output = run(Map.of("FLOW", flow, "OPERATION", "Update", "JOB_PROFILE", "Updates " + flow,
        "CREATE_JOB_PROFILE", "Creates " + flow));
    assertTrue(output.contains("update 1 of 1: 250 records created in"), output);
    assertEquals(before + 250, rows("item WHERE jsonb->>'_version' = '2'"));
    assertEquals(250, backends.count(library.database(), "diku_data_import.source_record s JOIN"
        + " diku_data_import.job_execution j ON j.id = s.job_id AND j.profile->>'name' = 'Updates " + flow + "'"
        + " WHERE s.content::text LIKE '%Addition%'"));
  }

  @Test
  void createsHoldings() throws Exception {
    long before = rows("holdings_record WHERE import_job IS NOT NULL");
    run(Map.of("FLOW", "S3", "RECORD_TYPE", "Holdings", "JOB_PROFILE", "Default - Create Holdings and SRS MARC Holdings"));
    assertEquals(before + 250, rows("holdings_record WHERE import_job IS NOT NULL"));
  }

  @Test
  void createsAuthorities() throws Exception {
    long before = rows("authority");
    run(Map.of("FLOW", "S3", "RECORD_TYPE", "Authority", "JOB_PROFILE", "Default - Create SRS MARC Authority"));
    assertEquals(before + 250, rows("authority"));
  }
}
