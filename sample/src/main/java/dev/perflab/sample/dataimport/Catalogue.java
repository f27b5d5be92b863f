// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import static dev.perflab.sample.db.Collection.indexed;
import static dev.perflab.sample.db.Collection.plain;
import static dev.perflab.sample.db.Collection.unique;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Schema;
import dev.perflab.sample.kafka.Message.Step;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The tables of data-import: definitions as documents, files in parts, jobs, and a journal of
 * records.
 */
final class Catalogue implements Schema.Content {
  static final Collection UPLOADS =
      Collection.of("uploadDefinitions", "upload_definition", indexed("status"), plain("createdDate"));
  static final Collection FILE_EXTENSIONS =
      Collection.of("fileExtensions", "file_extension", plain("extension"), plain("importBlocked"));
  static final Collection JOB_PROFILES =
      Collection.of("jobProfiles", "job_profile", unique("name"), plain("dataType"));
  static final Collection MATCH_PROFILES = Collection.of("matchProfiles", "match_profile", unique("name"));
  static final Collection ACTION_PROFILES = Collection.of("actionProfiles", "action_profile", unique("name"));
  static final Collection MAPPING_PROFILES = Collection.of("mappingProfiles", "mapping_profile", unique("name"));
  static final Collection EXPORT_JOB_PROFILES = Collection.of("jobProfiles", "export_job_profile", unique("name"));
  static final Collection EXPORT_MAPPING_PROFILES =
      Collection.of("mappingProfiles", "export_mapping_profile", unique("name"));
  static final Collection EXPORT_FILES = Collection.of("fileDefinitions", "export_file", plain("status"));
  static final Collection EXPORT_JOBS = Collection.of("jobExecutions", "export_job", indexed("status"));

  private static final List<String> RUN_TABLES = List.of(
      "upload_definition", "file_part", "storage_upload", "storage_part", "job_execution", "job_reading", "journal",
      "source_record", "export_file", "export_job");
  private static final List<String> MADE_PROFILES = List.of("job_profile", "match_profile", "action_profile",
      "mapping_profile", "export_job_profile", "export_mapping_profile");

  static List<String> definition() {
    List<String> statements = new ArrayList<>();
    List.of(UPLOADS, FILE_EXTENSIONS, JOB_PROFILES, MATCH_PROFILES, ACTION_PROFILES, MAPPING_PROFILES,
        EXPORT_JOB_PROFILES, EXPORT_MAPPING_PROFILES, EXPORT_FILES, EXPORT_JOBS)
        .forEach(c -> statements.addAll(c.definition()));
    statements.add("CREATE TABLE IF NOT EXISTS file_part"
        + " (file_id text, number int, content bytea NOT NULL, PRIMARY KEY (file_id, number))");
    // Multipart uploads to the storage. The parts of a file are stored under the upload's id.
    statements.add("CREATE TABLE IF NOT EXISTS storage_upload (id text PRIMARY KEY, object_key text NOT NULL,"
        + " complete boolean NOT NULL DEFAULT false)");
    statements.add("CREATE TABLE IF NOT EXISTS storage_part (upload_id text, number int, etag text NOT NULL,"
        + " bytes bigint NOT NULL, PRIMARY KEY (upload_id, number))");
    statements.add("CREATE TABLE IF NOT EXISTS job_execution (id text PRIMARY KEY,"
        + " hr_id int GENERATED ALWAYS AS IDENTITY, parent_id text,"
        + " subordination text NOT NULL DEFAULT 'PARENT_SINGLE', file_id text NOT NULL, file_name text NOT NULL,"
        + " status text NOT NULL, ui_status text NOT NULL, error_status text, profile jsonb,"
        + " total int NOT NULL DEFAULT 0, succeeded int NOT NULL DEFAULT 0, failed int NOT NULL DEFAULT 0,"
        + " started_date timestamptz, completed_date timestamptz, last_progress timestamptz NOT NULL DEFAULT now())");
    statements.add("CREATE INDEX IF NOT EXISTS job_execution_status_idx ON job_execution (status)");
    statements.add("CREATE INDEX IF NOT EXISTS job_execution_parent_idx ON job_execution (parent_id)");
    // Files waiting to be read. A replica locks the row while it reads the file.
    statements.add("CREATE TABLE IF NOT EXISTS job_reading (job_id text PRIMARY KEY)");
    statements.add("CREATE TABLE IF NOT EXISTS journal (job_id text, record_order int, title text,"
        + " made jsonb NOT NULL, instance_id text GENERATED ALWAYS AS (made->>'instanceId') STORED, error text,"
        + " PRIMARY KEY (job_id, record_order))");
    statements.add("CREATE INDEX IF NOT EXISTS journal_instance_idx ON journal (instance_id)");
    statements.add("CREATE TABLE IF NOT EXISTS source_record (job_id text, record_order int,"
        + " content jsonb NOT NULL, PRIMARY KEY (job_id, record_order))");
    return statements;
  }

  @Override
  public String fingerprint() {
    return "profiles 2";
  }

  @Override
  public void seed(Statement statement) throws SQLException {
    statement.execute("INSERT INTO file_extension (id, jsonb) SELECT id, jsonb_build_object('id', id, 'extension',"
        + " extension, 'dataTypes', '[\"MARC\"]'::jsonb, 'importBlocked', false)"
        + " FROM (VALUES ('26adfd2d-c8d4-4ac2-8f3d-3a6e0a5f3a01', '.mrc'),"
        + " ('26adfd2d-c8d4-4ac2-8f3d-3a6e0a5f3a02', '.marc')) e (id, extension)");
    create(statement, "e34d7b92-9b83-11eb-a8b3-0242ac130003", "Default - Create instance and SRS MARC Bib", "INSTANCE");
    create(statement, "80898dee-449f-44dd-9c8e-37d5eb469b1d", "Default - Create Holdings and SRS MARC Holdings", "HOLDINGS");
    create(statement, "6eefa4c6-bbf7-4845-ad82-de7fc5abd0e3", "Default - Create SRS MARC Authority", "AUTHORITY");
    create(statement, "6f7f3cd7-9f24-42eb-ae91-91af1cd54d0a", "PTF - Create 2", "INSTANCE", "HOLDINGS", "ITEM");
  }

  /** Inserts a job profile that creates records of the given types. */
  private static void create(Statement statement, String id, String name, String... types) throws SQLException {
    ObjectNode profile = Json.object("id", id, "name", name, "dataType", "MARC", "deleted", false, "hidden", false,
        "steps", Stream.of(types).map(Step::create).toList());
    statement.execute("INSERT INTO job_profile (id, jsonb) VALUES ('" + id + "', '" + profile + "')");
  }

  @Override
  public void clear(Statement statement) throws SQLException {
    restore(statement);
    statement.execute("TRUNCATE file_extension, " + String.join(", ", MADE_PROFILES));
  }

  @Override
  public void restore(Statement statement) throws SQLException {
    statement.execute("TRUNCATE " + String.join(", ", RUN_TABLES) + " RESTART IDENTITY");
  }

  @Override
  public List<String> tables() {
    return RUN_TABLES;
  }
}
