// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.storage.internals.log.LogConfig;

/** Answers each line (scope, name and value) with "true" if Kafka takes it. */
class Ask {
    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            var fields = line.split("\t", -1);
            var definitions = fields[0].equals("topic") ? LogConfig.configDefCopy() : AbstractKafkaConfig.CONFIG_DEF;
            System.out.println(isTaken(definitions.configKeys().get(fields[1]), fields[2]));
        }
    }

    private static boolean isTaken(ConfigDef.ConfigKey key, String value) {
        if (key == null) {
            return false;
        }
        try {
            var parsed = ConfigDef.parseType(key.name, value, key.type);
            if (key.validator != null) {
                key.validator.ensureValid(key.name, parsed);
            }
            return true;
        } catch (ConfigException refused) {
            return false;
        }
    }
}
