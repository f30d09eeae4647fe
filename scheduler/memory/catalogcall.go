package memory

import (
	"errors"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// Errors of the catalog contract.
var (
	ErrNotWriter     = errors.New("NotWriter: only the catalog's writers, which the genesis names, may do this")
	ErrNotListed     = errors.New("NotListed: the catalog does not list the item")
	ErrListed        = errors.New("AlreadyListed: the catalog lists the item already")
	ErrCatalogMethod = errors.New("oracle catalog: there are write, setFlags, list, delist, latest and isWriter, with canonical arguments")
)

// Topics of the catalog's logs. The item is indexed.
var (
	topicWritten  = keccak256([]byte("Written(bytes32,uint256)"))
	topicFlags    = keccak256([]byte("Flags(bytes32,bool,bool)"))
	topicListed   = keccak256([]byte("Listed(bytes32)"))
	topicDelisted = keccak256([]byte("Delisted(bytes32)"))
)

// catalogMethod is one function of the catalog contract: so many words of arguments, of which those from flags on are booleans.
type catalogMethod struct {
	selector   [4]byte
	args       int
	flags      int
	writesOnly bool // for writers only
	call       func(c catalog, args []scheduler.Word) ([]byte, error)
}

var (
	methodWrite    = catalogMethod{selector("write(bytes32,uint256)"), 2, 2, true, catalog.write}
	methodSetFlags = catalogMethod{selector("setFlags(bytes32,bool,bool)"), 3, 1, true, catalog.setFlags}
	methodList     = catalogMethod{selector("list(bytes32)"), 1, 1, true, catalog.list}
	methodDelist   = catalogMethod{selector("delist(bytes32)"), 1, 1, true, catalog.delist}
	methodLatest   = catalogMethod{selector("latest(bytes32)"), 1, 1, false, catalog.latest}
	methodIsWriter = catalogMethod{selector("isWriter(address)"), 1, 1, false, catalog.isWriter}
)

// catalogContract is what a catalog's feeds call, and anyone who reads it:
//
//	write(bytes32 item, uint256 value)                  a write in this block; the flags stay as they are
//	setFlags(bytes32 item, bool halted, bool disputed)  no write: what a control item does
//	list(bytes32 item), delist(bytes32 item)            into the catalog, out of it; the latest write is kept
//	latest(bytes32 item)                                returns (uint256 value, bool halted, bool disputed, uint64 height,
//	                                                    uint64 time, bool listed, bool written)
//	isWriter(address)                                   returns bool
//
// Writers are set up with the chain (AllowWriter). The gas is the call's alone.
func catalogContract(f *Frame) ([]byte, error) {
	c := catalog{f.h}
	if len(f.Input) < 4 {
		return nil, ErrCatalogMethod
	}
	for _, m := range []catalogMethod{methodWrite, methodSetFlags, methodList, methodDelist, methodLatest, methodIsWriter} {
		if m.selector != [4]byte(f.Input) {
			continue
		}
		args, ok := m.words(f.Input[4:])
		switch {
		case !ok:
			return nil, ErrCatalogMethod
		case m.writesOnly && !c.writer(f.Caller):
			return nil, ErrNotWriter
		}
		return m.call(c, args)
	}
	return nil, ErrCatalogMethod
}

// words splits canonical arguments.
func (m catalogMethod) words(input []byte) (args []scheduler.Word, ok bool) {
	if len(input) != 32*m.args {
		return nil, false
	}
	for i := range m.args {
		w := scheduler.Word(input[32*i:])
		if i >= m.flags && w != flagWord(true) && w != flagWord(false) {
			return nil, false
		}
		args = append(args, w)
	}
	return args, true
}

func (c catalog) write(args []scheduler.Word) ([]byte, error) {
	it, listed := c.Item(args[0])
	if !listed {
		return nil, ErrNotListed
	}
	c.h.Write(args[0], args[1], it.Halted, it.Disputed)
	c.words().Emit([]scheduler.Word{topicWritten, args[0]}, args[1][:])
	return nil, nil
}

func (c catalog) setFlags(args []scheduler.Word) ([]byte, error) {
	if _, listed := c.Item(args[0]); !listed {
		return nil, ErrNotListed
	}
	halted, disputed := args[1] == flagWord(true), args[2] == flagWord(true)
	c.h.SetFlags(args[0], &halted, &disputed)
	c.words().Emit([]scheduler.Word{topicFlags, args[0]}, append(args[1][:], args[2][:]...))
	return nil, nil
}

func (c catalog) list(args []scheduler.Word) ([]byte, error) {
	if _, listed := c.Item(args[0]); listed {
		return nil, ErrListed
	}
	c.h.List(args[0])
	c.words().Emit([]scheduler.Word{topicListed, args[0]}, nil)
	return nil, nil
}

func (c catalog) delist(args []scheduler.Word) ([]byte, error) {
	if _, listed := c.Item(args[0]); !listed {
		return nil, ErrNotListed
	}
	c.h.Delist(args[0])
	c.words().Emit([]scheduler.Word{topicDelisted, args[0]}, nil)
	return nil, nil
}

func (c catalog) latest(args []scheduler.Word) (ret []byte, _ error) {
	it, listed := c.Item(args[0])
	height, time := uint256.NewInt(it.Height).Bytes32(), uint256.NewInt(it.Time).Bytes32()
	for _, w := range []scheduler.Word{it.Value, flagWord(it.Halted), flagWord(it.Disputed), height, time, flagWord(listed), flagWord(it.Written)} {
		ret = append(ret, w[:]...)
	}
	return ret, nil
}

func (c catalog) isWriter(args []scheduler.Word) ([]byte, error) {
	if !addressArgs(args[0][:], 1, 0) {
		return nil, ErrCatalogMethod
	}
	ret := flagWord(c.writer(addrOf(args[0])))
	return ret[:], nil
}

func flagWord(b bool) scheduler.Word { return scheduler.Word{31: flagIf(b, 1)} }

// tagWriter marks a word of the catalog that allows an address to write.
const tagWriter = 0x02

func (c catalog) writer(a scheduler.Addr) bool {
	return c.words().Get(addrKey(tagWriter, a)) != scheduler.Word{}
}

// AllowWriter lets an account write to the catalog. It sets up a chain; it is no transaction.
func (h *Host) AllowWriter(a scheduler.Addr) {
	catalog{h}.words().Set(addrKey(tagWriter, a), flagWord(true))
}

// WriteInput is the calldata of the catalog's write(item, value).
func WriteInput(item, value scheduler.Word) []byte { return methodWrite.input(item, value) }

// SetFlagsInput is the calldata of the catalog's setFlags(item, halted, disputed).
func SetFlagsInput(item scheduler.Word, halted, disputed bool) []byte {
	return methodSetFlags.input(item, flagWord(halted), flagWord(disputed))
}

// ListInput is the calldata of the catalog's list(item).
func ListInput(item scheduler.Word) []byte { return methodList.input(item) }

// DelistInput is the calldata of the catalog's delist(item).
func DelistInput(item scheduler.Word) []byte { return methodDelist.input(item) }

func (m catalogMethod) input(args ...scheduler.Word) []byte {
	input := append([]byte(nil), m.selector[:]...)
	for _, w := range args {
		input = append(input, w[:]...)
	}
	return input
}

// CatalogEvent is one log of the catalog contract, decoded.
type CatalogEvent struct {
	Name             string // Written, Flags, Listed or Delisted
	Item             scheduler.Word
	Value            scheduler.Word // of Written
	Halted, Disputed bool           // of Flags
}

// DecodeCatalogEvent reads a log of the catalog contract. ok is false for any other.
func DecodeCatalogEvent(topics []scheduler.Word, data []byte) (e CatalogEvent, ok bool) {
	if len(topics) != 2 {
		return CatalogEvent{}, false
	}
	e.Item = topics[1]
	switch {
	case topics[0] == topicWritten && len(data) == 32:
		e.Name, e.Value = "Written", scheduler.Word(data)
	case topics[0] == topicFlags:
		args, ok := catalogMethod{args: 2}.words(data)
		if !ok {
			return CatalogEvent{}, false
		}
		e.Name, e.Halted, e.Disputed = "Flags", args[0] == flagWord(true), args[1] == flagWord(true)
	case topics[0] == topicListed && len(data) == 0:
		e.Name = "Listed"
	case topics[0] == topicDelisted && len(data) == 0:
		e.Name = "Delisted"
	default:
		return CatalogEvent{}, false
	}
	return e, true
}
