// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Documents;
import dev.perflab.sample.http.Listing;
import dev.perflab.sample.http.Problem;
import io.javalin.http.Context;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Serves job executions, their summaries and their journals in the format of metadata-provider and
 * change-manager.
 */
final class JobViews {
  private static final Map<String, String> SORT_COLUMNS = Map.of(
      "completed_date", "completed_date", "started_date", "started_date", "hrid", "hr_id", "status", "status",
      "file_name", "file_name");
  /** The field of a summary that counts records of a type. */
  private static final Map<String, String> SUMMARIES = Map.of("INSTANCE", "instanceSummary",
      "MARC_BIBLIOGRAPHIC", "instanceSummary", "HOLDINGS", "holdingSummary", "ITEM", "itemSummary",
      "AUTHORITY", "authoritySummary");

  /** Jobs with their counts. A parent's counts are the sums of its children's counts. */
  private static final String JOBS = "(SELECT j.id, j.hr_id, j.parent_id, j.subordination, j.file_name, j.status,"
      + " j.ui_status, j.error_status, j.profile, j.started_date, j.completed_date, j.total,"
      + " coalesce(c.succeeded, j.succeeded) AS succeeded, coalesce(c.failed, j.failed) AS failed, c.states"
      + " FROM job_execution j LEFT JOIN LATERAL (SELECT sum(s.succeeded)::int AS succeeded, sum(s.failed)::int AS failed,"
      + " jsonb_object_agg(s.status, jsonb_build_object('chunksCount', s.jobs, 'totalRecordsCount', s.total,"
      + " 'currentlyProcessedCount', s.succeeded + s.failed)) AS states FROM (SELECT status, count(*) AS jobs,"
      + " sum(total) AS total, sum(succeeded) AS succeeded, sum(failed) AS failed FROM job_execution"
      + " WHERE parent_id = j.id GROUP BY status) s) c ON j.subordination = 'COMPOSITE_PARENT') jobs";

  private final Database database;

  JobViews(Database database) {
    this.database = database;
  }

  /** Lists jobs by {@code statusAny}, {@code statusNot}, {@code uiStatusAny} and {@code sortBy}. */
  void list(Context ctx) {
    List<Object> parameters = new ArrayList<>();
    List<String> conditions = new ArrayList<>(List.of("TRUE"));
    anyOf(ctx, "statusAny", "status = ANY (?)", conditions, parameters);
    anyOf(ctx, "statusNot", "NOT status = ANY (?)", conditions, parameters);
    anyOf(ctx, "uiStatusAny", "ui_status = ANY (?)", conditions, parameters);
    anyOf(ctx, "subordinationTypeNotAny", "NOT subordination = ANY (?)", conditions, parameters);
    list(ctx, conditions, parameters);
  }

  /** Lists the jobs of the parts of a split file. */
  void children(Context ctx) {
    list(ctx, List.of("parent_id = ?"), List.of(job(ctx).path("id").asText()));
  }

  private void list(Context ctx, List<String> conditions, List<Object> parameters) {
    String where = " WHERE " + String.join(" AND ", conditions);
    String order = " ORDER BY " + order(ctx);
    Documents.Range range = Listing.range(ctx);
    database.read(c -> {
      List<String> jobs = jobs(c, "SELECT * FROM " + JOBS + where + order + " LIMIT " + range.limit()
          + " OFFSET " + range.offset(), parameters).stream().map(ObjectNode::toString).toList();
      int total = count(c, "SELECT count(*) FROM " + JOBS + where, parameters);
      Listing.json(ctx, "jobExecutions", jobs, total);
      return null;
    });
  }

  private static void anyOf(
      Context ctx, String parameter, String condition, List<String> conditions, List<Object> parameters) {
    List<String> values = ctx.queryParams(parameter);
    if (!values.isEmpty()) {
      conditions.add(condition);
      parameters.add(values.toArray(new String[0]));
    }
  }

  private static String order(Context ctx) {
    List<String> wishes = ctx.queryParams("sortBy");
    if (wishes.isEmpty()) {
      return "hr_id";
    }
    return String.join(", ", wishes.stream().map(JobViews::orderTerm).toList()) + ", hr_id";
  }

  private static String orderTerm(String wish) {
    String[] parts = wish.split(",", 2);
    String column = SORT_COLUMNS.get(parts[0].strip().toLowerCase());
    if (column == null) {
      throw Problem.badRequest("cannot sort jobs by \"" + parts[0] + "\"; known are "
          + String.join(", ", SORT_COLUMNS.keySet().stream().sorted().toList()));
    }
    boolean descending = parts.length == 2 && parts[1].strip().equalsIgnoreCase("desc");
    return column + (descending ? " DESC NULLS LAST" : " NULLS FIRST");
  }

  void get(Context ctx) {
    ctx.contentType("application/json").result(job(ctx).toString());
  }

  /** Counts the records of the job's file that succeeded and that failed. */
  void summary(Context ctx) {
    ObjectNode job = job(ctx);
    int succeeded = job.path("perflabSucceeded").asInt();
    int failed = job.path("perflabFailed").asInt();
    ObjectNode summary = Json.object("jobExecutionId", job.path("id").asText(), "totalErrors", failed);
    for (JsonNode step : job.path("jobProfileInfo").path("steps")) {
      boolean creates = step.path("action").asText().equals("CREATE");
      ObjectNode counts = counts(creates, succeeded, failed);
      summary.set(SUMMARIES.getOrDefault(step.path("recordType").asText(), "otherSummary"), counts);
      if (!summary.has("sourceRecordSummary")) {
        summary.set("sourceRecordSummary", counts);
      }
    }
    ctx.contentType("application/json").result(summary.toString());
  }

  private static ObjectNode counts(boolean creates, int succeeded, int errors) {
    return Json.object("totalCreatedEntities", creates ? succeeded : 0, "totalUpdatedEntities", creates ? 0 : succeeded,
        "totalDiscardedEntities", errors, "totalErrors", errors);
  }

  /** Stops a job and its children, and responds with 204. */
  void cancel(Context ctx) {
    String id = job(ctx).path("id").asText();
    if (!database.write(c -> Jobs.cancel(c, id))) {
      throw Problem.badRequest("job " + id + " does not work, so it cannot be stopped");
    }
    ctx.status(204);
  }

  /** The journal: one entry for each record, in the order of the file. */
  void logEntries(Context ctx) {
    String id = job(ctx).path("id").asText();
    Documents.Range range = Listing.range(ctx);
    boolean errorsOnly = Boolean.parseBoolean(ctx.queryParam("errorsOnly"));
    String where = " FROM journal WHERE job_id = ?" + (errorsOnly ? " AND error IS NOT NULL" : "");
    String sql = "SELECT json_build_object('jobExecutionId', job_id, 'sourceRecordOrder', record_order::text,"
        + " 'sourceRecordTitle', title, 'error', coalesce(error, ''), 'relatedInstanceInfo', json_build_object("
        + "'idList', array_remove(ARRAY[instance_id], NULL),"
        + " 'hridList', array_remove(ARRAY[made->>'instanceHrid'], NULL)))::text" + where
        + " ORDER BY record_order LIMIT " + range.limit() + " OFFSET " + range.offset();
    database.read(c -> {
      Listing.json(ctx, "entries", texts(c, sql, id), count(c, "SELECT count(*)" + where, List.of(id)));
      return null;
    });
  }

  private ObjectNode job(Context ctx) {
    String id = ctx.pathParam("id");
    return database.read(c -> jobs(c, "SELECT * FROM " + JOBS + " WHERE id = ?", List.of(id))).stream()
        .findFirst()
        .orElseThrow(() -> Problem.notFound("JobExecution with id '" + id + "' was not found"));
  }

  private static List<ObjectNode> jobs(Connection connection, String sql, List<Object> parameters)
      throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, parameters);
        ResultSet rows = statement.executeQuery()) {
      List<ObjectNode> jobs = new ArrayList<>();
      while (rows.next()) {
        jobs.add(json(rows));
      }
      return jobs;
    }
  }

  private static ObjectNode json(ResultSet row) throws SQLException {
    String id = row.getString("id");
    int succeeded = row.getInt("succeeded");
    int failed = row.getInt("failed");
    ObjectNode job = Json.object("id", id, "hrId", row.getInt("hr_id"),
        "parentJobId", row.getString("parent_id") == null ? id : row.getString("parent_id"),
        "subordinationType", row.getString("subordination"), "fileName", row.getString("file_name"),
        "sourcePath", row.getString("file_name"), "status", row.getString("status"),
        "uiStatus", row.getString("ui_status"));
    job.set("progress", Json.object("jobExecutionId", id, "current", succeeded + failed, "total", row.getInt("total")));
    job.put("perflabSucceeded", succeeded).put("perflabFailed", failed);
    if (row.getString("subordination").equals("COMPOSITE_PARENT")) {
      job.set("compositeDetails", states(row.getString("states")));
    }
    if (row.getString("error_status") != null) {
      job.put("errorStatus", row.getString("error_status"));
    }
    if (row.getString("profile") != null) {
      job.set("jobProfileInfo", Json.parseObject(row.getString("profile")));
    }
    for (String[] date : new String[][] {{"startedDate", "started_date"}, {"completedDate", "completed_date"}}) {
      OffsetDateTime value = row.getObject(date[1], OffsetDateTime.class);
      if (value != null) {
        job.put(date[0], value.toInstant().toString());
      }
    }
    return job;
  }

  /**
   * Returns the counts of children by state, with FOLIO's keys, such as
   * {@code processingInProgressState}.
   */
  private static ObjectNode states(String byStatus) {
    ObjectNode states = Json.object();
    if (byStatus != null) {
      Json.parseObject(byStatus).fields().forEachRemaining(state -> {
        StringBuilder key = new StringBuilder();
        for (String word : state.getKey().toLowerCase().split("_")) {
          key.append(key.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        states.set(key.append("State").toString(), state.getValue());
      });
    }
    return states;
  }

  private static List<String> texts(Connection connection, String sql, String parameter) throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, List.of(parameter));
        ResultSet rows = statement.executeQuery()) {
      Stream.Builder<String> texts = Stream.builder();
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
      return texts.build().toList();
    }
  }

  private static int count(Connection connection, String sql, List<?> parameters) throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, parameters);
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getInt(1);
    }
  }

  private static PreparedStatement prepare(Connection connection, String sql, List<?> parameters)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < parameters.size(); i++) {
      Object value = parameters.get(i);
      statement.setObject(i + 1, value instanceof String[] texts ? connection.createArrayOf("text", texts) : value);
    }
    return statement;
  }
}
