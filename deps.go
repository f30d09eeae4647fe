//go:build deps

package daybreak

import (
	_ "filippo.io/age"
	_ "github.com/cockroachdb/pebble/v2"
	_ "github.com/consensys/gnark-crypto/ecc/bls12-381"
	_ "github.com/drand/kyber"
	_ "github.com/drand/kyber-bls12381"
	_ "github.com/drand/kyber/share/dkg"
	_ "github.com/ethereum/go-ethereum/core/types"
	_ "github.com/hashicorp/raft"
	_ "github.com/hashicorp/raft-wal"
	_ "github.com/libp2p/go-libp2p"
	_ "github.com/libp2p/go-libp2p-pubsub"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/supranational/blst/bindings/go"
	_ "go.uber.org/goleak"
	_ "golang.org/x/crypto/sha3"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "pgregory.net/rapid"
)
