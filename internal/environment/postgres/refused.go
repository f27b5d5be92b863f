// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/text/prose"
)

// fixed are the parameters that CloudNativePG 1.30 sets itself, with the accepted value if there is
// one. TestRefusedParametersMatchCloudNativePG compares the lists with its own.
var (
	fixed = names("allow_system_table_mods archive_cleanup_command archive_command archive_mode bonjour bonjour_name " +
		"cluster_name config_file data_directory data_sync_retry event_source external_pid_file hba_file " +
		"hot_standby ident_file jit_provider listen_addresses log_destination log_directory log_file_mode " +
		"log_filename log_rotation_age log_rotation_size log_truncate_on_rotation logging_collector " +
		"pg_failover_slots.primary_dsn pg_failover_slots.standby_slot_names port primary_conninfo " +
		"primary_slot_name promote_trigger_file recovery_end_command recovery_min_apply_delay recovery_target " +
		"recovery_target_action recovery_target_inclusive recovery_target_lsn recovery_target_name " +
		"recovery_target_time recovery_target_timeline recovery_target_xid restart_after_crash " +
		"restore_command shared_preload_libraries ssl ssl_ca_file ssl_cert_file ssl_crl_file " +
		"ssl_dh_params_file ssl_ecdh_curve ssl_key_file ssl_passphrase_command " +
		"ssl_passphrase_command_supports_reload ssl_prefer_server_ciphers stats_temp_directory " +
		"synchronized_standby_slots synchronous_standby_names syslog_facility syslog_ident " +
		"syslog_sequence_numbers syslog_split_messages temp_tablespaces unix_socket_directories " +
		"unix_socket_group unix_socket_permissions")
	same = map[string]string{
		"archive_mode": "on", "log_destination": "csvlog", "log_rotation_age": "0", "log_rotation_size": "0",
		"log_truncate_on_rotation": "false", "logging_collector": "on", "shared_preload_libraries": "",
	}
	// pooled are the PgBouncer parameters that it accepts.
	pooled = names("application_name_add_host auth_type autodb_idle_timeout cancel_wait_timeout client_idle_timeout " +
		"client_login_timeout client_tls13_ciphers client_tls_ciphers client_tls_sslmode default_pool_size " +
		"disable_pqexec dns_max_ttl dns_nxdomain_ttl idle_transaction_timeout ignore_startup_parameters " +
		"listen_backlog log_connections log_disconnections log_pooler_errors log_stats max_client_conn " +
		"max_db_connections max_packet_size max_prepared_statements max_user_connections min_pool_size " +
		"pkt_buf query_timeout query_wait_timeout reserve_pool_size reserve_pool_timeout sbuf_loopcnt " +
		"server_check_delay server_check_query server_connect_timeout server_fast_close server_idle_timeout " +
		"server_lifetime server_login_retry server_reset_query server_reset_query_always server_round_robin " +
		"server_tls13_ciphers server_tls_ciphers server_tls_protocols server_tls_sslmode stats_period " +
		"suspend_timeout tcp_defer_accept tcp_keepalive tcp_keepcnt tcp_keepidle tcp_keepintvl " +
		"tcp_socket_buffer tcp_user_timeout track_extra_parameters verbose")
)

func names(list string) []string { return strings.Fields(list) }

// ParameterFault returns why CloudNativePG rejects a parameter of PostgreSQL; empty if it
// accepts it.
func ParameterFault(name, value string) string {
	name = strings.ToLower(name)
	allowed, listed := same[name]
	switch {
	case !slices.Contains(fixed, name) || listed && value == allowed:
		return ""
	case name == "shared_preload_libraries":
		return "CloudNativePG sets shared_preload_libraries itself: remove it, and write a patch of kind: Cluster with spec.postgresql.shared_preload_libraries"
	default:
		return fmt.Sprintf("CloudNativePG sets %s itself: remove it", name)
	}
}

// PoolerFault returns why CloudNativePG rejects a parameter of PgBouncer; empty if it
// accepts it.
func PoolerFault(name string) string {
	if slices.Contains(pooled, name) {
		return ""
	}
	if near := prose.Closest(name, pooled); near != "" {
		return fmt.Sprintf("CloudNativePG does not support it for PgBouncer: did you mean %s?", near)
	}
	return "CloudNativePG does not support it for PgBouncer: remove it"
}
