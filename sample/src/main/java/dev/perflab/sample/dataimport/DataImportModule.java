// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import dev.perflab.sample.Deadline;
import dev.perflab.sample.Role;
import dev.perflab.sample.Settings;
import dev.perflab.sample.db.Collection;
import dev.perflab.sample.db.Database;
import dev.perflab.sample.db.DatabaseCheck;
import dev.perflab.sample.db.Schema;
import dev.perflab.sample.http.Listing;
import dev.perflab.sample.http.Readiness;
import dev.perflab.sample.http.Server;
import dev.perflab.sample.kafka.Broker;
import dev.perflab.sample.kafka.Event;
import dev.perflab.sample.kafka.Publisher;
import io.javalin.Javalin;
import java.time.Duration;

/** Takes files, cuts and parses them, keeps their records and follows them to the end of the job. */
public final class DataImportModule implements Role {
  private static final String NAME = "data-import";

  private final Settings settings;
  private final String schemaName;
  private final Database database;
  private final Broker broker;
  private Publisher publisher;
  private FileReader reader;

  public DataImportModule(Settings settings) {
    this.settings = settings;
    schemaName = settings.tenant() + "_data_import";
    database = Database.open(settings, schemaName);
    broker = new Broker(settings, NAME);
  }

  @Override
  public void start(Javalin app, Readiness readiness) {
    Deadline deadline = Deadline.in(Duration.ofSeconds(settings.startDeadlineSeconds()));
    new Schema(schemaName, Catalogue.definition(), new Catalogue()).prepare(settings, deadline);
    DatabaseCheck.require(readiness, settings, schemaName);
    broker.awaitTopics(deadline, Event.values());
    publisher = broker.publisher();
    reader = new FileReader(database, publisher, settings.atLeast(1, "CHUNK_SIZE", 50),
        settings.atLeast(1, "IMPORT_STALL_SECONDS", 600));
    routes(app);
    broker.consume(Event.RAW_RECORDS_CHUNK_READ, new ChunkParser(database, publisher));
    broker.consume(Event.RAW_RECORDS_CHUNK_PARSED, new SourceRecords(database, publisher));
    broker.consume(Event.COMPLETED, new CompletionCounter(database));
    broker.require(readiness);
    reader.start();
  }

  private void routes(Javalin app) {
    app.before(ctx -> Server.requireOkapiHeaders(ctx, settings.tenant()));
    Uploads uploads =
        new Uploads(database, settings.atLeast(1, "MAX_UPLOAD_BYTES", 256 << 20), reader::wake);
    collection(app, "/data-import/uploadDefinitions", Catalogue.UPLOADS);
    app.post("/data-import/uploadDefinitions", uploads::create);
    app.post("/data-import/uploadDefinitions/{id}/files/{fileId}", uploads::receive);
    app.post("/data-import/uploadDefinitions/{id}/processFiles", uploads::process);
    app.get("/data-import/splitStatus", ctx -> ctx.result("{\"splitStatus\":false}"));
    collection(app, "/data-import/fileExtensions", Catalogue.FILE_EXTENSIONS);
    collection(app, "/data-import-profiles/jobProfiles", Catalogue.JOB_PROFILES);
    JobViews jobs = new JobViews(database);
    app.get("/metadata-provider/jobExecutions", jobs::list);
    app.get("/metadata-provider/jobSummary/{id}", jobs::summary);
    app.get("/metadata-provider/jobLogEntries/{id}", jobs::logEntries);
    app.get("/change-manager/jobExecutions/{id}", jobs::get);
  }

  private void collection(Javalin app, String path, Collection collection) {
    Listing listing = new Listing(database, collection);
    app.get(path, listing::list);
    app.get(path + "/{id}", listing::get);
  }

  @Override
  public void close() {
    if (reader != null) {
      reader.close();
    }
    broker.close();
    if (publisher != null) {
      publisher.close();
    }
    database.close();
  }
}
