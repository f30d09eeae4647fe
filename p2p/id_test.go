package p2p_test

import (
	"bytes"
	"crypto/ed25519"
	"math/big"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/p2p"
)

// base58 encodes as Bitcoin does, for bytes that begin with zeros.
func base58(b []byte) string {
	const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	var out []byte
	for x, r := new(big.Int).SetBytes(b), new(big.Int); x.Sign() > 0; {
		x.DivMod(x, big.NewInt(58), r)
		out = append([]byte{digits[r.Int64()]}, out...)
	}
	for i := 0; i < len(b) && b[i] == 0; i++ {
		out = append([]byte{'1'}, out...)
	}
	return string(out)
}

// libp2p's peer id specification: the identity multihash (0x00, length) of the protobuf of the public key: field 1 is
// the type, Ed25519 = 1; field 2 is the key's 32 bytes.
func TestPeerIDIsTheKeyInAnotherSpelling(t *testing.T) {
	for i := range 20 {
		pub := keyOf(i).Public().(ed25519.PublicKey)
		id, err := p2p.PeerIDOf(pub)
		if err != nil {
			t.Fatal(err)
		}
		if want := base58(append([]byte{0, 36, 8, 1, 18, 32}, pub...)); string(id) != want {
			t.Errorf("key %x: got %s, want %s", pub, id, want)
		}
		back, err := id.Key()
		if err != nil || !bytes.Equal(back, pub) {
			t.Errorf("key of %s: %x, %v, want %x", id, back, err, pub)
		}
		if got := id.Short(); len(got) != 8 || !strings.HasSuffix(string(id), got) {
			t.Errorf("short form of %s: %s", id, got)
		}
	}
	if _, err := p2p.PeerIDOf(make([]byte, 31)); err == nil {
		t.Error("a key of 31 bytes has an id")
	}
	for _, bad := range []p2p.PeerID{"", "x", "12D3KooW", "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"} {
		if _, err := bad.Key(); err == nil {
			t.Errorf("id %q has a key", bad)
		}
	}
}

func TestParsePeer(t *testing.T) {
	id, other := string(idOf(t, 1)), string(idOf(t, 2))
	got, err := p2p.ParsePeer("/ip4/203.0.113.7/tcp/4001/p2p/"+id, "/dns/a.example.org/udp/4001/quic-v1/p2p/"+id)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.ID) != id || strings.Join(got.Addrs, " ") != "/ip4/203.0.113.7/tcp/4001 /dns/a.example.org/udp/4001/quic-v1" {
		t.Errorf("got %+v", got)
	}
	for name, addrs := range map[string][]string{
		"none":             nil,
		"empty":            {""},
		"no id":            {"/ip4/203.0.113.7/tcp/4001"},
		"bad id":           {"/ip4/203.0.113.7/tcp/4001/p2p/xyz"},
		"rsa id":           {"/ip4/203.0.113.7/tcp/4001/p2p/QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"},
		"no host":          {"/tcp/4001/p2p/" + id},
		"no port":          {"/ip4/203.0.113.7/p2p/" + id},
		"port too high":    {"/ip4/203.0.113.7/tcp/65536/p2p/" + id},
		"udp without quic": {"/ip4/203.0.113.7/udp/4001/p2p/" + id},
		"relayed":          {"/ip4/203.0.113.7/tcp/4001/p2p/" + other + "/p2p-circuit/p2p/" + id},
		"two peers":        {"/ip4/203.0.113.7/tcp/4001/p2p/" + id, "/ip4/203.0.113.7/tcp/4001/p2p/" + other},
	} {
		if p, err := p2p.ParsePeer(addrs...); err == nil {
			t.Errorf("%s: accepted as %+v", name, p)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error of several lines: %q", name, err)
		}
	}
}

func TestAddressesToDialNameAHostAndAPort(t *testing.T) {
	for addr, says := range map[string]string{
		"/ip4/203.0.113.7/tcp/26600":           "",
		"/ip6/2001:db8::1/udp/26600/quic-v1":   "",
		"/dns/a.example.org/tcp/1":             "",
		"/ip4/127.0.0.1/tcp/1":                 "",
		"/ip4/0.0.0.0/tcp/26600":               "nobody can dial 0.0.0.0",
		"/ip6/::/tcp/26600":                    "nobody can dial ::",
		"/ip4/203.0.113.7/tcp/0":               "nobody can dial port 0",
		"/dns/a.example.org/udp/0/quic-v1":     "nobody can dial port 0",
		"203.0.113.7:26600":                    "want /ip4/",
		"/ip4/203.0.113.7/udp/26600/webrtc":    "want /ip4/",
		"/ip4/203.0.113.7/tcp/26600/p2p/12D3K": "want /ip4/",
	} {
		err := p2p.CheckDialAddr(addr)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", addr, err, says)
		}
	}
}

func FuzzParsePeer(f *testing.F) {
	id := string(idOf(f, 1))
	f.Add("/ip4/203.0.113.7/tcp/4001/p2p/" + id)
	f.Add("/dns4/example.org/udp/1/quic-v1/p2p/" + id)
	f.Add("/p2p/" + id)
	f.Fuzz(func(t *testing.T, s string) {
		p, err := p2p.ParsePeer(s)
		if err != nil {
			return
		}
		again, err := p2p.ParsePeer(p.Addrs[0] + "/p2p/" + string(p.ID))
		if err != nil || again.ID != p.ID || again.Addrs[0] != p.Addrs[0] {
			t.Errorf("%q gives %+v, which gives %+v, %v", s, p, again, err)
		}
		if _, err := p.ID.Key(); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	})
}
