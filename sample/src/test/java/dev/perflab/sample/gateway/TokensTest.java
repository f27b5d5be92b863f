// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample.gateway;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokensTest {
  private final Tokens tokens = new Tokens("secret", "diku");

  @Test
  void acceptsWhatAReplicaWithTheSameSecretIssued() {
    assertTrue(new Tokens("secret", "diku").valid(tokens.issue("admin", null)));
    assertTrue(tokens.valid(tokens.issue("admin", Instant.now().plusSeconds(60))));
  }

  @Test
  void refusesOtherSecretsOtherTenantsAndThePast() {
    assertFalse(new Tokens("another", "diku").valid(tokens.issue("admin", null)));
    assertFalse(new Tokens("secret", "other").valid(tokens.issue("admin", null)));
    assertFalse(tokens.valid(tokens.issue("admin", Instant.now().minusSeconds(1))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a.b.c", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.?"})
  void refusesWhatIsNoToken(String token) {
    assertFalse(tokens.valid(token));
  }

  @Test
  void refusesAChangedToken() {
    String token = tokens.issue("admin", null);
    char last = token.charAt(10) == 'A' ? 'B' : 'A';
    assertFalse(tokens.valid(token.substring(0, 40) + last + token.substring(41)));
  }
}
