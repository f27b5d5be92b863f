// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.perflab.sample.http.HttpCalls;
import io.javalin.Javalin;
import io.javalin.http.Context;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SlowdownTest {
  private final HttpClient client = HttpCalls.client();
  /** Nanoseconds in the handler and in total, one pair for each request. */
  private final BlockingQueue<long[]> times = new LinkedBlockingQueue<>();

  /**
   * Compares the server's time for each request with the handler's. A busy machine can only
   * increase the difference, so the test uses the minimum of many requests.
   */
  @ParameterizedTest
  @CsvSource({"GET, /users, 0, 0", "GET, /users, 10, 10", "GET, /users, 100, 100", "GET, /failing, 50, 50",
      "GET, /later, 50, 50", "POST, /circulation/check-out-by-barcode, 50, 50", "GET, /admin/health, 50, 0"})
  void makesARequestSlowerByItsShare(String method, String path, int percent, int expected) throws Exception {
    assertSlower(percent, expected, HttpRequest.newBuilder(), method, path);
  }

  @Test
  void letsThroughWhatModulesAsk() throws Exception {
    assertSlower(50, 0, HttpRequest.newBuilder().header("X-Okapi-Url", "http://gateway"), "GET", "/users");
  }

  private void assertSlower(int percent, int expected, HttpRequest.Builder builder, String method, String path)
      throws Exception {
    Javalin app = server(percent);
    HttpRequest request = builder.uri(URI.create("http://127.0.0.1:" + app.port() + path))
        .method(method, HttpRequest.BodyPublishers.noBody()).build();
    try {
      List<Double> slower = new ArrayList<>();
      for (int i = 0; i < 25; i++) {
        client.send(request, HttpResponse.BodyHandlers.discarding());
        long[] took = times.take();
        slower.add(100 * ((double) took[1] / took[0] - 1));
      }
      double least = Collections.min(slower);
      assertTrue(least > expected - 0.1 && least < expected + 10, "slower by " + slower + " %");
    } finally {
      app.stop();
    }
  }

  private Javalin server(int percent) {
    Javalin app = Javalin.create(config -> config.showJavalinBanner = false);
    app.before(ctx -> ctx.attribute("test-began", System.nanoTime()));
    new Slowdown(percent).install(app);
    app.after(ctx -> times.add(new long[] {
        ctx.<Long>attribute("test-handler"), System.nanoTime() - ctx.<Long>attribute("test-began")}));
    app.get("/users", this::work);
    app.get("/admin/health", this::work);
    app.get("/failing", ctx -> {
      work(ctx);
      throw new IllegalStateException("as the test wishes");
    });
    app.exception(IllegalStateException.class, (e, ctx) -> ctx.status(500));
    app.post("/circulation/check-out-by-barcode", this::work);
    // As in the gateway, another thread gets the module's response.
    app.get("/later", ctx -> ctx.future(() -> CompletableFuture.runAsync(() -> work(ctx))));
    return app.start(0);
  }

  private void work(Context ctx) {
    long began = System.nanoTime();
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    ctx.attribute("test-handler", System.nanoTime() - began);
    ctx.result("done");
  }
}
