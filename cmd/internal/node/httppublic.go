package node

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// publicHandler serves package api to everybody.
func (n *Node) publicHandler() http.Handler {
	mux := http.NewServeMux()
	get := func(path string, h handlerFunc) { mux.Handle("GET "+path, answer(n.log, h)) }
	get("/v1/info", n.getInfo)
	get("/v1/network", n.getNetwork)
	get("/v1/keys/{slot}", n.getKey)
	get("/v1/policy", n.getPolicy)
	get("/v1/entries/{id}", n.getEntry)
	get("/v1/entries/{id}/runs", n.getRuns)
	get("/v1/accounts/{address}", n.getAccount)
	get("/v1/items", n.getItems)
	get("/v1/items/{item}", n.getItem)
	get("/v1/blocks/{number}", n.getBlock)
	get("/v1/blocks/{number}/certificate", n.getCertificate)
	get("/v1/evidence", n.getEvidence)
	get("/v1/transactions/{hash}", n.getReceipt)
	mux.Handle("POST /v1/transactions", answer(n.log, n.postTransaction))
	mux.Handle("POST /v1/call", answer(n.log, n.postCall))
	mux.HandleFunc("GET /v1/stream", func(w http.ResponseWriter, r *http.Request) {
		if err := n.events.serveStream(w, r); err != nil {
			writeError(w, r, n.log, err)
		}
	})
	mux.Handle("/", n.unknownPath(mux))
	return mux
}

// unknownPath answers what no handler of mux takes: a path that has other methods with 405, any other with 404.
func (n *Node) unknownPath(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e := &httpError{status: http.StatusNotFound, err: fmt.Errorf("there is no %s %.80s", r.Method, r.URL.Path), hint: "GET /v1/info tells what this node is"}
		if allowed := strings.Join(allowedMethods(mux, r), ", "); allowed != "" {
			w.Header().Set("Allow", allowed)
			e.status, e.hint = http.StatusMethodNotAllowed, "the path answers to "+allowed
		}
		writeError(w, r, n.log, e)
	}
}

// allowedMethods are those under which the request's path has a handler.
func allowedMethods(mux *http.ServeMux, r *http.Request) (methods []string) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		other := *r
		other.Method = method
		if _, pattern := mux.Handler(&other); pattern != "/" {
			methods = append(methods, method)
		}
	}
	return methods
}

func (n *Node) getInfo(*http.Request) (any, error) {
	info := api.Info{
		ChainID: n.genesis.ChainID, GenesisHash: hex0x(n.hash[:]), Validators: len(n.genesis.Validators),
		Threshold: n.genesis.Ceremony.Threshold, Index: int(n.self), Name: n.nameOf(n.self), Slot: uint64(time.Now().Unix()),
		Head: headJSON(n.chain.Head()), Peers: len(n.net.Connected()), Ceremony: n.ceremony.describe(), Share: n.ceremony.tellShare(), GasToken: addressJSON(n.genesis.Policy.GasToken), Version: Version(),
	}
	if leader, ok := n.raft.Leader(); ok {
		info.Leader = int(leader)
	}
	final, evidence, notVoting := n.finality.state()
	info.Final, info.DoubleVotes = headJSON(final), len(evidence)
	if notVoting != nil {
		info.NotVoting = notVoting.Error()
	}
	info.CatchingUp = n.catchingUp()
	if key, epoch := n.groupKey(); len(key) > 0 {
		info.GroupKey, info.Epoch = hex0x(key), epoch
	}
	latest, ok, err := n.keys.latest()
	if ok {
		info.LatestKey = latest
	}
	return info, err
}

// groupKey is the key that the chain runs under, and its epoch. While this node is catching up to the block that installed it,
// the key is that of the group in its files. It is empty if the network has none.
func (n *Node) groupKey() (key []byte, epoch uint64) {
	if key := n.chain.GroupKey(); len(key) > 0 {
		return key, n.epoch()
	}
	if g := n.ceremony.kept; g != nil {
		raw := g.Key().Bytes()
		return raw[:], g.Epoch()
	}
	return nil, 0
}

// epoch is that of the group whose key is on chain.
func (n *Node) epoch() (epoch uint64) {
	head := n.chain.Head().Number
	for _, a := range n.chain.Activations() {
		if a.Height <= head {
			epoch = a.Epoch
		}
	}
	return epoch
}

// getNetwork answers with a network file, as "tlock --network" takes it.
func (n *Node) getNetwork(*http.Request) (any, error) {
	raw, _ := n.groupKey()
	if len(raw) == 0 {
		return nil, &httpError{err: classed(errNotYet, "the network has no group key"), hint: "the ceremony is " + n.ceremony.describe(), retry: time.Second}
	}
	key, err := tlock.ParseGroupKey(raw)
	if err != nil {
		return nil, err
	}
	file, err := tlock.Network{Namespace: n.ns, GroupKey: key}.Encode()
	return json.RawMessage(file), err
}

func (n *Node) getKey(r *http.Request) (any, error) {
	text := r.PathValue("slot")
	if text == "latest" {
		slot, ok, err := n.keys.latest()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, &httpError{err: classed(errNotYet, "no slot has a key here"), hint: "the ceremony is " + n.ceremony.describe()}
		}
		return n.lookUpKey(slot)
	}
	slot, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, &httpError{err: classed(errInvalid, "slot %.40q is not a number", text), hint: "a slot is a second since 1970; \"latest\" is the newest one with a key"}
	}
	return n.lookUpKey(slot)
}

// lookUpKey answers with a key, with when to come back, or, for an old slot that nobody signed, by having it signed.
func (n *Node) lookUpKey(slot uint64) (any, error) {
	key, ok, err := n.keys.get(slot)
	if err != nil {
		return nil, err
	}
	if ok {
		return keyJSON(slot, key), nil
	}
	now := time.Now()
	if wait := tlock.SlotEnd(slot).Sub(now); wait > 0 {
		return nil, &httpError{
			err:  classed(errNotYet, "slot %d is not over", slot),
			hint: whenOver(slot, wait), retry: min(wait, time.Hour),
		}
	}
	if slot < n.genesis.Time {
		return nil, &httpError{err: classed(errStale, "slot %d was over before the network began", slot), hint: "nothing can be sealed to it"}
	}
	if n.ceremony.behind() {
		return nil, &httpError{err: classed(errNotYet, "this node is catching up"), hint: "ask again, or ask another node", retry: time.Second}
	}
	if n.group.Load() == nil {
		return nil, &httpError{err: classed(errNotYet, "the network has no group key"), hint: "the ceremony is " + n.ceremony.describe(), retry: time.Second}
	}
	if slot > n.chain.Head().Time {
		return nil, &httpError{err: classed(errNotYet, "no block has reached slot %d", slot), hint: "the chain stands still", retry: time.Second}
	}
	n.ask(slot, now)
	return nil, &httpError{err: classed(errNotYet, "the key of slot %d is being fetched or made", slot), hint: "ask again", retry: time.Second}
}

// whenOver tells when a slot will be over.
func whenOver(slot uint64, wait time.Duration) string {
	end := tlock.SlotEnd(slot)
	if end.Year() > 9999 {
		return "it lies in the far future"
	}
	text := "it ends at " + end.Format(time.RFC3339)
	if wait < 24*time.Hour {
		text += ", in " + (wait + time.Second - 1).Truncate(time.Second).String()
	}
	return text
}

func (n *Node) getPolicy(*http.Request) (any, error) { return policyJSON(n.chain.Policy()), nil }

func (n *Node) getEntry(r *http.Request) (any, error) {
	view := n.chain.Scheduler()
	id, err := entryID(view, r)
	if err != nil {
		return nil, err
	}
	e := entryJSON(view, id)
	if view.Status(id) == scheduler.Scheduled {
		_, err := n.chain.Call(Address{}, Address(scheduler.Address), scheduler.ExpireInput(id))
		e.Expirable = err == nil
	}
	return e, nil
}

func (n *Node) getRuns(r *http.Request) (any, error) {
	id, err := entryID(n.chain.Scheduler(), r)
	if err != nil {
		return nil, err
	}
	runs := []api.Receipt{}
	for _, place := range n.chain.Runs(id) {
		if a, ok := n.chain.Block(place.Number); ok {
			runs = append(runs, receiptJSON(a, place.At))
		}
	}
	return runs, nil
}

// entryID is the id in the request's path, of an entry that exists.
func entryID(view scheduler.View, r *http.Request) (uint64, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, &httpError{err: classed(errInvalid, "entry id %.40q is not a number", r.PathValue("id")), hint: "ids are 1, 2, 3 …"}
	}
	if view.Status(id) == scheduler.None {
		return 0, &httpError{status: http.StatusNotFound, err: fmt.Errorf("there is no entry %d", id), hint: fmt.Sprintf("the next one will be %d", view.NextID())}
	}
	return id, nil
}

func (n *Node) getAccount(r *http.Request) (any, error) {
	text := r.PathValue("address")
	a, ok := parseAddress(text)
	if !ok {
		return nil, &httpError{err: classed(errInvalid, "%.60q is not an address", text), hint: "write 0x and 40 hexadecimal digits"}
	}
	allowance, err := n.allowance(a)
	if err != nil {
		return nil, err
	}
	balance, escrow := n.chain.Balance(a), n.chain.Scheduler().Balance(scheduler.Addr(a))
	return api.Account{
		Address: addressJSON(a), Nonce: n.chain.Mempool().NextNonce(a), Balance: balance.Dec(), Escrow: escrow.Dec(), Allowance: allowance,
		Tokens: n.tokensJSON(a),
	}, nil
}

func (n *Node) getBlock(r *http.Request) (any, error) {
	number, err := blockNumber(r, n.chain.Head().Number)
	if err != nil {
		return nil, err
	}
	a, ok := n.chain.Block(number)
	switch head := n.chain.Head().Number; {
	case ok:
		return blockJSON(a), nil
	case number > head:
		return nil, &httpError{err: classed(errNotYet, "block %d is not there", number), hint: fmt.Sprintf("the head is %d", head)}
	}
	return nil, &httpError{err: classed(errStale, "block %d is too old to be kept here", number)}
}

// blockNumber is the block that a path names.
func blockNumber(r *http.Request, latest uint64) (uint64, error) {
	text := r.PathValue("number")
	if text == "latest" {
		return latest, nil
	}
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &httpError{err: classed(errInvalid, "block %.40q is not a number", text), hint: "\"latest\" is the newest"}
	}
	return number, nil
}

func (n *Node) getCertificate(r *http.Request) (any, error) {
	final := n.finality.head().Number
	number, err := blockNumber(r, final)
	if err != nil {
		return nil, err
	}
	if c, ok := n.finality.certificate(number); ok {
		return certificateJSON(c), nil
	}
	if number >= final {
		return nil, &httpError{err: classed(errNotYet, "block %d has no certificate", number), hint: fmt.Sprintf("block %d is final", final)}
	}
	return nil, &httpError{
		err:  classed(errStale, "the certificate of block %d is not kept here", number),
		hint: fmt.Sprintf("block %d is final, and so is all before it", final),
	}
}

func (n *Node) getEvidence(*http.Request) (any, error) {
	_, evidence, _ := n.finality.state()
	out := make([]api.Evidence, len(evidence))
	for i, e := range evidence {
		out[i] = evidenceJSON(e)
	}
	return out, nil
}

func (n *Node) getReceipt(r *http.Request) (any, error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(r.PathValue("hash"), "0x"))
	if err != nil || len(raw) != common.HashLength {
		return nil, &httpError{err: classed(errInvalid, "%.80q is not a transaction's hash", r.PathValue("hash")), hint: "write 0x and 64 hexadecimal digits"}
	}
	hash := common.BytesToHash(raw)
	if place, ok := n.chain.FindTx(hash); ok {
		if a, ok := n.chain.Block(place.Number); ok {
			return receiptJSON(a, place.At), nil
		}
	}
	if _, ok := n.chain.Mempool().Get(hash); ok {
		return nil, &httpError{err: classed(errNotYet, "the transaction waits for a block"), hint: "ask again", retry: time.Second}
	}
	return nil, &httpError{status: http.StatusNotFound, err: errors.New("this node knows no such transaction"), hint: "blocks older than about an hour are not kept"}
}

// maxCallBody bounds a posted call, in bytes: the longest transaction's input as hex, with room for the rest.
const maxCallBody = 2*maxTransaction + 1024

// maxDrained bounds what is read of a request that is too long, in bytes, so that its sender learns why it is refused.
const maxDrained = 2 << 20

func (n *Node) postTransaction(r *http.Request) (any, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 2*maxTransaction+3))
	if err != nil {
		return nil, &httpError{status: http.StatusBadRequest, err: fmt.Errorf("reading the request: %w", err)}
	}
	// A client that is still sending when the connection is closed sees a reset instead of the answer.
	if _, err := io.CopyN(io.Discard, r.Body, maxDrained); err != nil && err != io.EOF {
		return nil, &httpError{status: http.StatusBadRequest, err: fmt.Errorf("reading the request: %w", err)}
	}
	raw, err := transactionBytes(body)
	if err != nil {
		return nil, &httpError{err: err, hint: "post a signed Ethereum transaction, as bytes or as 0x and hex"}
	}
	tx, err := n.chain.Mempool().Add(raw)
	if err != nil {
		return nil, explainTx(err)
	}
	if err := n.topics.transactions.Publish(n.ctx, raw); err != nil && !errors.Is(err, p2p.ErrClosed) {
		return nil, err
	}
	return api.Submitted{Hash: tx.Hash().Hex()}, nil
}

// postCall tries a call on the head's state.
func (n *Node) postCall(r *http.Request) (any, error) {
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxCallBody))
	dec.DisallowUnknownFields()
	var call api.Call
	if err := dec.Decode(&call); err != nil {
		_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // so that the sender gets the answer, and no reset
		return nil, &httpError{err: classed(errInvalid, "the call is not what was expected: %.200v", err), hint: `post {"from":"0x…","to":"0x…","input":"0x…"}`}
	}
	from, ok1 := parseAddress(call.From)
	to, ok2 := parseAddress(call.To)
	digits, ok3 := strings.CutPrefix(call.Input, "0x")
	input, err := hex.DecodeString(digits)
	if !ok1 || !ok2 || !ok3 || err != nil {
		return nil, &httpError{err: classed(errInvalid, "from and to must be addresses, input hex"), hint: "write 0x before each"}
	}
	ret, err := n.chain.Call(from, to, input)
	if err != nil {
		return nil, &httpError{status: http.StatusUnprocessableEntity, err: err}
	}
	return api.Returned{Data: hex0x(ret)}, nil
}

func parseAddress(text string) (Address, bool) {
	if !common.IsHexAddress(text) || !strings.HasPrefix(text, "0x") {
		return Address{}, false
	}
	return common.HexToAddress(text), true
}

// explainTx makes "full, later" a status of its own: 404 with Retry-After would read as "no such path".
func explainTx(err error) error {
	if errors.Is(err, chain.ErrFunds) {
		return &httpError{status: http.StatusPaymentRequired, err: err, hint: "what the account owns is at /v1/accounts/"}
	}
	if classOf(err) == notYet {
		return &httpError{status: http.StatusServiceUnavailable, err: err, hint: "send it again later", retry: 2 * time.Second}
	}
	if classOf(err) == stale {
		return &httpError{status: http.StatusConflict, err: err, hint: "the account's next nonce is at /v1/accounts/"}
	}
	return err
}

func transactionBytes(body []byte) ([]byte, error) {
	raw := body
	if text := strings.TrimSpace(string(body)); strings.HasPrefix(text, "0x") {
		decoded, err := hex.DecodeString(text[2:])
		if err != nil {
			return nil, classed(errInvalid, "transaction is not hex")
		}
		raw = decoded
	}
	if len(raw) == 0 || len(raw) > maxTransaction {
		return nil, classed(errInvalid, "transaction of %d bytes; 1 to %d are possible", len(raw), maxTransaction)
	}
	return raw, nil
}
