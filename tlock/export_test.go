package tlock

// Deterministic twins of the sealing functions, for vectors.

var (
	H3        = h3
	PadBody   = padBody
	UnpadBody = unpadBody
	DrawSigma = drawSigma
)

func (c Condition) Preimage() []byte { return c.preimage() }

func EncryptWithSigma(ns Namespace, gk GroupKey, id Identity, msg, sigma *[32]byte) Ciphertext {
	return encrypt(freshMask(ns, gk, id), msg, func() [32]byte { return *sigma })
}

func (s *Sealer) SealWithSigma(msg, sigma *[32]byte) Ciphertext {
	return encrypt(s.table.ExpSecret, msg, func() [32]byte { return *sigma })
}

func SealBodyWith(to SealedTo, body []byte, salt, dataKey [32]byte, nonce [12]byte, timelock Ciphertext) ([]byte, [32]byte) {
	p := payload{salt: salt, dataKey: dataKey, nonce: nonce, timelock: timelock}
	return p.seal(to, body)
}
