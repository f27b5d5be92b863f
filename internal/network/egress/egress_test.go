// SPDX-License-Identifier: Apache-2.0

package egress_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/testing/expect"
)

func rules(t *testing.T, lists egress.Lists, apiServers ...string) egress.Rules {
	t.Helper()
	made, err := egress.New(lists, apiServers...)
	expect.NoError(t, err)
	return made
}

// check returns why the rules deny a target; empty if they allow it.
func check(t *testing.T, rules egress.Rules, target string) string {
	t.Helper()
	err := rules.Check(t.Context(), netip.MustParseAddrPort(target))
	if err == nil {
		return ""
	}
	var denied *egress.Denied
	if !errors.As(err, &denied) || !egress.IsDenied(err) {
		t.Fatalf("checking %s: %v", target, err)
	}
	return denied.Denied()
}

func TestDefaultDenials(t *testing.T) {
	for target, want := range map[string]string{
		"127.0.0.1:80": "a loopback address", "127.8.9.10:9092": "a loopback address", "[::1]:443": "a loopback address",
		"169.254.169.254:80": "a link-local address", "169.254.170.2:80": "a link-local address", "[fe80::1]:80": "a link-local address",
		"[fe80::a9fe:a9fe%eth0]:80": "a link-local address", "[febf::1%25]:80": "a link-local address",
		"0.0.0.0:80": "an unspecified address", "0.1.2.3:80": "an unspecified address", "[::]:80": "an unspecified address",
		"224.0.0.1:80": "a multicast address", "239.1.1.1:80": "a multicast address", "[ff02::1%eth0]:80": "a multicast address",
		"255.255.255.255:80": "the broadcast address",
		"100.100.100.200:80": "a cloud metadata service", "168.63.129.16:80": "a cloud metadata service",
		"192.0.0.192:80": "a cloud metadata service", "[fd00:ec2::254]:80": "a cloud metadata service",
		"[fd00:ec2::23]:80": "a cloud metadata service", "[fd20:ce::254]:80": "a cloud metadata service",
		"[fd00:c1::a9fe:a9fe]:80": "a cloud metadata service",
		// Addresses in a cluster and on the Internet.
		"10.244.1.7:9187": "", "10.96.0.10:53": "", "192.168.1.4:5432": "", "172.20.0.3:9092": "", "100.64.3.2:9092": "", "192.0.0.1:80": "",
		"8.8.8.8:443": "", "1.2.3.4:80": "", "[fd12:3456::7]:9187": "", "[2a00:1450:4001::5]:443": "", "[fd00:ec3::1]:80": "",
		"[::ffff:10.1.2.3]:80": "", "[64:ff9b::808:808]:443": "", "[64:ff9b:1::808:808]:443": "", "[2002:808:808::1]:443": "",
	} {
		if got := check(t, egress.Rules{}, target); got != want {
			t.Errorf("%s is %q, want %q", target, got, want)
		}
	}
}

// A denied IPv4 address is denied in each of its IPv6 forms.
func TestIPv4WithinIPv6(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "169.254.169.254", "100.100.100.200", "224.0.0.1", "255.255.255.255", "10.96.0.1"} {
		a := netip.MustParseAddr(address).As4()
		for form, b := range map[string][16]byte{
			"IPv4-mapped":         {10: 0xff, 11: 0xff, 12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"IPv4-compatible":     {12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"IPv4-translated":     {8: 0xff, 9: 0xff, 12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"NAT64":               {1: 0x64, 2: 0xff, 3: 0x9b, 12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"local NAT64, /48":    {1: 0x64, 2: 0xff, 3: 0x9b, 5: 1, 6: a[0], 7: a[1], 9: a[2], 10: a[3]},
			"local NAT64, /56":    {1: 0x64, 2: 0xff, 3: 0x9b, 5: 1, 7: a[0], 9: a[1], 10: a[2], 11: a[3]},
			"local NAT64, /64":    {1: 0x64, 2: 0xff, 3: 0x9b, 5: 1, 9: a[0], 10: a[1], 11: a[2], 12: a[3]},
			"local NAT64, /96":    {1: 0x64, 2: 0xff, 3: 0x9b, 5: 1, 7: 8, 12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"6to4":                {0x20, 0x02, a[0], a[1], a[2], a[3], 15: 1},
			"Teredo's server":     {0x20, 0x01, 4: a[0], 5: a[1], 6: a[2], 7: a[3], 12: 0xf7, 13: 0xf7, 14: 0xf7, 15: 0xf7},
			"Teredo's client":     {0x20, 0x01, 4: 8, 5: 8, 6: 8, 7: 8, 12: ^a[0], 13: ^a[1], 14: ^a[2], 15: ^a[3]},
			"ISATAP":              {0x20, 0x01, 0x0d, 0xb8, 10: 0x5e, 11: 0xfe, 12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"ISATAP, global bit":  {0x20, 0x01, 0x0d, 0xb8, 8: 2, 10: 0x5e, 11: 0xfe, 12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"ISATAP, link-local ": {0xfe, 0x80, 10: 0x5e, 11: 0xfe, 12: a[0], 13: a[1], 14: a[2], 15: a[3]},
		} {
			target := netip.AddrPortFrom(netip.AddrFrom16(b), 443)
			if got := check(t, rules(t, egress.Lists{}, "10.96.0.1:443"), target.String()); got == "" {
				t.Errorf("%s as %s is connected to: %s", address, form, target)
			}
		}
	}
}

// The narrowest entry decides.
func TestListsOfFlags(t *testing.T) {
	made := rules(t, egress.Lists{
		Deny:  []string{"10.0.0.0/8", "203.0.113.7", "127.0.0.3/32", "192.0.2.1:5432", "fd12::/16", "100.64.0.0/10"},
		Allow: []string{"10.2.0.0/16", "127.0.0.0/8", "169.254.1.0/24", "203.0.113.0/24", "100.64.0.0/10", "::1"},
	}, "127.0.0.1:6443", "[::1]:6443")
	const denied = "denied by --deny-targets"
	for target, want := range map[string]string{
		"10.1.2.3:80": denied, "10.2.3.4:80": "", "203.0.113.7:80": denied, "203.0.113.8:80": "",
		"127.0.0.1:80": "", "127.0.0.3:80": denied, "127.0.0.1:6443": "the API server", "127.0.0.2:6443": "",
		"[::1]:80": "", "[::1]:6443": "the API server", "[::ffff:127.0.0.1]:6443": "the API server", "[::ffff:127.0.0.1]:80": "",
		"169.254.1.9:80": "", "169.254.169.254:80": "a link-local address",
		"192.0.2.1:5432": denied, "192.0.2.1:80": "", "[fd12::1]:80": denied, "100.64.0.1:80": "", "100.100.100.200:80": "a cloud metadata service",
		"[64:ff9b::a01:203]:80": denied,
	} {
		if got := check(t, made, target); got != want {
			t.Errorf("%s is %q, want %q", target, got, want)
		}
	}
	if got := check(t, rules(t, egress.Lists{Allow: []string{"127.0.0.1:6443"}}, "127.0.0.1:6443"), "127.0.0.1:6443"); got != "" {
		t.Errorf("the API server, allowed by its port: %q", got)
	}
	if got := check(t, rules(t, egress.Lists{Allow: []string{"0.0.0.0/0", "::/0"}}), "169.254.169.254:80"); got == "" {
		t.Error("what allows everything allows credentials of nodes")
	}
}

func TestInvalidLists(t *testing.T) {
	for _, item := range []string{"", "example.org", "10.0.0.0/33", "10.0.0", "10.0.0.1:0", "10.0.0.1:http", "fe80::1%eth0/64", "10.0.0.0/8,10.2.0.0/16", "::ffff:10.0.0.0/104"} {
		for flag, lists := range map[string]egress.Lists{"--deny-targets": {Deny: []string{item}}, "--allow-targets": {Allow: []string{item}}} {
			if _, err := egress.New(lists); err == nil || !strings.Contains(err.Error(), flag) {
				t.Errorf("%s=%q gives %v, want an error that names the flag", flag, item, err)
			}
		}
	}
	for _, server := range []string{"10.96.0.1", "10.96.0.1:https", "10.96.0.1:70000"} {
		if _, err := egress.New(egress.Lists{}, server); err == nil {
			t.Errorf("the API server %q was read", server)
		}
	}
}

// The addresses of the API server's name may change.
func TestAPIServerByName(t *testing.T) {
	made := rules(t, egress.Lists{Allow: []string{"127.0.0.0/8", "::1"}}, "localhost:6443")
	if got := check(t, made, "127.0.0.1:6443"); got != "the API server" {
		t.Errorf("its address is %q", got)
	}
	if got := check(t, made, "127.0.0.1:6444"); got != "" {
		t.Errorf("another port is %q", got)
	}
	unknown := rules(t, egress.Lists{}, "nowhere.invalid:6443")
	if err := unknown.Check(t.Context(), netip.MustParseAddrPort("10.1.2.3:6443")); err == nil {
		t.Error("an address was connected to that may be the API server's")
	}
	expect.NoError(t, unknown.Check(t.Context(), netip.MustParseAddrPort("10.1.2.3:80")))
}

func TestDeniedMessage(t *testing.T) {
	for target, want := range map[string]string{
		"169.254.169.254:80":     "169.254.169.254 is a link-local address, and PerfLab does not connect to it: use another address, or ask your administrator for --allow-targets=169.254.169.254",
		"[64:ff9b::a9fe:1]:80":   "64:ff9b::a9fe:1 leads to 169.254.0.1, which is a link-local address, and PerfLab does not connect to it: use another address, or ask your administrator for --allow-targets=169.254.0.1",
		"[::ffff:127.0.0.1]:443": "::ffff:127.0.0.1 is a loopback address, and PerfLab does not connect to it: use another address, or ask your administrator for --allow-targets=127.0.0.1",
		"10.96.0.1:443":          "10.96.0.1 is the API server, and PerfLab does not connect to it: use another address, or ask your administrator for --allow-targets=10.96.0.1:443",
	} {
		made := rules(t, egress.Lists{}, "10.96.0.1:443")
		err := made.Check(t.Context(), netip.MustParseAddrPort(target))
		if err == nil || err.Error() != want {
			t.Errorf("%s: told is\n%v, want\n%s", target, err, want)
			continue
		}
		// The advice in the message helps.
		_, entry, _ := strings.Cut(err.Error(), "--allow-targets=")
		made = rules(t, egress.Lists{Allow: []string{entry}}, "10.96.0.1:443")
		expect.NoError(t, made.Check(t.Context(), netip.MustParseAddrPort(target)), "with --allow-targets=%s", entry)
	}
}

// newTestServer starts an HTTP server on loopback and returns its port.
func newTestServer(t *testing.T, handler http.HandlerFunc) (port string, asked *int) {
	t.Helper()
	asked = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	expect.NoError(t, err)
	return port, asked
}

// Names and other forms of addresses are checked by the address they lead to.
func TestDialerChecksResolvedAddresses(t *testing.T) {
	port, asked := newTestServer(t, func(http.ResponseWriter, *http.Request) {})
	for _, host := range []string{"localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0", "[::1]", "[::]"} {
		connection, err := egress.Rules{}.Dialer(time.Second).DialContext(t.Context(), "tcp", host+":"+port)
		if err == nil {
			_ = connection.Close()
		}
		if !egress.IsDenied(err) {
			t.Errorf("connecting to %s gave %v", host, err)
		}
		answer, err := egress.Rules{}.Client(time.Second).Get("http://" + host + ":" + port)
		if err == nil {
			_ = answer.Body.Close()
		}
		if !egress.IsDenied(err) {
			t.Errorf("asking %s gave %v", host, err)
		}
	}
	if *asked != 0 {
		t.Errorf("%d requests arrived", *asked)
	}
	answer, err := rules(t, egress.Lists{Allow: []string{"127.0.0.0/8", "::1"}}).Client(time.Second).Get("http://localhost:" + port)
	expect.NoError(t, err)
	expect.NoError(t, answer.Body.Close())
}

func TestClientsFollowNoRedirect(t *testing.T) {
	target, followed := newTestServer(t, func(http.ResponseWriter, *http.Request) {})
	made := rules(t, egress.Lists{Allow: []string{"127.0.0.1"}})
	for _, status := range []int{301, 302, 303, 307, 308} {
		port, _ := newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:"+target+"/", status)
		})
		answer, err := made.Client(time.Second).Get("http://127.0.0.1:" + port)
		expect.NoError(t, err)
		expect.NoError(t, answer.Body.Close())
		if answer.StatusCode != status || !egress.IsRedirect(answer.StatusCode) {
			t.Errorf("a redirect of %d gave %d", status, answer.StatusCode)
		}
	}
	if *followed != 0 {
		t.Errorf("%d redirects were followed", *followed)
	}
}

// A proxy would connect to addresses that are not checked.
func TestProxiedClientFollowsRules(t *testing.T) {
	if (egress.Rules{}).Transport().Proxy != nil {
		t.Error("a client for addresses that authors name goes through a proxy")
	}
	if (egress.Rules{}).ProxiedTransport().Proxy == nil {
		t.Error("a client for addresses of the installation does not")
	}
}
