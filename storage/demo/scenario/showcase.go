package scenario

import (
	"github.com/ethereum/go-ethereum/common"

	"heliograph/storage/demo"
	"heliograph/storage/demo/world"
)

// addShowcase adds the contracts that show what contracts can do, to one of the blocks of the last ten minutes, which are counted back from the end.
// These transactions are detached from the rest of the scenario. Add new ones to later blocks, and do not use Pick.
func (w *Scenario) addShowcase(block int64) {
	w.Detached(func() { w.showcaseBlock(block) })
}

func (w *Scenario) showcaseBlock(block int64) {
	build := func(source, memo string, want int64, args ...any) {
		w.ExpectID(w.Deploy(demo.Fund, world.Deployment{Source: source, Args: args, Memo: memo, Gas: 4_000_000}), want)
	}
	work := func(contract int64, source, method string, args ...any) {
		w.CallContract(world.Call{Payer: demo.Fund, Contract: contract, Source: source, Method: method, Args: args, Gas: 1_500_000})
	}
	switch block {
	case 290:
		build("Storehouse", "Storehouse at the quay", demo.Storehouse, bigInt(1841), w.Address(demo.Fund))
	case 288:
		build("Breakwater", "Breakwater", demo.Breakwater)
		build("Furnace", "Furnace of the smithy", demo.Furnace)
		build("Switchboard", "Switchboard of the harbour office", demo.Switchboard)
		w.Deploy(demo.Fund, world.Deployment{Source: "Wreck", Args: []any{bigInt(9)}, Gas: 1_000_000})
	case 280:
		work(demo.Storehouse, "Storehouse", "rearrange", w.Address(demo.Bob))
		work(demo.Furnace, "Furnace", "stokes", bigInt(3))
		work(demo.Breakwater, "Breakwater", "hit")
	case 275:
		work(demo.Furnace, "Furnace", "rakes", bigInt(1))
		work(demo.Breakwater, "Breakwater", "hit")
		work(demo.Breakwater, "Breakwater", "hitsInVain")
		work(demo.Breakwater, "Breakwater", "withArguments", bigInt(12))
		work(demo.Breakwater, "Breakwater", "withLists")
		work(demo.Breakwater, "Breakwater", "adds", common.MaxHash.Big(), bigInt(1))
	}
}
