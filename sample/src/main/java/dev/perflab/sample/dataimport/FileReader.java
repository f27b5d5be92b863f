// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.Json;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.kafka.Event;
import dev.perflab.sample.kafka.Message.RawChunk;
import dev.perflab.sample.kafka.Message.Step;
import dev.perflab.sample.kafka.Publisher;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads queued files and sends their records in chunks. A row lock claims a file while it is read.
 * If the replica dies, its connection closes, the lock is released and another replica reads the
 * file again. This is harmless, because the chunks are the same.
 */
final class FileReader {
  private static final Logger LOG = LoggerFactory.getLogger(FileReader.class);
  private static final int CHUNKS_IN_FLIGHT = 8;

  private final Database database;
  private final Publisher publisher;
  private final int chunkSize;
  private final int recordsPerSplitFile;
  private final int stallSeconds;

  FileReader(Database database, Publisher publisher, int chunkSize, int recordsPerSplitFile, int stallSeconds) {
    this.database = database;
    this.publisher = publisher;
    this.chunkSize = chunkSize;
    this.recordsPerSplitFile = recordsPerSplitFile;
    this.stallSeconds = stallSeconds;
  }

  void work() {
    while (database.write(this::readOne)) {
      // Repeats until the queue is empty.
    }
    endStalled();
  }

  private record Waiting(String job, String fileId, boolean toSplit, List<Step> steps) {}

  private boolean readOne(Connection connection) throws SQLException {
    Optional<Waiting> waiting = claim(connection);
    if (waiting.isEmpty()) {
      return false;
    }
    if (waiting.get().toSplit()) {
      split(connection, waiting.get());
    } else {
      read(connection, waiting.get());
    }
    return true;
  }

  private static Optional<Waiting> claim(Connection connection) throws SQLException {
    String sql = "SELECT r.job_id, j.file_id, j.subordination, j.profile->'steps' FROM job_reading r"
        + " JOIN job_execution j ON j.id = r.job_id ORDER BY j.hr_id LIMIT 1 FOR UPDATE OF r SKIP LOCKED";
    try (PreparedStatement statement = connection.prepareStatement(sql); ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        return Optional.empty();
      }
      List<Step> steps = List.of(Json.parse(row.getBytes(4), Step[].class));
      boolean toSplit = row.getString(3).equals("COMPOSITE_PARENT");
      return Optional.of(new Waiting(row.getString(1), row.getString(2), toSplit, steps));
    }
  }

  private void split(Connection connection, Waiting file) throws SQLException {
    FileSplitter splitter = new FileSplitter(connection, file.job(), recordsPerSplitFile);
    FileParts.read(connection, file.fileId(), splitter::feed);
    splitter.finish();
    FileParts.delete(connection, file.fileId());
    Jobs.split(connection, file.job(), splitter.records());
    LOG.info("job {}: {} records in {} jobs", file.job(), splitter.records(), splitter.files());
  }

  private void read(Connection connection, Waiting file) throws SQLException {
    List<RawChunk> ready = new ArrayList<>();
    Chunker chunker = new Chunker(file.job(), file.steps(), chunkSize, chunk -> {
      ready.add(chunk);
      if (ready.size() == CHUNKS_IN_FLIGHT) {
        send(ready);
      }
    });
    RecordCutter cutter = new RecordCutter(chunker::add);
    FileParts.read(connection, file.fileId(), bytes -> cutter.feed(bytes, bytes.length));
    cutter.finish();
    chunker.finish();
    send(ready);
    FileParts.delete(connection, file.fileId());
    Jobs.fileRead(connection, file.job());
    LOG.info("job {}: {} records in {} chunks", file.job(), chunker.records(), chunker.chunks());
  }

  private void send(List<RawChunk> ready) {
    publisher.send(Event.RAW_RECORDS_CHUNK_READ, ready, RawChunk::number);
    ready.clear();
  }

  private void endStalled() {
    List<String> stalled = database.read(c -> Jobs.stalled(c, stallSeconds));
    for (String job : stalled) {
      LOG.error("job {} has not moved for {} s: it ends with an error", job, stallSeconds);
      database.write(c -> {
        Jobs.fail(c, job);
        return null;
      });
    }
  }
}
