// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import dev.perflab.sample.http.HttpCalls;
import dev.perflab.sample.http.Problem;
import dev.perflab.sample.http.Server;
import io.javalin.http.Context;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards requests to modules. No thread waits for a module's response: a module that calls
 * another through the gateway would otherwise need a second thread, and a busy gateway would
 * deadlock.
 */
final class Proxy {
  private static final Logger LOG = LoggerFactory.getLogger(Proxy.class);
  private static final long STREAM_ABOVE_BYTES = 1_000_000;
  private static final Set<String> NOT_PASSED_ON = Set.of(
      "connection", "content-length", "expect", "host", "keep-alive", "te", "trailer",
      "transfer-encoding", "upgrade", "x-okapi-token");

  private final HttpClient client;

  Proxy(HttpClient client) {
    this.client = client;
  }

  void pass(Context ctx, URI module, String token) {
    HttpRequest request = request(ctx, module, token);
    ctx.future(() -> client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray())
        .handle((response, problem) -> {
          if (problem != null) {
            failed(ctx, module, problem);
          } else {
            answer(ctx, response);
          }
          return null;
        }));
  }

  private static HttpRequest request(Context ctx, URI module, String token) {
    String query = ctx.queryString() == null ? "" : "?" + ctx.queryString();
    HttpRequest.Builder request = HttpRequest.newBuilder(target(module + ctx.req().getRequestURI() + query))
        .timeout(HttpCalls.TIMEOUT)
        .method(ctx.req().getMethod(), body(ctx));
    ctx.headerMap().forEach((name, value) -> {
      if (!NOT_PASSED_ON.contains(name.toLowerCase())) {
        request.header(name, value);
      }
    });
    return request.header(Server.TOKEN, token).build();
  }

  /** Clients send CQL with some unescaped characters that a URI must have escaped. */
  private static URI target(String url) {
    String escaped = url.replace(" ", "%20").replace("\"", "%22").replace("<", "%3C").replace(">", "%3E")
        .replace("{", "%7B").replace("}", "%7D").replace("|", "%7C").replace("^", "%5E").replace("`", "%60");
    try {
      return URI.create(escaped);
    } catch (IllegalArgumentException e) {
      throw Problem.badRequest("the URL is not valid: " + e.getMessage());
    }
  }

  private static BodyPublisher body(Context ctx) {
    long length = ctx.req().getContentLengthLong();
    boolean chunked = ctx.header("Transfer-Encoding") != null;
    if (length <= 0 && !chunked) {
      return BodyPublishers.noBody();
    }
    if (length >= 0 && length <= STREAM_ABOVE_BYTES) {
      return BodyPublishers.ofByteArray(ctx.bodyAsBytes());
    }
    InputStream stream = ctx.bodyInputStream();
    return BodyPublishers.ofInputStream(() -> stream);
  }

  private static void answer(Context ctx, HttpResponse<byte[]> response) {
    ctx.status(response.statusCode());
    response.headers().map().forEach((name, values) -> {
      if (!NOT_PASSED_ON.contains(name.toLowerCase()) && !name.equalsIgnoreCase("date")) {
        ctx.header(name, values.get(0));
      }
    });
    ctx.result(response.body());
  }

  private static void failed(Context ctx, URI module, Throwable problem) {
    Throwable cause = problem instanceof CompletionException && problem.getCause() != null
        ? problem.getCause() : problem;
    LOG.warn("{} {} to {}: {}", ctx.method(), ctx.path(), module, cause.toString());
    int status = cause instanceof HttpTimeoutException ? 504 : 502;
    ctx.status(status).contentType("text/plain").result("module at " + module + " did not answer: " + cause);
  }
}
