// SPDX-License-Identifier: Apache-2.0

package egress

import "net/netip"

// Kinds of addresses that are denied by default.
const (
	loopback    = "a loopback address"
	linkLocal   = "a link-local address"
	unspecified = "an unspecified address"
	multicast   = "a multicast address"
	broadcast   = "the broadcast address"
	metadata    = "a cloud metadata service"
)

// standard has the addresses that are denied by default.
var standard = []entry{
	newDenied("127.0.0.0/8", loopback),
	newDenied("::1/128", loopback),
	newDenied("169.254.0.0/16", linkLocal),
	newDenied("fe80::/10", linkLocal),
	// Linux connects to itself for these.
	newDenied("0.0.0.0/8", unspecified),
	newDenied("::/128", unspecified),
	newDenied("224.0.0.0/4", multicast),
	newDenied("ff00::/8", multicast),
	newDenied("255.255.255.255/32", broadcast),
	// Metadata services outside link-local addresses: they expose a node's credentials.
	newDenied("100.100.100.200/32", metadata),     // Alibaba Cloud
	newDenied("168.63.129.16/32", metadata),       // Azure's WireServer
	newDenied("192.0.0.192/32", metadata),         // Oracle Cloud
	newDenied("fd00:ec2::/32", metadata),          // Amazon EC2, EKS Pod Identity
	newDenied("fd20:ce::254/128", metadata),       // Google Cloud
	newDenied("fd00:c1::a9fe:a9fe/128", metadata), // Oracle Cloud
	newDenied("fd00:a9fe:a9fe::1/128", metadata),  // Linode
	newDenied("fd00:42::42/128", metadata),        // Scaleway
}

func newDenied(prefix, what string) entry {
	return entry{prefix: netip.MustParsePrefix(prefix), what: what}
}

// embedding is a range of IPv6 whose addresses lead to IPv4 ones: the network translates
// or tunnels them.
type embedding struct {
	prefix netip.Prefix
	// at are the indexes of the four bytes.
	at [4]int
	// inverted bytes, as Teredo writes a client's.
	inverted bool
	// isISATAP means any network, with an interface identifier of RFC 5214.
	isISATAP bool
}

var embeddings = []embedding{
	// IPv4-compatible (RFC 4291) and IPv4-translated (RFC 2765).
	{prefix: netip.MustParsePrefix("::/96"), at: [4]int{12, 13, 14, 15}},
	{prefix: netip.MustParsePrefix("::ffff:0:0:0/96"), at: [4]int{12, 13, 14, 15}},
	// NAT64's well-known prefix (RFC 6052), and the one for local use (RFC 8215) with
	// prefixes of each length within it.
	{prefix: netip.MustParsePrefix("64:ff9b::/96"), at: [4]int{12, 13, 14, 15}},
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), at: [4]int{6, 7, 9, 10}},
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), at: [4]int{7, 9, 10, 11}},
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), at: [4]int{9, 10, 11, 12}},
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), at: [4]int{12, 13, 14, 15}},
	// 6to4 (RFC 3056), and a Teredo server and client (RFC 4380).
	{prefix: netip.MustParsePrefix("2002::/16"), at: [4]int{2, 3, 4, 5}},
	{prefix: netip.MustParsePrefix("2001::/32"), at: [4]int{4, 5, 6, 7}},
	{prefix: netip.MustParsePrefix("2001::/32"), at: [4]int{12, 13, 14, 15}, inverted: true},
	{isISATAP: true, at: [4]int{12, 13, 14, 15}},
}

// embeddedAddresses returns an address and the IPv4 addresses that it may lead to.
func embeddedAddresses(address netip.Addr) []netip.Addr {
	address = unmap(address)
	all := []netip.Addr{address}
	if address.Is4() {
		return all
	}
	bytes := address.As16()
	for _, e := range embeddings {
		if isEmbedding := e.prefix.Contains(address) || e.isISATAP && isISATAP(bytes); !isEmbedding {
			continue
		}
		// 0.0.0.0/8 is no real embedded address: ::1 contains one, and so does an
		// address that is read with the wrong prefix length.
		if embedded := e.read(bytes); !nowhere.Contains(embedded) {
			all = append(all, embedded)
		}
	}
	return all
}

var nowhere = netip.MustParsePrefix("0.0.0.0/8")

func (e embedding) read(bytes [16]byte) netip.Addr {
	var embedded [4]byte
	for i, at := range e.at {
		embedded[i] = bytes[at]
		if e.inverted {
			embedded[i] ^= 0xff
		}
	}
	return netip.AddrFrom4(embedded)
}

// isISATAP reports whether the address has an interface identifier of RFC 5214.
func isISATAP(bytes [16]byte) bool {
	return bytes[8]&^0x02 == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe
}
