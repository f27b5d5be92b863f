// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.http;

import java.net.http.HttpClient;
import java.time.Duration;

/** The HTTP client of a process. */
public final class HttpCalls {
  public static final Duration TIMEOUT = Duration.ofSeconds(60);

  private HttpCalls() {}

  static {
    // Jetty closes a connection that is idle for 30 s. The client must drop it before that, or it
    // loses requests that must not be repeated.
    System.setProperty("jdk.httpclient.keepalive.timeout", "20");
  }

  public static HttpClient client() {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(Duration.ofSeconds(5))
        .build();
  }
}
