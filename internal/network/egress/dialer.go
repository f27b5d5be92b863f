// SPDX-License-Identifier: Apache-2.0

package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

const (
	// dialTimeout and idleTimeout apply where a client's own timeout does not.
	dialTimeout = 10 * time.Second
	idleTimeout = 90 * time.Second
	// hands is the number of idle connections that are kept for each server: an archive sends
	// that many requests in parallel.
	hands = 16
)

// Dialer returns a dialer that checks each address of a name when it connects to it.
func (r Rules) Dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: timeout, ControlContext: r.control}
}

func (r Rules) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address that can be checked: %w", address, err)
	}
	return r.Check(ctx, target)
}

// Transport connects directly: the addresses that a proxy connects to can't be checked.
func (r Rules) Transport() *http.Transport {
	return &http.Transport{
		DialContext: r.Dialer(dialTimeout).DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: dialTimeout, IdleConnTimeout: idleTimeout, MaxIdleConns: 100, MaxIdleConnsPerHost: hands,
	}
}

// Client connects directly, with a timeout, and follows no redirect.
func (r Rules) Client(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, Transport: r.Transport(), CheckRedirect: NoRedirects}
}

// ProxiedTransport is for addresses that the installation configures. It uses the proxy of the
// environment, if there is one, whose address is then checked.
func (r Rules) ProxiedTransport() *http.Transport {
	transport := r.Transport()
	transport.Proxy = http.ProxyFromEnvironment
	return transport
}

// NoRedirects is the CheckRedirect of a client that returns redirects as responses.
func NoRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// IsRedirect reports whether a status is a redirect.
func IsRedirect(status int) bool {
	return status >= http.StatusMultipleChoices && status < http.StatusBadRequest && status != http.StatusNotModified
}
