package p2p

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// PeerIDOf returns the peer id of an ed25519 network key.
func PeerIDOf(pub ed25519.PublicKey) (PeerID, error) {
	k, err := crypto.UnmarshalEd25519PublicKey(pub)
	if err != nil {
		return "", fmt.Errorf("network key of %d bytes: want the 32 bytes of an ed25519 public key", len(pub))
	}
	id, err := peer.IDFromPublicKey(k)
	if err != nil {
		return "", fmt.Errorf("peer id of network key: %w", err)
	}
	return PeerID(id.String()), nil
}

// Key returns the ed25519 network key that the id holds.
func (p PeerID) Key() (ed25519.PublicKey, error) {
	id, err := decodeID(p)
	if err != nil {
		return nil, err
	}
	k, err := id.ExtractPublicKey()
	if err != nil {
		return nil, fmt.Errorf("peer id %q holds no key", string(p))
	}
	raw, err := k.Raw()
	if err != nil {
		return nil, fmt.Errorf("key of peer id %q: %w", string(p), err)
	}
	return ed25519.PublicKey(raw), nil
}

// Short returns the last eight characters of the id, enough to tell peers apart in a log.
func (p PeerID) Short() string {
	if len(p) <= 8 {
		return string(p)
	}
	return string(p[len(p)-8:])
}

// decodeID accepts only ids that hold an ed25519 key, in their one canonical spelling.
func decodeID(p PeerID) (peer.ID, error) {
	id, err := peer.Decode(string(p))
	if err != nil {
		return "", fmt.Errorf("peer id %q: %w", string(p), err)
	}
	k, err := id.ExtractPublicKey()
	if err != nil || k.Type() != crypto.Ed25519 || id.String() != string(p) {
		return "", fmt.Errorf("peer id %q: want the id of an ed25519 key, like 12D3KooW…", string(p))
	}
	return id, nil
}

// ParsePeer reads the addresses of one peer, each a multiaddress that ends in the peer's id, like
// /ip4/203.0.113.7/tcp/4001/p2p/12D3KooW…. All must name the same peer.
func ParsePeer(addrs ...string) (Peer, error) {
	if len(addrs) == 0 {
		return Peer{}, errors.New("peer without address: want /ip4/203.0.113.7/tcp/4001/p2p/12D3KooW…")
	}
	var out Peer
	for _, s := range addrs {
		at := strings.LastIndex(s, "/p2p/")
		if at < 0 {
			return Peer{}, fmt.Errorf("peer address %q: does not end in /p2p/ and the peer's id", s)
		}
		addr, id := s[:at], PeerID(s[at+len("/p2p/"):])
		if _, err := decodeID(id); err != nil {
			return Peer{}, fmt.Errorf("peer address %q: %w", s, err)
		}
		if err := CheckAddr(addr); err != nil {
			return Peer{}, err
		}
		if out.ID != "" && out.ID != id {
			return Peer{}, fmt.Errorf("peer address %q: names another peer than the address before it", s)
		}
		out.ID = id
		out.Addrs = append(out.Addrs, addr)
	}
	return out, nil
}

// CheckAddr tells whether an address, without /p2p part, is one that a host can listen on or dial: an ip4, ip6, dns,
// dns4 or dns6 host, then tcp and a port, or udp, a port and quic-v1.
func CheckAddr(s string) error {
	a, err := ma.NewMultiaddr(s)
	if err != nil {
		return fmt.Errorf("address %q: %w (want /ip4/0.0.0.0/tcp/4001 or /ip4/0.0.0.0/udp/4001/quic-v1)", s, err)
	}
	var codes []int
	for _, p := range a.Protocols() {
		codes = append(codes, p.Code)
	}
	if len(codes) > 0 && isHost(codes[0]) {
		rest := codes[1:]
		if len(rest) == 1 && rest[0] == ma.P_TCP {
			return nil
		}
		if len(rest) == 2 && rest[0] == ma.P_UDP && rest[1] == ma.P_QUIC_V1 {
			return nil
		}
	}
	return fmt.Errorf("address %q: want /ip4/0.0.0.0/tcp/4001 or /ip4/0.0.0.0/udp/4001/quic-v1 (also ip6, dns)", s)
}

// CheckDialAddr is CheckAddr for an address that others are to dial: it names a host and a port, and not all there are.
func CheckDialAddr(s string) error {
	if err := CheckAddr(s); err != nil {
		return err
	}
	a, err := ma.NewMultiaddr(s)
	if err != nil {
		return err
	}
	var fault error
	ma.ForEach(a, func(c ma.Component) bool {
		switch c.Protocol().Code {
		case ma.P_IP4, ma.P_IP6:
			if net.IP(c.RawValue()).IsUnspecified() {
				fault = fmt.Errorf("address %q: nobody can dial %s: give the address under which others reach this machine", s, c.Value())
			}
		case ma.P_TCP, ma.P_UDP:
			if c.Value() == "0" {
				fault = fmt.Errorf("address %q: nobody can dial port 0: give the port it listens on", s)
			}
		}
		return fault == nil
	})
	return fault
}

func isHost(code int) bool {
	switch code {
	case ma.P_IP4, ma.P_IP6, ma.P_DNS, ma.P_DNS4, ma.P_DNS6:
		return true
	}
	return false
}
