// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.perflab.sample.http.HttpCalls;
import io.javalin.Javalin;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FaultsTest {
  private final HttpClient client = HttpCalls.client();

  @Test
  void keepsBytesOfEveryRequestButOfHealthChecks() throws Exception {
    try (Faults faults = new Faults(new Settings(Map.of("PERFLAB_LEAK_BYTES_PER_REQUEST", "1000")), () -> {})) {
      Javalin app = serving(faults);
      try {
        for (String path : new String[] {"/users", "/users", "/admin/health", "/nowhere"}) {
          get(app, path);
        }
        assertEquals(3000, faults.leakedBytes());
      } finally {
        app.stop();
      }
    }
  }

  @Test
  void keepsNothingUnlessTold() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    try (Faults faults = new Faults(new Settings(Map.of()), ended::countDown)) {
      Javalin app = serving(faults);
      try {
        get(app, "/users");
        assertEquals(0, faults.leakedBytes());
        assertFalse(ended.await(1200, TimeUnit.MILLISECONDS), "it ended without being stopped");
      } finally {
        app.stop();
      }
    }
  }

  @Test
  void endsAfterItsTime() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    long began = System.nanoTime();
    try (Faults faults = new Faults(new Settings(Map.of("PERFLAB_EXIT_AFTER_SECONDS", "1")), ended::countDown)) {
      Javalin app = serving(faults);
      try {
        assertTrue(ended.await(30, TimeUnit.SECONDS), "it does not end");
        assertTrue(System.nanoTime() - began >= TimeUnit.SECONDS.toNanos(1), "it ended too early");
      } finally {
        app.stop();
      }
    }
  }

  @Test
  void refusesWhatIsLessThanNothing() {
    assertThrows(IllegalArgumentException.class,
        () -> new Faults(new Settings(Map.of("PERFLAB_LEAK_BYTES_PER_REQUEST", "-1"))));
  }

  private static Javalin serving(Faults faults) {
    Javalin app = Javalin.create(config -> config.showJavalinBanner = false);
    faults.install(app);
    app.get("/users", ctx -> ctx.result("[]"));
    app.get("/admin/health", ctx -> ctx.result("UP"));
    return app.start(0);
  }

  private void get(Javalin app, String path) throws Exception {
    client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + app.port() + path)).build(),
        HttpResponse.BodyHandlers.discarding());
  }
}
