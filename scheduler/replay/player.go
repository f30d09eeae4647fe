package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Player plays a script block by block on an in-memory host.
type Player struct {
	host    *memory.Host
	secret  bls.Scalar                          // the group's secret; zero while there is no group key
	callers []scheduler.Addr                    // targets that call the scheduler back
	tokens  map[scheduler.Addr][]scheduler.Addr // MIP20 tokens of genesis, with the accounts that may have an allowance
	items   map[scheduler.Word]bool             // that were ever in the catalog
	broken  error                               // why the run has ended
	config  memory.Config
	see     func(Step)
	run     scheduler.Runner // nil: one core
}

// NewPlayer makes the chain of a genesis line. Errors: a policy, limit, height or time that the scheduler refuses.
func NewPlayer(g Genesis) (*Player, error) {
	config := memory.Config{
		ChainID: g.ChainID, GenesisHash: g.GenesisHash, Policy: g.Policy, Limits: g.Limits, Height: g.Height, Time: g.Time,
		Default: does(Target{Kind: TargetOK}), Unmetered: true,
		Targets: map[scheduler.Addr]memory.Target{ // beacon and catalog are no targets, unless named
			scheduler.BeaconAddress: does(Target{Kind: TargetOK}), scheduler.OracleAddress: does(Target{Kind: TargetOK}),
		},
	}
	p := &Player{see: func(Step) {}, tokens: map[scheduler.Addr][]scheduler.Addr{}, items: map[scheduler.Word]bool{}}
	for a, t := range inOrder(g.Targets, compareAddr) {
		config.Targets[a] = does(t)
		if t.Kind == TargetCall || t.Kind == TargetTry {
			p.callers = append(p.callers, a)
		}
	}
	host, err := memory.New(config)
	if err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	p.host, p.config = host, config
	for a, account := range inOrder(g.Accounts, compareAddr) {
		if err := p.open(a, account); err != nil {
			return nil, fmt.Errorf("genesis: account %v: %w", a, err)
		}
	}
	for _, a := range g.RefusesCredit {
		host.SetMode(a, memory.Broken)
	}
	for item, i := range inOrder(g.Items, compareWord) {
		p.list(item, i)
	}
	if !g.GroupSecret.IsZero() {
		p.secret = g.GroupSecret
		u := scheduler.Update{GroupKey: p.groupKey()}
		if err := scheduler.ApplyUpdate(host.Space(scheduler.BeaconAddress), host.Namespace(), g.Time, u, nil); err != nil {
			return nil, fmt.Errorf("genesis: %w", err)
		}
	}
	return p, nil
}

// open gives an account what it holds at genesis. The tokens named are the MIP20 tokens.
func (p *Player) open(a scheduler.Addr, account Account) error {
	for token, t := range inOrder(account.Tokens, compareAddr) {
		if token == p.host.Machine().Policy().GasToken {
			return fmt.Errorf("the gas token %v is not one of the other tokens", token)
		}
		p.host.RegisterMIP20(token)
		if err := p.host.MintToken(token, a, t.Balance); err != nil {
			return err
		}
		p.host.ApproveToken(token, a, scheduler.Address, t.Allowance)
		p.tokens[token] = append(p.tokens[token], a)
	}
	return p.host.Mint(a, account.GasToken)
}

// list lists an item at genesis, written in the genesis block or never.
func (p *Player) list(item scheduler.Word, i Item) {
	p.items[item] = true
	if i.Value != nil {
		p.host.Write(item, i.Value.Bytes32(), i.Halted, i.Disputed)
		return
	}
	p.host.List(item)
	p.host.SetFlags(item, &i.Halted, &i.Disputed)
}

// does is a target as code.
func does(t Target) memory.Target {
	switch t.Kind {
	case TargetRevert:
		return memory.Reverter
	case TargetBurn:
		return func(*memory.Frame) ([]byte, error) { return nil, memory.ErrOutOfGas }
	case TargetCall:
		return func(f *memory.Frame) ([]byte, error) { return f.Call(scheduler.Address, f.Gas, t.Calldata) }
	case TargetTry:
		return func(f *memory.Frame) ([]byte, error) {
			ret, err := f.Call(scheduler.Address, f.Gas, t.Calldata)
			if err != nil {
				ret = nil
			}
			return ret, nil
		}
	default:
		return func(*memory.Frame) ([]byte, error) { return nil, nil }
	}
}

// Host is the chain as it stands.
func (p *Player) Host() *memory.Host { return p.host }

// View reads the scheduler as it stands.
func (p *Player) View() scheduler.View {
	return scheduler.View{Reader: p.host.Space(scheduler.Address)}
}

// Block plays the next block. A block that breaks a rule of its chain is an error and ends the run: its time is not after its
// parent's, its beacon update is invalid (scheduler.ErrUpdate), or it names keys and there is no group key to make them.
func (p *Player) Block(b Block) (BlockLine, error) {
	if p.broken != nil {
		return BlockLine{}, p.broken
	}
	line, err := p.block(b)
	if err != nil {
		p.broken = err
	}
	return line, err
}

func (p *Player) block(b Block) (line BlockLine, err error) {
	parent := p.host.Env()
	if b.Time <= parent.Time {
		return line, fmt.Errorf("time %d is not after the parent's, %d", b.Time, parent.Time)
	}
	if slices.Contains(b.MIP20, p.config.Policy.GasToken) {
		return line, errors.New("mip20: the gas token is no MIP20 token")
	}
	update, err := p.update(b)
	if err != nil {
		return line, err
	}
	env := scheduler.Env{Height: parent.Height + 1, Time: b.Time, Proposer: b.Proposer}
	runs, err := p.host.BeginBlock(env, update, p.run)
	if err != nil {
		return line, err
	}
	line = BlockLine{Height: env.Height, Time: env.Time}
	p.see(Step{At: Begun, Runs: runs})
	p.host.Seize(scheduler.Address, b.Seize)
	for i, run := range runs {
		p.approve(p.callers...)
		receipt := p.host.ExecuteRun(i)
		line.Leading = append(line.Leading, Leading{run.ID, run.Attempt, run.Hash(p.host.Machine().ChainID()), outcomes[receipt.Outcome]})
		line.add(receipt.Logs)
		p.see(Step{At: Ran, Runs: runs, Index: i, Outcome: outcomes[receipt.Outcome], Logs: receipt.Logs})
	}
	p.change(b)
	p.see(Step{At: Changed, Runs: runs})
	for i, tx := range b.Txs {
		p.approve(tx.From)
		p.see(Step{At: Approved, Runs: runs, Index: i})
		receipt := p.transact(tx)
		line.Errors = append(line.Errors, errorName(receipt.Err))
		line.add(receipt.Logs)
		p.see(Step{At: Transacted, Runs: runs, Index: i, Err: receipt.Err, Logs: receipt.Logs})
	}
	p.host.EndBlock(p.run)
	p.see(Step{At: Ended, Runs: runs})
	line.CursorSlot, line.CursorHeight, line.State = p.View().CursorSlot(), p.View().CursorHeight(), p.host.StateHash()
	return line, nil
}

var outcomes = map[scheduler.Outcome]Outcome{scheduler.Success: Success, scheduler.Reverted: Reverted, scheduler.Skipped: Skipped}

// update makes the beacon update that a block names, with its keys.
func (p *Player) update(b Block) (u scheduler.Update, err error) {
	if !b.GroupSecret.IsZero() {
		p.secret = b.GroupSecret
		u.GroupKey = p.groupKey()
	}
	if p.secret.IsZero() && len(b.SlotKeys)+len(b.ConditionKeys) > 0 {
		return u, errors.New("the block names keys, and there is no group_secret to make them with")
	}
	// A line may name millions, and each key costs a multiplication: what no update may have is refused before.
	for _, list := range []struct {
		n, most int
		of      string
	}{{len(b.SlotKeys), scheduler.MaxSlotKeys, "slot"}, {len(b.ConditionKeys), scheduler.MaxConditionKeys, "condition"}} {
		if list.n > list.most {
			return u, fmt.Errorf("%w: %d %s keys, at most %d", scheduler.ErrUpdate, list.n, list.of, list.most)
		}
	}
	for _, slot := range b.SlotKeys {
		u.Slots = append(u.Slots, scheduler.SlotKey{Slot: slot, Key: p.key(tlock.SlotIdentity(slot))})
	}
	for _, c := range b.ConditionKeys {
		u.Conditions = append(u.Conditions, scheduler.ConditionKey{Condition: c, Key: p.key(tlock.ConditionIdentity(c))})
	}
	return u, nil
}

func (p *Player) groupKey() []byte {
	b := bls.MulG1Secret(p.secret).Bytes()
	return b[:]
}

func (p *Player) key(id tlock.Identity) [tlock.KeySize]byte {
	return p.host.Namespace().Point(id).Mul(p.secret).Bytes()
}

// change is what a block does to the world around the scheduler, as user transactions would.
func (p *Player) change(b Block) {
	for _, w := range b.Writes {
		p.items[w.Item] = true
		p.host.Write(w.Item, w.Value.Bytes32(), w.Halted, w.Disputed)
	}
	for _, f := range b.Flags {
		p.host.SetFlags(f.Item, f.Halted, f.Disputed)
	}
	for _, item := range b.Delist {
		p.host.Delist(item)
	}
	for _, a := range b.MIP20 {
		p.host.RegisterMIP20(a)
	}
}

// approve lets the scheduler pull all the gas tokens that an account could ever have. It is done before each call that may pull: an
// allowance is used up by what is pulled.
func (p *Player) approve(accounts ...scheduler.Addr) {
	var all uint256.Int
	all.SetAllOne()
	for _, a := range accounts {
		p.host.Approve(a, scheduler.Address, all)
	}
}

func (p *Player) transact(tx Tx) memory.Receipt {
	return p.host.Transact(tx.From, scheduler.Address, math.MaxUint64, p.input(tx))
}

// input is a transaction's calldata.
func (p *Player) input(tx Tx) []byte {
	switch tx.Kind {
	case TxDeposit:
		return scheduler.DepositInput(tx.Amount)
	case TxWithdraw:
		return scheduler.WithdrawInput(tx.Amount)
	case TxCancel:
		return scheduler.CancelInput(tx.ID)
	case TxExpire:
		return scheduler.ExpireInput(tx.ID)
	case TxResume:
		return scheduler.ResumeInput(tx.ID)
	case TxSchedule:
		params := tx.Schedule.Params
		if tx.Schedule.Seal != nil {
			params.Ciphertext, params.Commitment = p.seal(tx.From, tx.Schedule)
		}
		return scheduler.ScheduleInput(params)
	}
	return nil // the scheduler refuses it
}

// errorName is the contract's name of an error, or "" if there is none. Errors without a name cannot come from a Tx that was parsed.
func errorName(err error) string {
	var named scheduler.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &named):
		return named.Name()
	default:
		return err.Error()
	}
}

// add appends the scheduler's events among logs.
func (l *BlockLine) add(logs []memory.Log) {
	for _, log := range logs {
		if log.Address != scheduler.Address {
			continue
		}
		if ev, ok := scheduler.DecodeEvent(log.Topics, log.Data); ok {
			l.Events = append(l.Events, eventOf(ev))
		}
	}
}

func eventOf(ev scheduler.Event) Event {
	out := Event{Name: ev.Name}
	for _, a := range ev.Args {
		switch a.Type {
		case "address":
			out.Args = append(out.Args, scheduler.Addr(a.Word[12:]).String())
		case "bool":
			out.Args = append(out.Args, fmt.Sprint(a.Word != scheduler.Word{}))
		default:
			out.Args = append(out.Args, new(uint256.Int).SetBytes32(a.Word[:]).Dec())
		}
	}
	return out
}

// Final is the state as it stands.
func (p *Player) Final() FinalLine {
	v, host := p.View(), p.host
	l := FinalLine{
		Available: map[scheduler.Addr]uint256.Int{}, GasToken: map[scheduler.Addr]uint256.Int{},
		Tokens: map[scheduler.Addr]map[scheduler.Addr]TokenAccount{},
		Queues: map[uint64][]uint64{}, ReservedGas: map[uint64]uint64{},
		Watchers: map[scheduler.Word][]uint64{}, WatchedHeight: map[scheduler.Word]uint64{}, SealedPending: map[uint64]uint64{},
		NextID: v.NextID(),
	}
	for id := uint64(1); id < l.NextID; id++ {
		l.Entries = append(l.Entries, v.Entry(id))
	}
	stored := scheduler.TakeInventory(host.Words(scheduler.Address))
	for _, a := range stored.Payers {
		l.Available[a] = v.Balance(a)
	}
	for _, a := range host.Holders(host.Machine().Policy().GasToken) {
		l.GasToken[a] = host.Balance(a)
	}
	for token := range inOrder(p.tokens, compareAddr) {
		if accounts := p.tokenAccounts(token); len(accounts) > 0 {
			l.Tokens[token] = accounts
		}
	}
	for _, key := range stored.Keys {
		if ids := v.QueueAt(key); len(ids) > 0 {
			l.Queues[key] = ids
		}
		if gas := v.ReservedGas(key); gas > 0 {
			l.ReservedGas[key] = gas
		}
	}
	for item := range inOrder(p.items, compareWord) {
		if ids := v.WatchersOf(item); len(ids) > 0 {
			l.Watchers[item] = ids
		}
		if height := v.WatchedHeight(item); height > 0 {
			l.WatchedHeight[item] = height
		}
	}
	for _, slot := range stored.Slots {
		l.SealedPending[slot] = v.SealedPending(slot)
	}
	return l
}

// tokenAccounts are the accounts of a MIP20 token with something in them.
func (p *Player) tokenAccounts(token scheduler.Addr) map[scheduler.Addr]TokenAccount {
	out := map[scheduler.Addr]TokenAccount{}
	for _, a := range append(p.host.Holders(token), p.tokens[token]...) {
		t := TokenAccount{p.host.TokenBalance(token, a), p.host.TokenAllowance(token, a, scheduler.Address)}
		if t != (TokenAccount{}) {
			out[a] = t
		}
	}
	return out
}
