// SPDX-License-Identifier: Apache-2.0

package load

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
)

// variables are what the scripts in the runner image read.
func variables(run *v1alpha1.PerfRun, load v1alpha1.Load, target string) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "PERFLAB_LOAD", Value: load.Name},
		{Name: "PERFLAB_RUN", Value: run.Name},
		{Name: "BASE_URL", Value: target},
	}
	env = append(env, targetEnvironment(run.Spec.System.Target)...)
	env = append(env,
		corev1.EnvVar{Name: "SEED", Value: strconv.FormatInt(run.Spec.Seed, 10)},
		// Runners must not look for extensions or report home.
		corev1.EnvVar{Name: "K6_AUTO_EXTENSION_RESOLUTION", Value: "false"},
		corev1.EnvVar{Name: "K6_NO_USAGE_REPORT", Value: "true"},
	)
	switch {
	case load.DataImport != nil:
		env = append(env, importEnvironment(*load.DataImport)...)
	case load.Script != nil:
		env = append(env, scriptEnvironment(load.Script)...)
	default:
		env = append(env, usersEnvironment(*load.CheckInCheckOut, Length(load, run.Spec.Deadlines))...)
	}
	return append(env, corev1.EnvVar{Name: "PERFLAB_SECRETS", Value: secrets(env)})
}

// secrets names the variables whose values our k6 takes out of what it tells of
// its log.
func secrets(env []corev1.EnvVar) string {
	var names []string
	for _, variable := range env {
		if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
			names = append(names, variable.Name)
		}
	}
	return strings.Join(names, ",")
}

// targetEnvironment says as whom a load acts. A target with a tenant is a FOLIO,
// for which there are names of old.
func targetEnvironment(target v1alpha1.Target) []corev1.EnvVar {
	var env []corev1.EnvVar
	folio, credentials := target.Tenant != "", target.CredentialsSecret.Name
	if folio {
		env = append(env,
			corev1.EnvVar{Name: "TENANT", Value: target.Tenant},
			corev1.EnvVar{Name: "LOGIN", Value: string(target.LoginOrDefault())})
	}
	if credentials == "" {
		return env
	}
	env = append(env, fromSecret("USERNAME", credentials, corev1.BasicAuthUsernameKey), fromSecret("PASSWORD", credentials, corev1.BasicAuthPasswordKey))
	if folio {
		env = append(env, fromSecret("OKAPI_USERNAME", credentials, corev1.BasicAuthUsernameKey), fromSecret("OKAPI_PASSWORD", credentials, corev1.BasicAuthPasswordKey))
	}
	return env
}

func usersEnvironment(users v1alpha1.CheckInCheckOut, length time.Duration) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "USERS", Value: strconv.Itoa(int(users.Users))},
		{Name: "RAMP_UP_SECONDS", Value: seconds(users.RampUp)},
		{Name: "DURATION_SECONDS", Value: seconds(&metav1.Duration{Duration: length})},
	}
	if users.Release != "" {
		env = append(env, corev1.EnvVar{Name: "RELEASE", Value: string(users.Release)})
	}
	if users.Preflights != nil {
		env = append(env, corev1.EnvVar{Name: "PREFLIGHTS", Value: strconv.FormatBool(*users.Preflights)})
	}
	if users.Data != nil {
		env = append(env, corev1.EnvVar{Name: "DATA_DIR", Value: dataFolder})
	}
	if users.ThinkTime != nil {
		env = append(env, corev1.EnvVar{Name: "THINK_TIME_SECONDS", Value: seconds(users.ThinkTime)})
	}
	if users.CheckInPercent != nil {
		env = append(env, corev1.EnvVar{Name: "CHECK_IN_PERCENT", Value: strconv.Itoa(int(*users.CheckInPercent))})
	}
	return env
}

func importEnvironment(imports v1alpha1.DataImport) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "RECORD_TYPE", Value: string(imports.RecordType)},
		{Name: "OPERATION", Value: string(imports.Operation)},
		{Name: "JOB_PROFILE", Value: imports.JobProfileOrDefault()},
		{Name: "RECORDS", Value: strconv.Itoa(int(imports.Records))},
		{Name: "IMPORTS", Value: strconv.Itoa(int(imports.Imports))},
		{Name: "PAUSE_SECONDS", Value: seconds(imports.Pause)},
	}
	if imports.Flow != "" {
		env = append(env, corev1.EnvVar{Name: "FLOW", Value: string(imports.Flow)})
	}
	if imports.StallTimeout != nil {
		env = append(env, corev1.EnvVar{Name: "STALL_TIMEOUT_SECONDS", Value: seconds(imports.StallTimeout)})
	}
	return env
}

// scriptEnvironment tells a script's results apart and hands on the user's own
// variables, which come last and so may replace ours.
func scriptEnvironment(script *v1alpha1.Script) []corev1.EnvVar {
	var env []corev1.EnvVar
	if script.ResultsOrDefault() == v1alpha1.ResultsHistograms {
		env = append(env, corev1.EnvVar{Name: "PERFLAB_TRANSACTIONS", Value: transactions(script.Transactions)})
	} else {
		// Not as arguments: k6-operator has a shell read those of a script in
		// the image, and p(95) is no word of a shell's.
		env = append(env,
			corev1.EnvVar{Name: "K6_SUMMARY_EXPORT", Value: "/dev/stdout"},
			corev1.EnvVar{Name: "K6_SUMMARY_TREND_STATS", Value: summaryStatistics},
		)
	}
	return append(env, script.Env...)
}

func transactions(by *v1alpha1.ScriptTransactions) string {
	if by == nil || by.By == "Group" {
		return "group"
	}
	return "tag:" + by.Tag
}

func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret},
		Key:                  key,
	}}}
}

func seconds(d *metav1.Duration) string {
	if d == nil {
		return "0"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}
