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
import java.util.List;

/** Accepts files, splits and parses them, stores their records and tracks them to the end of the job. */
public final class DataImportModule implements Role {
  private static final String NAME = "data-import";

  private final Settings settings;
  private final String schemaName;
  private final Database database;
  private final Broker broker;
  private Publisher publisher;
  private Worker reader;
  private Worker exporter;

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
    FileReader files = new FileReader(database, publisher, settings.atLeast(1, "CHUNK_SIZE", 50),
        settings.atLeast(1, "RECORDS_PER_SPLIT_FILE", 1_000),
        settings.atLeast(1, "IMPORT_STALL_SECONDS", 600));
    reader = new Worker("file-reader", files::work);
    routes(app);
    broker.consume(Event.RAW_RECORDS_CHUNK_READ, new ChunkParser(database, publisher));
    broker.consume(Event.RAW_RECORDS_CHUNK_PARSED, new SourceRecords(database, publisher));
    broker.consume(Event.COMPLETED, new CompletionCounter(database));
    broker.require(readiness);
    reader.start();
  }

  private void routes(Javalin app) {
    int maxBytes = settings.atLeast(1, "MAX_UPLOAD_BYTES", 256 << 20);
    Storage storage = new Storage(database, settings, maxBytes);
    app.before(ctx -> {
      // A request with a presigned URL has no tenant.
      if (!ctx.path().startsWith(storage.path())) {
        Server.requireOkapiHeaders(ctx, settings.tenant());
      }
    });
    app.put(storage.path() + "<key>", storage::putPart);
    app.get(storage.path() + "<key>", storage::getObject);
    Uploads uploads = new Uploads(database, maxBytes, reader::wake);
    collection(app, "/data-import/uploadDefinitions", Catalogue.UPLOADS);
    app.post("/data-import/uploadDefinitions", uploads::create);
    app.post("/data-import/uploadDefinitions/{id}/files/{fileId}", uploads::receive);
    app.post("/data-import/uploadDefinitions/{id}/processFiles", uploads::process);
    StorageUploads split = new StorageUploads(database, storage, uploads,
        settings.text("SPLIT_FILES_ENABLED", "false").equals("true"), settings.tenant());
    app.get("/data-import/splitStatus", split::splitStatus);
    app.get("/data-import/uploadUrl", split::firstUrl);
    app.get("/data-import/uploadUrl/subsequent", split::nextUrl);
    app.post("/data-import/uploadDefinitions/{id}/files/{fileId}/assembleStorageFile", split::assemble);
    collection(app, "/data-import/fileExtensions", Catalogue.FILE_EXTENSIONS);
    profiles(app, new Profiles(database));
    exports(app, storage);
    JobViews jobs = new JobViews(database);
    app.get("/metadata-provider/jobExecutions", jobs::list);
    app.get("/metadata-provider/jobSummary/{id}", jobs::summary);
    app.get("/metadata-provider/jobLogEntries/{id}", jobs::logEntries);
    app.get("/change-manager/jobExecutions/{id}", jobs::get);
    app.get("/change-manager/jobExecutions/{id}/children", jobs::children);
    app.delete("/data-import/jobExecutions/{id}/cancel", jobs::cancel);
  }

  private void profiles(Javalin app, Profiles profiles) {
    for (Collection collection : List.of(Catalogue.JOB_PROFILES, Catalogue.MATCH_PROFILES, Catalogue.ACTION_PROFILES,
        Catalogue.MAPPING_PROFILES)) {
      collection(app, "/data-import-profiles/" + collection.key(), collection);
      app.post("/data-import-profiles/" + collection.key(), ctx -> profiles.create(ctx, collection));
    }
    app.get("/data-import-profiles/profileSnapshots/{id}", profiles::snapshot);
  }

  private void exports(Javalin app, Storage storage) {
    Exports exports = new Exports(database, storage);
    collection(app, "/data-export/job-profiles", Catalogue.EXPORT_JOB_PROFILES);
    collection(app, "/data-export/mapping-profiles", Catalogue.EXPORT_MAPPING_PROFILES);
    app.post("/data-export/job-profiles", ctx -> exports.createProfile(ctx, Catalogue.EXPORT_JOB_PROFILES));
    app.post("/data-export/mapping-profiles", ctx -> exports.createProfile(ctx, Catalogue.EXPORT_MAPPING_PROFILES));
    app.post("/data-export/file-definitions", exports::define);
    app.post("/data-export/file-definitions/{id}/upload", exports::upload);
    app.post("/data-export/export", exports::start);
    collection(app, "/data-export/job-executions", Catalogue.EXPORT_JOBS);
    app.get("/data-export/job-executions/{id}/download/{fileId}", exports::download);
    exporter = new Worker("exporter", new Exporter(database)::work);
    exports.onStart(exporter::wake);
    exporter.start();
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
    if (exporter != null) {
      exporter.close();
    }
    broker.close();
    if (publisher != null) {
      publisher.close();
    }
    database.close();
  }
}
