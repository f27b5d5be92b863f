// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.cql;

/** An invalid or unsupported query. The message is for its author. */
public final class CqlException extends RuntimeException {
  public CqlException(String message) {
    super(message);
  }
}
