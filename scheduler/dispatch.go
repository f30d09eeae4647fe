package scheduler

import "github.com/holiman/uint256"

// method is one function of the contract's ABI.
type method struct {
	signature string
	view      bool
	call      func(c *call, in *abiReader) (ret []byte, err error)
}

const paramsType = "((address,uint64,bytes)[],uint64,uint64,uint64,uint64,uint8,bool,uint8,uint32,uint64,uint32,bool,address,uint96,(uint64,bool)[],bytes,bytes32,(bytes32,uint8,uint256))"

// methods is the interface of document 002, "Interface" (S-ITF-01, S-ITF-12). Each reads its arguments, refuses what is left, and
// then acts.
var methods = indexMethods([]method{
	{"deposit(uint256)", false, withAmount((*call).deposit)},
	{"withdraw(uint256)", false, withAmount((*call).withdraw)},
	{"schedule(" + paramsType + ")", false, func(c *call, in *abiReader) ([]byte, error) {
		p, err := in.scheduleArgs()
		if err != nil {
			return nil, err
		}
		id, err := c.schedule(p)
		return abiUint(id), err
	}},
	{"cancel(uint64)", false, withID((*call).cancel)},
	{"expire(uint64)", false, withID((*call).expire)},
	{"resume(uint64)", false, withID((*call).resume)},
	{"execute(uint64)", false, withID(func(c *call, id uint64) error {
		_, err := c.execute(id)
		return err
	})},

	{"status(uint64)", true, read(func(v View, id uint64) []byte { return abiUint(uint64(v.Status(id))) })},
	{"entry(uint64)", true, read(func(v View, id uint64) []byte { return abiEntry(v.Entry(id)) })},
	{"queueAt(uint64)", true, read(func(v View, key uint64) []byte { return abiUints(v.QueueAt(key)) })},
	{"reservedGas(uint64)", true, read(func(v View, key uint64) []byte { return abiUint(v.ReservedGas(key)) })},
	{"sealedPending(uint64)", true, read(func(v View, slot uint64) []byte { return abiUint(v.SealedPending(slot)) })},
	{"watchersOf(bytes32)", true, readItem(func(v View, item Word) []byte { return abiUints(v.WatchersOf(item)) })},
	{"watchedHeight(bytes32)", true, readItem(func(v View, item Word) []byte { return abiUint(v.WatchedHeight(item)) })},
	{"balance(address)", true, readBalance},
	{"cost(uint64,uint256,uint256,bool,bool)", true, readCost},

	{"nextId()", true, get(func(c *call) []byte { return abiUint(c.view().NextID()) })},
	{"cursorSlot()", true, get(func(c *call) []byte { return abiUint(c.view().CursorSlot()) })},
	{"cursorHeight()", true, get(func(c *call) []byte { return abiUint(c.view().CursorHeight()) })},

	{"gasPerBlock()", true, get(func(c *call) []byte { return abiUint(c.policy.GasPerBlock) })},
	{"guaranteedGasPerSlot()", true, get(func(c *call) []byte { return abiUint(c.policy.GuaranteedGasPerSlot) })},
	{"maxHorizonSlots()", true, get(func(c *call) []byte { return abiUint(c.policy.MaxHorizonSlots) })},
	{"maxLateSlots()", true, get(func(c *call) []byte { return abiUint(c.policy.MaxLateSlots) })},
	{"cancelRefundBps()", true, get(func(c *call) []byte { return abiUint(uint64(c.policy.CancelRefundBps)) })},
	{"maxEntriesPerBlock()", true, get(func(c *call) []byte { return abiUint(uint64(c.policy.MaxEntriesPerBlock)) })},
	{"treasury()", true, get(func(c *call) []byte { return abiAddr(c.policy.Treasury) })},
	{"minGasPrice()", true, get(func(c *call) []byte { return abiUint(c.policy.MinGasPrice) })},
	{"gasToken()", true, get(func(c *call) []byte { return abiAddr(c.policy.GasToken) })},
})

// Call is a call to the contract: the selector and canonical ABI arguments of one of its methods, on behalf of env.Caller. The
// error is a named Error or one of ErrCalldata, ErrMethod, ErrReadOnly; RevertData gives what the caller sees of it. A call that
// fails changes nothing.
func (m *Machine) Call(env Env, h *Host, input []byte) (ret []byte, err error) {
	if len(input) < 4 {
		return nil, ErrMethod
	}
	f, ok := methods[[4]byte(input)]
	if !ok {
		return nil, ErrMethod
	}
	if env.ReadOnly && !f.view {
		return nil, ErrReadOnly
	}
	c := &call{m, env, h}
	in := &abiReader{rest: input[4:]}
	if f.view {
		return f.call(c, in)
	}
	err = c.atomic(func() (err error) {
		ret, err = f.call(c, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ret, nil
}

func indexMethods(all []method) map[[4]byte]method {
	bySelector := make(map[[4]byte]method, len(all))
	for _, f := range all {
		bySelector[selectorOf(f.signature)] = f
	}
	return bySelector
}

func withID(act func(*call, uint64) error) func(*call, *abiReader) ([]byte, error) {
	return func(c *call, in *abiReader) ([]byte, error) {
		id := in.uint(64)
		if !in.done() {
			return nil, ErrCalldata
		}
		return nil, act(c, id)
	}
}

func withAmount(act func(*call, uint256.Int) error) func(*call, *abiReader) ([]byte, error) {
	return func(c *call, in *abiReader) ([]byte, error) {
		amount := in.uint256()
		if !in.done() {
			return nil, ErrCalldata
		}
		return nil, act(c, amount)
	}
}

func (c *call) view() View { return View{c.State} }

func read(answer func(View, uint64) []byte) func(*call, *abiReader) ([]byte, error) {
	return func(c *call, in *abiReader) ([]byte, error) {
		arg := in.uint(64)
		if !in.done() {
			return nil, ErrCalldata
		}
		return answer(c.view(), arg), nil
	}
}

func readItem(answer func(View, Word) []byte) func(*call, *abiReader) ([]byte, error) {
	return func(c *call, in *abiReader) ([]byte, error) {
		item := in.word()
		if !in.done() {
			return nil, ErrCalldata
		}
		return answer(c.view(), item), nil
	}
}

func get(answer func(*call) []byte) func(*call, *abiReader) ([]byte, error) {
	return func(c *call, in *abiReader) ([]byte, error) {
		if !in.done() {
			return nil, ErrCalldata
		}
		return answer(c), nil
	}
}

func readBalance(c *call, in *abiReader) ([]byte, error) {
	payer := in.addr()
	if !in.done() {
		return nil, ErrCalldata
	}
	return abiAmount(c.view().Balance(payer)), nil
}

// readCost is cost(gasLimit, dataLength, dependencies, recurring, reserved) (S-COST-03). A cost above 64 bits, which no entry can
// have, is GasLimitOutOfRange.
func readCost(c *call, in *abiReader) ([]byte, error) {
	gasLimit, dataLen, dependencies := in.uint(64), in.uint256(), in.uint256()
	recurring, reserved := in.bool(), in.bool()
	if !in.done() {
		return nil, ErrCalldata
	}
	if !dataLen.IsUint64() || !dependencies.IsUint64() {
		return nil, GasLimitOutOfRange
	}
	cost, ok := Cost(gasLimit, dataLen.Uint64(), dependencies.Uint64(), recurring, reserved)
	if !ok {
		return nil, GasLimitOutOfRange
	}
	return abiUint(cost), nil
}
