package memory

import "github.com/daybreak-beacon/daybreak/scheduler"

// Tokens are the host's tokens as the scheduler sees them.
func (h *Host) Tokens() scheduler.Token { return tokens{h} }
