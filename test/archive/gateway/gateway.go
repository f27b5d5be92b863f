// SPDX-License-Identifier: Apache-2.0

// Package gateway runs a real S3 server, Versity's gateway over a directory, for tests
// and benchmarks. A process can have only one.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"perflab.dev/perflab/internal/testing/ports"
)

// Region is the region of the server.
const Region = "eu-test-1"

// Gateway is a running server, on loopback.
type Gateway struct {
	// Address is its host and port.
	Address string
	stop    func()
}

// Start starts a server whose buckets are the directories in a root. The metadata of
// objects is in another directory, because not every file system has extended attributes.
func Start(root, attributes, access, secret string) (*Gateway, error) {
	if err := os.MkdirAll(attributes, 0o700); err != nil {
		return nil, err
	}
	beside, err := meta.NewSideCar(attributes)
	if err != nil {
		return nil, err
	}
	backend, err := posix.New(root, beside, posix.PosixOpts{SideCarDir: attributes, Concurrency: 100})
	if err != nil {
		return nil, err
	}
	port, err := ports.Free()
	if err != nil {
		return nil, err
	}
	made := &Gateway{Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
			RootUserAccess: access, RootUserSecret: secret, Region: Region, Ports: []string{made.Address},
			MaxConnections: 1000, MaxRequests: 1000, MultipartMaxParts: 100, Quiet: true, KeepAlive: true,
		})
	}()
	made.stop = func() {
		stop()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
		}
	}
	if err := made.up(ended); err != nil {
		stop()
		return nil, err
	}
	return made, nil
}

// Stop stops the server.
func (g *Gateway) Stop() { g.stop() }

func (g *Gateway) up(ended <-chan error) error {
	for range 500 {
		select {
		case err := <-ended:
			return fmt.Errorf("the S3 server ended: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
		if connection, err := net.Dial("tcp", g.Address); err == nil {
			return connection.Close()
		}
	}
	return errors.New("the S3 server is not ready after ten seconds")
}
