// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import static dev.perflab.sample.db.Collection.indexed;
import static dev.perflab.sample.db.Collection.plain;
import static dev.perflab.sample.db.Collection.unique;

import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Schema;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What data-import keeps: definitions as documents, files in parts, jobs, and a journal of records. */
final class Catalogue implements Schema.Content {
  static final Collection UPLOADS =
      Collection.of("uploadDefinitions", "upload_definition", indexed("status"), plain("createdDate"));
  static final Collection FILE_EXTENSIONS =
      Collection.of("fileExtensions", "file_extension", plain("extension"), plain("importBlocked"));
  static final Collection JOB_PROFILES =
      Collection.of("jobProfiles", "job_profile", unique("name"), plain("dataType"));

  private static final List<String> RUN_TABLES = List.of(
      "upload_definition", "file_part", "job_execution", "job_reading", "journal", "source_record");

  static List<String> definition() {
    List<String> statements = new ArrayList<>();
    List.of(UPLOADS, FILE_EXTENSIONS, JOB_PROFILES).forEach(c -> statements.addAll(c.definition()));
    statements.add("CREATE TABLE IF NOT EXISTS file_part"
        + " (file_id text, number int, content bytea NOT NULL, PRIMARY KEY (file_id, number))");
    statements.add("CREATE TABLE IF NOT EXISTS job_execution (id text PRIMARY KEY,"
        + " hr_id int GENERATED ALWAYS AS IDENTITY, file_id text NOT NULL, file_name text NOT NULL,"
        + " status text NOT NULL, ui_status text NOT NULL, error_status text, profile jsonb,"
        + " total int NOT NULL DEFAULT 0, succeeded int NOT NULL DEFAULT 0, failed int NOT NULL DEFAULT 0,"
        + " started_date timestamptz, completed_date timestamptz, last_progress timestamptz NOT NULL DEFAULT now())");
    statements.add("CREATE INDEX IF NOT EXISTS job_execution_status_idx ON job_execution (status)");
    // Files waiting to be read; the row is locked while somebody reads it.
    statements.add("CREATE TABLE IF NOT EXISTS job_reading (job_id text PRIMARY KEY)");
    statements.add("CREATE TABLE IF NOT EXISTS journal (job_id text, record_order int, title text,"
        + " instance_id text, error text, PRIMARY KEY (job_id, record_order))");
    statements.add("CREATE TABLE IF NOT EXISTS source_record (job_id text, record_order int,"
        + " content jsonb NOT NULL, PRIMARY KEY (job_id, record_order))");
    return statements;
  }

  @Override
  public String fingerprint() {
    return "profiles 1";
  }

  @Override
  public void seed(Statement statement) throws SQLException {
    statement.execute("INSERT INTO file_extension (id, jsonb) SELECT id, jsonb_build_object('id', id, 'extension',"
        + " extension, 'dataTypes', '[\"MARC\"]'::jsonb, 'importBlocked', false)"
        + " FROM (VALUES ('26adfd2d-c8d4-4ac2-8f3d-3a6e0a5f3a01', '.mrc'),"
        + " ('26adfd2d-c8d4-4ac2-8f3d-3a6e0a5f3a02', '.marc')) e (id, extension)");
    profile(statement, "e34d7b92-9b83-11eb-a8b3-0242ac130003", "Default - Create instance and SRS MARC Bib",
        "[\"INSTANCE\"]");
    profile(statement, "6f7f3cd7-9f24-42eb-ae91-91af1cd54d0a", "PTF - Create 2",
        "[\"INSTANCE\", \"HOLDINGS\", \"ITEM\"]");
  }

  private static void profile(Statement statement, String id, String name, String actions) throws SQLException {
    statement.execute("INSERT INTO job_profile (id, jsonb) VALUES ('" + id + "', jsonb_build_object('id', '" + id
        + "', 'name', '" + name + "', 'dataType', 'MARC', 'deleted', false, 'hidden', false,"
        + " 'actions', '" + actions + "'::jsonb))");
  }

  @Override
  public void clear(Statement statement) throws SQLException {
    restore(statement);
    statement.execute("TRUNCATE file_extension, job_profile");
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
