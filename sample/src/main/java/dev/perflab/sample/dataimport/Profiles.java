// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.Documents;
import dev.perflab.sample.http.Problem;
import dev.perflab.sample.kafka.Message.Step;
import io.javalin.http.Context;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Creates the profiles that define a job. The steps of a job profile are computed once from its
 * relations, when it is created.
 */
final class Profiles {
  private final Database database;

  Profiles(Database database) {
    this.database = database;
  }

  void create(Context ctx, Collection collection) {
    ObjectNode body = Json.parseObject(ctx.body());
    if (!(body.path("profile") instanceof ObjectNode profile) || profile.path("name").asText("").isBlank()) {
      throw Problem.unprocessable("the profile has no name", "profile.name.missing", "name", "");
    }
    profile.put("id", UUID.randomUUID().toString());
    JsonNode relations = body.path("addedRelations");
    database.write(c -> {
      requireFreeName(c, collection, profile.path("name").asText());
      profile.set("relations", relations.isArray() ? relations : Json.array());
      if (collection.equals(Catalogue.JOB_PROFILES)) {
        profile.set("steps", Json.object("steps", steps(c, relations)).path("steps"));
      }
      Documents.insert(c, collection, profile);
      return null;
    });
    ctx.status(201).contentType("application/json")
        .result(Json.object("id", profile.path("id").asText(), "profile", profile).toString());
  }

  private static void requireFreeName(Connection connection, Collection collection, String name) throws SQLException {
    if (Documents.first(connection, collection, "name = ?", name).isPresent()) {
      throw Problem.unprocessable("the name \"" + name + "\" is taken", "profile.duplication.invalid", "name", name);
    }
  }

  /** Returns a job's actions in order, each with the match that triggers it. */
  private static List<Step> steps(Connection connection, JsonNode relations) throws SQLException {
    List<JsonNode> ofJob = new ArrayList<>();
    for (JsonNode relation : relations) {
      if (relation.path("masterProfileType").asText().equals("JOB_PROFILE")) {
        ofJob.add(relation);
      }
    }
    ofJob.sort((a, b) -> Integer.compare(a.path("order").asInt(), b.path("order").asInt()));
    List<Step> steps = new ArrayList<>();
    for (JsonNode relation : ofJob) {
      String detail = relation.path("detailProfileId").asText();
      if (relation.path("detailProfileType").asText().equals("ACTION_PROFILE")) {
        steps.add(step(connection, detail, null));
        continue;
      }
      String field = matchField(required(connection, Catalogue.MATCH_PROFILES, detail));
      for (JsonNode reaction : relations) {
        if (reaction.path("masterProfileId").asText().equals(detail)) {
          steps.add(step(connection, reaction.path("detailProfileId").asText(), field));
        }
      }
    }
    return steps;
  }

  private static Step step(Connection connection, String actionId, String matchField) throws SQLException {
    ObjectNode action = required(connection, Catalogue.ACTION_PROFILES, actionId);
    ObjectNode mapping = required(connection, Catalogue.MAPPING_PROFILES,
        action.path("relations").path(0).path("detailProfileId").asText());
    return new Step(action.path("action").asText(), action.path("folioRecord").asText(), matchField, additions(mapping));
  }

  private static ObjectNode required(Connection connection, Collection collection, String id) throws SQLException {
    return Documents.byId(connection, collection, id).orElseThrow(() -> Problem.unprocessable(
        "there is no " + id + " in " + collection.key(), "profile.notFound", "detailProfileId", id));
  }

  /** Returns the tag and the subfield of the incoming record that a match compares. */
  private static String matchField(ObjectNode match) {
    StringBuilder field = new StringBuilder();
    for (JsonNode part : match.path("matchDetails").path(0).path("incomingMatchExpression").path("fields")) {
      field.append(part.path("value").asText().strip());
    }
    if (field.length() != 3 && field.length() != 4) {
      throw Problem.unprocessable("the match looks at \"" + field + "\", not at a field and subfield",
          "match.field.invalid", "fields", field.toString());
    }
    return field.toString();
  }

  /** Returns the fields that a mapping adds to a MARC record. */
  private static List<ObjectNode> additions(ObjectNode mapping) {
    List<ObjectNode> additions = new ArrayList<>();
    for (JsonNode detail : mapping.path("mappingDetails").path("marcMappingDetails")) {
      JsonNode field = detail.path("field");
      if (!detail.path("action").asText().equals("ADD")) {
        throw Problem.unprocessable("this system only adds fields", "mapping.action.invalid", "action",
            detail.path("action").asText());
      }
      ObjectNode added = Json.object();
      ObjectNode content = added.putObject(field.path("field").asText());
      content.put("ind1", field.path("indicator1").asText(" ")).put("ind2", field.path("indicator2").asText(" "));
      ArrayNode subfields = content.putArray("subfields");
      field.path("subfields").forEach(subfield -> subfields.addObject()
          .put(subfield.path("subfield").asText(), subfield.path("data").path("text").asText()));
      additions.add(added);
    }
    return additions;
  }

  /** A job profile with all its related profiles. */
  void snapshot(Context ctx) {
    String id = ctx.pathParam("id");
    ObjectNode profile = database.read(c -> Documents.byId(c, Catalogue.JOB_PROFILES, id))
        .orElseThrow(() -> Problem.notFound("no job profile " + id));
    ObjectNode snapshot = Json.object("id", UUID.randomUUID().toString(), "profileId", id, "contentType", "JOB_PROFILE");
    snapshot.set("content", profile);
    snapshot.set("childSnapshotWrappers", profile.path("relations").isArray() ? profile.path("relations") : Json.array());
    ctx.contentType("application/json").result(snapshot.toString());
  }
}
