// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.kafka;

/** The events of an import, each with its own topic. */
public enum Event {
  /** Raw records, as read from the file. */
  RAW_RECORDS_CHUNK_READ("DI_RAW_RECORDS_CHUNK_READ", 1),
  /** Records parsed from MARC. */
  RAW_RECORDS_CHUNK_PARSED("DI_RAW_RECORDS_CHUNK_PARSED", 1),
  /** Parsed records stored as source records, to be added to the inventory. */
  PARSED_RECORDS_CHUNK_SAVED("DI_PARSED_RECORDS_CHUNK_SAVED", 1),
  /** One record is finished, successfully or not. */
  COMPLETED("DI_COMPLETED", 100);

  private final String typeName;
  private final int maxPollRecords;

  Event(String typeName, int maxPollRecords) {
    this.typeName = typeName;
    this.maxPollRecords = maxPollRecords;
  }

  /** The name in FOLIO's spelling. */
  public String typeName() {
    return typeName;
  }

  /** The physical topic: {@code {ENV}.Default.{tenant}.{EVENT}}. */
  public String topic(String environment, String tenant) {
    return environment + ".Default." + tenant + "." + typeName;
  }

  /**
   * Maximum number of messages per poll. It is 1 for messages that hold a whole chunk, so that a
   * stop does not wait for many chunks.
   */
  int maxPollRecords() {
    return maxPollRecords;
  }
}
