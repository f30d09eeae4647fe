package model

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

func show(a any) string {
	switch v := a.(type) {
	case uint8:
		return strconv.Itoa(int(v))
	case uint64:
		return strconv.FormatUint(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case *big.Int:
		return v.String()
	case addr:
		return v.String()
	}
	panic(fmt.Sprintf("no form for %T", a))
}

func quote(s string) string { return `"` + s + `"` }

func list[T any](items []T, one func(T) string) string {
	var parts []string
	for _, it := range items {
		parts = append(parts, one(it))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func ids(q []uint64) string { return list(q, func(id uint64) string { return quote(show(id)) }) }

// print is the block's line up to the state hash.
func (m *model) print(l line) string {
	runs := list(l.leading, func(r leading) string {
		return fmt.Sprintf(`{"id":"%d","attempt":%d,"hash":"%s","outcome":"%s"}`, r.id, r.attempt, r.hash, r.outcome)
	})
	events := list(m.events, func(e event) string {
		return fmt.Sprintf(`{"name":"%s","args":%s}`, e.name, list(e.args, quote))
	})
	errs := list(l.errors, func(e string) string {
		if e == "" {
			return "null"
		}
		return quote(e)
	})
	return fmt.Sprintf(`{"height":"%d","time":"%d","leading":%s,"events":%s,"errors":%s,"cursor_slot":"%d","cursor_height":"%d","state":`,
		m.height, m.time, runs, events, errs, m.cursorSlot, m.cursorHeight)
}

// object prints a map in the order of its keys, without the members for which one is "".
func object[K comparable, V any](all map[K]V, order func(a, b K) int, one func(K, V) (key, value string)) string {
	var parts []string
	for _, k := range slices.SortedFunc(maps.Keys(all), order) {
		if key, value := one(k, all[k]); value != "" {
			parts = append(parts, quote(key)+":"+value)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func byNumber(a, b uint64) int { return new(big.Int).SetUint64(a).Cmp(new(big.Int).SetUint64(b)) }
func byAddr(a, b addr) int     { return bytes.Compare(a[:], b[:]) }
func byWord(a, b word) int     { return bytes.Compare(a[:], b[:]) }

func nonzero(v *big.Int) string {
	if v.Sign() == 0 {
		return ""
	}
	return quote(v.String())
}

func amounts(all map[addr]*big.Int) string {
	return object(all, byAddr, func(a addr, v *big.Int) (string, string) { return a.String(), nonzero(v) })
}

func (m *model) printFinal() string {
	tokens := map[addr]map[addr]bool{}
	for _, purses := range []map[purse]*big.Int{m.balances, m.allowances} {
		for p := range purses {
			if tokens[p.token] == nil {
				tokens[p.token] = map[addr]bool{}
			}
			tokens[p.token][p.holder] = true
		}
	}
	pending := map[uint64]uint64{}
	for _, e := range m.entries {
		if e.status == scheduled && e.has(flagSealed) && e.when.Kind == 0 {
			pending[e.due]++
		}
	}
	counts := func(all map[uint64]uint64, form string) string {
		return object(all, byNumber, func(k, v uint64) (string, string) {
			if v == 0 {
				return "", ""
			}
			return show(k), fmt.Sprintf(form, v)
		})
	}
	idList := func(q []uint64) string {
		if len(q) == 0 {
			return ""
		}
		return ids(q)
	}
	return `{"final":{"entries":` +
		object(m.entries, byNumber, func(id uint64, e *entry) (string, string) { return show(id), e.print() }) +
		`,"available":` + amounts(m.available) + `,"gas_token":` + amounts(m.gas) +
		`,"tokens":` + object(tokens, byAddr, func(t addr, holders map[addr]bool) (string, string) {
		return t.String(), object(holders, byAddr, func(a addr, _ bool) (string, string) {
			balance, allowance := read(m.balances, purse{t, a}), read(m.allowances, purse{t, a})
			var parts []string
			if balance.Sign() != 0 {
				parts = append(parts, `"balance":`+quote(balance.String()))
			}
			if allowance.Sign() != 0 {
				parts = append(parts, `"allowance":`+quote(allowance.String()))
			}
			if parts == nil {
				return "", ""
			}
			return a.String(), "{" + strings.Join(parts, ",") + "}"
		})
	}) +
		`,"queues":` + object(m.queues, byNumber, func(k uint64, q []uint64) (string, string) { return show(k), idList(q) }) +
		`,"reserved_gas":` + counts(m.reserves, `"%d"`) +
		`,"watchers":` + object(m.watchers, byWord, func(w word, q []uint64) (string, string) { return w.String(), idList(q) }) +
		`,"watched_height":` + object(m.watchedHeight, byWord, func(w word, h uint64) (string, string) {
		if h == 0 {
			return "", ""
		}
		return w.String(), quote(show(h))
	}) +
		`,"sealed_pending":` + counts(pending, `"%d"`) + `,"next_id":"` + show(m.nextID) + `"}}`
}

func (e *entry) print() string {
	calls := []byte{}
	switch {
	case e.has(flagSealed):
		calls = e.ciphertext
	case len(e.calls) > 0:
		calls = encodeCalls(e.calls)
	}
	mask := 0
	deps := []uint64{}
	for i, d := range e.deps {
		deps = append(deps, uint64(d.ID))
		if d.Finished {
			mask |= 1 << i
		}
	}
	reserve := e.amount
	if reserve == nil {
		reserve = new(big.Int)
	}
	return fmt.Sprintf(`{"payer":"%s","key":"%d","status":%d,"attempts":%d,"max_retries":%d,"flags":%d,"gas_limit":"%d","gas_price":"%d",`+
		`"deadline_slot":"%d","period_slots":"%d","reserve_token":"%s","reserve_amount":"%d","remaining":%d,"backoff_slots":%d,`+
		`"depends_on_finished":%d,"due_slot":"%d","data_len":%d,"when_kind":%d,"calls":"0x%s","depends_on":%s,"commitment":"%s",`+
		`"when_item":"%s","when_operand":"%d"}`,
		e.payer, e.key, e.status, e.attempts, e.maxRetries, e.flags, e.gasLimit, e.gasPrice, e.deadline, e.period, e.token, reserve, e.remaining,
		e.backoff, mask, e.due, e.dataLen, e.when.Kind, hex.EncodeToString(calls), ids(deps), e.commitment, e.when.Item, e.when.Operand.get())
}
