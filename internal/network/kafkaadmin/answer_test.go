// SPDX-License-Identifier: Apache-2.0

package kafkaadmin_test

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/network/kafkaadmin"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
)

// A server that is named as a broker may respond with anything. Responses larger than those
// of brokers are not read.
func TestLargeResponseIsRejected(t *testing.T) {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	t.Cleanup(func() { _ = listening.Close() })
	go func() {
		for {
			connection, err := listening.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Read(make([]byte, 1024))
			_, _ = connection.Write(binary.BigEndian.AppendUint32(nil, 90<<20))
		}
	}()
	_, err = kafkaadmin.Admin{Egress: loopback.Rules()}.Describe(t.Context(), kafkaadmin.Brokers{Servers: []string{listening.Addr().String()}})
	if err == nil || !strings.Contains(err.Error(), "size") {
		t.Errorf("an answer of 90 MiB gave %v", err)
	}
}
