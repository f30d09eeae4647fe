package chain_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math/big"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
	ethcrypto "github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

const (
	testChainID = 31337
	testTime    = 1_800_000_000
	testPrice   = 2_000 // gasPrice of entries
)

var (
	gasToken = chain.Addr{19: 0x77}
	treasury = chain.Addr{19: 0x78}
	target   = chain.Addr{19: 0x99}
)

// networkKey is the network key of a test validator.
func networkKey(index uint32) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte{byte(index)})
	return ed25519.NewKeyFromSeed(seed[:])
}

// votingKey is the voting key of a test validator.
func votingKey(index uint32) finality.Secret {
	s, err := finality.SecretFromBytes(append(make([]byte, 28), 1, 0, byte(index>>8), byte(index)))
	if err != nil {
		panic(err)
	}
	return s
}

// account is a user's key.
type account struct {
	key  *ecdsa.PrivateKey
	addr chain.Addr
}

func newAccount(name string) account {
	key, err := ethcrypto.ToECDSA(ethcrypto.Keccak256([]byte(name)))
	if err != nil {
		panic(err)
	}
	return account{key, ethcrypto.PubkeyToAddress(key.PublicKey)}
}

var (
	alice = newAccount("alice")
	bob   = newAccount("bob")
)

// txData is a transaction before it is signed; zero fields get usable values.
type txData struct {
	nonce uint64
	to    chain.Addr
	data  []byte
	gas   uint64
	tip   int64
}

func (a account) tx(d txData) []byte {
	if d.gas == 0 {
		d.gas = 500_000
	}
	if d.tip == 0 {
		d.tip = 100
	}
	return a.sign(testChainID, &types.DynamicFeeTx{
		ChainID: big.NewInt(testChainID), Nonce: d.nonce, GasTipCap: big.NewInt(d.tip), GasFeeCap: big.NewInt(d.tip),
		Gas: d.gas, To: &d.to, Data: d.data,
	})
}

func (a account) sign(chainID int64, data types.TxData) []byte {
	tx, err := types.SignNewTx(a.key, types.NewPragueSigner(big.NewInt(chainID)), data)
	if err != nil {
		panic(err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		panic(err)
	}
	return raw
}

func testGenesis(n int) *chain.Genesis {
	g := &chain.Genesis{
		ChainID: testChainID, Time: testTime, Policy: chain.DefaultPolicy(gasToken, treasury),
		Balances: chain.Balances{
			alice.addr: uint256.MustFromDecimal("1000000000000000"),
			bob.addr:   uint256.MustFromDecimal("1000000000000000"),
		},
		BlockGasLimit: chain.DefaultBlockGasLimit, TurnBlocks: chain.DefaultTurnBlocks, SkipSeconds: chain.DefaultSkipSeconds,
		Ceremony: chain.CeremonySettings{Threshold: 2*n/3 + 1, MinQual: n, PhaseTimeoutSeconds: 10},
	}
	for i := range n {
		index := uint32(i + 1)
		g.Validators = append(g.Validators, chain.Validator{
			Index: index, Name: fmt.Sprintf("v%d", index), Proposer: chain.Addr{0: 0xee, 19: byte(index)},
			NetworkKey: chain.NetworkKey(networkKey(index).Public().(ed25519.PublicKey)),
			VotingKey:  votingKey(index).Public(), VotingProof: votingKey(index).Possession(),
			Addrs: []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", 7000+index)},
		})
	}
	return g
}

// richGenesis is testGenesis(1) with gas tokens for further accounts, as many as any transaction could ask for.
func richGenesis(accounts ...account) *chain.Genesis {
	g := testGenesis(1)
	for _, a := range accounts {
		g.Balances[a.addr] = new(uint256.Int).Lsh(uint256.NewInt(1), 120)
	}
	return g
}

// accounts are n accounts of a name.
func accounts(name string, n int) (all []account) {
	for i := range n {
		all = append(all, newAccount(fmt.Sprint(name, " ", i)))
	}
	return all
}

// dealer holds the group's secret whole, as no one does outside of tests.
type dealer struct {
	secret bls.Scalar
	key    tlock.GroupKey
}

func newDealer(t testing.TB) dealer {
	t.Helper()
	secret := bls.ScalarFromUint64(0x5eed)
	key, err := tlock.GroupKeyFromPoint(bls.MulG1Public(secret))
	if err != nil {
		t.Fatal(err)
	}
	return dealer{secret, key}
}

func (d dealer) slotKey(ns tlock.Namespace, slot uint64) scheduler.SlotKey {
	return scheduler.SlotKey{Slot: slot, Key: ns.Point(tlock.SlotIdentity(slot)).Mul(d.secret).Bytes()}
}

// ceremonyApp ends a ceremony with the dealer's key at the entry "done" and refuses "bad…".
type ceremonyApp struct {
	dealer   dealer
	applied  []string
	restored int
}

func (a *ceremonyApp) ApplyCeremony(_ uint64, entry []byte, _ bool) (*chain.CeremonyResult, error) {
	if len(entry) >= 3 && string(entry[:3]) == "bad" {
		return nil, fmt.Errorf("%w: bad ceremony entry", chain.ErrInvalid)
	}
	a.applied = append(a.applied, string(entry))
	if string(entry) == "done" {
		return &chain.CeremonyResult{Epoch: 1, GroupKey: a.dealer.key.Bytes()}, nil
	}
	return nil, nil
}

func (a *ceremonyApp) RestoreCeremony(records []chain.CeremonyRecord) {
	a.applied = nil
	a.restored++
	for _, r := range records {
		a.applied = append(a.applied, string(r.Entry))
	}
}

// replica is a chain that is handed log entries.
type replica struct {
	*chain.Chain
	app   *ceremonyApp
	index uint64
}

func newReplica(t testing.TB, g *chain.Genesis) *replica { return newReplicaOn(t, g, nil) }

// newReplicaOn is newReplica with a Runner.
func newReplicaOn(t testing.TB, g *chain.Genesis, run scheduler.Runner) *replica {
	t.Helper()
	app := &ceremonyApp{dealer: newDealer(t)}
	c, err := chain.New(chain.Config{Genesis: g, App: app, Run: run})
	if err != nil {
		t.Fatal(err)
	}
	return &replica{Chain: c, app: app}
}

func (r *replica) apply(entry []byte) error {
	r.index++
	return r.Apply(r.index, entry, false)
}

// backwards is a Runner that does all at once, started in reverse.
func backwards(n int, f func(int)) {
	var all sync.WaitGroup
	for i := n - 1; i >= 0; i-- {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// build makes the block of the next second.
func (r *replica) build(t testing.TB, proposer uint32, keys []scheduler.SlotKey, txs ...*chain.Tx) *chain.Block {
	t.Helper()
	b, err := r.Build(chain.Proposal{
		Time: r.Head().Time + 1, Proposer: proposer, Signer: networkKey(proposer), Keys: keys, Txs: txs,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// step builds a block with raw transactions and applies it here and on the others.
func (r *replica) step(t testing.TB, keys []scheduler.SlotKey, raw [][]byte, others ...*replica) *chain.Applied {
	t.Helper()
	for _, tx := range raw {
		if _, err := r.Mempool().Add(tx); err != nil {
			t.Fatal(err)
		}
	}
	proposer := uint32(r.Head().Number%uint64(len(r.Genesis().Validators))) + 1
	b := r.build(t, proposer, keys, r.Mempool().Pending(r.Genesis().BlockGasLimit, 1<<20)...)
	entry := chain.BlockEntry(b)
	for _, replica := range append([]*replica{r}, others...) {
		if err := replica.apply(entry); err != nil {
			t.Fatalf("block %d: %v", b.Header.Number, err)
		}
	}
	applied, ok := r.Block(b.Header.Number)
	if !ok {
		t.Fatal("applied block is not kept")
	}
	return applied
}

// activate runs the chain up to the first block under a group key.
func (r *replica) activate(t testing.TB, others ...*replica) {
	t.Helper()
	for _, replica := range append([]*replica{r}, others...) {
		if err := replica.apply(chain.CeremonyEntry([]byte("done"))); err != nil {
			t.Fatal(err)
		}
	}
	for r.GroupKey() == nil {
		r.step(t, nil, nil, others...)
	}
}

// approveInput is approve(spender, amount) of the gas token.
func approveInput(spender scheduler.Addr, amount uint64) []byte {
	input := append(ethcrypto.Keccak256([]byte("approve(address,uint256)"))[:4], make([]byte, 64)...)
	copy(input[4+12:], spender[:])
	word := uint256.NewInt(amount).Bytes32()
	copy(input[4+32:], word[:])
	return input
}

const funds = 1_000_000_000_000

// fund are the two transactions that give the account escrow, from its first nonce on.
func (a account) fund(nonce uint64) [][]byte {
	return [][]byte{
		a.tx(txData{nonce: nonce, to: gasToken, data: approveInput(scheduler.Address, funds)}),
		a.tx(txData{nonce: nonce + 1, to: chain.Addr(scheduler.Address), data: scheduler.DepositInput(*uint256.NewInt(funds))}),
	}
}

func calls(data string) []tlock.Call {
	return []tlock.Call{{Target: target, GasLimit: 50_000, Data: []byte(data)}}
}

// scheduleOpen schedules an open entry.
func (a account) scheduleOpen(nonce, slot uint64, data string) []byte {
	return a.schedule(nonce, scheduler.Params{Calls: calls(data), Slot: slot})
}

// scheduleSealed schedules an entry sealed to its slot.
func (a account) scheduleSealed(t testing.TB, c *chain.Chain, d dealer, nonce, slot uint64, data string) []byte {
	t.Helper()
	ciphertext, commitment, err := tlock.SealCalls(c.Namespace(), d.key, tlock.SlotSeal(slot, a.addr), tlock.EncodeCalls(calls(data)))
	if err != nil {
		t.Fatal(err)
	}
	return a.schedule(nonce, scheduler.Params{Slot: slot, Ciphertext: ciphertext, Commitment: scheduler.Word(commitment)})
}

func (a account) schedule(nonce uint64, p scheduler.Params) []byte {
	p.GasLimit, p.GasPrice, p.Class = 60_000, testPrice, scheduler.BestEffort
	return a.tx(txData{nonce: nonce, to: chain.Addr(scheduler.Address), data: scheduler.ScheduleInput(p)})
}
