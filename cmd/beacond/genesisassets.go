package main

import (
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// assetFlags are what a genesis sets up beside the gas token.
type assetFlags struct{ tokens, writers, items []string }

// parseTokens reads TOKEN:HOLDER=AMOUNT, each holder of a token once.
func parseTokens(texts []string) (tokens chain.Tokens, err error) {
	for _, text := range texts {
		token, rest, ok1 := strings.Cut(text, ":")
		holder, digits, ok2 := strings.Cut(rest, "=")
		amount, err := uint256.FromDecimal(digits)
		if !ok1 || !ok2 || err != nil || !common.IsHexAddress(token) || !common.IsHexAddress(holder) {
			return nil, cli.Usage("--token %q is not TOKEN:HOLDER=AMOUNT: two accounts and an amount in base units", text)
		}
		at, of := common.HexToAddress(token), common.HexToAddress(holder)
		if tokens == nil {
			tokens = make(chain.Tokens)
		}
		if tokens[at] == nil {
			tokens[at] = make(chain.Balances)
		}
		if tokens[at][of] != nil {
			return nil, cli.Usage("--token: %s of token %s is given twice", of, at)
		}
		tokens[at][of] = amount
	}
	return tokens, nil
}

// parseCatalog reads the writers and the items, NAME or NAME=VALUE. The value stands behind the last equals sign.
func parseCatalog(writers, items []string) (*chain.Catalog, error) {
	if len(writers) == 0 && len(items) == 0 {
		return nil, nil
	}
	c := &chain.Catalog{Writers: []chain.Addr{}, Items: []chain.Item{}}
	for _, text := range writers {
		w, err := parseAccount("--oracle-writer", text)
		if err != nil {
			return nil, err
		}
		c.Writers = append(c.Writers, w)
	}
	if len(c.Writers) == 0 {
		return nil, cli.Hint(cli.Usage("nobody may write to the oracle's items"), "give --oracle-writer ACCOUNT")
	}
	for _, text := range items {
		item := chain.Item{Name: text}
		if at := strings.LastIndexByte(text, '='); at >= 0 {
			item.Name, item.Value = text[:at], text[at+1:]
			if _, err := uint256.FromDecimal(item.Value); err != nil {
				return nil, cli.Usage("--oracle-item %q is not NAME or NAME=VALUE: a value is a whole number below 2^256", text)
			}
		}
		if !chain.ItemName(item.Name) || slices.Contains(c.Items, item) {
			return nil, cli.Usage("--oracle-item %q: a name is 1 to 64 printable ASCII characters, does not begin with 0x, and is given once", text)
		}
		c.Items = append(c.Items, item)
	}
	return c, nil
}
