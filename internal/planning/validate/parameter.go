// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/pgsettings"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/text/prose"
)

func parameterPlace(name string) setting { return setting{"postgres", "parameters", name} }

// serverFindings validates a PostgreSQL that PerfLab runs.
func serverFindings(declared *v1alpha1.Postgres) []finding {
	found := imageFindings(declared.Image)
	release := postgresRelease(declared.Image)
	for _, name := range slices.Sorted(maps.Keys(declared.Parameters)) {
		value := declared.Parameters[name]
		if fault := parameterFault(name, value, release); fault != "" {
			found = append(found, wrong(value, "postgres.parameters: "+fault, parameterPlace(name)))
		}
	}
	if len(found) > 0 {
		return found
	}
	found = append(found, memoryFindings(declared)...)
	found = append(found, logFindings(declared)...)
	found = append(found, connectionFindings(declared)...)
	return append(found, poolerFindings(declared.Pooler)...)
}

func parameterFault(name, value string, release int) string {
	if fault := postgres.ParameterFault(name, value); fault != "" {
		return fault
	}
	if err := pgsettings.Check(name, value, release); err != nil {
		return err.Error()
	}
	return ""
}

// taggedRelease matches the number at the beginning of an image's tag.
var taggedRelease = regexp.MustCompile(`:([0-9]+)[^:/]*$`)

// postgresRelease returns the release in an image's tag; 0 if unknown.
func postgresRelease(image string) int {
	name, _, _ := strings.Cut(image, "@")
	found := taggedRelease.FindStringSubmatch(name)
	if found == nil {
		return 0
	}
	// An overflow is no release.
	release, _ := strconv.Atoi(found[1])
	return release
}

// imageFindings checks the tag, from which CloudNativePG reads the release.
func imageFindings(image string) []finding {
	if image == "" || postgresRelease(image) > 0 {
		return nil
	}
	return []finding{wrong(image, fmt.Sprintf("postgres.image %s has no tag that starts with PostgreSQL's release, which CloudNativePG needs: write one, for example ghcr.io/cloudnative-pg/postgresql:18.4-system-trixie", image), setting{"postgres", "image"})}
}

// The whole server uses sharedMemory once, each of its processes uses ownMemory.
var (
	sharedMemory = []string{"shared_buffers", "wal_buffers", "min_dynamic_shared_memory"}
	ownMemory    = []string{"work_mem", "maintenance_work_mem", "autovacuum_work_mem", "temp_buffers", "logical_decoding_work_mem"}
)

// memoryFindings checks that the memory limit exceeds PostgreSQL's buffers.
func memoryFindings(declared *v1alpha1.Postgres) []finding {
	limit := memoryLimit(declared.Resources)
	if hasHugePages(declared.Resources) {
		// Huge pages hold the buffers.
		return nil
	}
	if limit == nil {
		return requestedFindings(declared)
	}
	found := sharedFindings(declared, *limit)
	if len(found) == 0 {
		found = requestedFindings(declared)
	}
	for _, name := range ownMemory {
		if bytes, is := pgsettings.Bytes(name, declared.Parameters[name]); is && bytes >= limit.Value() {
			found = append(found, doubtful(
				fmt.Sprintf("postgres.parameters: one process may use %s of %s, and the memory limit is %s: it can be killed under load; lower it, or raise postgres.resources.limits.memory", binary(bytes), name, limit),
				parameterPlace(name), memoryLimitPlace))
		}
	}
	return found
}

var memoryLimitPlace = setting{"postgres", "resources", "limits", "memory"}

func hasHugePages(resources corev1.ResourceRequirements) bool {
	isHuge := func(name corev1.ResourceName) bool {
		return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(resources.Limits)), maps.Keys(resources.Requests))
	return slices.ContainsFunc(names, isHuge)
}

func sharedFindings(declared *v1alpha1.Postgres, limit resource.Quantity) []finding {
	total, places := int64(0), []setting(nil)
	for _, name := range sharedMemory {
		if bytes, is := pgsettings.Bytes(name, declared.Parameters[name]); is && bytes > 0 {
			total += bytes
			places = append(places, parameterPlace(name))
		}
	}
	if total == 0 || total < limit.Value() {
		return nil
	}
	sentence := fmt.Sprintf("postgres.parameters: %s %s %s, and the memory limit is %s: set shared_buffers to a quarter of the limit, or raise postgres.resources.limits.memory",
		parameterNames(places), prose.Verb(len(places), "takes", "take"), binary(total), &limit)
	places = append(places, memoryLimitPlace)
	if total == limit.Value() {
		return []finding{doubtful(sentence, places...)}
	}
	return []finding{wrong(declared.Parameters[places[0][2]], sentence, places...)}
}

func parameterNames(places []setting) string {
	names := make([]string, 0, len(places))
	for _, place := range places {
		names = append(names, place[2])
	}
	return prose.Enumerate(names)
}

// requestedFindings checks shared_buffers: CloudNativePG rejects more than the request, and
// reads a number without a unit as MB.
func requestedFindings(declared *v1alpha1.Postgres) []finding {
	value := declared.Parameters["shared_buffers"]
	request, requested := declared.Resources.Requests["memory"]
	bytes, is := pgsettings.Bytes("shared_buffers", value)
	if !requested || request.IsZero() || !is {
		return nil
	}
	if blocks, err := strconv.ParseInt(value, 10, 64); err == nil {
		if resource.NewQuantity(blocks<<20, resource.BinarySI).Cmp(request) <= 0 {
			return nil
		}
		return []finding{wrong(value,
			fmt.Sprintf("postgres.parameters: CloudNativePG reads shared_buffers without a unit as MB, and rejects more than the memory request of %s: write %s", &request, inMB(bytes)),
			parameterPlace("shared_buffers"))}
	}
	if binary(bytes).Cmp(request) <= 0 {
		return nil
	}
	return []finding{wrong(value,
		fmt.Sprintf("postgres.parameters: shared_buffers takes %s, and CloudNativePG rejects more than the memory request of %s: lower it, or raise postgres.resources.requests.memory", binary(bytes), &request),
		parameterPlace("shared_buffers"), setting{"postgres", "resources", "requests", "memory"})}
}

func inMB(bytes int64) string { return fmt.Sprintf("%dMB", bytes>>20) }

// logFindings validates the settings of the write-ahead log.
func logFindings(declared *v1alpha1.Postgres) []finding {
	var found []finding
	parameters := declared.Parameters
	if strings.EqualFold(parameters["wal_level"], "minimal") {
		found = append(found, wrong("minimal", "postgres.parameters: CloudNativePG archives the log, and rejects wal_level minimal: write replica or logical", parameterPlace("wal_level")))
	}
	if on, given := parameters["wal_log_hints"]; given && pgsettings.IsOff(on) && declared.Instances > 1 {
		found = append(found, wrong(on, "postgres.parameters: CloudNativePG needs wal_log_hints on with more than one instance: remove it", parameterPlace("wal_log_hints")))
	}
	least, most := sizeOr(parameters, "min_wal_size", 80<<20), sizeOr(parameters, "max_wal_size", 1<<30)
	if least >= most {
		found = append(found, givenWrong(parameters,
			fmt.Sprintf("postgres.parameters: CloudNativePG rejects a min_wal_size (%s) that is not below max_wal_size (%s): lower min_wal_size, or raise max_wal_size", binary(least), binary(most)),
			"min_wal_size", "max_wal_size"))
	}
	if storage := declared.Storage; storage != nil && parameters["max_wal_size"] != "" && most >= storage.Size.Value() && storage.Size.Value() >= minimumBytes {
		found = append(found, doubtful(
			fmt.Sprintf("postgres.parameters: max_wal_size lets the log grow to %s, and the storage is %s: PostgreSQL stops when it is full; lower max_wal_size, or raise storage.size", binary(most), &storage.Size),
			parameterPlace("max_wal_size"), setting{"postgres", "storage", "size"}))
	}
	return found
}

func sizeOr(parameters map[string]string, name string, preset int64) int64 {
	if bytes, given := pgsettings.Bytes(name, parameters[name]); given {
		return bytes
	}
	return preset
}

func numberOr(parameters map[string]string, name string, preset float64) float64 {
	if number, given := pgsettings.Number(name, parameters[name]); given {
		return number
	}
	return preset
}

// connectionFindings checks max_connections: some connections are reserved for
// administrators, and every replica needs one.
func connectionFindings(declared *v1alpha1.Postgres) []finding {
	var found []finding
	parameters := declared.Parameters
	reserved := numberOr(parameters, "superuser_reserved_connections", 3) + numberOr(parameters, "reserved_connections", 0)
	if most := numberOr(parameters, "max_connections", 100); most <= reserved {
		found = append(found, givenWrong(parameters,
			fmt.Sprintf("postgres.parameters: max_connections is %g, and %g of them are reserved, so PostgreSQL does not start: raise it", most, reserved),
			"max_connections", "superuser_reserved_connections", "reserved_connections"))
	}
	for _, each := range []struct {
		name   string
		preset float64
	}{{"max_wal_senders", 10}, {"max_replication_slots", 32}} {
		if most := numberOr(parameters, each.name, each.preset); most < float64(declared.Instances-1) {
			found = append(found, wrong(parameters[each.name],
				fmt.Sprintf("postgres.parameters: %s is %g, and %d replicas need one each: raise it, or lower postgres.instances", each.name, most, declared.Instances-1),
				parameterPlace(each.name), setting{"postgres", "instances"}))
		}
	}
	return found
}

// givenWrong returns a finding for the given parameters among those that it concerns.
func givenWrong(parameters map[string]string, sentence string, names ...string) finding {
	var places []setting
	value := ""
	for _, name := range names {
		if given, is := parameters[name]; is {
			value = cmp.Or(value, given)
			places = append(places, parameterPlace(name))
		}
	}
	return wrong(value, sentence, places...)
}

func poolerFindings(pooler *v1alpha1.Pooler) []finding {
	if pooler == nil {
		return nil
	}
	var found []finding
	for _, name := range slices.Sorted(maps.Keys(pooler.Parameters)) {
		if fault := postgres.PoolerFault(name); fault != "" {
			found = append(found, wrong(name, fmt.Sprintf("postgres.pooler.parameters has %s: %s", name, fault), setting{"postgres", "pooler", "parameters", name}))
		}
	}
	return found
}
