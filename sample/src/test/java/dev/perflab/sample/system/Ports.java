// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.system;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Ports for servers whose address others have to know before they start. None is of those that a
 * system hands out to whoever asks for any and to each outgoing connection, from 32768 on: those may
 * be gone before the server takes them.
 */
final class Ports {
  private static final int LOWEST = 10_000;
  private static final int COUNT = 10_000;
  /** How far apart processes in a row begin to look. */
  private static final int SHARE = 67;
  private static final AtomicLong NEXT = new AtomicLong(ProcessHandle.current().pid() * SHARE);

  private Ports() {
  }

  /** One that nobody listens to at any address, another one at each call. */
  static int free() {
    for (int tried = 0; tried < COUNT; tried++) {
      int port = LOWEST + (int) (NEXT.incrementAndGet() % COUNT);
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // Somebody listens there: the next one.
      }
    }
    throw new IllegalStateException("no port from " + LOWEST + " to " + (LOWEST + COUNT - 1) + " is free");
  }
}
