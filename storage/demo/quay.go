package demo

import "github.com/ethereum/go-ethereum/common"

// buildAtTheQuay is what happens at the quay in one of the last ten minutes' blocks, which are counted back from the end: contracts are built that
// show what contracts can do. All of it is told besides the story: whoever adds to it should take later blocks than those that are taken, in which
// there is time left, and let no chance decide.
func (w *world) buildAtTheQuay(block int64) {
	w.besides, w.quick = true, true
	defer func() { w.besides, w.quick = false, false }()
	build := func(source, memo string, want int64, args ...any) {
		w.expect(w.deploy(Fund, deployment{source: source, args: args, memo: memo, gas: 4_000_000}), want)
	}
	work := func(contract int64, source, method string, args ...any) {
		w.call(call{payer: Fund, contract: contract, source: source, method: method, args: args, gas: 1_500_000})
	}
	switch block {
	case 290:
		build("Storehouse", "Storehouse at the quay", Storehouse, bigInt(1841), w.address(Fund))
	case 288:
		build("Breakwater", "Breakwater", Breakwater)
		build("Furnace", "Furnace of the smithy", Furnace)
		build("Switchboard", "Switchboard of the harbour office", Switchboard)
		w.deploy(Fund, deployment{source: "Wreck", args: []any{bigInt(9)}, gas: 1_000_000})
	case 280:
		work(Storehouse, "Storehouse", "rearrange", w.address(Bob))
		work(Furnace, "Furnace", "stokes", bigInt(3))
		work(Breakwater, "Breakwater", "hit")
	case 275:
		work(Furnace, "Furnace", "rakes", bigInt(1))
		work(Breakwater, "Breakwater", "hit")
		work(Breakwater, "Breakwater", "hitsInVain")
		work(Breakwater, "Breakwater", "withArguments", bigInt(12))
		work(Breakwater, "Breakwater", "withLists")
		work(Breakwater, "Breakwater", "adds", common.MaxHash.Big(), bigInt(1))
	}
}
