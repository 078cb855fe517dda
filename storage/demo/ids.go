// Package demo holds the ids of the demo network: a small generated ledger, so that a gateway has data to show before
// an importer writes any. README.md describes its accounts, tokens, contracts and topics.
//
// The packages below it are, from the bottom up:
//
//   - contracts: the compiled contracts of the network
//   - world: a simulated ledger, on which transactions move balances, contracts run on an EVM, and rows are recorded
//   - scenario: the transactions of the demo network, which cover a year and go on while the network is live
//   - demodb: writes the scenario into a ledger database, and continues it
//   - statusdemo: writes the status page of the demo network
package demo

// System accounts. All entities are in shard 0 and realm 0.
const (
	Treasury       = 2   // holds the unreleased supply
	NetworkFees    = 98  // collects fees
	StakingRewards = 800 // pays staking rewards
	NodeRewards    = 801 // pays rewards to nodes
	FeeCollection  = 802 // empty: fees go to NetworkFees directly

	FirstNodeAccount = 3
	NodeCount        = 7
)

// Accounts of people. README.md describes them.
const (
	Alice   = 1001
	Bob     = 1002
	Carol   = 1003
	Dave    = 1004
	Erin    = 1005
	Frank   = 1006
	Grace   = 1007
	Heidi   = 1008
	Ivan    = 1009
	Judy    = 1010
	Mallory = 1011
	Niaj    = 1012
	Olivia  = 1013
	Peggy   = 1014
	Rupert  = 1015
	Sybil   = 1016
	Trent   = 1017
	Victor  = 1018
	Walter  = 1019
	Relay   = 1020
	Fund    = 1021
)

// Tokens.
const (
	Sunlight   = 2001
	Tide       = 2002
	Driftwood  = 2003
	Foghorn    = 2004
	Kelp       = 2005
	FerryPass  = 2006
	Lighthouse = 2007
	Seashell   = 2008
	Postcard   = 2009
	Bottle     = 2010
	LampOil    = 2011
	Ration     = 2012
)

// Contracts.
const (
	HarbourCoin  = 3001
	PierPass     = 3002
	TideGauge    = 3003
	Logbook      = 3004
	Signpost     = 3005
	Shipyard     = 3006
	Boat         = 3007
	SecondBoat   = 3008
	TokenDesk    = 3009
	Tollgate     = 3010
	OldGauge     = 3011
	SunkenGauge  = 3012
	PracticeCoin = 3020
	Storehouse   = 3021
	Breakwater   = 3022
	Furnace      = 3023
	Switchboard  = 3024
)

// Topics.
const (
	KeepersChat    = 4001
	WeatherReports = 4002
	HarbourNotices = 4003
	LostAndFound   = 4004
	OldNewsletter  = 4005
	PhotoAlbum     = 4006
)

// Numbers are the numbers of the entities above, without most system accounts, by name.
var Numbers = map[string]int64{
	"Treasury": Treasury, "Alice": Alice, "Bob": Bob, "Carol": Carol, "Dave": Dave, "Erin": Erin, "Frank": Frank,
	"Grace": Grace, "Heidi": Heidi, "Ivan": Ivan, "Judy": Judy, "Mallory": Mallory, "Niaj": Niaj,
	"Olivia": Olivia, "Peggy": Peggy, "Rupert": Rupert, "Sybil": Sybil, "Trent": Trent, "Victor": Victor,
	"Walter": Walter, "Relay": Relay, "Fund": Fund, "Sunlight": Sunlight, "Tide": Tide, "Driftwood": Driftwood,
	"Foghorn": Foghorn, "Kelp": Kelp, "FerryPass": FerryPass, "Lighthouse": Lighthouse, "Seashell": Seashell,
	"Postcard": Postcard, "Bottle": Bottle, "LampOil": LampOil, "Ration": Ration, "HarbourCoin": HarbourCoin,
	"PierPass": PierPass, "TideGauge": TideGauge, "Logbook": Logbook, "Signpost": Signpost, "Shipyard": Shipyard,
	"Boat": Boat, "SecondBoat": SecondBoat, "TokenDesk": TokenDesk, "Tollgate": Tollgate, "OldGauge": OldGauge,
	"SunkenGauge": SunkenGauge, "PracticeCoin": PracticeCoin, "Storehouse": Storehouse, "Breakwater": Breakwater,
	"Furnace": Furnace, "Switchboard": Switchboard, "KeepersChat": KeepersChat, "WeatherReports": WeatherReports,
	"HarbourNotices": HarbourNotices, "LostAndFound": LostAndFound, "OldNewsletter": OldNewsletter,
	"PhotoAlbum": PhotoAlbum,
}

// StatusPage is the code of the demo network's status page.
const StatusPage = "l4nt3rnb4yst"

// NodeNames are the places where the nodes stand.
var NodeNames = [NodeCount + 1]string{
	"East Mole", "West Light", "Gull Rock", "Customs House", "Fish Market",
	"Signal Hill", "Rope Walk", "Old Battery",
}
