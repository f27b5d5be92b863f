// SPDX-License-Identifier: Apache-2.0

// Package circulation is the kind of loads in which users check library items in
// and out.
package circulation

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// dataFolder is the mount of a load's data in the runner.
const dataFolder = "/perflab/data"

type circulation struct {
	kind.Defaults
	*v1alpha1.CheckInCheckOut
	name string
}

// FromLoad returns the load if it is of this kind; else false.
func FromLoad(load v1alpha1.Load) (kind.Kind, bool) {
	return circulation{CheckInCheckOut: load.CheckInCheckOut, name: load.Name}, load.CheckInCheckOut != nil
}

func (circulation) Source() kind.Source { return kind.Source{File: "/scripts/cico.js"} }

func (circulation) IsFOLIO() bool { return true }

func (c circulation) Environment(longest time.Duration) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "USERS", Value: strconv.Itoa(int(c.Users))},
		{Name: "RAMP_UP_SECONDS", Value: kind.Seconds(c.RampUp)},
		{Name: "DURATION_SECONDS", Value: kind.Seconds(&metav1.Duration{Duration: longest})},
	}
	if c.Arrivals != nil {
		env = append(env, corev1.EnvVar{Name: "ARRIVALS_PER_MINUTE", Value: strconv.Itoa(int(c.Arrivals.PerMinute))})
		if c.Arrivals.Distribution != "" {
			env = append(env, corev1.EnvVar{Name: "ARRIVALS_DISTRIBUTION", Value: string(c.Arrivals.Distribution)})
		}
	}
	if c.Release != "" {
		env = append(env, corev1.EnvVar{Name: "RELEASE", Value: string(c.Release)})
	}
	if c.Preflights != nil {
		env = append(env, corev1.EnvVar{Name: "PREFLIGHTS", Value: strconv.FormatBool(*c.Preflights)})
	}
	if c.Data != nil {
		env = append(env, corev1.EnvVar{Name: "DATA_DIR", Value: dataFolder})
	}
	if c.ThinkTime != nil {
		env = append(env, corev1.EnvVar{Name: "THINK_TIME_SECONDS", Value: kind.Seconds(c.ThinkTime)})
	}
	if c.CheckInPercent != nil {
		env = append(env, corev1.EnvVar{Name: "CHECK_IN_PERCENT", Value: strconv.Itoa(int(*c.CheckInPercent))})
	}
	return env
}

// pauses of a user per transaction, in seconds.
func (c circulation) pauses() float64 {
	if c.ThinkTime != nil {
		return c.ThinkTime.Seconds()
	}
	return busySeconds
}

// busySeconds are the default pauses of a user per transaction, in addition to the response times.
const busySeconds = 4

// Validate rejects an open load whose users can't make its transactions even if the system
// responds at once: by Little's law, that takes the rate times the pauses.
func (c circulation) Validate(path *field.Path, _ kind.ConfigMaps) (field.ErrorList, []kind.Warning) {
	if c.Arrivals == nil {
		return nil, nil
	}
	pauses := c.pauses()
	least := int32(math.Ceil(float64(c.Arrivals.PerMinute) / 60 * pauses))
	switch place := path.Child("checkInCheckOut", "users"); {
	case c.Users < least:
		return field.ErrorList{field.Invalid(place, c.Users, fmt.Sprintf(
			"load %q: %d transactions a minute with pauses of %g s each keep %d users busy even if the system responds at once: raise users to about %d, or lower arrivals.perMinute",
			c.name, c.Arrivals.PerMinute, pauses, least, 2*least))}, nil
	case float64(c.Users) < 1.5*float64(least):
		return nil, []kind.Warning{kind.Warningf(place,
			"load %q: %d transactions a minute with pauses of %g s each keep %d of %d users busy even if the system responds at once: transactions may start late, and are measured from when they are due; raise users to about %d",
			c.name, c.Arrivals.PerMinute, pauses, least, c.Users, 2*least)}
	}
	return nil, nil
}

// Volumes returns the items and patrons, read-only.
func (c circulation) Volumes() ([]corev1.Volume, []corev1.VolumeMount) {
	if c.Data == nil {
		return nil, nil
	}
	volume := corev1.Volume{Name: "data"}
	mount := corev1.VolumeMount{Name: volume.Name, MountPath: dataFolder, ReadOnly: true}
	if configMap := c.Data.ConfigMap; configMap != nil {
		volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap.Name}}
		return []corev1.Volume{volume}, []corev1.VolumeMount{mount}
	}
	folder := c.Data.PersistentVolumeClaim
	if folder.SubPath != "" {
		mount.SubPath = path.Clean(folder.SubPath)
	}
	volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: folder.ClaimName, ReadOnly: true}
	return []corev1.Volume{volume}, []corev1.VolumeMount{mount}
}

// Transactions excludes the one that no user performs.
func (c circulation) Transactions() []string {
	const none, all = 0, 100
	switch share := c.CheckInPercent; {
	case share != nil && *share == none:
		return []string{metric.CheckOut}
	case share != nil && *share == all:
		return []string{metric.CheckIn}
	default:
		return []string{metric.CheckIn, metric.CheckOut}
	}
}

// Primary returns the transactions that a user of the library waits for.
func (c circulation) Primary() []string {
	var names []string
	for _, transaction := range c.Transactions() {
		names = append(names, metric.Name(c.name, transaction, metric.Average))
	}
	return names
}

// Size returns the number of users.
func (c circulation) Size() (number int64, of, like string) {
	return int64(c.Users), "users", work
}

// LevelUnit of the load's levels.
func (c circulation) LevelUnit() string {
	if c.Arrivals != nil {
		return "1/min"
	}
	return "users"
}

// LevelsAreUsers is false for an open load.
func (c circulation) LevelsAreUsers(kind.ConfigMaps) bool { return c.Arrivals == nil }

const (
	// userBytes is the memory of a user, and transactionCoreSeconds the CPU time of a transaction
	// (test/bench/k6).
	userBytes              = 1640 << 10
	transactionCoreSeconds = 0.008
)

// Effort is that of the level's users, or of all users of an open load.
func (c circulation) Effort(level int32, _ kind.ConfigMaps) (kind.Effort, bool) {
	if c.Arrivals != nil {
		const perMinute = 60
		return kind.Effort{Users: int64(c.Users), UserBytes: userBytes, Cores: float64(level) / perMinute * transactionCoreSeconds}, true
	}
	effort := kind.Effort{Users: int64(level), UserBytes: userBytes}
	if pauses := c.pauses(); pauses > 0 {
		effort.Cores = float64(level) / pauses * transactionCoreSeconds
	}
	return effort, true
}

// LevelVariables are the stages.
func (circulation) LevelVariables(levels steps.Steps) []corev1.EnvVar {
	return []corev1.EnvVar{{Name: steps.Variable, Value: levels.Stages()}}
}

const work = "check-in and check-out"

func (c circulation) Describe() string {
	text := work + " by " + prose.Counted(c.Users, "user")
	if c.Arrivals != nil {
		text += ", " + c.arrivals()
	}
	if c.RampUp != nil {
		text += " with a ramp-up of " + prose.Duration(c.RampUp.Duration)
	}
	return text
}

// arrivals describes the rate of an open load.
func (c circulation) arrivals() string {
	how := "at random (Poisson)"
	if c.Arrivals.Distribution == v1alpha1.ArrivalsEven {
		how = "evenly"
	}
	return fmt.Sprintf("open: %d transactions a minute, %s", c.Arrivals.PerMinute, how)
}
