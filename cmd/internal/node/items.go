package node

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// getItems answers with the items that the genesis lists. Others are known by their ids only, and those are hashes.
func (n *Node) getItems(*http.Request) (any, error) {
	items := []api.Item{}
	if c := n.genesis.Catalog; c != nil {
		for _, i := range c.Items {
			items = append(items, n.itemJSON(i.ID()))
		}
	}
	return items, nil
}

func (n *Node) getItem(r *http.Request) (any, error) {
	id, err := parseItem(r.PathValue("item"))
	if err != nil {
		return nil, err
	}
	return n.itemJSON(id), nil
}

// parseItem reads an item's name, or its id in hex.
func parseItem(text string) (chain.Hash, error) {
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		raw, err := hex.DecodeString(digits)
		if err != nil || len(raw) != common.HashLength {
			return chain.Hash{}, &httpError{err: classed(errInvalid, "%.80q is not an item's id", text), hint: "write 0x and 64 hexadecimal digits, or the item's name"}
		}
		return chain.Hash(raw), nil
	}
	if !chain.ItemName(text) {
		return chain.Hash{}, &httpError{err: classed(errInvalid, "%.80q is not an item's name", text), hint: "a name has up to 64 printable ASCII characters"}
	}
	return chain.Item{Name: text}.ID(), nil
}

func (n *Node) itemJSON(id chain.Hash) api.Item {
	it, listed := n.chain.Item(id)
	out := api.Item{Item: id.Hex(), Name: n.itemNames[id], Listed: listed, Halted: it.Halted, Disputed: it.Disputed}
	if it.Written {
		out.Value, out.Block, out.Time = decimal(it.Value[:]), it.Height, it.Time
	}
	return out
}

// itemNames are the names that the genesis gives items, by their ids.
func itemNames(g *chain.Genesis) map[chain.Hash]string {
	names := make(map[chain.Hash]string)
	if g.Catalog != nil {
		for _, i := range g.Catalog.Items {
			names[i.ID()] = i.Name
		}
	}
	return names
}

// tokensJSON is what an account has of the genesis' MIP20 tokens.
func (n *Node) tokensJSON(a Address) (all []api.Token) {
	for _, token := range n.genesis.Tokens.Addresses() {
		balance, held := n.chain.TokenBalance(token, a)
		if !balance.IsZero() || !held.IsZero() {
			all = append(all, api.Token{Token: addressJSON(token), Balance: balance.Dec(), Held: held.Dec()})
		}
	}
	return all
}

// decodeItemLog reads a log of the oracle catalog; false for any other.
func decodeItemLog(l *types.Log) (what string, item chain.Hash, args api.Args, ok bool) {
	if scheduler.Addr(l.Address) != scheduler.OracleAddress {
		return "", chain.Hash{}, nil, false
	}
	topics := make([]scheduler.Word, len(l.Topics))
	for i, t := range l.Topics {
		topics[i] = scheduler.Word(t)
	}
	e, ok := memory.DecodeCatalogEvent(topics, l.Data)
	if !ok {
		return "", chain.Hash{}, nil, false
	}
	item = chain.Hash(e.Item)
	args = api.Args{"item": item.Hex()}
	switch e.Name {
	case "Written":
		args["value"] = decimal(e.Value[:])
	case "Flags":
		args["halted"], args["disputed"] = fmt.Sprint(e.Halted), fmt.Sprint(e.Disputed)
	}
	return e.Name, item, args, true
}

// tellItems tells what a transaction did to the oracle's items.
func (n *Node) tellItems(h *chain.Header, r *chain.Receipt) {
	for _, l := range r.Logs {
		what, item, args, ok := decodeItemLog(l)
		if !ok {
			continue
		}
		name := n.itemNames[item]
		n.events.publish(api.EventItem, api.ItemEvent{Item: item.Hex(), Name: name, What: what, Args: args, Block: h.Number, Time: h.Time})
		attrs := []any{"item", name, "height", h.Number, "slot", h.Time}
		if name == "" {
			attrs[1] = item.Hex()
		}
		for _, arg := range []string{"value", "halted", "disputed"} {
			if v, ok := args[arg]; ok {
				attrs = append(attrs, arg, v)
			}
		}
		n.log.Info("oracle item "+words(what), attrs...)
	}
}
