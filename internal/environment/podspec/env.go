// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// EnvFromSecret is a variable whose value stays in a Secret: the kubelet puts
// it in.
func EnvFromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret},
		Key:                  key,
	}}}
}

// EnvFromPod is a variable with a field of the pod it is in.
func EnvFromPod(name, field string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}}
}

// LoginEnv are the variables of a login whose Secret has the keys username and
// password.
func LoginEnv(username, password, secret string) []corev1.EnvVar {
	return []corev1.EnvVar{
		EnvFromSecret(username, secret, corev1.BasicAuthUsernameKey),
		EnvFromSecret(password, secret, corev1.BasicAuthPasswordKey),
	}
}

// PostgresEnv are the variables by which libpq logs in to a database. Without a
// name, the database's is in the Secret, with a key of its own.
func PostgresEnv(database, secret, databaseKey string) []corev1.EnvVar {
	name := corev1.EnvVar{Name: "PGDATABASE", Value: database}
	if database == "" {
		name = EnvFromSecret("PGDATABASE", secret, databaseKey)
	}
	return append([]corev1.EnvVar{name}, LoginEnv("PGUSER", "PGPASSWORD", secret)...)
}

// OverrideEnv are variables with the declared ones, which win over those of
// their names and come last, so that they may refer to the others.
func OverrideEnv(variables, declared []corev1.EnvVar) []corev1.EnvVar {
	result := slices.DeleteFunc(slices.Clone(variables), func(variable corev1.EnvVar) bool {
		return EnvIndex(declared, variable.Name) >= 0
	})
	for _, variable := range declared {
		result = append(result, *variable.DeepCopy())
	}
	return result
}

// EnvIndex is the place of a variable in a list, or -1.
func EnvIndex(variables []corev1.EnvVar, name string) int {
	return slices.IndexFunc(variables, func(v corev1.EnvVar) bool { return v.Name == name })
}
