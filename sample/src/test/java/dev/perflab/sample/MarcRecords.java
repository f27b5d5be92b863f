// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import java.io.ByteArrayOutputStream;
import org.marc4j.MarcStreamWriter;
import org.marc4j.marc.MarcFactory;
import org.marc4j.marc.Record;

/** Bibliographic records for tests, written by marc4j. */
public final class MarcRecords {
  private MarcRecords() {}

  public static byte[] titled(String title) {
    MarcFactory factory = MarcFactory.newInstance();
    Record record = factory.newRecord("00000cam a2200000 a 4500");
    record.addVariableField(factory.newControlField("001", "x" + title.hashCode()));
    record.addVariableField(factory.newDataField("100", '1', ' ', "a", "Müller, Ärne,", "d", "1950-"));
    record.addVariableField(factory.newDataField("245", '1', '0', "a", title));
    record.addVariableField(factory.newDataField("650", ' ', '0', "a", "Libraries", "z", "Saxony"));
    return bytes(record);
  }

  public static byte[] untitled() {
    MarcFactory factory = MarcFactory.newInstance();
    Record record = factory.newRecord("00000cam a2200000 a 4500");
    record.addVariableField(factory.newDataField("100", '1', ' ', "a", "Nobody"));
    return bytes(record);
  }

  /** A holdings record of an instance, at a location. */
  public static byte[] holdings(String instanceHrid, String locationCode) {
    MarcFactory factory = MarcFactory.newInstance();
    Record record = factory.newRecord("00000nx  a2200000   4500");
    record.addVariableField(factory.newControlField("001", "h1"));
    record.addVariableField(factory.newControlField("004", instanceHrid));
    record.addVariableField(factory.newDataField("852", '0', ' ', "b", locationCode, "h", "QA76", "i", ".P1"));
    return bytes(record);
  }

  /** An authority record of a person. */
  public static byte[] authority(String number, String name) {
    MarcFactory factory = MarcFactory.newInstance();
    Record record = factory.newRecord("00000nz  a2200000n  4500");
    record.addVariableField(factory.newControlField("001", number));
    record.addVariableField(factory.newDataField("010", ' ', ' ', "a", number));
    record.addVariableField(factory.newDataField("100", '1', ' ', "a", name));
    return bytes(record);
  }

  /** A record whose directory points beyond its end, with a correct length in the leader. */
  public static byte[] garbled() {
    byte[] record = titled("garbled");
    for (int i = 24; i < 36; i++) {
      record[i] = '9';
    }
    return record;
  }

  /** {@code count} records with titles {@code Title 0}, {@code Title 1}, ... one after the other. */
  public static byte[] file(int count) {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    for (int i = 0; i < count; i++) {
      file.writeBytes(titled("Title " + i));
    }
    return file.toByteArray();
  }

  private static byte[] bytes(Record record) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    MarcStreamWriter writer = new MarcStreamWriter(bytes, "UTF-8");
    writer.write(record);
    writer.close();
    return bytes.toByteArray();
  }
}
