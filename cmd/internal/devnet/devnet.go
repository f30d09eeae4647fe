// Package devnet runs a network of validators on this machine: n child processes of the real daemon, with fresh keys, a
// fresh genesis, free ports, one funded account, a token and an oracle item of that account. For trying out, for the demo, and for tests that need real processes
// to kill.
package devnet

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// MaxValidators is how many validators a devnet has at most.
const MaxValidators = 64

// Options of New.
type Options struct {
	Dir        string    // where the validators' folders go; must be empty or missing
	Validators int       // how many
	Exe        string    // path of beacond
	Output     io.Writer // the validators' merged output; what all say alike is there once
	Colour     bool      // one colour for each validator
	LogLevel   string    // of the validators; "" for info
	// PhaseTimeout of the ceremony, in seconds; 0 for the default.
	PhaseTimeout uint64
}

// Network is a devnet. Its methods are called by one goroutine at a time.
type Network struct {
	Genesis *chain.Genesis
	// KeyFile holds the secp256k1 key, in hex, of an account with gas tokens.
	KeyFile string
	Nodes   []*Node

	exe     string
	out     *output
	spawner *spawner
}

// Node is one validator of a devnet.
type Node struct {
	Index       int
	Name        string
	Home        node.Home
	URL         string // of the public API
	OperatorURL string
	LogPath     string // all that it wrote, over all its runs

	lines *lineWriter
	proc  *process // nil while it is not running
}

// Token is a MIP20 token of which the account has as much as of the gas token.
var Token = node.Address{0xda, 0x1b, 0x4e, 0xa4, 19: 0x03}

// Item is an oracle item that the account may write, with a value already.
var Item = chain.Item{Name: "ETH/USD", Value: "2000"}

// accountFunds is what the devnet's account has, in base units of the gas token.
var accountFunds = uint256.NewInt(1_000_000_000_000_000)

// New makes the folders, keys and genesis of a network. Nothing runs yet.
func New(o Options) (*Network, error) {
	if o.Validators < 1 || o.Validators > MaxValidators {
		return nil, fmt.Errorf("a devnet has 1 to %d validators, not %d", MaxValidators, o.Validators)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(o.Dir); err != nil || len(entries) > 0 {
		return nil, errors.Join(err, fmt.Errorf("%s is not empty: a devnet begins in a folder of its own", o.Dir))
	}
	n := &Network{exe: o.Exe, out: newOutput(o.Output, o.Colour), KeyFile: filepath.Join(o.Dir, "account.key")}
	ports, err := freePorts(3 * o.Validators)
	if err != nil {
		return nil, err
	}
	var descriptors []node.Descriptor
	for i := range o.Validators {
		d, err := n.addNode(o, i+1, ports[3*i:])
		if err != nil {
			return nil, err
		}
		descriptors = append(descriptors, d)
	}
	if err := n.makeGenesis(o, descriptors); err != nil {
		return nil, err
	}
	n.spawner = newSpawner()
	return n, nil
}

func (n *Network) addNode(o Options, index int, ports []int) (node.Descriptor, error) {
	v := &Node{Index: index, Name: fmt.Sprintf("v%d", index), Home: node.Home(filepath.Join(o.Dir, fmt.Sprintf("v%d", index)))}
	v.URL, v.OperatorURL = fmt.Sprintf("http://127.0.0.1:%d", ports[1]), fmt.Sprintf("http://127.0.0.1:%d", ports[2])
	v.LogPath = filepath.Join(o.Dir, v.Name+".log")
	full, err := os.OpenFile(v.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return node.Descriptor{}, err
	}
	v.lines = n.out.lines(index-1, v.Name, full)
	n.Nodes = append(n.Nodes, v)
	cfg := node.DefaultConfig()
	cfg.Listen = []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", ports[0])}
	cfg.Public, cfg.Operator = v.URL[len("http://"):], v.OperatorURL[len("http://"):]
	cfg.LogFormat = "text"
	if o.LogLevel != "" {
		cfg.LogLevel = o.LogLevel
	}
	proposer := node.Address{0: 0xfe, 1: 0xe5, 19: byte(index)} // receives fees that nobody will spend
	return v.Home.Init(cfg, v.Name, proposer, cfg.Listen)
}

func (n *Network) makeGenesis(o Options, validators []node.Descriptor) error {
	key, err := crypto.GenerateKey()
	if err != nil {
		return err
	}
	if err := durable.CreateSecret(n.KeyFile, []byte(hex.EncodeToString(crypto.FromECDSA(key))+"\n")); err != nil {
		return err
	}
	account, now := crypto.PubkeyToAddress(key.PublicKey), time.Now().Unix()
	n.Genesis, err = node.NewGenesis(node.GenesisOptions{
		ChainID: 1<<32 + uint64(now), Time: uint64(now), PhaseTimeout: o.PhaseTimeout,
		Balances: chain.Balances{account: accountFunds},
		Tokens:   chain.Tokens{Token: {account: accountFunds}},
		Catalog:  &chain.Catalog{Writers: []chain.Addr{account}, Items: []chain.Item{Item}},
		GasToken: node.DefaultGasToken, Treasury: node.DefaultTreasury,
	}, validators)
	if err != nil {
		return err
	}
	for _, v := range n.Nodes {
		if err := durable.CreatePublic(v.Home.GenesisPath(), n.Genesis.Encode()); err != nil {
			return err
		}
	}
	return nil
}

// Start starts a validator that does not run, with more flags of "run" if it needs them.
func (n *Network) Start(v *Node, flags ...string) error {
	if v.Running() {
		return fmt.Errorf("%s runs already", v.Name)
	}
	p, err := n.spawner.start(v.lines, n.exe, append([]string{"run", "--home", string(v.Home)}, flags...)...)
	if err != nil {
		return err
	}
	v.proc = p
	return nil
}

// StartAll starts every validator.
func (n *Network) StartAll() error {
	for _, v := range n.Nodes {
		if err := n.Start(v); err != nil {
			return err
		}
	}
	return nil
}

// Running tells whether the validator's process runs.
func (v *Node) Running() bool {
	if v.proc == nil {
		return false
	}
	select {
	case <-v.proc.done:
		return false
	default:
		return true
	}
}

// PID is the process id of a validator that was started.
func (v *Node) PID() int { return v.proc.cmd.Process.Pid }

// Ended is closed once the validator's process has ended; it was started before.
func (v *Node) Ended() <-chan struct{} { return v.proc.done }

// Kill ends the validator at once, as a crash would.
func (v *Node) Kill() error {
	if v.proc == nil {
		return nil
	}
	return v.proc.kill()
}

// Stop asks the validator to end, and waits. The error tells if it did not end well.
func (v *Node) Stop() error {
	if v.proc == nil {
		return nil
	}
	if err := v.proc.stop(); err != nil {
		return fmt.Errorf("%s: %w", v.Name, err)
	}
	return nil
}

// Close stops every validator, all at the same time, and waits for them.
func (n *Network) Close() error {
	errs := make(chan error)
	for _, v := range n.Nodes {
		go func() {
			if v.Running() {
				errs <- v.Stop()
				return
			}
			errs <- nil
		}()
	}
	var all error
	for range n.Nodes {
		all = errors.Join(all, <-errs)
	}
	for _, v := range n.Nodes {
		all = errors.Join(all, v.lines.full.Close())
	}
	n.spawner.close()
	return all
}

// pollEvery is how often WaitReady asks.
const pollEvery = 200 * time.Millisecond

// WaitReady waits until every validator has the group key and the key of a slot. A validator that ends meanwhile is an error.
func (n *Network) WaitReady(ctx context.Context) error {
	for _, v := range n.Nodes {
		c, err := api.NewClient(v.URL)
		if err != nil {
			return err
		}
		err = n.waitNode(ctx, v, c)
		c.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *Network) waitNode(ctx context.Context, v *Node, c *api.Client) error {
	for {
		info, err := c.Info(ctx)
		if err == nil && info.GroupKey != "" && info.LatestKey > 0 && !info.CatchingUp {
			return nil
		}
		select {
		case <-v.Ended():
			return fmt.Errorf("%s has ended: %w", v.Name, v.proc.err)
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", v.Name, context.Cause(ctx))
		case <-time.After(pollEvery):
		}
	}
}
