// SPDX-License-Identifier: Apache-2.0

// Package egress decides which addresses PerfLab connects to. Authors of experiments name
// hosts, and the operator and the collector would otherwise connect for them to addresses
// that they must not reach: the credentials of a node, the API server, the operator's ports.
//
// An address is checked when a connection to it is made, after its name was resolved, so
// that a name can't bypass the check. Every connection to an address that an author can
// influence is made by a [Rules.Dialer], or by a client that uses one.
package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Flags that change the rules.
const (
	FlagDeny  = "deny-targets"
	FlagAllow = "allow-targets"
)

// Rules decide which addresses may be connected to. The most specific entry that covers an
// address decides: the longest prefix, and of equal ones that with a port. Addresses without
// an entry are allowed. The zero value applies the default denials.
type Rules struct {
	// servers are API servers, whose names are resolved for each comparison.
	servers []server
	// own are the entries of the flags, denials first.
	own []entry
}

// server is an API server's host and port.
type server struct {
	host string
	port uint16
}

// entry covers the addresses of a prefix, at one port or at all ports (0).
type entry struct {
	prefix netip.Prefix
	port   uint16
	// what describes a denied address in a sentence; empty: the entry allows.
	what string
}

// Lists are the entries of the flags: CIDRs, addresses, or addresses with a port.
type Lists struct {
	Deny  []string `json:"deny,omitempty"`
	Allow []string `json:"allow,omitempty"`
}

// New returns the rules of these lists. The API servers, as host:port, are denied as well.
func New(lists Lists, apiServers ...string) (Rules, error) {
	var rules Rules
	for _, address := range apiServers {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return Rules{}, fmt.Errorf("reading the address of the API server: %w", err)
		}
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return Rules{}, fmt.Errorf("reading the port of the API server: %w", err)
		}
		rules.servers = append(rules.servers, server{host, uint16(number)})
	}
	for _, list := range []struct {
		flag, what string
		items      []string
	}{{FlagDeny, "denied by --" + FlagDeny, lists.Deny}, {FlagAllow, "", lists.Allow}} {
		for _, item := range list.items {
			parsed, err := parse(item)
			if err != nil {
				return Rules{}, fmt.Errorf("--%s: %w", list.flag, err)
			}
			parsed.what = list.what
			rules.own = append(rules.own, parsed)
		}
	}
	return rules, nil
}

// parse reads an entry of a list.
func parse(item string) (entry, error) {
	if prefix, err := netip.ParsePrefix(item); err == nil && !prefix.Addr().Is4In6() {
		return entry{prefix: prefix.Masked()}, nil
	}
	if address, err := netip.ParseAddr(item); err == nil && address.Zone() == "" {
		return entry{prefix: singleAddress(address)}, nil
	}
	if address, err := netip.ParseAddrPort(item); err == nil && address.Addr().Zone() == "" && address.Port() != 0 {
		return entry{prefix: singleAddress(address.Addr()), port: address.Port()}, nil
	}
	return entry{}, fmt.Errorf("%q is not an address range: write a CIDR, an address, or an address with a port, for example 10.0.0.0/8, 10.1.2.3 or 10.1.2.3:443", item)
}

// singleAddress returns the prefix of a single address.
func singleAddress(address netip.Addr) netip.Prefix {
	address = unmap(address)
	return netip.PrefixFrom(address, address.BitLen())
}

// unmap returns an address without its zone, and as IPv4 if it is one.
func unmap(address netip.Addr) netip.Addr { return address.WithZone("").Unmap() }

// Denied is the error of a connection to an address that the rules deny.
type Denied struct {
	// Target of the connection.
	Target netip.AddrPort
	// What describes the target: "a link-local address".
	What string
	// Allow is the entry that allows it.
	Allow string
	// leads is the denied IPv4 address that the target leads to; invalid: the target itself.
	leads netip.Addr
}

func (e *Denied) Error() string {
	subject := e.Target.Addr().String()
	if e.leads.IsValid() {
		subject += " leads to " + e.leads.String() + ", which"
	}
	return fmt.Sprintf("%s is %s, and PerfLab does not connect to it: use another address, or ask your administrator for --%s=%s", subject, e.What, FlagAllow, e.Allow)
}

// Denied is the kind of the address, for packages that detect the error by this method.
func (e *Denied) Denied() string { return e.What }

// IsDenied reports whether an error is of a connection that the rules deny.
func IsDenied(err error) bool {
	var denied *Denied
	return errors.As(err, &denied)
}

// Check returns a [Denied] if the rules do not allow a connection to an address.
func (r Rules) Check(ctx context.Context, target netip.AddrPort) error {
	servers, err := r.resolve(ctx, target.Port())
	if err != nil {
		return err
	}
	for i, address := range embeddedAddresses(target.Addr()) {
		found := r.mostSpecific(address, target.Port(), servers)
		if found.what == "" {
			continue
		}
		denied := &Denied{Target: target, What: found.what, Allow: address.String()}
		if i > 0 {
			denied.leads = address
		}
		if found.port != 0 {
			denied.Allow = netip.AddrPortFrom(address, found.port).String()
		}
		return denied
	}
	return nil
}

// mostSpecific returns the entry that decides on an address; the zero one if none covers it.
func (r Rules) mostSpecific(address netip.Addr, port uint16, servers []entry) entry {
	var found entry
	for _, list := range [][]entry{standard, servers, r.own} {
		for _, e := range list {
			if e.covers(address, port) && (!found.prefix.IsValid() || e.compare(found) >= 0) {
				found = e
			}
		}
	}
	return found
}

func (e entry) covers(address netip.Addr, port uint16) bool {
	return e.prefix.Contains(address) && (e.port == 0 || e.port == port)
}

// compare is positive if this entry is narrower than another one that covers the address.
func (e entry) compare(other entry) int {
	return cmp.Or(cmp.Compare(e.prefix.Bits(), other.prefix.Bits()), cmp.Compare(min(e.port, 1), min(other.port, 1)))
}

// resolve finds the addresses of the API servers at a port. If a name cannot be resolved,
// no address is allowed, since any could be the API server's.
func (r Rules) resolve(ctx context.Context, port uint16) ([]entry, error) {
	var entries []entry
	for _, server := range r.servers {
		if server.port != port {
			continue
		}
		addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", server.host)
		if err != nil {
			return nil, fmt.Errorf("resolving the API server, which is not a permitted target: %w", err)
		}
		for _, address := range addresses {
			entries = append(entries, entry{prefix: singleAddress(address), port: port, what: "the API server"})
		}
	}
	return entries, nil
}
