package scenario

import (
	"crypto/sha512"
	"fmt"
	"math/big"

	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
	"heliograph/storage/demo/world"
)

func bigInt(v int64) *big.Int { return big.NewInt(v) }

// mintCollections mints the NFT collections and sells some serials.
func (w *Scenario) mintCollections() {
	lights := []string{
		"East Mole", "West Light", "Gull Rock", "Outer Buoy", "Needle Point", "Black Ledge", "Old Battery", "Sandbar", "Cormorant", "Ferry Pier",
		"Lower Lock", "Three Sisters", "Whale Back", "Fog Island", "North Stack", "Lantern Tower", "Pilot Station", "Heron Reef", "Storm Head", "Last Light",
	}
	for i := 0; i < len(lights); i += 5 {
		var metadata []string
		for _, l := range lights[i : i+5] {
			metadata = append(metadata, "ipfs://lighthouses/"+l+".json")
		}
		w.MintNFTs(demo.Lighthouse, metadata...)
	}
	w.MintNFTs(demo.Lighthouse, "ipfs://lighthouses/misprint.json", "ipfs://lighthouses/test.json")
	w.MintNFTs(demo.Seashell, "ipfs://shells/cockle.json", "ipfs://shells/whelk.json", "ipfs://shells/scallop.json", "ipfs://shells/razor.json",
		"ipfs://shells/limpet.json", "ipfs://shells/periwinkle.json")
	w.MintNFTs(demo.Postcard, "Greetings from the pier", "The lock at dawn", "Fog, and nothing else", "Goats", "The crane", "Regatta", "Winter storm",
		"Harbour dog")
	w.MintNFTs(demo.Bottle, "To whoever finds this", "Send biscuits", "Never mind")

	w.Associate(demo.Alice, demo.Postcard)
	w.Associate(demo.Bob, demo.Bottle)
	w.Associate(demo.Dave, demo.Lighthouse, demo.Seashell)
	w.TransferNFT(demo.Trent, demo.Alice, demo.Lighthouse, 1, 40*world.Hbar, "East Mole")
	w.TransferNFT(demo.Trent, demo.Alice, demo.Lighthouse, 2, 45*world.Hbar, "West Light")
	w.TransferNFT(demo.Trent, demo.Bob, demo.Lighthouse, 3, 50*world.Hbar, "Gull Rock")
	w.TransferNFT(demo.Trent, demo.Heidi, demo.Lighthouse, 4, 35*world.Hbar, "Outer Buoy")
	w.TransferNFT(demo.Trent, demo.Carol, demo.Lighthouse, 5, 38*world.Hbar, "")
	w.TransferNFT(demo.Trent, demo.Frank, demo.Lighthouse, 6, 39*world.Hbar, "")
	w.TransferNFT(demo.Trent, demo.Dave, demo.Lighthouse, 7, 60*world.Hbar, "Old Battery")
	w.TransferNFT(demo.Trent, demo.Walter, demo.Lighthouse, 8, 30*world.Hbar, "")
	w.TransferNFT(demo.Alice, demo.Bob, demo.Lighthouse, 1, 80*world.Hbar, "resold at twice the price")
	w.TransferNFT(demo.Bob, demo.Heidi, demo.Lighthouse, 1, 0, "a present: the fallback fee is due")
	w.TransferNFT(demo.Trent, demo.Heidi, demo.Seashell, 1, 5*world.Hbar, "")
	w.TransferNFT(demo.Trent, demo.Bob, demo.Seashell, 2, 6*world.Hbar, "")
	w.TransferNFT(demo.Trent, demo.Carol, demo.Seashell, 3, 6*world.Hbar, "")
	w.TransferNFT(demo.Bob, demo.Dave, demo.Seashell, 2, 9*world.Hbar, "")
	w.TransferNFT(demo.Trent, demo.Alice, demo.Postcard, 1, 0, "from the harbour office")
	w.TransferNFT(demo.Trent, demo.Bob, demo.Postcard, 2, 0, "")
	w.TransferNFT(demo.Trent, demo.Frank, demo.Postcard, 4, 0, "")
	w.TransferNFT(demo.Trent, demo.Heidi, demo.Postcard, 6, 0, "")
	w.TransferNFT(demo.Trent, demo.Bob, demo.Bottle, 1, world.Hbar, "")
	w.RemoveNFTs(codes.TypeTokenBurn, demo.Lighthouse, demo.Trent, 21, 22)
	w.RemoveNFTs(codes.TypeTokenAccountWipe, demo.Postcard, demo.Frank, 4)
	w.SetNFTMetadata(demo.Seashell, "ipfs://shells/scallop-2.json", 3)
}

// changeInSpring changes accounts, tokens, topics and files, so that they have historical versions.
func (w *Scenario) changeInSpring() {
	w.TransferHbars(demo.Treasury, demo.Fund, 20_000*world.Hbar, "grant for the spring")
	w.ChangeSupply(codes.TypeTokenMint, demo.Sunlight, demo.Trent, 250_000_000_000)
	w.ChangeSupply(codes.TypeTokenBurn, demo.Tide, demo.Trent, -1_000_000)
	w.ChangeSupply(codes.TypeTokenAccountWipe, demo.Foghorn, demo.Carol, -300)
	w.AdministerToken(codes.TypeTokenUpdate, demo.Sunlight, world.Row{"name": "Sunlight", "metadata": []byte("ipfs://sunlight/token-2.json")})
	w.AdministerToken(codes.TypeTokenUpdate, demo.Driftwood, world.Row{"name": "Driftwood (washed ashore)"})
	w.AdministerToken(codes.TypeTokenPause, demo.Sunlight, world.Row{"pause_status": "PAUSED"})
	w.TransferToken(demo.Alice, demo.Bob, demo.Sunlight, 1_000, "refused: paused")
	w.AdministerToken(codes.TypeTokenUnpause, demo.Sunlight, world.Row{"pause_status": "UNPAUSED"})
	w.AdministerToken(codes.TypeTokenPause, demo.Kelp, world.Row{"pause_status": "PAUSED"})
	w.TransferToken(demo.Alice, demo.Carol, demo.Kelp, 10, "refused: paused")
	w.DeleteToken(demo.FerryPass)
	w.TransferToken(demo.Alice, demo.Erin, demo.FerryPass, 1, "refused: deleted")
	w.UpdateCustomFees(demo.Sunlight, []map[string]any{world.FixedFee(50_000, demo.Victor, 0, true)})
	w.UpdateCustomFees(demo.HarbourNotices, []map[string]any{
		world.FixedFee(world.Hbar/4, demo.Victor, 0, false),
		world.FixedFee(1_000, demo.Fund, demo.Sunlight, false),
	})
	w.Dissociate(demo.Erin, demo.FerryPass)
	w.ChangeTreasury(demo.Seashell, demo.Heidi)

	w.UpdateAccount(demo.Alice, world.Row{
		"memo": "Alice's wallet, second edition", "staked_node_id": int64(2),
		"max_automatic_token_associations": 25,
	})
	w.UpdateAccount(demo.Erin, world.Row{"key": world.KeyList(world.Ed25519Key("Erin's new key")), "memo": "Erin's savings, new key"})
	w.UpdateAccount(demo.Dave, world.Row{"staked_node_id": int64(-1), "staked_account_id": int64(demo.Fund), "stake_period_start": int64(-1)})
	w.UpdateAccount(demo.Bob, world.Row{"receiver_sig_required": true})
	w.UpdateAccount(demo.Bob, world.Row{"receiver_sig_required": false, "memo": "Bob the boat builder, slipway 2"})
	w.UpdateAccount(demo.Peggy, world.Row{"decline_reward": false, "expiration_timestamp": w.Now() + 2*world.RenewalPeriod*world.Second})
	w.DeleteAccount(demo.Olivia, demo.Alice)
	w.FailTransfer(demo.Alice, codes.AccountDeleted, "for Olivia")
	for i := 7; i < len(w.residents); i += 42 {
		w.DeleteAccount(w.residents[i], demo.Fund)
		w.residents[i] = demo.Fund
	}

	w.UpdateTopic(demo.WeatherReports, demo.Alice, "Weather reports of Lantern Bay", world.Row{"submit_key": world.Ed25519Key("Alice's weather station")})
	w.DeleteTopic(demo.OldNewsletter, demo.Alice)
	recipe := w.CreateFile(demo.Carol, "Fish soup", []byte("Fish soup for six\n1 onion, 2 carrots, 1 kg of what the boats brought in\n"))
	w.AppendFile(demo.Carol, recipe, []byte("Simmer, never boil.\n"))
	w.UpdateFile(demo.Carol, recipe, []byte("Fish soup for eight\n2 onions, 3 carrots, 1.5 kg of what the boats brought in\nSimmer, never boil.\n"),
		"Fish soup, improved")
	w.UpdateFile(demo.Carol, recipe, nil, "Fish soup, improved and renamed")
	note := w.CreateFile(demo.Frank, "A note", []byte("Back in ten minutes."))
	w.DeleteFile(codes.TypeFileDelete, demo.Frank, note, true)
	hidden := w.CreateFile(demo.Mallory, "A rude poem", []byte("(not fit to print)"))
	w.DeleteFile(codes.TypeSystemDelete, world.AddressBookAdmin, hidden, true)
	w.DeleteFile(codes.TypeSystemUndelete, world.AddressBookAdmin, hidden, false)
	w.ChangeContract(demo.SunkenGauge, demo.Frank, world.Row{"memo": "Gauge on the sand bank, lost in a storm"})
	w.DeleteContract(demo.SunkenGauge, demo.Frank, demo.Fund, true)

	certificate := sha512.Sum384([]byte("Judy's certificate"))
	w.ChangeLiveHash(codes.TypeCryptoAddLiveHash, demo.Judy, certificate[:])
	w.ChangeLiveHash(codes.TypeCryptoDeleteLiveHash, demo.Judy, nil)
}

// approveAndAirdrop creates allowances, approvals, airdrops and hooks.
func (w *Scenario) approveAndAirdrop() {
	w.ApproveHbars(demo.Alice, demo.Bob, 500*world.Hbar)
	w.ApproveHbars(demo.Alice, demo.Carol, 100*world.Hbar)
	w.ApproveHbars(demo.Alice, demo.Frank, 50*world.Hbar)
	w.ApproveHbars(demo.Heidi, demo.Alice, 20*world.Hbar)
	w.ApproveHbars(demo.Fund, demo.Walter, 10_000*world.Hbar)
	w.SpendHbars(demo.Alice, demo.Bob, demo.Heidi, 120*world.Hbar, "for the paint")
	w.SpendHbars(demo.Fund, demo.Walter, demo.Frank, 900*world.Hbar, "rope and oil")
	w.SpendHbars(demo.Heidi, demo.Rupert, demo.Rupert, world.Hbar, "refused: not allowed")
	w.ApproveHbars(demo.Alice, demo.Bob, 600*world.Hbar)
	w.ApproveHbars(demo.Alice, demo.Frank, 0)
	w.ApproveTokens(demo.Alice, demo.Bob, demo.LampOil, 900*world.Hbar)
	w.ApproveTokens(demo.Alice, demo.Heidi, demo.LampOil, 100*world.Hbar)
	w.ApproveTokens(demo.Alice, demo.Heidi, demo.Tide, 50_000)
	w.ApproveTokens(demo.Bob, demo.Alice, demo.Sunlight, 2_000_000)
	w.ApproveTokens(demo.Walter, demo.Frank, demo.LampOil, 40*world.Hbar)
	w.SpendTokens(demo.Alice, demo.Bob, demo.Walter, demo.LampOil, 250*world.Hbar)
	w.ApproveTokens(demo.Alice, demo.Heidi, demo.LampOil, 300*world.Hbar)
	w.ApproveTokens(demo.Walter, demo.Frank, demo.LampOil, 0)
	w.ApproveAllNFTs(demo.Alice, demo.Bob, demo.Lighthouse, true)
	w.ApproveAllNFTs(demo.Alice, demo.Heidi, demo.Postcard, true)
	w.ApproveAllNFTs(demo.Bob, demo.Alice, demo.Lighthouse, true)
	w.ApproveAllNFTs(demo.Heidi, demo.Alice, demo.Seashell, true)
	w.ApproveAllNFTs(demo.Dave, demo.Carol, demo.Lighthouse, true)
	w.ApproveAllNFTs(demo.Dave, demo.Carol, demo.Lighthouse, false)
	w.ApproveNFT(demo.Alice, 0, demo.Carol, demo.Lighthouse, 2)
	w.ApproveNFT(demo.Heidi, 0, demo.Frank, demo.Lighthouse, 4)
	w.ApproveNFT(demo.Bob, demo.Alice, demo.Dave, demo.Lighthouse, 3)
	w.ApproveNFT(demo.Alice, 0, demo.Heidi, demo.Postcard, 1)
	w.ApproveNFT(demo.Carol, 0, demo.Erin, demo.Lighthouse, 5)
	w.ClearNFTApproval(demo.Carol, demo.Lighthouse, 5)
	w.SpendNFT(demo.Heidi, demo.Frank, demo.Frank, demo.Lighthouse, 4)
	w.RejectToken(demo.Carol, demo.Lighthouse, 5)

	w.Airdrop(demo.Alice, demo.Erin, demo.LampOil, 0, 5*world.Hbar)
	w.Airdrop(demo.Alice, demo.Grace, demo.LampOil, 0, 7*world.Hbar)
	w.Airdrop(demo.Alice, demo.Dave, demo.Tide, 0, 1_200)
	w.Airdrop(demo.Alice, demo.Erin, demo.Sunlight, 0, 900_000)
	w.Airdrop(demo.Heidi, demo.Erin, demo.Seashell, 4, 0)
	w.Airdrop(demo.Heidi, demo.Grace, demo.Seashell, 5, 0)
	w.Airdrop(demo.Bob, demo.Erin, demo.Postcard, 2, 0)
	w.Airdrop(demo.Fund, demo.Erin, demo.LampOil, 0, 100*world.Hbar)
	w.Airdrop(demo.Trent, demo.Judy, demo.Tide, 0, 10_000)
	w.Airdrop(demo.Trent, demo.Erin, demo.Lighthouse, 9, 0)
	w.Airdrop(demo.Trent, demo.Erin, demo.Lighthouse, 10, 0)
	w.ClaimAirdrop(demo.Alice, demo.Grace, demo.LampOil, 0)
	w.ClaimAirdrop(demo.Heidi, demo.Grace, demo.Seashell, 5)
	w.CancelAirdrop(demo.Alice, demo.Dave, demo.Tide, 0)
	w.CancelAirdrop(demo.Trent, demo.Erin, demo.Lighthouse, 10)
	for i := 2; i < 60; i += 9 {
		w.Airdrop(demo.Fund, w.residents[i], demo.LampOil, 0, int64(i+1)*world.Hbar)
	}

	w.AddHook(demo.Alice, 1, "Alice")
	w.AddHook(demo.Alice, 2, "")
	w.AddHook(demo.Bob, 1, "Bob")
	w.AddHook(demo.Heidi, 7, "")
	w.StoreHook(demo.Alice, 1, world.HookSlot{Key: world.Word(0), Value: world.Word(50 * world.Hbar)},
		world.HookSlot{Key: world.Word(1), Value: world.Word(1)}, world.HookSlot{Key: world.Word(2), Value: world.Word(77)})
	w.StoreHook(demo.Alice, 1, world.HookSlot{Key: world.Word(1), Value: world.Word(2)},
		world.HookSlot{Key: world.Digest("payee")[:32], Value: world.Word(demo.Bob)})
	w.StoreHook(demo.Alice, 1, world.HookSlot{Key: world.Word(2), Value: nil})
	w.StoreHook(demo.Bob, 1, world.HookSlot{Key: world.Word(0), Value: world.Word(9 * world.Hbar)})
	w.StoreHook(demo.Heidi, 7, world.HookSlot{Key: world.Word(0), Value: world.Word(world.Hbar)}, world.HookSlot{Key: world.Word(1), Value: world.Word(0)})
	w.RemoveHook(demo.Alice, 2)
}

// upgradeNetwork upgrades software, nodes, fees and the address book.
func (w *Scenario) upgradeNetwork() {
	w.registerNodes()
	w.Freeze(3)
	w.Freeze(1)
	w.AdvanceTo(w.Now() + 10*world.Minute)
	w.ChangeAddressBook(1)
	w.ChangeFeeSchedules(852_000)
	w.ChangeNode(codes.TypeNodeUpdate, 0, world.Row{"associated_registered_nodes": []int64{1, 2}})
	w.ChangeNode(codes.TypeNodeUpdate, 1, world.Row{"decline_reward": true, "associated_registered_nodes": []int64{3}})
	w.ChangeNode(codes.TypeNodeDelete, demo.NodeCount, world.Row{"deleted": true})
}

// changeInAutumn adds an atomic batch, random numbers and more versions.
func (w *Scenario) changeInAutumn() {
	w.TransferHbars(demo.Treasury, demo.Fund, 25_000*world.Hbar, "grant for the winter")
	w.marketDay()
	for i := range 6 {
		w.RandomNumber(w.residents[i*3], []int64{0, 6, 1_000}[i%3])
	}
	w.UpdateAccount(demo.Alice, world.Row{"memo": "Alice's wallet"})
	w.UpdateAccount(demo.Fund, world.Row{"max_automatic_token_associations": -1, "memo": "Lantern Bay community fund"})
	w.AdministerToken(codes.TypeTokenUpdate, demo.Driftwood, world.Row{"name": "Driftwood"})
	w.DeleteToken(demo.Bottle)
	w.UpdateTopic(demo.LostAndFound, demo.Frank, "Lost and found at the tackle shop", world.Row{})
	w.DuplicateTransfer(demo.Alice, demo.Heidi, 7*world.Hbar, "sent twice by mistake")
	w.CallContract(world.Call{Payer: demo.Walter, Contract: demo.Signpost, Source: "Logbook", Method: "write", Args: []any{""}, Gas: 300_000})
}

// createSchedules creates schedules in every state.
func (w *Scenario) createSchedules() {
	rent, made := w.CreateSchedule(world.Schedule{
		Memo: "Rent of the boat shed", Creator: demo.Trent, Payer: demo.Trent, Admin: "Trent", From: demo.Bob,
		To: demo.Trent, Amount: 250 * world.Hbar, Signers: []string{"Trent"},
	})
	w.SignSchedule(rent, demo.Bob, "Bob")
	w.ExecuteSchedule(rent, made, demo.Bob, demo.Trent, 250*world.Hbar)

	fees, made2 := w.CreateSchedule(world.Schedule{
		Memo: "Harbour dues, when the week is over", Creator: demo.Carol, Payer: demo.Carol, Admin: "Carol",
		From: demo.Carol, To: demo.Trent, Amount: 12 * world.Hbar, Expires: 6 * world.Hour, WaitForExpiry: true, Signers: []string{"Carol"},
	})
	w.SignSchedule(fees, demo.Carol, "Carol's sister")

	gift, _ := w.CreateSchedule(world.Schedule{
		Memo: "A gift that was thought better of", Creator: demo.Frank, Payer: demo.Frank, Admin: "Frank",
		From: demo.Frank, To: demo.Mallory, Amount: 3 * world.Hbar, Expires: 20 * world.Hour, Signers: []string{"Frank"},
	})
	w.DeleteSchedule(gift, demo.Frank)

	w.CreateSchedule(world.Schedule{
		Memo: "Nobody else signed this", Creator: demo.Erin, Payer: demo.Erin, From: demo.Dave, To: demo.Erin,
		Amount: 1_000 * world.Hbar, Signers: []string{"Erin's new key"},
	})
	guarded, _ := w.CreateSchedule(world.Schedule{
		Memo: "Guarded by the toll gate", Creator: demo.Dave, Payer: demo.Dave, From: demo.Grace,
		To: demo.Mallory, Amount: 5 * world.Hbar, Expires: world.Day, Signers: []string{"Dave", "Dave's phone"},
	})
	w.SignSchedule(guarded, demo.Dave, world.ByContract)

	call := world.ScheduledCall(demo.TideGauge, 100_000, 5*world.Hbar, w.Pack("TideGauge", "report", int64(77)))
	reading, _ := w.CreateSchedule(world.Schedule{
		Memo: "A reading, tomorrow", Creator: demo.Walter, Payer: demo.Alice, Admin: "Walter", Expires: 3 * world.Day,
		WaitForExpiry: true, Body: call,
	})
	w.SignSchedule(reading, demo.Alice, "Alice")

	w.UntilExpiry(fees)
	w.Consecutively(func() { w.ExecuteSchedule(fees, made2, demo.Carol, demo.Trent, 12*world.Hbar) })
	for i := range 8 {
		payer := w.residents[10+i*7]
		from := w.residents[10+i*7+i%2] // a neighbour who does not sign, or the payer
		id, made := w.CreateSchedule(world.Schedule{
			Memo: fmt.Sprintf("Choir fund, share %d", i+1), Creator: payer, Payer: payer, From: from, To: demo.Fund,
			Amount: world.Hbar, Signers: []string{w.names[payer]},
		})
		if i%2 == 0 {
			w.ExecuteSchedule(id, made, payer, demo.Fund, world.Hbar)
		}
	}
}

// createPendingSchedules creates schedules that remain pending.
func (w *Scenario) createPendingSchedules() {
	w.TransferHbars(demo.Treasury, demo.Fund, 15_000*world.Hbar, "grant for the fog signal")
	id, _ := w.CreateSchedule(world.Schedule{
		Memo: "New bell for the fog signal", Creator: demo.Alice, Payer: demo.Alice, Admin: "Alice", From: demo.Fund,
		To: demo.Mallory, Amount: 800 * world.Hbar, Expires: 20 * world.Day, Signers: []string{"Alice"},
	})
	w.SignSchedule(id, demo.Fund, "Fund")
	w.CreateSchedule(world.Schedule{
		Memo: "Painting of the east mole", Creator: demo.Heidi, Payer: demo.Heidi, From: demo.Fund, To: demo.Heidi,
		Amount: 120 * world.Hbar, Expires: 10 * world.Day, WaitForExpiry: true, Signers: []string{"Heidi"},
	})
	w.CreateSchedule(world.Schedule{
		Memo: "A round for everybody", Creator: demo.Frank, Payer: demo.Frank, From: demo.Victor, To: demo.Bob, Amount: 2 * world.Hbar,
		Signers: []string{"Frank"},
	})
}

// registerNodes registers nodes of every type.
func (w *Scenario) registerNodes() {
	at := func(kind string, value any, port int, tls bool, where string) map[string]any {
		e := map[string]any{kind: value, "port": port, "requires_tls": tls}
		if where[0] >= '0' && where[0] <= '9' {
			e["ip_address"] = where
		} else {
			e["domain_name"] = where
		}
		return e
	}
	none := map[string]any{}
	w.RegisterNode(demo.Alice, 1, world.RegisteredNode{Description: "Block archive of the harbour", Types: []int16{1}, Endpoints: []map[string]any{
		at("block_node", map[string]any{"endpoint_apis": []string{"STATUS", "SUBSCRIBE_STREAM"}}, 8080, true, "blocks.lantern-bay.example"),
		at("block_node", map[string]any{"endpoint_apis": []string{"PUBLISH"}}, 8081, false, "10.1.0.4"),
		at("block_node", map[string]any{"endpoint_apis": []string{"STATE_PROOF", "OTHER"}}, 8082, true, "10.1.0.5"),
	}})
	w.RegisterNode(demo.Bob, 2, world.RegisteredNode{
		Description: "Tide tables", Types: []int16{2},
		Endpoints: []map[string]any{at("general_service", map[string]any{"description": "Tide tables of the bay"}, 443, true, "tides.lantern-bay.example")},
	})
	w.RegisterNode(demo.Heidi, 3, world.RegisteredNode{
		Description: "Mirror of the town", Types: []int16{3},
		Endpoints: []map[string]any{at("mirror_node", none, 5551, true, "mirror.lantern-bay.example")},
	})
	w.RegisterNode(demo.Relay, 4, world.RegisteredNode{
		Description: "Harbour relay", Types: []int16{4},
		Endpoints: []map[string]any{at("rpc_relay", none, 7546, true, "relay.lantern-bay.example")},
	})
	w.RegisterNode(demo.Fund, 5, world.RegisteredNode{Description: "All-in-one at Signal Hill", Types: []int16{1, 3, 4}, Endpoints: []map[string]any{
		at("block_node", map[string]any{"endpoint_apis": []string{"STATUS"}}, 8080, true, "10.1.0.9"),
		at("mirror_node", none, 5551, false, "10.1.0.9"), at("rpc_relay", none, 7546, true, "10.1.0.9"),
	}})
	w.RegisterNode(demo.Walter, 6, world.RegisteredNode{Description: "A service that gave no address yet", Types: []int16{2}, Endpoints: nil})
	w.RegisterNode(demo.Frank, 7, world.RegisteredNode{
		Description: "Closed mirror", Types: []int16{3},
		Endpoints: []map[string]any{at("mirror_node", none, 5551, true, "old-mirror.lantern-bay.example")},
	})
	w.ChangeRegisteredNode(codes.TypeRegisteredNodeUpdate, demo.Bob, 2, world.Row{"description": "Tide tables and moon phases"})
	w.ChangeRegisteredNode(codes.TypeRegisteredNodeDelete, demo.Frank, 7, world.Row{"deleted": true})
}

// marketDay adds an atomic batch of three payments.
func (w *Scenario) marketDay() {
	w.AtomicBatch(demo.Fund, "market day", demo.Alice, demo.Bob, demo.Carol)
}
