// SPDX-License-Identifier: Apache-2.0
package dev.perflab.sample;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Map;

/** Reads and writes JSON, with one mapper per process. */
public final class Json {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private Json() {}

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  public static ArrayNode array() {
    return MAPPER.createArrayNode();
  }

  /** Returns an object with plain values, in the order of {@code keysAndValues}. */
  public static ObjectNode object(Object... keysAndValues) {
    ObjectNode node = object();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      node.set((String) keysAndValues[i], MAPPER.valueToTree(keysAndValues[i + 1]));
    }
    return node;
  }

  public static JsonNode tree(Map<String, ?> values) {
    return MAPPER.valueToTree(values);
  }

  /** Parses an object. Throws {@link MalformedJson} with the error. */
  public static ObjectNode parseObject(String text) {
    try {
      if (MAPPER.readTree(text) instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      throw new MalformedJson(e.getOriginalMessage(), e);
    }
    throw new MalformedJson("expected a JSON object", null);
  }

  public static <T> T parse(byte[] bytes, Class<T> type) {
    try {
      return MAPPER.readValue(bytes, type);
    } catch (IOException e) {
      throw new MalformedJson(e.getMessage(), e);
    }
  }

  public static byte[] bytes(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("writing " + value.getClass().getSimpleName() + " as JSON", e);
    }
  }

  /** Invalid JSON. */
  public static final class MalformedJson extends RuntimeException {
    MalformedJson(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
