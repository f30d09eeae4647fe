package scheduler

import (
	"cmp"
	"slices"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// reveal opens sealed entries whose key is on chain: it decrypts, checks the commitment, stores the calls and clears FlagSealed
// (document 002, "Opening"; S-SEA-10). What does not open to one to eight calls of permitted targets is revealed as empty, and
// fails when it runs (S-SEA-12, S-SEA-14). The decryption may run in parallel, the state changes in the order given.
func (c *call) reveal(es []*entry, run Runner) {
	if len(es) == 0 {
		return
	}
	jobs := make([]opening, len(es))
	for i, e := range es {
		jobs[i] = opening{
			sealedTo:   c.sealedTo(e),
			ciphertext: c.State.Blob(keyOf(tagCalls, e.id, 0)),
			commitment: c.State.Get(keyOf(tagEntry, e.id, wordCommitment)),
		}
	}
	c.prepareOpeners(jobs, run)
	parallel(run, len(jobs), func(i int) { jobs[i].open() })
	for i, e := range es {
		data := jobs[i].data
		if slices.ContainsFunc(jobs[i].calls, func(call Call) bool { return c.forbidden(call.Target) }) {
			data = nil
		}
		c.State.SetBlob(keyOf(tagCalls, e.id, 0), data)
		e.flags &^= FlagSealed
		writeHead(c.State, e.id, e.head)
		c.uncountSealed(e)
	}
}

// opening is the decryption of one entry.
type opening struct {
	opener     *tlock.Opener
	sealedTo   tlock.SealedTo
	ciphertext []byte
	commitment Word

	data  []byte // the encoded calls; nil if the payload does not open
	calls []Call
}

func (o *opening) open() {
	if o.opener == nil {
		return
	}
	data, err := o.opener.OpenCalls(o.sealedTo, o.ciphertext, o.commitment)
	if err != nil {
		return
	}
	calls, err := tlock.DecodeCalls(data)
	if err != nil || len(calls) == 0 || len(calls) > MaxCalls {
		return
	}
	o.data, o.calls = data, calls
}

// prepareOpeners prepares each identity's key once.
func (c *call) prepareOpeners(jobs []opening, run Runner) {
	at := map[tlock.Identity]int{} // into the following
	var encoded [][]byte
	for _, o := range jobs {
		id := o.sealedTo.Identity()
		if _, known := at[id]; !known {
			at[id] = len(encoded)
			encoded = append(encoded, keyFor(c.Beacon, id))
		}
	}
	openers := make([]*tlock.Opener, len(encoded))
	parallel(run, len(openers), func(i int) {
		if key, err := tlock.ParseKey(encoded[i]); err == nil {
			openers[i] = tlock.NewOpener(key)
		}
	})
	for i := range jobs {
		jobs[i].opener = openers[at[jobs[i].sealedTo.Identity()]]
	}
}

func sealedOf(chosen []*candidate) (es []*entry) {
	for _, e := range chosen {
		if e.sealed() {
			es = append(es, e.entry)
		}
	}
	return es
}

// sealedAt lists the sealed entries of slots whose keys have just come. Until its key comes a sealed entry never leaves its slot's
// queue, so that is where they all are.
func (c *call) sealedAt(keys []SlotKey) (ids []uint64) {
	for _, k := range keys {
		if sealedPending(c.State, k.Slot) == 0 {
			continue
		}
		for _, id := range queueAt(c.State, k.Slot) {
			if e := readEntry(c.State, id); e.sealed() && e.whenKind == 0 {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// sweepable keeps the entries that are still sealed, queued and not dead, ordered by key and id.
func (c *call) sweepable(ids []uint64) (es []*entry) {
	for _, id := range ids {
		e := readEntry(c.State, id)
		if e.status == Scheduled && e.sealed() && !e.dead(c.Time) && !e.passed(c.State) {
			es = append(es, e)
		}
	}
	slices.SortFunc(es, func(a, b *entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	return slices.CompactFunc(es, func(a, b *entry) bool { return a.id == b.id })
}

// The ids that wait for the sweep: word 0 holds the count, the following words four ids each.
func readSweep(r Reader) []uint64 {
	return readIDs(r, keyOf(tagSweep, 0, 0), getUint64(r, tagSweep, 0, 0))
}

func writeSweep(s State, had uint64, ids []uint64) {
	if had == 0 && len(ids) == 0 {
		return
	}
	writeIDs(s, keyOf(tagSweep, 0, 0), had, ids)
	setUint64(s, tagSweep, 0, 0, uint64(len(ids)))
}
