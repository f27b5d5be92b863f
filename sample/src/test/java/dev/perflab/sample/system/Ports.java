// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Ports for servers whose address others need before they start. The ports are below 32768: the
 * system assigns those above to servers without a fixed port and to outgoing connections, so they
 * might be taken before the server starts.
 */
final class Ports {
  private static final int LOWEST = 10_000;
  private static final int COUNT = 10_000;
  /** The distance between the first ports that successive processes try. */
  private static final int SHARE = 67;
  private static final AtomicLong NEXT = new AtomicLong(ProcessHandle.current().pid() * SHARE);

  private Ports() {
  }

  /** Returns a port that is free on all addresses, a different one at each call. */
  static int free() {
    for (int tried = 0; tried < COUNT; tried++) {
      int port = LOWEST + (int) (NEXT.incrementAndGet() % COUNT);
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // The port is taken: try the next one.
      }
    }
    throw new IllegalStateException("no port from " + LOWEST + " to " + (LOWEST + COUNT - 1) + " is free");
  }
}
