// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.perflab.sample.Json;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signed tokens (JWT, HS256). The key is derived from the administrator's password, which all
 * replicas of the gateway share, so that each accepts the others' tokens.
 */
final class Tokens {
  private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();
  private static final String HEADER =
      ENCODER.encodeToString("{\"alg\":\"HS256\",\"typ\":\"JWT\"}".getBytes(StandardCharsets.UTF_8));

  /** The purpose of a token. */
  enum Kind {
    ACCESS("access"), REFRESH("refresh");

    private final String claim;

    Kind(String claim) {
      this.claim = claim;
    }
  }

  private final SecretKeySpec key;
  private final String tenant;

  Tokens(String secret, String tenant) {
    this.tenant = tenant;
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256")
          .digest(("token key " + secret).getBytes(StandardCharsets.UTF_8));
      key = new SecretKeySpec(digest, "HmacSHA256");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("deriving the token key", e);
    }
  }

  /** A token for a user; {@code expires} may be null for one that does not expire. */
  String issue(Kind kind, String username, Instant expires) {
    ObjectNode claims = Json.object("sub", username, "tenant", tenant, "type", kind.claim,
        "iat", Instant.now().getEpochSecond());
    if (expires != null) {
      claims.put("exp", expires.getEpochSecond());
    }
    String unsigned = HEADER + "." + ENCODER.encodeToString(Json.bytes(claims));
    return unsigned + "." + ENCODER.encodeToString(sign(unsigned));
  }

  /** Whether a gateway issued the token for this tenant and purpose and it has not expired. */
  boolean valid(Kind kind, String token) {
    int dot = token.lastIndexOf('.');
    if (dot < HEADER.length() + 1 || !token.startsWith(HEADER + ".")) {
      return false;
    }
    try {
      byte[] signature = Base64.getUrlDecoder().decode(token.substring(dot + 1));
      if (!MessageDigest.isEqual(signature, sign(token.substring(0, dot)))) {
        return false;
      }
      byte[] claims = Base64.getUrlDecoder().decode(token.substring(HEADER.length() + 1, dot));
      ObjectNode read = Json.parse(claims, ObjectNode.class);
      return tenant.equals(read.path("tenant").asText())
          && kind.claim.equals(read.path("type").asText())
          && read.path("exp").asLong(Long.MAX_VALUE) > Instant.now().getEpochSecond();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private byte[] sign(String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(key);
      return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("signing a token", e);
    }
  }
}
