package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// CheckLog refuses a folder that has lost its log: it holds a group, which came from a log, and no log. lost says that the
// operator knows; then a log that is there after all is refused.
//
// A validator acknowledges what it stores and how it votes. One that forgets both may acknowledge and vote differently, and
// in a network where that makes a majority the others' blocks are undone. So an empty log is never made in place of one that
// should exist, unless the operator says so.
func (h Home) CheckLog(lost bool) error {
	have, err := chain.LogExists(h.Path(dirLog))
	if err != nil {
		return err
	}
	if have && lost {
		return cli.Hint(fmt.Errorf("the log in %s is there", h.Path(dirLog)), "start without --lost-log: it is for one start, after the folder was lost",
			fmt.Sprintf("if a start without it says that the log is damaged, move %s away first", h.Path(dirLog)))
	}
	if have || lost {
		return nil
	}
	_, err = os.Stat((&ceremonyFiles{dir: Home(h.Path(dirCeremony))}).groupPath(firstEpoch))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a first start
	}
	if err != nil {
		return err
	}
	return cli.Hint(fmt.Errorf("%s has lost its log: this validator took part in the network, and the folder %s holds nothing", h, h.Path(dirLog)),
		"put the folder log back as it was; a copy of an earlier day will not do",
		"if it is gone for good, and all other validators still have theirs, start once with --lost-log: the chain then comes from them")
}

// adviseDamaged says what an operator does about a log that is not what this validator left on disk.
func (h Home) adviseDamaged(err error) error {
	return cli.Hint(err, "the disk may be failing: look at it first",
		fmt.Sprintf("put %s back as it was; a copy of an earlier day will not do", h.Path(dirLog)),
		fmt.Sprintf("if that cannot be done: move %s away; if all other validators still have theirs, start once with --lost-log", h.Path(dirLog)))
}
