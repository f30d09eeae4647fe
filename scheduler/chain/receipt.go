package chain

import (
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
)

// Receipt is the outcome of one transaction of a block.
type Receipt struct {
	Type          byte // 0 and 2 as in Ethereum; scheduler.SystemTxType for an entry's run
	TxHash        Hash
	Status        uint64 // 1: it took effect. Of a run: document 002 "What a run looks like"
	GasUsed       uint64
	CumulativeGas uint64 // of the block up to and including this transaction
	Logs          []*types.Log

	Entry  uint64 // id of the entry that ran; 0 for a user transaction
	Reason string // why Status is 0, for people; not in the receipts' root
}

// encode is the receipt's form under the receipts' root: Ethereum's typed encoding.
func (r *Receipt) encode() []byte {
	logs := r.Logs
	if logs == nil {
		logs = []*types.Log{}
	}
	b, err := rlp.EncodeToBytes([]any{r.Status, r.CumulativeGas, r.bloom(), logs})
	if err != nil {
		panic("chain: internal error: receipt does not encode: " + err.Error())
	}
	if r.Type == types.LegacyTxType {
		return b
	}
	return append([]byte{r.Type}, b...)
}

func (r *Receipt) bloom() types.Bloom {
	var bloom types.Bloom
	for _, log := range r.Logs {
		bloom.Add(log.Address.Bytes())
		for _, topic := range log.Topics {
			bloom.Add(topic[:])
		}
	}
	return bloom
}

// receiptsRoot commits to the receipts in order.
func receiptsRoot(receipts []*Receipt) Hash {
	list := make(rawList, len(receipts))
	for i, r := range receipts {
		list[i] = r.encode()
	}
	return list.root()
}
