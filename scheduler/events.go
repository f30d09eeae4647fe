package scheduler

// The ten events of document 002, "Interface", with the signatures of decision A-12. The first argument is indexed; of Scheduled
// and Recurred the second too.
var (
	eventScheduled         = topic("Scheduled(uint64,address,uint64,uint256)")
	eventExecuted          = topic("Executed(uint64,uint8)")
	eventExecutionFailed   = topic("ExecutionFailed(uint64,uint8,bool)")
	eventRecurred          = topic("Recurred(uint64,uint64,uint64)")
	eventRecurrenceStarved = topic("RecurrenceStarved(uint64)")
	eventPaused            = topic("Paused(uint64)")
	eventCancelled         = topic("Cancelled(uint64,uint256)")
	eventExpired           = topic("Expired(uint64,uint256)")
	eventDeposited         = topic("Deposited(address,uint256)")
	eventWithdrawn         = topic("Withdrawn(address,uint256)")
)

// Event is one log of the contract, decoded.
type Event struct {
	Name string
	Args []EventArg // in the order of the signature
}

// EventArg is one argument: a left-padded word and how to read it.
type EventArg struct {
	Name string
	Type string // uint64, uint8, uint256, bool, address
	Word Word
}

type eventShape struct {
	name    string
	args    []EventArg // Word empty
	indexed int
}

var eventShapes = map[Word]eventShape{
	eventScheduled:         {"Scheduled", []EventArg{{Name: "id", Type: "uint64"}, {Name: "payer", Type: "address"}, {Name: "key", Type: "uint64"}, {Name: "reserved", Type: "uint256"}}, 2},
	eventExecuted:          {"Executed", []EventArg{{Name: "id", Type: "uint64"}, {Name: "attempt", Type: "uint8"}}, 1},
	eventExecutionFailed:   {"ExecutionFailed", []EventArg{{Name: "id", Type: "uint64"}, {Name: "attempt", Type: "uint8"}, {Name: "willRetry", Type: "bool"}}, 1},
	eventRecurred:          {"Recurred", []EventArg{{Name: "id", Type: "uint64"}, {Name: "nextId", Type: "uint64"}, {Name: "key", Type: "uint64"}}, 2},
	eventRecurrenceStarved: {"RecurrenceStarved", []EventArg{{Name: "id", Type: "uint64"}}, 1},
	eventPaused:            {"Paused", []EventArg{{Name: "id", Type: "uint64"}}, 1},
	eventCancelled:         {"Cancelled", []EventArg{{Name: "id", Type: "uint64"}, {Name: "refund", Type: "uint256"}}, 1},
	eventExpired:           {"Expired", []EventArg{{Name: "id", Type: "uint64"}, {Name: "refund", Type: "uint256"}}, 1},
	eventDeposited:         {"Deposited", []EventArg{{Name: "payer", Type: "address"}, {Name: "amount", Type: "uint256"}}, 1},
	eventWithdrawn:         {"Withdrawn", []EventArg{{Name: "payer", Type: "address"}, {Name: "amount", Type: "uint256"}}, 1},
}

// DecodeEvent reads a log of the scheduler contract. ok is false for a log that is none of its events, or holds a number wider than its
// type.
func DecodeEvent(topics []Word, data []byte) (ev Event, ok bool) {
	if len(topics) == 0 {
		return Event{}, false
	}
	shape, known := eventShapes[topics[0]]
	if !known || len(topics) != 1+shape.indexed || len(data) != 32*(len(shape.args)-shape.indexed) {
		return Event{}, false
	}
	ev = Event{Name: shape.name, Args: append([]EventArg(nil), shape.args...)}
	for i := range ev.Args {
		if i < shape.indexed {
			ev.Args[i].Word = topics[1+i]
		} else {
			ev.Args[i].Word = Word(data[32*(i-shape.indexed):])
		}
		if !ev.Args[i].fits() {
			return Event{}, false
		}
	}
	return ev, true
}

// fits: the word holds a value of the argument's type.
func (a EventArg) fits() bool {
	in := abiReader{rest: a.Word[:]}
	switch a.Type {
	case "uint64":
		in.uint(64)
	case "uint8":
		in.uint(8)
	case "bool":
		in.bool()
	case "address":
		in.addr()
	case "uint256":
		in.word()
	}
	return in.done()
}

func topic(signature string) Word { return keccak([]byte(signature)) }

func selectorOf(signature string) [4]byte {
	w := keccak([]byte(signature))
	return [4]byte(w[:])
}

func wordOfAddr(a Addr) (w Word) {
	copy(w[12:], a[:])
	return w
}

func wordOfBool(b bool) (w Word) {
	if b {
		w[31] = 1
	}
	return w
}

// emit logs an event of one data word.
func (c *call) emit(event, data Word, indexed ...Word) {
	c.emitData(event, data[:], indexed...)
}

func (c *call) emitData(event Word, data []byte, indexed ...Word) {
	c.State.Emit(append([]Word{event}, indexed...), data)
}
