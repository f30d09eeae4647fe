package node

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
)

// Config is config.json: what is this validator's own business. What all must agree on is in genesis.
type Config struct {
	// Listen holds the multiaddresses on which other validators reach this one, such as /ip4/0.0.0.0/tcp/26600.
	Listen []string `json:"listen"`
	// Public is the host:port of the HTTP API for everybody.
	Public string `json:"public"`
	// Operator is the host:port of health, metrics and profiles. It gives away a lot: keep it on loopback.
	Operator string `json:"operator"`
	// LogLevel is debug, info, warn or error.
	LogLevel string `json:"log_level"`
	// LogFormat is text, json, or auto: text on a terminal, JSON otherwise.
	LogFormat string `json:"log_format"`
}

// DefaultConfig listens on the default ports: peers on all interfaces, the public API and the operator's on loopback.
func DefaultConfig() Config {
	return Config{
		Listen:    []string{"/ip4/0.0.0.0/tcp/26600", "/ip4/0.0.0.0/udp/26600/quic-v1"},
		Public:    "127.0.0.1:26680",
		Operator:  "127.0.0.1:26690",
		LogLevel:  "info",
		LogFormat: "auto",
	}
}

// Validate reports everything that is wrong, all at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
	}
	if len(c.Listen) == 0 {
		bad("listen", "names no address; use for instance \"/ip4/0.0.0.0/tcp/26600\"")
	}
	for _, a := range c.Listen {
		if err := p2p.CheckAddr(a); err != nil {
			bad("listen", "%v", err)
		}
	}
	for field, addr := range map[string]string{"public": c.Public, "operator": c.Operator} {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			bad(field, "%q is not host:port", addr)
		}
	}
	if c.Public == c.Operator && !strings.HasSuffix(c.Public, ":0") {
		bad("operator", "must not be the public address %s", c.Public)
	}
	switch c.LogLevel {
	case "debug", "info", "warn", "error":
	default:
		bad("log_level", "%q is not one of debug, info, warn, error", c.LogLevel)
	}
	switch c.LogFormat {
	case "auto", "text", "json":
	default:
		bad("log_format", "%q is not one of auto, text, json", c.LogFormat)
	}
	return sortedJoin(errs)
}

// OperatorIsPrivate tells whether the operator's listener is on loopback.
func (c Config) OperatorIsPrivate() bool {
	host, _, err := net.SplitHostPort(c.Operator)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// Encode is the content of config.json.
func (c Config) Encode() []byte { return encodeJSON(c) }

// LoadConfig reads and checks config.json.
func (h Home) LoadConfig() (Config, error) {
	var c Config
	if err := decodeFile(h.Path(fileConfig), &c); err != nil {
		err = fmt.Errorf("reading config: %w", err)
		if errors.Is(err, fs.ErrNotExist) {
			err = cli.Hint(err, fmt.Sprintf("%s is no validator's folder: --home names one, and \"beacond init --home %s\" makes it", h, h))
		}
		return Config{}, err
	}
	if err := c.Validate(); err != nil {
		return Config{}, fmt.Errorf("config %s:\n%w", h.Path(fileConfig), err)
	}
	return c, nil
}

// Address is a 20-byte account, written as 0x and 40 hex digits.
type Address = common.Address

// Descriptor is validator.json: what genesis says about a validator.
type Descriptor struct {
	Name        string              `json:"name"`
	NetworkKey  string              `json:"network_key"`  // ed25519 public key, hex
	VotingKey   finality.PublicKey  `json:"voting_key"`   // of its votes on blocks
	VotingProof finality.Possession `json:"voting_proof"` // that it holds the voting key's secret
	Proposer    Address             `json:"proposer"`     // receives the fees of the blocks this validator proposes
	Addrs       []string            `json:"addrs"`        // where the other validators dial
}

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Validate reports everything that is wrong, all at once.
func (d Descriptor) Validate() error {
	var errs []error
	if !namePattern.MatchString(d.Name) {
		errs = append(errs, fmt.Errorf("name: %q is not 1 to 32 of a-z, 0-9 and -, beginning with a letter or digit", d.Name))
	}
	if key, err := hex.DecodeString(d.NetworkKey); err != nil || len(key) != 32 {
		errs = append(errs, fmt.Errorf("network_key: %q is not 32 bytes of hex", d.NetworkKey))
	}
	if err := d.VotingKey.Verify(d.VotingProof); err != nil {
		errs = append(errs, fmt.Errorf("voting_key: %w", err))
	}
	if d.Proposer == (Address{}) {
		errs = append(errs, errors.New("proposer: is missing; give the account that receives the fees"))
	}
	if len(d.Addrs) == 0 {
		errs = append(errs, errors.New("addrs: is empty; the others need an address to dial, such as /ip4/203.0.113.7/tcp/26600"))
	}
	for _, a := range d.Addrs {
		if err := p2p.CheckDialAddr(a); err != nil {
			errs = append(errs, fmt.Errorf("addrs: %w", err))
		}
	}
	return sortedJoin(errs)
}

// Encode is the content of validator.json.
func (d Descriptor) Encode() []byte { return encodeJSON(d) }

// LoadDescriptor reads and checks a validator.json.
func LoadDescriptor(path string) (Descriptor, error) {
	var d Descriptor
	if err := decodeFile(path, &d); err != nil {
		err = fmt.Errorf("reading validator: %w", err)
		if inside := filepath.Join(path, fileDescriptor); isFile(inside) {
			err = cli.Hint(err, fmt.Sprintf("give the file in it: %s", inside))
		}
		return Descriptor{}, err
	}
	if err := d.Validate(); err != nil {
		return Descriptor{}, fmt.Errorf("validator %s:\n%w", path, err)
	}
	return d, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func encodeJSON(v any) []byte {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("node: internal error: encoding own settings: " + err.Error())
	}
	return append(out, '\n')
}

// decodeFile decodes the one JSON value of a file into v; unknown fields and anything after the value are errors.
func decodeFile(path string, v any) error {
	data, err := durable.Read(path, maxSmallFile)
	if err != nil {
		return err
	}
	if err := decodeJSON(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func decodeJSON(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// sortedJoin joins errors in the order of their text, so that a report does not depend on map order.
func sortedJoin(errs []error) error {
	for i := range errs {
		for j := i; j > 0 && errs[j].Error() < errs[j-1].Error(); j-- {
			errs[j], errs[j-1] = errs[j-1], errs[j]
		}
	}
	return errors.Join(errs...)
}
