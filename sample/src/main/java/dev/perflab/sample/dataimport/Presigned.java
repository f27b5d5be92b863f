// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.dataimport;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Presigned URLs: each allows its holders one action on one object for a limited time. They use
 * S3's query authentication with signature version 4. The host is signed, so a URL works only with
 * the host that it was created for.
 */
final class Presigned {
  static final String SIGNATURE = "X-Amz-Signature";
  private static final String ALGORITHM = "AWS4-HMAC-SHA256";
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  private final String accessKey;
  private final String secretKey;
  private final String region;

  Presigned(String accessKey, String secretKey, String region) {
    this.accessKey = accessKey;
    this.secretKey = secretKey;
    this.region = region;
  }

  /** The signed request. The path starts with a slash and is not escaped. */
  record Request(String method, String host, String path, Map<String, String> query) {}

  /** Returns the query string that permits a request for {@code lifetime} from {@code now}. */
  String query(Request request, Instant now, Duration lifetime) {
    String time = TIME.format(now);
    Map<String, String> query = new TreeMap<>(request.query());
    query.put("X-Amz-Algorithm", ALGORITHM);
    query.put("X-Amz-Credential", accessKey + "/" + scope(time));
    query.put("X-Amz-Date", time);
    query.put("X-Amz-Expires", Long.toString(lifetime.toSeconds()));
    query.put("X-Amz-SignedHeaders", "host");
    return canonical(query) + "&" + SIGNATURE + "=" + signature(request, query, time);
  }

  /** Whether a request has a valid signature that has not expired. */
  boolean permits(Request request, Instant now) {
    Map<String, String> query = new TreeMap<>(request.query());
    String given = query.remove(SIGNATURE);
    String time = query.getOrDefault("X-Amz-Date", "");
    if (given == null || !query.getOrDefault("X-Amz-Credential", "").equals(accessKey + "/" + scope(time))) {
      return false;
    }
    byte[] right = signature(request, query, time).getBytes(StandardCharsets.US_ASCII);
    return MessageDigest.isEqual(right, given.getBytes(StandardCharsets.UTF_8)) && !expired(query, time, now);
  }

  private static boolean expired(Map<String, String> query, String time, Instant now) {
    // Both are signed, so they are unchanged.
    long lifetime = Long.parseLong(query.get("X-Amz-Expires"));
    return now.isAfter(TIME.parse(time, Instant::from).plusSeconds(lifetime));
  }

  private String scope(String time) {
    return time.substring(0, Math.min(8, time.length())) + "/" + region + "/s3/aws4_request";
  }

  private String signature(Request request, Map<String, String> query, String time) {
    String canonical = String.join("\n", request.method(), escapedPath(request.path()), canonical(query),
        "host:" + request.host(), "", "host", "UNSIGNED-PAYLOAD");
    String toSign = String.join("\n", ALGORITHM, time, scope(time), hex(sha256(canonical)));
    byte[] key = ("AWS4" + secretKey).getBytes(StandardCharsets.UTF_8);
    for (String step : scope(time).split("/")) {
      key = hmac(key, step);
    }
    return hex(hmac(key, toSign));
  }

  private static String canonical(Map<String, String> query) {
    return new TreeMap<>(query).entrySet().stream()
        .map(e -> escaped(e.getKey()) + "=" + escaped(e.getValue()))
        .collect(Collectors.joining("&"));
  }

  static String escapedPath(String path) {
    return escaped(path).replace("%2F", "/");
  }

  private static String escaped(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
  }

  private static byte[] sha256(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has HmacSHA256", e);
    }
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
