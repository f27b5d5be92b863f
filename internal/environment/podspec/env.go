// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// EnvFromSecret returns a variable with a value from a Secret.
func EnvFromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret},
		Key:                  key,
	}}}
}

// EnvFromPod returns a variable with a field of its pod.
func EnvFromPod(name, field string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}}
}

// LoginEnv returns the variables of a login, from a Secret with the keys username and
// password.
func LoginEnv(username, password, secret string) []corev1.EnvVar {
	return []corev1.EnvVar{
		EnvFromSecret(username, secret, corev1.BasicAuthUsernameKey),
		EnvFromSecret(password, secret, corev1.BasicAuthPasswordKey),
	}
}

// PostgresEnv returns libpq's variables for a database. Without a name, the database's name
// is in the Secret, under its own key.
func PostgresEnv(database, secret, databaseKey string) []corev1.EnvVar {
	name := corev1.EnvVar{Name: "PGDATABASE", Value: database}
	if database == "" {
		name = EnvFromSecret("PGDATABASE", secret, databaseKey)
	}
	return append([]corev1.EnvVar{name}, LoginEnv("PGUSER", "PGPASSWORD", secret)...)
}

// OverrideEnv returns variables with the declared ones, which override those of the same
// name and come last, so that they may refer to the others.
func OverrideEnv(variables, declared []corev1.EnvVar) []corev1.EnvVar {
	result := slices.DeleteFunc(slices.Clone(variables), func(variable corev1.EnvVar) bool {
		return EnvIndex(declared, variable.Name) >= 0
	})
	for _, variable := range declared {
		result = append(result, *variable.DeepCopy())
	}
	return result
}

// EnvIndex returns the index of a variable in a list, or -1.
func EnvIndex(variables []corev1.EnvVar, name string) int {
	return slices.IndexFunc(variables, func(v corev1.EnvVar) bool { return v.Name == name })
}
