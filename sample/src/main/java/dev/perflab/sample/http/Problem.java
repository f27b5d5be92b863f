// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;

/** A request that fails with a status, and the response to the caller. */
public final class Problem extends RuntimeException {
  private final int status;
  private final transient ObjectNode errors;

  private Problem(int status, String message, ObjectNode errors) {
    super(message);
    this.status = status;
    this.errors = errors;
  }

  public static Problem badRequest(String message) {
    return new Problem(400, message, null);
  }

  public static Problem unauthorized(String message) {
    return new Problem(401, message, null);
  }

  public static Problem forbidden(String message) {
    return new Problem(403, message, null);
  }

  public static Problem notFound(String what) {
    return new Problem(404, what, null);
  }

  public static Problem conflict(String message) {
    return new Problem(409, message, null);
  }

  public static Problem tooLarge(String message) {
    return new Problem(413, message, null);
  }

  public static Problem badGateway(String message) {
    return new Problem(502, message, null);
  }

  /** A request that is well formed but breaks a rule: FOLIO's 422 with its list of errors. */
  public static Problem unprocessable(String message, String code, String key, String value) {
    ObjectNode error = Json.object("message", message, "type", "error", "code", code);
    error.putArray("parameters").add(Json.object("key", key, "value", value));
    ObjectNode errors = Json.object();
    errors.putArray("errors").add(error);
    return new Problem(422, message, errors.put("total_records", 1));
  }

  public int status() {
    return status;
  }

  /** The body and its media type: plain text, or JSON for 422. */
  public String body() {
    return errors == null ? getMessage() : errors.toString();
  }

  public String contentType() {
    return errors == null ? "text/plain; charset=utf-8" : "application/json";
  }
}
