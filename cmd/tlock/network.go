package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// source is where a command learns what network it works with.
type source struct {
	file string // network file
	node string // base URL of a node
}

// flags adds --network and --node to cmd.
func (s *source) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.file, "network", "", "network file: chain id, genesis hash and group key")
	cmd.Flags().StringVar(&s.node, "node", "", "base URL of a node, such as http://127.0.0.1:26680")
}

// network reads the network from the file, or, without one, believes the node. With both, the node must be of the file's network.
func (s source) network(ctx context.Context) (tlock.Network, error) {
	switch {
	case s.file != "" && s.node != "":
		kept, err := source{file: s.file}.network(ctx)
		if err != nil {
			return tlock.Network{}, err
		}
		told, err := source{node: s.node}.network(ctx)
		if err != nil && cli.ExitCode(err) != cli.ExitNotYet {
			return tlock.Network{}, err
		}
		if err == nil && (told.Namespace != kept.Namespace || !told.GroupKey.Equal(kept.GroupKey)) {
			return tlock.Network{}, cli.Hint(fmt.Errorf("%s and the node are of two networks: chain %s with genesis %#x and group key %s, and chain %s with genesis %#x and group key %s",
				s.file, kept.Namespace.ChainID(), kept.Namespace.GenesisHash(), kept.GroupKey, told.Namespace.ChainID(), told.Namespace.GenesisHash(), told.GroupKey),
				"leave --node out to believe the file, or --network to believe the node")
		}
		return kept, nil
	case s.file != "":
		data, err := durable.Read(s.file, tlock.MaxNetworkFile)
		if err != nil {
			return tlock.Network{}, fmt.Errorf("reading network file: %w", err)
		}
		n, err := tlock.ParseNetwork(data)
		if err != nil {
			return tlock.Network{}, fmt.Errorf("reading %s: %w", s.file, err)
		}
		return n, nil
	case s.node != "":
		c, err := s.client()
		if err != nil {
			return tlock.Network{}, err
		}
		defer c.Close()
		info, err := c.Info(ctx)
		if err != nil {
			return tlock.Network{}, err
		}
		return networkOf(info)
	}
	return tlock.Network{}, cli.Hint(cli.Usage("which network? give --network FILE or --node URL"),
		"--network needs no node and trusts none; --node believes the node it asks")
}

// client returns a client of the node, which must have been given.
func (s source) client() (*api.Client, error) {
	if s.node == "" {
		return nil, cli.Usage("this needs a node: give --node URL")
	}
	c, err := api.NewClient(s.node)
	if err != nil {
		return nil, cli.Usage("--node: %w", err)
	}
	return c, nil
}

// networkOf takes a node's word for what network it belongs to.
func networkOf(info api.Info) (tlock.Network, error) {
	genesis, err := hexBytes(info.GenesisHash, 32)
	if err != nil {
		return tlock.Network{}, fmt.Errorf("node's genesis hash: %w", err)
	}
	if info.GroupKey == "" {
		return tlock.Network{}, cli.Hint(cli.NotYet(fmt.Errorf("the network has no group key yet: its ceremony is still %s", info.Ceremony)),
			"try again when the node's status says that the key is active")
	}
	raw, err := hexBytes(info.GroupKey, tlock.GroupKeySize)
	if err != nil {
		return tlock.Network{}, fmt.Errorf("node's group key: %w", err)
	}
	gk, err := tlock.ParseGroupKey(raw)
	if err != nil {
		return tlock.Network{}, fmt.Errorf("node's group key: %w", err)
	}
	ns, err := tlock.NewNamespace(new(big.Int).SetUint64(info.ChainID), [32]byte(genesis))
	if err != nil {
		return tlock.Network{}, fmt.Errorf("node's network: %w", err)
	}
	return tlock.Network{Namespace: ns, GroupKey: gk}, nil
}

// hexBytes decodes n bytes of hex, with or without 0x.
func hexBytes(s string, n int) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(b) != n {
		return nil, fmt.Errorf("%q is not %d bytes of hex", shorten(s), n)
	}
	return b, nil
}

func shorten(s string) string {
	if len(s) <= 24 {
		return s
	}
	return s[:20] + "…"
}
