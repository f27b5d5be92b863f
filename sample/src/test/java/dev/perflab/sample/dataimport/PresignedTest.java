// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.perflab.sample.dataimport.Presigned.Request;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PresignedTest {
  private static final Instant NOW = Instant.parse("2013-05-24T00:00:00Z");
  private static final Duration DAY = Duration.ofDays(1);
  private static final Request PART =
      new Request("PUT", "s3:8081", "/folio/a b/ü.mrc", Map.of("partNumber", "2", "uploadId", "x y"));

  private final Presigned presigned =
      new Presigned("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1");

  /** The example in Amazon's description of signature version 4 in query parameters. */
  @Test
  void signsAsAmazonDoes() {
    String query = presigned.query(
        new Request("GET", "examplebucket.s3.amazonaws.com", "/test.txt", Map.of()), NOW, DAY);
    assertEquals("X-Amz-Algorithm=AWS4-HMAC-SHA256"
        + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
        + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404", query);
  }

  private Map<String, String> signed() {
    Map<String, String> query = new HashMap<>();
    for (String pair : presigned.query(PART, NOW, DAY).split("&")) {
      query.put(pair.split("=")[0], java.net.URLDecoder.decode(pair.split("=")[1], java.nio.charset.StandardCharsets.UTF_8));
    }
    return query;
  }

  private boolean permits(String method, String host, String path, Map<String, String> query, Instant now) {
    return presigned.permits(new Request(method, host, path, query), now);
  }

  @Test
  void permitsWhatItSignedForAsLongAsItSaid() {
    assertTrue(permits("PUT", PART.host(), PART.path(), signed(), NOW));
    assertTrue(permits("PUT", PART.host(), PART.path(), signed(), NOW.plus(DAY)));
    assertFalse(permits("PUT", PART.host(), PART.path(), signed(), NOW.plus(DAY).plusSeconds(1)));
  }

  @Test
  void permitsNothingElse() {
    assertFalse(permits("GET", PART.host(), PART.path(), signed(), NOW));
    assertFalse(permits("PUT", "other:8081", PART.path(), signed(), NOW));
    assertFalse(permits("PUT", PART.host(), "/folio/other.mrc", signed(), NOW));
    assertFalse(permits("PUT", PART.host(), PART.path(), Map.of(), NOW));
    for (String changed : new String[] {"partNumber", "uploadId", "X-Amz-Expires", "X-Amz-Date", "X-Amz-Signature"}) {
      Map<String, String> query = signed();
      query.put(changed, "7");
      assertFalse(permits("PUT", PART.host(), PART.path(), query, NOW), changed);
    }
  }
}
