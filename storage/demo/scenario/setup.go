package scenario

import (
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
	"heliograph/storage/demo/world"
)

// createTokens creates the tokens and distributes some of their supply.
func (w *Scenario) createTokens() {
	exempt := true
	w.ExpectID(w.CreateToken(demo.Trent, world.Token{
		Name: "Sunlight", Symbol: "SUN", Memo: "What the town pays with", Decimals: 6, Initial: 10_000_000_000_000, Treasury: demo.Trent,
		Admin: "Trent", Supply: "Trent", Pause: "Trent", FeeSchedule: "Trent", MetadataKey: "Trent", Wipe: "Trent", Metadata: "ipfs://sunlight/token.json",
		Fixed: []map[string]any{world.FixedFee(100_000, demo.Victor, 0, exempt)}, RenewedBy: demo.Fund,
	}), demo.Sunlight)
	w.ExpectID(w.CreateToken(demo.Trent, world.Token{
		Name: "Tide", Symbol: "TIDE", Memo: "Rises and falls", Decimals: 2, Initial: 500_000_000, Maximum: 1_000_000_000, Treasury: demo.Trent,
		Admin: "Trent", Supply: "Trent", FeeSchedule: "Trent",
		Fractional: []map[string]any{
			{
				"all_collectors_are_exempt": false, "collector_account_id": demo.Victor, "numerator": 1, "denominator": 100, "minimum_amount": 1,
				"maximum_amount": 500, "net_of_transfers": false,
			},
			{
				"all_collectors_are_exempt": exempt, "collector_account_id": demo.Fund, "numerator": 1, "denominator": 1000, "minimum_amount": 0,
				"maximum_amount": nil, "net_of_transfers": exempt,
			},
		},
	}), demo.Tide)
	w.ExpectID(w.CreateToken(demo.Trent, world.Token{
		Name: "Driftwood", Symbol: "DRIFT", Decimals: 0, Initial: 40_000_000, Treasury: demo.Trent,
		Admin: "Trent", FeeSchedule: "Trent",
	}), demo.Driftwood)
	w.ExpectID(w.CreateToken(demo.Trent, world.Token{
		Name: "Foghorn", Symbol: "FOG", Memo: "For licensed pilots only", Decimals: 3, Initial: 9_000_000, Treasury: demo.Trent, Admin: "Trent",
		Freeze: "Trent", KYC: "Trent", Wipe: "Trent", Supply: "Trent", FrozenByDefault: true,
	}), demo.Foghorn)
	w.ExpectID(w.CreateToken(demo.Trent, world.Token{
		Name: "Kelp", Symbol: "KELP", Decimals: 4, Initial: 77_000_000, Treasury: demo.Trent, Admin: "Trent",
		Pause: "Trent",
	}), demo.Kelp)
	w.ExpectID(w.CreateToken(demo.Trent, world.Token{
		Name: "Old Ferry Pass", Symbol: "FERRY", Memo: "The ferry no longer runs", Decimals: 0, Initial: 5_000,
		Treasury: demo.Trent, Admin: "Trent",
	}), demo.FerryPass)
	w.ExpectID(w.CreateToken(demo.Trent, world.Token{
		Name: "Lighthouses", Symbol: "LIGHT", Memo: "One for every light on the coast", NFT: true, Treasury: demo.Trent, Admin: "Trent", Supply: "Trent",
		FeeSchedule: "Trent", Wipe: "Trent",
		Metadata: "ipfs://lighthouses/collection.json",
		Royalty: []map[string]any{{
			"all_collectors_are_exempt": false, "collector_account_id": demo.Victor, "numerator": 5, "denominator": 100,
			"fallback_fee": map[string]any{"amount": 2 * world.Hbar, "denominating_token_id": nil},
		}},
	}), demo.Lighthouse)
	w.ExpectID(w.CreateToken(demo.Heidi, world.Token{
		Name: "Seashells", Symbol: "SHELL", Memo: "Found and drawn by Heidi", NFT: true, Maximum: 50, Treasury: demo.Trent, Admin: "Heidi", Supply: "Trent",
		MetadataKey: "Heidi",
		Royalty: []map[string]any{{
			"all_collectors_are_exempt": exempt, "collector_account_id": demo.Heidi, "numerator": 1, "denominator": 10,
			"fallback_fee": nil,
		}},
	}), demo.Seashell)
	w.ExpectID(w.CreateToken(demo.Trent, world.Token{Name: "Postcards", Symbol: "POST", NFT: true, Treasury: demo.Trent, Supply: "Trent", Wipe: "Trent"}),
		demo.Postcard)
	w.ExpectID(w.CreateToken(demo.Trent, world.Token{
		Name: "Messages in bottles", Symbol: "BOTTLE", NFT: true, Treasury: demo.Trent, Admin: "Trent",
		Supply: "Trent",
	}), demo.Bottle)
	w.ExpectID(w.CreateToken(demo.Fund, world.Token{
		Name: "Lamp oil", Symbol: "OIL", Decimals: 8, Initial: 21_000_000_00_000_000,
		Maximum: 21_000_000_00_000_000, Treasury: demo.Fund,
	}), demo.LampOil)
	w.ExpectID(w.CreateToken(demo.Fund, world.Token{
		Name: "Ration cards", Symbol: "RATION", Decimals: 0, Initial: 100_000, Treasury: demo.Fund, Admin: "Fund", Supply: "Fund", KYC: "Fund", Freeze: "Fund",
		Metadata: "handed out each winter",
	}), demo.Ration)

	// Driftwood costs a fee in itself and one in Sunlight, which can only be said once it exists.
	w.UpdateCustomFees(demo.Driftwood, []map[string]any{
		world.FixedFee(1, demo.Trent, demo.Driftwood, false),
		world.FixedFee(250, demo.Trent, demo.Sunlight, exempt),
	})

	for i, id := range w.residents {
		if i%3 == 0 {
			if !w.AutoAssociates(id) {
				w.Associate(id, demo.Sunlight, demo.Driftwood)
			}
			w.TransferToken(demo.Trent, id, demo.Sunlight, 20_000_000+int64(i)*1_000_000, "welcome to Lantern Bay")
			w.holders[demo.Sunlight] = append(w.holders[demo.Sunlight], id)
			if w.IsAssociated(id, demo.Driftwood) {
				w.TransferToken(demo.Trent, id, demo.Driftwood, 500, "")
				w.holders[demo.Driftwood] = append(w.holders[demo.Driftwood], id)
			}
		}
	}
	for _, id := range []int64{demo.Alice, demo.Bob, demo.Carol, demo.Frank, demo.Heidi, demo.Victor, demo.Fund} {
		w.TransferToken(demo.Trent, id, demo.Sunlight, 5_000_000_000, "opening gift")
		w.TransferToken(demo.Trent, id, demo.Tide, 400_000, "")
		w.holders[demo.Sunlight] = append(w.holders[demo.Sunlight], id)
		w.holders[demo.Tide] = append(w.holders[demo.Tide], id)
	}
	for _, id := range []int64{demo.Alice, demo.Bob, demo.Heidi, demo.Walter, demo.Victor} {
		w.TransferToken(demo.Fund, id, demo.LampOil, 5_000*world.Hbar, "for the lamps")
		w.holders[demo.LampOil] = append(w.holders[demo.LampOil], id)
	}
	w.Associate(demo.Alice, demo.Foghorn, demo.Kelp, demo.FerryPass)
	w.Associate(demo.Carol, demo.Foghorn, demo.Kelp)
	w.Associate(demo.Dave, demo.Foghorn, demo.Ration, demo.Sunlight)
	w.Associate(demo.Erin, demo.Ration, demo.FerryPass)
	w.TransferToken(demo.Trent, demo.Alice, demo.Kelp, 1_000_000, "")
	w.TransferToken(demo.Trent, demo.Carol, demo.Kelp, 250_000, "")
	w.TransferToken(demo.Trent, demo.Alice, demo.FerryPass, 20, "summer")
	w.TransferToken(demo.Trent, demo.Alice, demo.Foghorn, 1_000, "refused: still frozen")
	w.SetTokenStatus(codes.TypeTokenUnfreezeAccount, demo.Alice, demo.Foghorn)
	w.TransferToken(demo.Trent, demo.Alice, demo.Foghorn, 1_000, "refused: not known yet")
	w.SetTokenStatus(codes.TypeTokenGrantKycToAccount, demo.Alice, demo.Foghorn)
	w.TransferToken(demo.Trent, demo.Alice, demo.Foghorn, 1_000, "pilot's licence")
	w.SetTokenStatus(codes.TypeTokenUnfreezeAccount, demo.Carol, demo.Foghorn)
	w.SetTokenStatus(codes.TypeTokenGrantKycToAccount, demo.Carol, demo.Foghorn)
	w.TransferToken(demo.Trent, demo.Carol, demo.Foghorn, 800, "pilot's licence")
	w.SetTokenStatus(codes.TypeTokenRevokeKycFromAccount, demo.Carol, demo.Foghorn)
	w.SetTokenStatus(codes.TypeTokenFreezeAccount, demo.Alice, demo.Foghorn)
	w.SetTokenStatus(codes.TypeTokenGrantKycToAccount, demo.Dave, demo.Ration)
	w.TransferToken(demo.Fund, demo.Dave, demo.Ration, 12, "first winter")
}

// createTopics creates the topics and some messages.
func (w *Scenario) createTopics() {
	w.ExpectID(w.CreateTopic(demo.Walter, world.Topic{Memo: "Lighthouse keepers' chat"}), demo.KeepersChat)
	w.ExpectID(w.CreateTopic(demo.Alice, world.Topic{
		Memo: "Weather reports of the bay", Admin: "Alice", Submit: "Alice",
		Submitters: []int64{demo.Alice, demo.Walter}, RenewedBy: demo.Alice,
	}), demo.WeatherReports)
	w.ExpectID(w.CreateTopic(demo.Trent, world.Topic{
		Memo: "Harbour notices", Admin: "Trent", FeeSchedule: "Trent", Exempt: []string{"Trent", "Fund"}, ExemptAccounts: []int64{demo.Trent, demo.Fund},
		Fixed: []map[string]any{world.FixedFee(world.Hbar/2, demo.Victor, 0, false)}, RenewedBy: demo.Fund,
	}), demo.HarbourNotices)
	w.ExpectID(w.CreateTopic(demo.Frank, world.Topic{
		Memo: "Lost and found", Admin: "Frank", Submit: "Frank",
		Submitters: []int64{demo.Frank, demo.Carol, demo.Erin},
	}), demo.LostAndFound)
	w.ExpectID(w.CreateTopic(demo.Olivia, world.Topic{Memo: "Newsletter, no longer sent", Admin: "Olivia"}), demo.OldNewsletter)
	w.ExpectID(w.CreateTopic(demo.Heidi, world.Topic{Memo: "Photo album"}), demo.PhotoAlbum)

	w.SubmitText(demo.KeepersChat, demo.Walter, "West light here. Lamp lit, log open. Who else is awake?")
	w.SubmitText(demo.KeepersChat, demo.Alice, "Good evening Walter! The east mole is quiet tonight.")
	w.SubmitText(demo.KeepersChat, demo.Bob, "Passing by with the new boat. Your light is very bright.")
	w.SubmitChunks(demo.KeepersChat, demo.Walter, longMessage, 180)
	w.SubmitText(demo.WeatherReports, demo.Alice, `{"wind":"SW 4","sea":"moderate","visibility_km":12}`)
	w.SubmitText(demo.WeatherReports, demo.Bob, "I would say it looks like rain.")
	w.SubmitText(demo.OldNewsletter, demo.Olivia, "Issue 1: the harbour got a new crane.")
	w.SubmitText(demo.LostAndFound, demo.Carol, "Found: one oar, painted blue, near the fish market.")
	w.SubmitText(demo.LostAndFound, demo.Erin, "Lost: my other oar. It is blue.")
	w.SubmitMessage(demo.HarbourNotices, demo.Trent, []byte("The harbour office opens at eight."), nil, 0)
	w.SubmitMessage(demo.HarbourNotices, demo.Bob, []byte("Boat for sale, ask at the slipway."), nil, world.Hbar)
	w.SubmitMessage(demo.HarbourNotices, demo.Alice, []byte("Choir practice on Thursday."), nil, world.Hbar/10)
	w.SubmitMessage(demo.PhotoAlbum, demo.Heidi, []byte{0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 'J', 'F', 'I', 'F', 0x00, 0x01}, nil, 0)
	w.SubmitChunks(demo.PhotoAlbum, demo.Heidi, strings.Repeat("pixels of a sunset over the bay; ", 30), 300)
}

const longMessage = `Dear colleagues along the coast, a few words from the west light. The new lamp burns a third less oil than the old one and still reaches
the outer buoy in clear weather. I polish the glass on Mondays, wind the clockwork twice a night, and write down each ship that answers. On the
fourth we counted eleven, the most since spring. If your mirror turns stiffly, try a drop of oil on the lower bearing, never on the upper one.
Please leave the gate of the foot path closed: the goats have learned to open it by themselves, and they do not like the foghorn. Signals stay
as agreed: three short for fog, one long for all is well. Yours, Walter.`

// deployContracts deploys the contracts and calls each of them.
func (w *Scenario) deployContracts() {
	code := []byte(common.Bytes2Hex(w.Initcode("HarbourCoin", bigInt(100_000_000), w.Address(demo.Alice))))
	third := len(code) / 3
	file := w.CreateFile(demo.Alice, "initcode of Harbour Coin", code[:third], code[third:2*third], code[2*third:])
	w.ExpectID(w.Deploy(demo.Alice, world.Deployment{
		Source: "HarbourCoin", Args: []any{bigInt(100_000_000), w.Address(demo.Alice)}, Memo: "Harbour Coin",
		Key: world.Ed25519Key("Alice"), File: file, Gas: 2_500_000, RenewedBy: demo.Alice,
	}), demo.HarbourCoin)
	w.ExpectID(w.Deploy(demo.Trent, world.Deployment{
		Source: "PierPass", Args: []any{w.Address(demo.Trent)}, Memo: "Season tickets for the pier",
		Key: world.Ed25519Key("Trent"), Gas: 2_500_000, Expires: true,
	}), demo.PierPass)
	id := w.SendEthereum(world.EthereumTransaction{Type: 2, Sender: demo.Bob, Create: &world.Deployment{
		Source: "TideGauge", Args: []any{"East Mole"},
		Memo: "Tide gauge at the east mole", Gas: 3_000_000,
	}})
	w.ExpectID(id, demo.TideGauge)
	w.ExpectID(w.Deploy(demo.Walter, world.Deployment{Source: "Logbook", Memo: "Logbook, implementation", Gas: 2_000_000}), demo.Logbook)
	w.ExpectID(w.Deploy(demo.Walter, world.Deployment{
		Source: "Signpost", Args: []any{w.Address(demo.Logbook), w.Address(demo.Walter)},
		Memo: "Logbook of the west light", Gas: 1_500_000,
	}), demo.Signpost)
	id = w.SendEthereum(world.EthereumTransaction{Type: 0, Sender: demo.Bob, Create: &world.Deployment{
		Source: "Shipyard", Memo: "Bob's shipyard",
		Gas: 3_000_000,
	}})
	w.ExpectID(id, demo.Shipyard)
	w.CallContract(world.Call{Payer: demo.Alice, Contract: demo.Shipyard, Source: "Shipyard", Method: "launch", Args: []any{"Petrel"}, Gas: 1_500_000})
	w.SendEthereum(world.EthereumTransaction{Type: 2, Sender: demo.Bob, Call: world.Call{
		Contract: demo.Shipyard, Source: "Shipyard", Method: "launchAt",
		Args: []any{"Heron", [32]byte{7}}, Gas: 1_500_000,
	}})
	w.ExpectID(w.NextID("contract")-1, demo.SecondBoat)
	w.ExpectID(w.Deploy(demo.Trent, world.Deployment{Source: "TokenDesk", Memo: "Token desk", Gas: 1_200_000, Key: world.KeyList(world.Ed25519Key("Trent"))}),
		demo.TokenDesk)
	w.ExpectID(w.Deploy(demo.Dave, world.Deployment{
		Source: "Tollgate", Args: []any{bigInt(50 * world.Hbar)}, Memo: "Toll gate, used as a hook",
		Gas: 1_200_000,
	}), demo.Tollgate)
	w.ExpectID(w.Deploy(demo.Frank, world.Deployment{
		Source: "TideGauge", Args: []any{"Old battery"}, Memo: "Gauge at the old battery", Gas: 3_000_000,
		Key: world.Ed25519Key("Frank"),
	}), demo.OldGauge)
	w.ExpectID(w.Deploy(demo.Frank, world.Deployment{
		Source: "TideGauge", Args: []any{"A place whose name is too long to fit into one word of storage"},
		Memo: "Gauge on the sand bank", Gas: 3_000_000, Key: world.Ed25519Key("Frank"),
	}), demo.SunkenGauge)
	for i, place := range []string{"Gull Rock", "Customs House", "Fish Market", "Rope Walk", "Ferry Pier", "Upper Lock", "Lower Lock"} {
		w.Deploy(w.residents[i*5], world.Deployment{Source: "TideGauge", Args: []any{place}, Memo: "Gauge at " + place, Gas: 3_000_000})
	}
	w.ExpectID(w.Deploy(demo.Grace, world.Deployment{
		Source: "HarbourCoin", Args: []any{bigInt(1_000), w.Address(demo.Grace)}, Memo: "Grace's practice coin",
		Gas: 2_500_000,
	}), demo.LastContract)
	w.Deploy(demo.Carol, world.Deployment{Source: "PierPass", Gas: 900_000, Broken: true})

	for _, p := range []int64{demo.Bob, demo.Heidi, demo.Rupert, demo.Carol, demo.Erin, demo.Walter} {
		w.CallContract(world.Call{
			Payer: demo.Alice, Contract: demo.HarbourCoin, Source: "HarbourCoin", Method: "transfer",
			Args: []any{w.Address(p), bigInt(500_000)},
		})
		w.coinHolders = append(w.coinHolders, p)
	}
	w.CallContract(world.Call{
		Payer: demo.Alice, Contract: demo.HarbourCoin, Source: "HarbourCoin", Method: "approve",
		Args: []any{w.Address(demo.Bob), bigInt(75_000)},
	})
	w.SendEthereum(world.EthereumTransaction{Type: 2, Sender: demo.Bob, Call: world.Call{
		Contract: demo.HarbourCoin, Source: "HarbourCoin",
		Method: "transferFrom", Args: []any{w.Address(demo.Alice), w.Address(demo.Heidi), bigInt(25_000)},
	}, Access: true})
	w.SendEthereum(world.EthereumTransaction{
		Type: 1, Sender: demo.Heidi, Access: true,
		Call: world.Call{Contract: demo.HarbourCoin, Source: "HarbourCoin", Method: "transfer", Args: []any{w.Address(demo.Ivan), bigInt(1_200)}},
	})
	w.SendEthereum(world.EthereumTransaction{Type: 0, Sender: demo.Heidi, Call: world.Call{
		Contract: demo.HarbourCoin, Source: "HarbourCoin",
		Method: "transfer", Args: []any{w.Address(demo.Bob), bigInt(9_000_000_000)},
	}})
	w.SendEthereum(world.EthereumTransaction{
		Type: 4, Sender: demo.Rupert, Delegate: demo.Logbook,
		Call: world.Call{Contract: demo.TideGauge, Source: "TideGauge", Method: "report", Args: []any{int64(812)}},
	})
	w.SendEthereum(world.EthereumTransaction{
		Type: 2, Sender: demo.Heidi, Anonymous: true,
		Call: world.Call{Contract: demo.TideGauge, Source: "TideGauge", Method: "report", Args: []any{int64(-301)}},
	})
	for range 4 {
		w.CallContract(world.Call{Payer: demo.Trent, Contract: demo.PierPass, Source: "PierPass", Method: "mint", Args: []any{w.Address(demo.Alice)}})
	}
	w.CallContract(world.Call{Payer: demo.Alice, Contract: demo.PierPass, Source: "PierPass", Method: "approve", Args: []any{w.Address(demo.Bob), bigInt(2)}})
	w.SendEthereum(world.EthereumTransaction{Type: 2, Sender: demo.Bob, Call: world.Call{
		Contract: demo.PierPass, Source: "PierPass", Method: "transferFrom",
		Args: []any{w.Address(demo.Alice), w.Address(demo.Bob), bigInt(2)},
	}})
	w.CallContract(world.Call{Payer: demo.Carol, Contract: demo.PierPass, Source: "PierPass", Method: "mint", Args: []any{w.Address(demo.Carol)}})
	w.CallContract(world.Call{
		Payer: demo.Walter, Contract: demo.Signpost, Source: "Logbook", Method: "write",
		Args: []any{"First night of the new lamp. Calm sea, no ships."}, Gas: 600_000,
	})
	w.CallContract(world.Call{Payer: demo.Carol, Contract: demo.Signpost, Source: "Signpost", Method: "upgradeTo", Args: []any{w.Address(demo.Carol)}})
	w.CallContract(world.Call{Payer: demo.Bob, Contract: demo.Shipyard, Source: "Shipyard", Method: "fleetTo", Args: []any{int32(54_32), int32(10_14)}})
	w.CallContract(world.Call{Payer: demo.Alice, Contract: demo.TideGauge, Source: "TideGauge", Method: "seal"})
	w.CallContract(world.Call{Payer: demo.Alice, Contract: demo.TideGauge, Source: "TideGauge", Method: "average", Gas: 21_500})
	w.ExportState(w.CallContract(world.Call{Payer: demo.Alice, Contract: demo.TideGauge, Source: "TideGauge", Method: "setOpen", Args: []any{true}}),
		demo.TideGauge)
	w.CallContract(world.Call{Payer: demo.Dave, Contract: demo.TideGauge, Gas: 50_000, Value: 3 * world.Hbar})
	w.CallContract(world.Call{
		Payer: demo.Dave, Contract: demo.Tollgate, Source: "Tollgate", Method: "pay", Args: []any{w.Address(demo.Grace)},
		Value: 5 * world.Hbar,
	})
	w.CallContract(world.Call{
		Payer: demo.Alice, Contract: demo.TokenDesk, Source: "TokenDesk", Method: "send",
		Args: []any{world.LongZeroAddress(demo.Sunlight), w.Address(demo.Alice), w.Address(demo.Bob), int64(1_500_000)},
	})
	w.FailCall(demo.Erin, 100_000, common.Hex2Bytes("a9059cbb"))
	wrong := uint64(9_999)
	w.SendEthereum(world.EthereumTransaction{
		Type: 2, Sender: demo.Bob, Nonce: &wrong,
		Call: world.Call{Contract: demo.TideGauge, Source: "TideGauge", Method: "report", Args: []any{int64(5)}},
	})
	data := w.Pack("TideGauge", "rename", "East Mole, at the foot of the stairs that lead up to the light")
	dataFile := w.CreateFile(demo.Relay, "call data that were too large", []byte(common.Bytes2Hex(data)))
	w.SendEthereum(world.EthereumTransaction{Type: 2, Sender: demo.Bob, File: dataFile, Call: world.Call{Contract: demo.TideGauge, Data: data}})
	w.DeleteContract(demo.OldGauge, demo.Frank, demo.Frank, false)
	w.ChangeContract(demo.TideGauge, demo.Bob, world.Row{"memo": "Tide gauge at the east mole, repainted"})
}
